package apptest

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/fault"
	"holdfast/internal/ledger"
	"holdfast/internal/protection"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
)

func (w *World) ExplainBooking(id int64, asOf string, page travel.Page) reports.BookingProtection {
	w.t.Helper()
	in := reports.ProtectionQuery{Moment: ledger.Moment{AsOf: DayPtr(w.t, asOf)}}
	report, err := w.App.Protection.ExplainBooking(w.t.Context(), w.Actor, id, in, page)
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

func (w *World) ExplainLine(id int64, line string, page travel.Page) reports.StatementLineProtection {
	w.t.Helper()
	in := reports.StatementLineQuery{Line: line, Page: page}
	report, err := w.App.Protection.ExplainStatementLine(w.t.Context(), w.Actor, id, in)
	if err != nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	return report
}

// AddsUp checks each line of a statement against what it is explained with.
func (w *World) AddsUp(s protection.IssuedStatement) {
	w.t.Helper()
	for _, name := range s.LineNames() {
		r := w.ExplainLine(s.ID, name, Everything)
		var lines, inputs int64
		for _, l := range r.Premium.Items {
			lines += l.Amount
			before := int64(0)
			if l.Before != nil {
				before = l.Before.State.Premium
			}
			if l.Line.State.Premium-before != l.Amount-l.Retained {
				w.t.Errorf("statement %d, line %d: %+v after %d", s.Number, l.ID, l.Line, before)
			}
			if one := w.ExplainLine(s.ID, strconv.FormatInt(l.ID, 10), Everything); !slices.Equal(one.Premium.Items[0].Steps, l.Steps) || one.Part.Amount != l.Amount {
				w.t.Errorf("statement %d, line %d by itself: %+v", s.Number, l.ID, one.Part)
			}
		}
		for _, i := range r.Part.Inputs {
			inputs += i.Amount
		}
		switch {
		case len(r.Premium.Items) > 0 && (lines != r.Part.Amount || int64(len(r.Premium.Items)) != r.Part.Lines),
			(name == protection.ClosingLine || name == protection.OpeningLine) && inputs != r.Part.Amount,
			strings.HasPrefix(name, protection.TaxLine) && inputs != s.Taxes[0].Parts[0].Base,
			len(r.Part.Steps) == 0:
			w.t.Errorf("statement %d, %s: %+v, lines %d, inputs %d", s.Number, name, r.Part, lines, inputs)
		}
	}
	_, err := w.App.Protection.ExplainStatementLine(w.t.Context(), w.Actor, s.ID, reports.StatementLineQuery{Line: "correction", Page: Everything})
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.RecordNotFound {
		w.t.Errorf("a line that is none: %v", err)
	}
}
