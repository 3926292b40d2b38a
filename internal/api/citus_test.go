//go:build citus

package api_test

import (
	"io"
	"path/filepath"
	"slices"
	"testing"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/testkit/dbtest"
)

// TestRequestsStayOnOneNode: a cluster plans each statement of a request directly for the node of its site.
func TestRequestsStayOnOneNode(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	must(t, err)
	processing, err := filepath.Glob("testdata/server-to-server/*.txt")
	must(t, err)
	plans := dbtest.NewPlans(dbtest.Requests)
	for _, file := range slices.Concat(files, processing) {
		profile := merchant.ProtectionOnlyProfile
		if slices.Contains(processing, file) {
			profile = merchant.ServerToServerProfile
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			w := newWorldOf(t, profile, dbtest.Engines[1].Database(t), io.Discard)
			var ran []dbtest.Statement
			w.watch = func(request func()) {
				ran = append(ran, dbtest.Statements(w.app.Config.Store, request)...)
			}
			converse(t, w, file, false)
			plans.Check(t, w.app.Config.Store, ran)
		})
	}
	plans.Done(t, 300)
}
