package audit_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"holdfast/internal/platform/audit"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// appendAudit appends n records to the chain of a site.
func appendAudit(t *testing.T, db *store.DB, siteID int64, n int) {
	t.Helper()
	for i := range n {
		err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			return audit.Append(tx, audit.Entry{
				SiteID: siteID, At: tx.Now, RealAt: tx.Now, UserID: 3, Username: "ada", Role: "operator", Address: "192.0.2.1",
				RequestID: "r", Action: "channel.change", Object: fmt.Sprintf("channel %d", i+1), Before: "null", After: `{"a":"<ä>"}`,
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func chainOf(t *testing.T, db *store.DB, siteID int64) audit.Check {
	t.Helper()
	var check audit.Check
	err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
		head, err := audit.HeadOf(tx, siteID)
		if err != nil {
			return err
		}
		check = audit.Check{}
		err = audit.Each(tx, siteID, func(r audit.Entry) { check.Next(r) })
		check.End(head, siteID != 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return check
}

func TestAnyChangeOfAPastRecordIsFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, sql string
		broken    int64
		why       string
	}{
		{"nothing", `UPDATE audit_records SET action = 'x' WHERE id = 99`, 0, ""},
		{"a field", `UPDATE audit_records SET after_state = '{}' WHERE site_id = 1 AND id = 3`, 3, "changed"},
		{"who", `UPDATE audit_records SET username = 'eve' WHERE site_id = 1 AND id = 1`, 1, "changed"},
		{"when", `UPDATE audit_records SET real_at = real_at + 1 WHERE site_id = 1 AND id = 5`, 5, "changed"},
		{"the first", `DELETE FROM audit_records WHERE site_id = 1 AND id = 1`, 1, "removed"},
		{"one in the middle", `DELETE FROM audit_records WHERE site_id = 1 AND id = 4`, 4, "removed"},
		{"the last", `DELETE FROM audit_records WHERE site_id = 1 AND id = 5`, 5, "removed"},
		{"all", `DELETE FROM audit_records WHERE site_id = 1`, 1, "removed"},
		{"the order", `UPDATE audit_records SET id = CASE id WHEN 2 THEN -3 ELSE -2 END WHERE site_id = 1 AND id IN (2, 3);
			UPDATE audit_records SET id = -id WHERE id < 0`, 2, "changed"},
		{"one that was never written", `INSERT INTO audit_records SELECT site_id, 6, at, real_at, user_id, username, role, token_id,
			address, request_id, action, object, before_state, after_state, previous_hash, hash FROM audit_records
			WHERE site_id = 1 AND id = 5`, 6, "changed"},
		{"all, with the end of the chain", `DELETE FROM audit_records WHERE site_id = 1; DELETE FROM audit_heads WHERE site_id = 1`, 1, "removed"},
		{"the end alone", `DELETE FROM audit_heads WHERE site_id = 1`, 5, "end of the chain"},
		{"the end of the chain", `UPDATE audit_heads SET hash = 'x' WHERE site_id = 1`, 5, "last"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
				appendAudit(t, db, 1, 5)
				appendAudit(t, db, 2, 2)
				for statement := range strings.SplitSeq(c.sql, ";") {
					if err := db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error { _, err := tx.Exec(statement); return err }); err != nil {
						t.Fatal(err)
					}
				}
				got := chainOf(t, db, 1)
				if got.Broken != c.broken || !strings.Contains(got.Why, c.why) {
					t.Errorf("record %d: %q, want %d: %q", got.Broken, got.Why, c.broken, c.why)
				}
				if other := chainOf(t, db, 2); other.Broken != 0 || other.Last.ID != 2 {
					t.Errorf("the other site: %+v", other)
				}
			})
		})
	}
}

// TestTheDeploymentMayHaveNoRecords: the chain without a site begins with the first key, rate or operator.
func TestTheDeploymentMayHaveNoRecords(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		if got := chainOf(t, db, 0); got.Broken != 0 {
			t.Errorf("the deployment: %+v", got)
		}
		if got := chainOf(t, db, 9); got.Broken != 1 {
			t.Errorf("a site: %+v", got)
		}
	})
}

// A whole record that is moved with its valid hash still does not follow its predecessor.
func TestAMovedRecordIsFound(t *testing.T) {
	t.Parallel()
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		appendAudit(t, db, 1, 3)
		var second audit.Entry
		err := db.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
			return audit.Each(tx, 1, func(r audit.Entry) {
				if r.ID == 3 {
					second = r
				}
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		second.ID = 2
		err = db.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			if _, err := tx.Exec(`DELETE FROM audit_records WHERE site_id = 1 AND id = 2`); err != nil {
				return err
			}
			_, err := tx.Exec(`UPDATE audit_records SET id = 2, hash = $1 WHERE site_id = 1 AND id = 3`, second.Sum())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := chainOf(t, db, 1); got.Broken != 2 || !strings.Contains(got.Why, "follow") {
			t.Errorf("%+v", got)
		}
	})
}

func TestAChainHasOneOrderHoweverManyWrite(t *testing.T) {
	dbtest.OnBothOpen(t, func(t *testing.T, db *store.DB) {
		var wg sync.WaitGroup
		errs := make(chan error, 40)
		for range 40 {
			wg.Go(func() {
				errs <- db.Write(context.Background(), store.Deployment, func(tx *store.Tx) error {
					return audit.Append(tx, audit.Entry{SiteID: 1, At: tx.Now, RealAt: tx.Now, Before: "null", After: "null"})
				})
			})
		}
		wg.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := chainOf(t, db, 1); got.Broken != 0 || got.Last.ID != 40 {
			t.Errorf("%+v", got)
		}
	})
}

// The canonical text is a guarantee: the hashes can be computed from an export without this program.
func TestTheCanonicalTextStays(t *testing.T) {
	t.Parallel()
	r := audit.Entry{
		SiteID: 1, ID: 2, At: dbtest.Start, RealAt: dbtest.Start, UserID: 3, Username: "ada", Role: "operator", Address: "192.0.2.1",
		RequestID: "r", Action: "clock.move", Object: "site 1", Before: `{"a":"<ä>"}`, After: "null", PreviousHash: "00ff",
	}
	want := `["holdfast-audit-1",1,2,1772446830123456,1772446830123456,3,"ada","operator",0,"192.0.2.1","r","clock.move","site 1",` +
		`"{\"a\":\"<ä>\"}","null","00ff"]`
	if got := r.Canonical(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := r.Sum(); len(got) != 64 {
		t.Errorf("sum %q", got)
	}
}
