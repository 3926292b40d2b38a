package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
)

// TestPolicy: the JSON output can be edited and set again; the earlier policy stays in force on its days.
func TestPolicy(t *testing.T) {
	t.Parallel()
	s := aShop(t)
	next := s.readsJSON("policy", "show")
	next["from"], next["recognition"], next["minimum_per_line"] = "2024-07-01", "linear", 150
	next["tax_codes"] = []map[string]any{{"code": "IPT", "rate_ppm": 120000, "label": "Insurance premium tax"}}
	text, err := json.Marshal(next)
	if err != nil {
		t.Fatal(err)
	}
	s.follow([]step{
		{[]string{"policy", "show"}, 0, "recognition        end_date"},
		{[]string{"policy", "set", s.file("next.json", string(text))}, 0, "Added policy 2, in force from 2024-07-01"},
		{[]string{"policy", "show"}, 0, "recognition        linear"},
		{[]string{"policy", "show"}, 0, "minimum per line   GBP 1.50"},
		{[]string{"policy", "show"}, 0, "tax                IPT, 120000 ppm, Insurance premium tax"},
		{[]string{"policy", "show"}, 0, "all                    366   and more  16000"},
		{[]string{"policy", "show", "--on", "2024-06-30"}, 0, "policy             1, in force from 1970-01-01"},
		{[]string{"policy", "set", s.file("card.json", `{"from": "2024-08-01", "rate_card": [{"lead_from": 0, "ppm": 9000}, {"channel": 2, "lead_from": 0, "ppm": 7000}]}`)}, 0, "policy 3"},
		{[]string{"policy", "show"}, 0, "2                        0   and more  7000"},
		{[]string{"policy", "set", s.file("none.json", `{"recognition": "linear"}`)}, 1, "from"},
		{[]string{"policy", "set", s.file("wrong.json", `{"from": "2024-09-01", "recognition": "never", "minimum_per_line": -1}`)}, 1, "minimum_per_line"},
		{[]string{"policy", "set", s.file("text.json", "recognition: linear")}, 1, "JSON"},
		{[]string{"policy", "set", filepath.Join(s.folder, "nowhere.json")}, 1, "no such file"},
		{[]string{"policy", "show", "--on", "tomorrow"}, 2, "not a valid date"},
	})
	if shape := s.readsJSON("policy", "show", "--on", "2024-07-15"); shape["id"] != 2.0 || shape["recognition"] != "linear" {
		t.Errorf("the JSON of the policy: %v", shape)
	}
}

// TestPremium: the ledger is listed, as a table, JSON and CSV, and missing lines are booked once.
func TestPremium(t *testing.T) {
	t.Parallel()
	s := aShop(t)
	s.follow([]step{
		{[]string{"premium", "list"}, 0, "original  purchase  GBP         4.35"},
		{[]string{"premium", "list"}, 0, "return    refund    GBP        -0.72"},
		{[]string{"premium", "list", "--bookings", "2"}, 0, "12.50"},
		{[]string{"premium", "list", "--merchants", "x"}, 2, "--merchants"},
		{[]string{"premium", "correct", "--dry-run"}, 0, "2 payments with premium, 0 to be corrected"},
	})
	for _, c := range []struct {
		args []string
		want int
	}{{nil, 3}, {[]string{"--bookings", "1"}, 2}, {[]string{"--transactions", "2"}, 1}, {[]string{"--merchants", "1"}, 0}} {
		out := s.run(append([]string{"premium", "list", "--site", "demo", "--json"}, c.args...)...)
		var shapes []struct{ ID int64 }
		if err := json.Unmarshal([]byte(out), &shapes); err != nil || len(shapes) != c.want {
			t.Errorf("%v: %v, %d lines, want %d\n%s", c.args, err, len(shapes), c.want, out)
		}
		out = s.run(append([]string{"premium", "list", "--site", "demo", "--csv"}, c.args...)...)
		if rows := strings.Count(out, "\n") - 1; rows != c.want || !strings.HasPrefix(out, "as_of,id,recorded,") {
			t.Errorf("%v: %d rows of CSV, want %d\n%s", c.args, rows, c.want, out)
		}
	}
	s.spoil()
	s.follow([]step{
		{[]string{"premium", "correct", "--dry-run"}, 0, "2 payments with premium, 1 to be corrected"},
		{[]string{"premium", "correct"}, 0, "2 payments with premium, 1 corrected"},
		{[]string{"premium", "correct"}, 0, "2 payments with premium, 0 corrected"},
		// The trip is over: nothing returns any more.
		{[]string{"premium", "list"}, 0, "correction  correction  GBP         0.00      1.25"},
	})
}

// spoil books an unjustified line, like a bug in an older version.
func (s prompt) spoil() {
	s.t.Helper()
	database, err := store.Open(s.t.Context(), "sqlite:"+filepath.Join(s.folder, "holdfast.db"), time.Now)
	if err != nil {
		s.t.Fatal(err)
	}
	defer database.Close()
	err = database.Write(s.t.Context(), store.Deployment, func(tx *store.Tx) error {
		lines, err := ledger.PremiumOf(tx, 1, 1)
		if err != nil {
			return err
		}
		wrong := lines[len(lines)-1]
		wrong.Kind, wrong.Amount, wrong.State.Premium = protection.PremiumAdditional, 125, wrong.State.Premium+125
		return ledger.InsertPremium(tx, wrong)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}
