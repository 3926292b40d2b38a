package claim

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
)

// Open is the amount of an allocation that can still become payable at the end of a day, in base currency: U_T less the payable
// total of its claims. It is 0 after L, and for allocations that are not eligible.
func (l SnapshotLine) Open(payable int64, day civil.Day) int64 {
	if !l.Eligible() || day > l.LastDay {
		return 0
	}
	return max(0, l.Undelivered-payable)
}

// Developed is the part of an open amount that is expected to become payable.
func Developed(open int64, c terms.Cover) int64 { return part(open, c.DevelopmentPPM) }

// Due is a claim to be considered in a payout. Amounts are minor units of Q.
type Due struct {
	Part     int64 // its share of the covered amount
	Paid     int64
	Approved bool
}

// Payout computes the next payout of a merchant: a line for each claim with its approved and unpaid amount, or minus what was
// overpaid. lines is nil if there is nothing to pay. No payout is negative: overpaid amounts then remain a debt.
func Payout(claims []Due) (lines []int64, total int64) {
	lines = make([]int64, len(claims))
	for i, c := range claims {
		if c.Approved || c.Paid > c.Part {
			lines[i] = c.Part - c.Paid
			total = money.Sum(total, lines[i])
		}
	}
	if total <= 0 {
		return nil, 0
	}
	return lines, total
}

// Borne divides the payable total of an insolvency among those who bear it. Amounts are minor units of Q.
func (p Position) Borne(c terms.Cover) map[terms.Bearer]int64 {
	deductible := min(p.Payable, c.Deductible)
	return map[terms.Bearer]int64{
		terms.BearerDeductible: deductible,
		terms.BearerInsurer:    p.Covered,
		terms.BearerSite:       p.Payable - deductible - p.Covered,
	}
}

// ShareRecoveries shares the recoveries of an insolvency: each bearer, in order, gets up to the amount it bears. surplus is the
// rest.
func ShareRecoveries(recovered int64, order []terms.Bearer, borne map[terms.Bearer]int64) (shares map[terms.Bearer]int64, surplus int64) {
	shares = make(map[terms.Bearer]int64, len(order))
	for _, bearer := range order {
		shares[bearer] = min(recovered, borne[bearer])
		recovered -= shares[bearer]
	}
	return shares, recovered
}
