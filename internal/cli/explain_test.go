package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// aShop is a sandbox with a book of three imported payments.
func aShop(t *testing.T) prompt {
	t.Helper()
	s := prompt{t, t.TempDir()}
	s.run("site", "create", "demo", "--name", "Demo", "--currency", "GBP", "--sandbox")
	s.run("rates", "import", s.file("rates.csv", someRates))
	s.run("import", "payments", s.file("book.csv", aBook), "--site", "demo", "--mode", "protection-only", "--cover-start", "effective")
	return s
}

// step is a command, its output and its exit code.
type step struct {
	args []string
	code int
	says string
}

// follow runs steps on the site demo.
func (s prompt) follow(steps []step) {
	s.t.Helper()
	for _, step := range steps {
		out, said, code := s.try(append(step.args, "--site", "demo")...)
		if code != step.code || !strings.Contains(out+said, step.says) {
			s.t.Errorf("%v: exit code %d, %q is not in\n%s%s", step.args, code, step.says, out, said)
		}
	}
}

// readsJSON returns the output of a command with --json.
func (s prompt) readsJSON(args ...string) (shape map[string]any) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.run(append(args, "--site", "demo", "--json")...)), &shape); err != nil {
		s.t.Errorf("%v: %v", args, err)
	}
	return shape
}

