package claim

import "holdfast/internal/domain/money"

// Reported has the amounts of a claim in the bordereau of a month, in minor units of the policy currency Q. Fees are no part of cover.
type Reported struct {
	Paid       int64 // in the month
	Previously int64 // before it
	Reserve    int64 // covered and not paid; negative if more was paid than is covered now
}

// Report divides the covered amount of a claim at the end of a month. before and now are what the bank had paid at the beginning and at
// the end of the month.
func Report(covered, before, now int64) Reported {
	return Reported{Paid: now - before, Previously: before, Reserve: covered - now}
}

// Incurred is the sum of the amounts: the covered amount of the claim.
func (r Reported) Incurred() int64 { return money.Sum(money.Sum(r.Paid, r.Previously), r.Reserve) }

// Add adds up claims.
func (r Reported) Add(o Reported) Reported {
	return Reported{money.Sum(r.Paid, o.Paid), money.Sum(r.Previously, o.Previously), money.Sum(r.Reserve, o.Reserve)}
}

// Settled reports whether nothing more is to be done about a claim of a state.
func (r Reported) Settled(s State) bool {
	return s == StateRejected || s == StateWithdrawn || s == StatePaid && r.Reserve == 0
}
