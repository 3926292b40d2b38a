package apptest

import (
	"time"

	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// Everything is the first page, all of it.
var Everything = travel.Page{Number: 1, Size: 1000, Offset: -1, Count: true}

func (w *World) Statements(f travel.StatementFilter) []protection.IssuedStatement {
	w.t.Helper()
	list, _, err := w.App.Statements.List(w.t.Context(), w.Actor, f, Everything)
	if err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

func (w *World) Issue(want int) {
	w.t.Helper()
	issued, err := w.App.Statements.IssueDue(w.t.Context())
	if err != nil || issued != want {
		w.t.Fatalf("issued %d statements, want %d; %v", issued, want, err)
	}
}

// Waiting checks how many periods have ended whose statements cannot be issued yet, and from when on they can.
func (w *World) Waiting(count int, from time.Time) {
	w.t.Helper()
	got, err := w.App.Statements.Waiting(w.t.Context(), w.Actor)
	if err != nil || got.Count != count || count > 0 && !got.From.Equal(from) {
		w.t.Errorf("%d periods wait until %s, %v; want %d until %s", got.Count, got.From, err, count, from)
	}
}

func (w *World) StatementLines(id int64) (list []protection.StatementLine) {
	w.t.Helper()
	for l, err := range w.App.Statements.AllLines(w.t.Context(), w.Actor, id) {
		if err != nil {
			w.t.Fatal(err)
		}
		list = append(list, l)
	}
	return list
}

func (w *World) Pay(id, amount int64, day, reference string) (travel.StatementPayment, bool, error) {
	w.t.Helper()
	return w.App.Statements.Pay(w.t.Context(), w.Actor, id, travel.StatementPaymentFields{
		PaidOn: DayPtr(w.t, day), Amount: &amount, Reference: &reference,
	})
}
