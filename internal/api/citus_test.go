//go:build citus

package api_test

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// overNodes lists the request statements that go to more than one node, by a part of their text, each with its reason.
var overNodes = map[string]string{
	"FROM channels WHERE (site_id IN":    "the operators' list of sites counts the merchants of each",
	"FROM policies WHERE (site_id IN":    "the operators' list of sites shows the policy of each",
	"SELECT u.site_id FROM limit_uses u": "a new rate is judged by the limits of all sites",
}

// TestRequestsStayOnOneNode: a cluster plans each statement of a request directly for the node of its site.
func TestRequestsStayOnOneNode(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	must(t, err)
	processing, err := filepath.Glob("testdata/server-to-server/*.txt")
	must(t, err)
	planned, excused := map[string]bool{}, map[string]bool{}
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
			for _, s := range ran {
				planForOneNode(t, w.app.Config.Store, s, planned, excused)
			}
		})
	}
	for part := range overNodes {
		if !excused[part] {
			t.Errorf("no statement with %q goes to several nodes: remove it from overNodes", part)
		}
	}
	if len(planned) < 300 {
		t.Errorf("only %d statements were planned", len(planned))
	}
}

// list matches a list of placeholders. Statements that differ only in its length count as one.
var list = regexp.MustCompile(`\((CAST\()?\$\d+[^()]*(\)[^()]*)?(, ?\(?(CAST\()?\$\d+[^()]*\)?)*\)`)

// planForOneNode has the cluster plan a statement that it has not planned yet.
func planForOneNode(t *testing.T, db *store.DB, s dbtest.Statement, planned, excused map[string]bool) {
	t.Helper()
	text := list.ReplaceAllString(strings.Join(strings.Fields(s.Query), " "), "(…)")
	if planned[text] {
		return
	}
	planned[text] = true
	undo := errors.New("nothing is kept")
	err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
		if _, err := tx.Exec(`SET LOCAL citus.multi_task_query_log_level TO 'error'`); err != nil {
			return err
		}
		err := tx.Query("EXPLAIN "+s.Query, s.Args, func(scan func(dest ...any) error) error { return nil })
		return cmp.Or(err, undo)
	})
	if errors.Is(err, undo) {
		return
	}
	for part := range overNodes {
		if strings.Contains(text, part) {
			excused[part] = true
			return
		}
	}
	t.Errorf("%v: %s", err, text)
}
