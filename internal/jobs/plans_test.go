package jobs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/jobs"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// Steps of a plan that scan all rows of a table, or of one site. An index of waiting rows is short.
var (
	everyRow  = regexp.MustCompile(`^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?$`)
	everySite = regexp.MustCompile(`^SEARCH (\w+) (?:EXISTS )?USING (?:COVERING )?INDEX (\w+) \(site_id=\?\)$`)
	short     = []string{"_pending", "_unplaced", "_due", "_open", "_open_of_site", "_to_end", "_to_complete", "_in_turns", "_done", "_that_expire", "_forget"}
)

// growing are the tables that have more rows with each payment.
var growing = []string{
	"allocation_events", "allocation_terms", "allocations", "audit_records", "booking_suppliers", "booking_totals", "bookings", "events",
	"limit_lines", "mails", "payments", "premium_lines", "transactions",
}

// TestJobsReadNoWholeBook: the jobs run all the time, so their reads must not grow with the book. Reads in the order of
// an index up to a LIMIT are bounded, and MAX(id) is the end of an index.
func TestJobsReadNoWholeBook(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	c := w.Channel(merchant.ModeProtectionOnly, "GBP")
	ran := dbtest.Statements(w.App.DB.Store, func() {
		for range 3 {
			b := w.Booking(c, 1000, "2024-09-14")
			w.Must(apptest.Linked(payment.Refund, w.Must(apptest.Report(payment.Purchase, b, 1000)), b, 400))
			for range 3 {
				jobs.New(w.App, discard()).RunDue(t.Context())
				w.Advance(time.Minute)
			}
			w.Advance(40 * 24 * time.Hour)
		}
	})
	seen := map[string]bool{}
	for _, s := range ran {
		query := strings.Join(strings.Fields(s.Query), " ")
		if seen[query] || strings.HasPrefix(query, "INSERT") {
			continue
		}
		seen[query] = true
		for _, step := range dbtest.Plan(t, w.App.DB.Store, s) {
			found := everyRow.FindStringSubmatch(step)
			if found == nil {
				found = everySite.FindStringSubmatch(step)
			}
			if found == nil || strings.Contains(query, "LIMIT") || strings.Contains(query, "MAX(id)") {
				continue
			}
			table := found[1]
			if of := regexp.MustCompile(`(?:FROM|JOIN|UPDATE) (\w+) (?:AS )?` + table + `\b`).FindStringSubmatch(query); of != nil {
				table = of[1]
			}
			if slices.Contains(growing, table) && !slices.ContainsFunc(short, func(end string) bool { return strings.HasSuffix(found[2], end) }) {
				t.Errorf("%s in %s", step, query)
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d statements ran", len(seen))
	}
}
