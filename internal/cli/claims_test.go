package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// jobs runs the jobs of claims until nothing is left, as the service would.
func (s prompt) jobs() {
	s.t.Helper()
	var line commandLine
	parser, err := newParser(&line, io.Discard)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"version", "--database", "sqlite:" + filepath.Join(s.folder, "holdfast.db")}); err != nil {
		s.t.Fatal(err)
	}
	p := &program{Config: line.Config, stdout: io.Discard, stderr: io.Discard}
	defer p.Close()
	if err := p.open(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	for _, job := range []func(ctx context.Context) (bool, error){p.app.Insolvencies.Work, p.app.Claims.Make, p.app.Claims.Plan} {
		for more := true; more; {
			if more, err = job(s.t.Context()); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

// aClaim makes a merchant that fails at a time on the site's clock, and a claim of GBP 400.00 for a payment of GBP 600.00. insolvency is the
// id that it gets.
func (s prompt) aClaim(at time.Time, insolvency string) {
	s.t.Helper()
	head := "booking_reference,channel,countries,currencies,date,total,firstname,surname,email,content,payment_reference,linked_reference," +
		"transaction_types,paid_at,payment_currencies,payment_total,booking_total,card_types\n"
	row := "L-1,Late,PT,GBP,%s,60000,Ana,Sousa,ana@example.org,A week,%s,%s,%s,%s,GBP,%d,%[6]d,visa\n"
	trip := at.AddDate(0, 0, 100).Format(time.DateOnly)
	paid := fmt.Sprintf(row, trip, "LP-1", "", "purchase", at.Add(-time.Hour).Format(time.DateTime), 60000)
	s.run("clock", "set", "--site", "demo", "--to", at.Format(time.DateTime))
	s.run("import", "payments", s.file("late.csv", head+paid), "--site", "demo", "--mode", "protection-only", "--cover-start", "effective")
	trigger := at.Add(time.Hour)
	s.run("clock", "set", "--site", "demo", "--to", trigger.Add(time.Minute).Format(time.DateTime))
	s.run("insolvency", "report", "4", "--kind", "liquidation", "--trigger", trigger.Format(time.DateTime), "--evidence", "Notice", "--site", "demo")
	s.run("insolvency", "confirm", insolvency, "--site", "demo")
	later := trigger.Add(24 * time.Hour)
	s.run("clock", "set", "--site", "demo", "--to", later.Format(time.DateTime))
	s.jobs()
	back := fmt.Sprintf(row, trip, "LC-1", "LP-1", "chargeback", later.Add(-time.Hour).Format(time.DateTime), 40000)
	s.run("import", "payments", s.file("back.csv", head+paid+back), "--site", "demo", "--mode", "protection-only", "--cover-start", "effective")
	s.run("clock", "set", "--site", "demo", "--to", later.Add(time.Hour).Format(time.DateTime))
	s.jobs()
}

// TestAClaimAtTheCommandLine goes from the claim to its payout.
func TestAClaimAtTheCommandLine(t *testing.T) {
	t.Parallel()
	s := aShop(t)
	s.aClaim(time.Now().UTC().Truncate(time.Second).Add(time.Hour), "1")
	printed := filepath.Join(s.folder, "payout.pdf")
	s.follow([]step{
		{[]string{"claim", "list"}, 0, "manual"},
		{[]string{"claim", "list", "--state", "paid"}, 0, "No claims."},
		{[]string{"claim", "list", "--reason", "lost"}, 2, `--reason: "lost" is not one of before_trigger`},
		{[]string{"claim", "show", "1"}, 0, "claim               1, open\n"},
		{[]string{"claim", "show", "1"}, 0, "min(loss, remaining C) = min(40000, 60000) = 40000"},
		{[]string{"claim", "show", "1", "--json"}, 0, `"payable": 40000`},
		{[]string{"claim", "show", "9"}, 1, "Claim 9 not found."},
		{[]string{"claim", "approve", "1"}, 1, "Claim 1 is open."},
		{[]string{"claim", "reject", "1"}, 2, "--reason: This field is required."},
		{[]string{"claim", "reject", "1", "--reason", "No papers"}, 0, "Claim 1: rejected, payable GBP 0.00"},
		{[]string{"claim", "reopen", "1", "--reason", "Papers"}, 0, "Claim 1: open, payable GBP 400.00"},
		{[]string{"claim", "withdraw", "1", "--reason", "Recorded twice"}, 0, "Claim 1: withdrawn"},
		{[]string{"claim", "reopen", "1", "--reason", "It was not"}, 0, "Claim 1: open"},
		{[]string{"claim", "release", "1", "--reason", "The bond does not pay"}, 0, "Claim 1: open"},
		{[]string{"claim", "assess", "1"}, 0, "Claim 1: assessed"},
		{[]string{"claim", "approve", "1"}, 0, "Claim 1: approved"},
		{[]string{"payout", "list"}, 0, "No payouts."},
	})
	s.jobs()
	s.follow([]step{
		{[]string{"payout", "list"}, 0, "planned"},
		{[]string{"payout", "show", "1"}, 0, "amount              GBP 400.00"},
		{[]string{"payout", "show", "1", "--json"}, 0, `"total": 40000`},
		{[]string{"payout", "pdf", "1", "--output", printed}, 0, "Saved payout no. 1 to "},
		{[]string{"payout", "paid", "1", "--reference", "BANK-1"}, 1, "Payout 1 is planned."},
		{[]string{"payout", "failed", "1", "--reason", "Account closed"}, 0, "Payout no. 1 of GBP 400.00: failed"},
		{[]string{"claim", "sums"}, 0, "GBP            1    400.00   400.00       0.00"},
		{[]string{"claim", "sums", "--to-represent"}, 0, "No claims."},
		{[]string{"claim", "list", "--to-represent"}, 0, "No claims."},
		{[]string{"recovery", "add", "1", "gift", "50.00 GBP"}, 2, "<kind>: Must be one of: reserve"},
		{[]string{"recovery", "add", "1", "bond", "50.00 GBP", "--reference", "ABTA"}, 0, "Recorded recovery 1 of GBP 50.00"},
		{[]string{"recovery", "list", "--kind", "bond"}, 0, "ABTA"},
		{[]string{"insolvency", "figures", "1"}, 0, "recovered  GBP        50.00"},
		{[]string{"recovery", "cancel", "1", "--reason", "Another estate"}, 0, "Cancelled recovery 1"},
	})
	s.jobs()
	s.follow([]step{
		{[]string{"payout", "sign", "2"}, 0, "Payout no. 2 of GBP 400.00: signed"},
		{[]string{"payout", "paid", "2", "--reference", "BANK-2"}, 0, "Payout no. 2 of GBP 400.00: paid"},
		{[]string{"payout", "paid", "2", "--reference", "BANK-3"}, 1, "Payout 2 is paid."},
		{[]string{"claim", "list", "--state", "paid", "--csv"}, 0, ",400.00,400.00,"},
		{[]string{"insolvency", "figures", "1", "--csv"}, 0, ",paid,GBP,400.00"},
		{[]string{"insolvency", "withdraw", "1"}, 1, "Claim 1 has been approved."},
		{[]string{"verify"}, 0, "No errors found."},
	})
	if content, err := os.ReadFile(printed); err != nil || !strings.HasPrefix(string(content), "%PDF-") {
		t.Errorf("the PDF is %.20q, %v", content, err)
	}
}
