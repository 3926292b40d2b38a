package kit

import (
	"maps"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"holdfast/internal/errs"
)

// TestAFormIsReadAsRoomsWantIt: fields that were not sent are nil, invalid ones are problems of their field.
func TestAFormIsReadAsRoomsWantIt(t *testing.T) {
	t.Parallel()
	r := (&Form{Values: url.Values{
		"name": {" Ada "}, "list": {"a, b\r\n\r\nc"}, "on": {"2026-09-14"}, "sum": {"1,234.50"}, "n": {"1,000"}, "c": {"gbp"}, "yes": {"1"},
		"bad day": {"14.9.2026"}, "bad sum": {"1.234"}, "bad n": {"x"}, "bad c": {"XXQ"}, "empty": {""},
		"decimal comma": {"12,50"}, "at": {"2026-09-14T16:30"},
	}}).Reading()
	if *r.Text("name") != "Ada" || !slices.Equal(*r.Items("list"), []string{"a", "b", "c"}) || r.Day("on").String() != "2026-09-14" ||
		*r.Amount("sum", "GBP") != 123450 || *r.Number("n") != 1000 || *r.Currency("c") != "GBP" || !*r.Yes("yes") || *r.Yes("no") {
		t.Errorf("read wrong: %v", r.Values)
	}
	if r.Text("none") != nil || r.Items("none") != nil || r.Day("empty") != nil || r.Amount("empty", "GBP") != nil ||
		r.Number("empty") != nil || r.Currency("empty") != nil || *r.Text("empty") != "" || r.Problems.Err() != nil {
		t.Error("what was not sent is there")
	}
	if got := r.Instant("at"); got.Format(time.DateTime) != "2026-09-14 16:30:00" || !r.Instant("empty").IsZero() {
		t.Errorf("an instant: %s", got)
	}
	if r.Amount("decimal comma", "EUR") != nil || !r.Problems.Has("decimal comma") {
		t.Error("12,50 is taken for 1,250.00, a hundred times as much")
	}
	r = r.Form.Reading()
	r.Day("bad day")
	r.Amount("bad sum", "GBP")
	r.Number("bad n")
	r.Currency("bad c")
	v := &Visit{R: httptest.NewRequest("POST", "/", nil)}
	if ok, err := v.Took(r.Form, r.Problems.Err()); ok || err != nil {
		t.Fatalf("took: %v %v", ok, err)
	}
	if got := slices.Sorted(maps.Keys(r.Form.Problems)); !slices.Equal(got, []string{"bad c", "bad day", "bad n", "bad sum"}) {
		t.Errorf("problems at %v", got)
	}
	var p errs.Problems
	p.Wrong(errs.Item("addresses", 1, ""), "No.")
	p.Missing("name")
	if _, err := v.Took(r.Form, p.Err()); err != nil || r.Form.Problem("addresses") != "Line 2: No." || r.Form.Problem("name") == "" {
		t.Errorf("problems %v", r.Form.Problems)
	}
}
