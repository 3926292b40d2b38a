package apptest

import (
	"bytes"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/reports"
)

// Bordereau writes the premium bordereau of a month in both forms.
func (w *World) Bordereau(month string, known time.Time) string {
	w.t.Helper()
	var out bytes.Buffer
	for _, write := range []func(r reports.Bordereau) error{
		func(r reports.Bordereau) error { return api.WriteBordereauCSV(&out, r) },
		func(r reports.Bordereau) error { return api.WriteBordereauJSON(&out, r) },
	} {
		report, err := w.App.Bordereaux.Premium(w.t.Context(), w.Actor, reports.BordereauQuery{Month: month, KnownAt: known})
		if err != nil {
			w.t.Fatal(err)
		}
		if err := write(report); err != nil {
			w.t.Fatal(err)
		}
	}
	return out.String()
}
