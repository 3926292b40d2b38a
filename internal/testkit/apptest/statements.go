package apptest

import (
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/protection"
)

// Statements reads the issued statements.
func (w *World) Statements(f statements.StatementFilter) []protection.IssuedStatement {
	w.t.Helper()
	list, _, err := w.App.Statements.List(w.t.Context(), w.Actor, f, Everything)
	if err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

// Issue issues all due statements. There must be want of them.
func (w *World) Issue(want int) {
	w.t.Helper()
	issued, err := w.App.Statements.IssueDue(w.t.Context())
	if err != nil || issued != want {
		w.t.Fatalf("issued %d statements, want %d; %v", issued, want, err)
	}
}

// StatementLines reads all lines of a statement.
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
