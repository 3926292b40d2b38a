package apptest

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
	"holdfast/internal/store"
)

// Lines reads the whole premium ledger in the order in which it was written.
func (w *World) Lines(f protection.PremiumFilter) []protection.PremiumLine {
	w.t.Helper()
	list, err := w.App.Premiums.List(w.t.Context(), w.Actor, f, store.Page{Number: 1, Size: 1000, Offset: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

// Exposure reads the exposure report.
func (w *World) Exposure(q report.ExposureQuery) report.ExposureReport {
	w.t.Helper()
	r, err := w.App.Exposure.Report(w.t.Context(), w.Actor, q)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// RunOff reads the run-off report.
func (w *World) RunOff(q report.ExposureQuery) report.RunOffReport {
	w.t.Helper()
	r, err := w.App.Exposure.RunOff(w.t.Context(), w.Actor, q)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// Ageing reads the ageing report.
func (w *World) Ageing(q report.ExposureQuery) report.AgeingReport {
	w.t.Helper()
	r, err := w.App.Exposure.Ageing(w.t.Context(), w.Actor, q)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// Movement reads the movement of exposure since the end of a day.
func (w *World) Movement(from string, q report.ExposureQuery) report.MovementReport {
	w.t.Helper()
	day, err := civil.ParseDay(from)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := w.App.Exposure.Movement(w.t.Context(), w.Actor, report.MovementQuery{ExposureQuery: q, From: &day})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}
