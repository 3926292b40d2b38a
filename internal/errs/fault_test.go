package errs_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"holdfast/internal/errs"
)

func TestAbsentAndWrongFieldsAreReportedTogether(t *testing.T) {
	var p errs.Problems
	if p.Err() != nil {
		t.Fatal("nothing was noted")
	}
	p.Wrong("total", "first")
	p.Wrong("total", "second")
	p.Wrong("date", "of %d", 3)
	f, ok := errors.AsType[*errs.Error](p.Err())
	if !ok || f.Kind != errs.Invalid || f.Message != "Invalid parameter(s): date, total" ||
		!maps.Equal(f.Params, map[string]string{"total": "first", "date": "of 3"}) {
		t.Errorf("%+v", f)
	}
	p.Missing("email")
	p.Missing("email")
	p.Missing("surname")
	p.Missing("total") // what was said of its value does not count
	f, ok = errors.AsType[*errs.Error](p.Err())
	if !ok || f.Kind != errs.Invalid || f.Message != "Invalid parameter(s): date, email, surname, total" || f.Params["total"] == "first" {
		t.Errorf("%+v", f)
	}
	var absent errs.Problems
	absent.Missing("surname")
	absent.Missing("total")
	absent.Missing("surname")
	absent.Wrong("total", "An amount is expected.")
	f, ok = errors.AsType[*errs.Error](absent.Err())
	if !ok || f.Kind != errs.Missing || !slices.Equal(f.Absent, []string{"surname", "total"}) || f.Params != nil {
		t.Errorf("%+v", f)
	}
}

func TestAListHasTheProblemsOfItsItems(t *testing.T) {
	var p errs.Problems
	p.Wrong(errs.Item("bookings", 1, "total"), "wrong")
	p.Missing(errs.Item("taxes", 0, ""))
	for field, want := range map[string]bool{
		"bookings": true, "bookings[1].total": true, "bookings[1].id": false, "booking": false, "taxes": true, "total": false,
	} {
		if p.Has(field) != want {
			t.Errorf("%s has problems: %t, want %t", field, !want, want)
		}
	}
}

func TestMissingFieldsCanBeWrongOnes(t *testing.T) {
	var p errs.Problems
	p.Missing("email")
	p.Wrong("total", "wrong")
	p.MissingIsWrong()
	f, ok := errors.AsType[*errs.Error](p.Err())
	if !ok || f.Kind != errs.Invalid || !maps.Equal(f.Params, map[string]string{"email": "This field is required.", "total": "wrong"}) {
		t.Errorf("%+v", f)
	}
}

func TestACloneLeavesItsOriginalAlone(t *testing.T) {
	var p errs.Problems
	p.Wrong("total", "wrong")
	c := p.Clone()
	c.Wrong("date", "wrong")
	c.Missing("email")
	if p.Has("date") || p.Has("email") || !c.Has("total") || !c.Has("email") {
		t.Errorf("original %+v, clone %+v", p, c)
	}
}

func TestTheKindIsFoundThroughWraps(t *testing.T) {
	cause := errors.New("cause")
	inner := &errs.Error{Kind: errs.Unavailable, Message: "not now", Err: cause}
	err := fmt.Errorf("asking: %w", inner)
	if errs.KindOf(err) != errs.Unavailable || !errs.Is(err, errs.Unavailable) || !errors.Is(err, cause) {
		t.Errorf("%v is %d", err, errs.KindOf(err))
	}
	if errs.KindOf(cause) != errs.Internal || errs.Is(nil, errs.Internal) {
		t.Error("what is no fault is our own, and nothing is nothing")
	}
	if got := err.Error(); got != "asking: not now: cause" {
		t.Errorf("reads %q", got)
	}
}