// TestExplain explains the first worked line of the rules: the payment, its booking, and the line of its statement.
func TestExplain(t *testing.T) {
	t.Parallel() // the statement takes ten seconds of waiting, in which others can go on
	s := aShop(t)
	s.follow([]step{
		{[]string{"explain", "1", "--as-of", "2024-06-26"}, 0, "worth GBP 512.19"},
		{[]string{"explain", "1", "--as-of", "2024-06-26"}, 0, "Of €600.00 paid, nothing was refunded; all of it is at risk until 12 January 2025."},
		{[]string{"explain", "transaction", "1"}, 0, "L = min(max(D, P) + 120, P + 540) = 2025-01-12"},
		{[]string{"explain", "2"}, 0, "It adjusts transaction 1"},
		{[]string{"explain", "booking", "1", "--as-of", "2024-06-26"}, 0, "paid                         600.00\nremaining (N)                600.00"},
		{[]string{"explain", "booking", "1", "--as-of", "2024-07-01"}, 0, "refunded                     100.00"},
		{[]string{"explain", "booking", "1", "--as-of", "2024-07-01"}, 0, "still to be paid (E4)        600.00"},
		{[]string{"explain", "booking", "1", "--as-of", "2024-07-01"}, 0, "max(0, total − paid before refunds) = max(0, 120000 − 60000) = 60000"},
		{[]string{"explain", "booking", "1", "--page", "2", "--per-page", "1"}, 0, "Page 2 does not exist: the list has 1 payments"},
		{[]string{"explain", "9"}, 1, "Transaction 9 not found."},
		{[]string{"explain", "booking", "9"}, 1, "Booking 9 not found."},
		{[]string{"explain", "booking", "1", "--known-at", "2024-01-01 00:00:00"}, 1, "Booking 1 not found."},
		{[]string{"explain", "booking", "1", "--known-at", "2199-01-01 00:00:00"}, 2, "--known-at: Must not be in the future"},
		{[]string{"explain", "booking", "1", "--page", "0"}, 2, "--page"},
		{[]string{"explain", "booking", "1", "--per-page", "101"}, 2, "--per-page"},
		{[]string{"explain", "statement", "1", "opening"}, 1, "Statement 1 not found."},
		{[]string{"explain", "statement", "1"}, 2, "<line>"},
		{[]string{"explain", "one"}, 2, "is not a whole number"},
	})
	s.follow([]step{
		{[]string{"booking", "list"}, 0, "B-1        Ana Sousa"},
		{[]string{"booking", "list", "--sort", "-total", "--limit", "1", "--csv"}, 0, ",B-2,Max Weber,"},
		{[]string{"booking", "list", "--status", "lost"}, 2, `--status: "lost" is not one of authorized`},
		{[]string{"booking", "list", "--merchants", "1"}, 0, "No bookings found."},
		{[]string{"booking", "show", "1"}, 0, "total               EUR 1,200.00"},
		{[]string{"booking", "show", "1"}, 0, "R-1        refund    complete  EUR       100.00"},
		{[]string{"booking", "show", "1"}, 0, "other protection    insurance"},
		{[]string{"transaction", "show", "1"}, 0, "acquirer reference  74537604155000000012345"},
		{[]string{"transaction", "list", "--acquirer-reference", "74537604183000000012346", "--csv"}, 0, ",2,2,R-1,refund,"},
		{[]string{"booking", "show", "9"}, 1, "Booking 9 not found."},
		{[]string{"transaction", "list", "--types", "refund", "--csv"}, 0, ",2,2,R-1,refund,complete,EUR,100.00,0.00,visa,1,"},
		{[]string{"transaction", "list", "--sort", "-id", "--limit", "1", "--csv"}, 0, ",3,3,P-2,purchase,"},
		{[]string{"transaction", "list", "--sort", "size"}, 2, `--sort: Unknown column "size"`},
		{[]string{"transaction", "show", "2"}, 0, "adjusts             1"},
		{[]string{"transaction", "show", "1", "--csv"}, 0, ",1,1,1,B-1,PT,EUR,600.00"},
	})
	if shape := s.readsJSON("booking", "show", "1"); shape["total"] != 120000.0 || shape["_links"] != nil {
		t.Errorf("the JSON of the booking: %v", shape)
	}
	if shape := s.readsJSON("transaction", "show", "2"); shape["linked_id"] != 1.0 {
		t.Errorf("the JSON of the transaction: %v", shape)
	}
	if shape := s.readsJSON("explain", "booking", "1"); shape["sums"].(map[string]any)["paid"] != 60000.0 || len(shape["allocations"].([]any)) != 1 {
		t.Errorf("the JSON of the booking: %v", shape)
	}
	if out := s.run("explain", "1", "--site", "demo", "--json"); !strings.HasPrefix(out, "{\n  \"summary\": \"Nothing is at risk any more: ") {
		t.Errorf("the JSON of the payment does not begin with its summary: %s", out)
	}
	for want, args := range map[string][]string{
		",payment,1,R5,L,": {"explain", "1"}, ",booking,1,R3,paid,": {"explain", "booking", "1"},
	} {
		if out := s.run(append(args, "--csv", "--site", "demo")...); !strings.HasPrefix(out, "as_of,about,id,rule,name,text\n") || !strings.Contains(out, want) {
			t.Errorf("%v --csv: %q is not in\n%s", args, want, out)
		}
	}
	s.run("clock", "set", "--site", "demo", "--to", "2027-07-01 00:00:00")
	s.run("statements", "issue", "--site", "demo")
	s.follow([]step{
		{[]string{"explain", "statement", "1", "opening"}, 0, "has no earlier statement in GBP"},
		{[]string{"explain", "statement", "1", "original"}, 0, "π = round(51219 · 8500 / 1,000,000) = round(435.361500) = 435"},
		{[]string{"explain", "statement", "1", "original", "--page", "3"}, 0, "Page 3 does not exist: the list has 1 premium lines"},
		{[]string{"explain", "statement", "1", "return"}, 0, "before: EUR 600.00 worth GBP 512.19, lead 103 days, 8500 ppm, premium of the state GBP 4.35"},
		{[]string{"explain", "statement", "1", "closing"}, 0, "opening 0 + original 435"},
		{[]string{"explain", "statement", "1", "payments"}, 0, "the 0 payments"},
		{[]string{"explain", "statement", "1", "minimum"}, 1, `Statement 1 has no line "minimum".`},
		{[]string{"explain", "statement", "1", "1", "--page", "2"}, 0, "£4.35 of premium was charged for booking 1, because payment 1 was logged."},
		{[]string{"explain", "statement", "1", "99"}, 1, "Statement 1 has no premium line 99."},
	})
	pay := func(amount, reference string, more ...string) []string {
		return append([]string{"statements", "pay", "1", "--amount", amount, "--date", "2027-06-30", "--reference", reference}, more...)
	}
	s.follow([]step{
		{pay("500000 GBP", "R-1"), 2, "--amount: GBP 500,000.00 is more than the open amount, GBP "},
		{pay("500000 GBP", "R-1"), 2, "add --overpaid"},
		{pay("3.63 EUR", "R-1"), 2, "--amount: The statement is in GBP, but the amount is 3.63 EUR."},
		{pay("GBP 3.63", "R-1"), 0, "Payment 1 of GBP 3.63 recorded\nOutstanding on statement no. 1: GBP 0.00"},
		{pay("3.63 GBP", "R-1"), 0, "already recorded"},
		{pay("1 GBP", "R-2"), 2, "the open amount, GBP 0.00"},
		{pay("1 GBP", "R-2", "--overpaid"), 0, "GBP 1.00 recorded"},
		{pay("-1.00 GBP", "R-3"), 0, "of GBP -1.00 recorded"},
	})
	if out := s.run("explain", "statement", "1", "1", "--csv", "--site", "demo"); !strings.Contains(out, ",premium line,1,R10,") {
		t.Errorf("the CSV of the premium line: %s", out)
	}
	if shape := s.readsJSON("explain", "statement", "1", "1"); shape["line"] != "1" || shape["amount"] != 435.0 || len(shape["premium_lines"].([]any)) != 1 {
		t.Errorf("the JSON of the premium line: %v", shape)
	}
}

// TestPremiumAndPremiumOfTheState: premium is the booked premium. A refund after the trip returns none, so the premium
// of the state is lower by the retained amount (R10).
func TestPremiumAndPremiumOfTheState(t *testing.T) {
	t.Parallel()
	s := aShop(t)
	late := aBook + "B-2,Groups,PT,GBP,2024-06-20,2024-06-27,250000,Max,Weber,max@example.org,A week,R-2,P-2,refund,2024-07-05 09:00:00,GBP,50000,50000,visa,,\n"
	s.run("import", "payments", s.file("late.csv", late), "--site", "demo", "--mode", "protection-only", "--cover-start", "effective")
	s.follow([]step{
		{[]string{"explain", "3"}, 0, "The premium is £12.50, of which £2.50 was retained"},
		{[]string{"explain", "3"}, 0, ", premium GBP 12.50 (premium of the state GBP 10.00, retained GBP 2.50)"},
		{[]string{"explain", "3"}, 0, "lines 1250 = premium of the state 1000 + retained 250"},
		{[]string{"explain", "booking", "2"}, 0, "premium of the state, GBP"},
		{[]string{"premium", "list"}, 0, "PREMIUM OF STATE"},
	})
}
