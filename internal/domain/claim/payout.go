package claim

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
)

// Open is what may still become payable of an allocation at the end of a day: what was undelivered at the trigger, less what its
// claims have made payable. It is 0 once L is over, and for allocations that bear no claims. Base currency.
func (l SnapshotLine) Open(payable int64, day civil.Day) int64 {
	if !l.Eligible() || day > l.LastDay {
		return 0
	}
	return max(0, l.Undelivered-payable)
}

// Developed is how much of an open amount is expected to become payable.
func Developed(open int64, c terms.Cover) int64 { return part(open, c.DevelopmentPPM) }

// Due is a claim that a payout could pay. Minor units of Q.
type Due struct {
	Part     int64 // of what is covered
	Paid     int64
	Approved bool
}

// Payout computes what is paid of each claim of a merchant now: what is approved and not paid, less what was overpaid of any
// claim, which is negative. lines is nil if nothing is left to pay: no payout is negative. Overpaid amounts then stay a debt.
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

// Borne is who bears what of all that is payable of an insolvency. Minor units of Q.
func (p Position) Borne(c terms.Cover) map[terms.Bearer]int64 {
	deductible := min(p.Payable, c.Deductible)
	return map[terms.Bearer]int64{
		terms.BearerDeductible: deductible,
		terms.BearerInsurer:    p.Covered,
		terms.BearerSite:       p.Payable - deductible - p.Covered,
	}
}

// ShareRecoveries shares all recoveries of an insolvency: each bearer, in order, gets up to what it bears. surplus is what exceeds
// the loss.
func ShareRecoveries(recovered int64, order []terms.Bearer, borne map[terms.Bearer]int64) (shares map[terms.Bearer]int64, surplus int64) {
	shares = make(map[terms.Bearer]int64, len(order))
	for _, bearer := range order {
		shares[bearer] = min(recovered, borne[bearer])
		recovered -= shares[bearer]
	}
	return shares, recovered
}
