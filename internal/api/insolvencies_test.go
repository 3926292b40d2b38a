package api_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"holdfast/internal/testkit/dbtest"

	"github.com/xuri/excelize/v2"
)

// TestAffectedPaymentsAsASpreadsheet: the workbook has a row per affected payment, and all cells are text.
func TestAffectedPaymentsAsASpreadsheet(t *testing.T) {
	t.Parallel()
	dbtest.OnBoth(t, func(t *testing.T, address string) {
		h := furnish(t, newWorld(t, address, io.Discard))
		path := fmt.Sprintf("/demo/rest/svc/v2/insolvencies/%d/affected/xlsx", h.own["insolvency"])
		response, said := h.send(t, h.request(t, h.credential(t, "finance"), "GET", path, ""))
		name := fmt.Sprintf(`attachment; filename="insolvency-%d-affected.xlsx"`, h.own["insolvency"])
		if response.StatusCode != http.StatusOK || response.Header.Get("Content-Disposition") != name {
			t.Fatalf("%d %v", response.StatusCode, response.Header)
		}
		book, err := excelize.OpenReader(bytes.NewReader(said))
		must(t, err)
		defer book.Close()
		sheet := book.GetSheetName(0)
		rows, err := book.GetRows(sheet)
		must(t, err)
		if len(rows) != 3 {
			t.Fatalf("%d rows", len(rows))
		}
		for i, column := range rows[0] {
			want := map[string]string{"surname": "Shelley", "date": "2026-08-31", "auth_code": "004711", "total": "10.00", "eligible": "yes"}[column]
			if want == "" {
				continue
			}
			for _, row := range rows[1:] {
				if row[i] != want {
					t.Errorf("%s is %q, want %q", column, row[i], want)
				}
			}
			cell, err := excelize.CoordinatesToCellName(i+1, 2)
			must(t, err)
			if kind, err := book.GetCellType(sheet, cell); err != nil || kind != excelize.CellTypeInlineString && kind != excelize.CellTypeSharedString {
				t.Errorf("%s is of type %d, %v", column, kind, err)
			}
		}
	})
}

// TestInsolvenciesOfAMerchant: the list can be limited to channels and states, and both limits apply.
func TestInsolvenciesOfAMerchant(t *testing.T) {
	t.Parallel()
	dbtest.OnBoth(t, func(t *testing.T, address string) {
		h := furnish(t, newWorld(t, address, io.Discard))
		h.must(t, "operator", "POST", "/demo/rest/svc/v2/insolvencies", h.fill(`{"channels": {channel}, "kind": "suspension",
			"trigger_at": "2026-03-02 10:20:30", "evidence": "Notice"}`, h.own))
		for query, want := range map[string]int{
			"": 2, "channels=4": 1, "channels=5": 1, "channels=4,5": 2, "channels=3": 0, "channels=4&state=open": 0, "channels=5&state=open": 1,
		} {
			if got := h.page(t, "/demo/rest/svc/v2/insolvencies?"+query); len(got.ids) != want {
				t.Errorf("%q: %v, want %d", query, got.ids, want)
			}
		}
	})
}

// TestEventsAreOpenToEveryRole: a reader sees that a merchant failed, but not the insolvency itself.
func TestEventsAreOpenToEveryRole(t *testing.T) {
	t.Parallel()
	h := furnish(t, newWorld(t, dbtest.SQLite(t), io.Discard))
	for as, shown := range map[string]bool{"reader": false, "finance": true} {
		said := h.must(t, as, "GET", "/demo/rest/svc/v2/events?types=insolvency.*", "")
		if !bytes.Contains(said, []byte(`"insolvency.confirmed"`)) || bytes.Contains(said, []byte(`"evidence"`)) != shown {
			t.Errorf("%s: %s", as, said)
		}
	}
}
