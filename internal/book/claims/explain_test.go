package claims

import (
	"testing"

	"holdfast/internal/domain/claim"
)

// TestAClaimIsSummarized: the sentence has the payable amount and the reason if it is less, the covered and the paid amounts.
func TestAClaimIsSummarized(t *testing.T) {
	made := func(change func(*Claim)) Claim {
		c := Claim{Currency: "EUR", PolicyCurrency: "EUR", Priced: true, Disputed: 60_000, Payable: 60_000, Value: 60_000, Covered: 60_000}
		change(&c)
		return c
	}
	for want, change := range map[string]func(c *Claim){
		"All of the disputed €600.00 is payable. The payable amount is covered in full.":       func(*Claim) {},
		"All of the disputed €600.00 is payable. The payable amount is covered up to €450.00.": func(c *Claim) { c.Covered = 45_000 },
		"All of the disputed €600.00 is payable. The payable amount is not covered by the policy. €10.00 was overpaid and is set off against the next payout.": func(c *Claim) {
			c.Covered, c.Overpaid = 0, 1000
		},
		"All of the disputed €600.00 is payable. It is worth £512.20, which is covered in full. £512.20 has been paid or is in a payout.": func(c *Claim) {
			c.PolicyCurrency, c.Value, c.Covered, c.Paid = "GBP", 51_220, 51_220, 51_220
		},
		"All of the disputed €600.00 is payable. The payable amount is covered in full. €600.00 has been paid.": func(c *Claim) {
			c.State, c.Paid = claim.StatePaid, 60_000
		},
		"All of the disputed €600.00 is payable. There is no exchange rate to GBP yet.": func(c *Claim) {
			c.PolicyCurrency, c.Priced, c.Value, c.Covered = "GBP", false, 0, 0
		},
		"None of the disputed €600.00 is payable: everything was delivered by the day of the trigger.": func(c *Claim) {
			c.Payable, c.Value, c.Covered, c.Represent, c.Reason = 0, 0, 0, 60_000, claim.Delivered
		},
		"None of the disputed €600.00 is payable because the claim was rejected. €5.00 has been paid or is in a payout.": func(c *Claim) {
			c.State, c.Payable, c.Value, c.Covered, c.Paid = claim.StateRejected, 0, 0, 0, 500
		},
	} {
		if got := summarize(made(change)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
