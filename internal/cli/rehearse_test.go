package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestARehearsalAtTheCommandLine goes through a rehearsal in two parts.
func TestARehearsalAtTheCommandLine(t *testing.T) {
	t.Parallel()
	s := aShop(t)
	rows := "booking_reference,channel,countries,currencies,date,total,firstname,surname,email,content,payment_reference," +
		"transaction_types,paid_at,payment_currencies,payment_total,booking_total,card_types\n"
	now := time.Now().UTC()
	for n := range 6 {
		rows += fmt.Sprintf("L-%[1]d,Late,PT,GBP,%[2]s,60000,Ana,Sousa,ana@example.org,A week,LP-%[1]d,purchase,%[3]s,GBP,60000,60000,visa\n",
			n, now.AddDate(0, 0, 100).Format(time.DateOnly), now.Add(-time.Hour).Format(time.DateTime))
	}
	s.run("import", "payments", s.file("late.csv", rows), "--site", "demo", "--mode", "protection-only", "--cover-start", "effective")
	s.follow([]step{
		{[]string{"rehearse", "99"}, 1, "Channel 99 not found."},
		{[]string{"rehearse", "4", "--days", "0"}, 2, "--days: Must be 1 or more."},
		{[]string{"rehearse", "4", "--days", "2"}, 0, "day  1  Adyen Dispute report: 1 matched"},
		{[]string{"insolvency", "list"}, 0, "open"},
		{[]string{"rehearse", "4", "--days", "1"}, 0, "To continue: holdfast rehearse 4 --site demo"},
	})
	said := s.run("rehearse", "4", "--site", "demo")
	for _, want := range []string{"matched by hand", "represented with evidence", "claims closed", "insolvency closed", "Insolvency 1 of Late: closed, day 20 of 20",
		"exposed    GBP", "disputed   GBP", "covered    GBP", "recovered  GBP", "holdfast insolvency reinstate 1 --site demo"} {
		if !strings.Contains(said, want) {
			t.Errorf("the rehearsal does not say %q:\n%s", want, said)
		}
	}
	s.follow([]step{
		{[]string{"rehearse", "4"}, 1, "Reinstate it first."},
		{[]string{"insolvency", "reinstate", "1"}, 0, "is reinstated"},
		{[]string{"verify"}, 0, "No errors found."},
	})
}

// TestNothingIsRehearsedOutsideASandbox at the command line.
func TestNothingIsRehearsedOutsideASandbox(t *testing.T) {
	t.Parallel()
	s := twoOperators(t)
	if said, code := s.as("", "rehearse", "1", "--site", "real"); code != 1 || !strings.Contains(said, "This site is not a sandbox.") {
		t.Errorf("exit code %d: %s", code, said)
	}
}
