package claim

import (
	"math/big"
	"slices"
	"time"

	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
)

const wholePPM = 1_000_000

// InPolicyCurrency converts the payable amount of a claim to the policy currency Q at the locked rate of the allocation. If that
// was locked in the Q of an older policy, the result is converted to the current Q at the fixing of the trigger. A claim books the
// difference from what it has booked already, so several steps round like a single one. The error is money.ErrRange.
func InPolicyCurrency(payable int64, locked, atTrigger fx.Quote) (int64, error) {
	value, err := locked.Convert(payable)
	if err != nil {
		return 0, err
	}
	return atTrigger.Convert(value)
}

// underTerms computes B of one insolvency: the payable total less deductible and coinsurance, up to the merchant limit.
func underTerms(payable int64, c terms.Cover) int64 {
	b := part(max(0, payable-c.Deductible), wholePPM-c.CoinsurancePPM)
	if c.MerchantLimit > 0 {
		b = min(b, c.MerchantLimit)
	}
	return b
}

// part is amount · ppm / 1,000,000, rounded once. ppm is at most a million.
func part(amount, ppm int64) int64 {
	of := big.NewInt(amount)
	rounded, err := money.Round(of.Mul(of, big.NewInt(ppm)), big.NewInt(wholePPM))
	if err != nil {
		panic(err)
	}
	return rounded
}

// Year is the year of account of an insolvency: that of its trigger.
func Year(trigger time.Time) int { return trigger.UTC().Year() }

// Owed is a claim in the policy currency Q.
type Owed struct {
	Payable int64 // 0 if the claim was rejected or withdrawn
	Paid    int64 // net of amounts set off
}

// Insolvency has the inputs of the cover of an insolvency. Amounts are minor units of Q.
type Insolvency struct {
	TriggerAt time.Time
	Cover     terms.Cover // of the policy in force at the trigger
	Claims    []Owed      // in the order of Dispute.Compare, or their total as one
	// Expected is the sum of Developed over the open amounts of the snapshot.
	Expected int64
	Closed   bool // no more claims are expected
}

// Position is the cover of an insolvency. Amounts are minor units of Q.
type Position struct {
	Payable    int64
	UnderTerms int64   // B: Payable after deductible, coinsurance and merchant limit
	Covered    int64   // B after the aggregate limit
	Parts      []int64 // the shares of the claims in Covered
	Paid       int64
	Overpaid   []int64 // by claim: the amount paid in excess of its part
	Reserve    int64   // expected to become covered later
}

// Incurred is paid, unpaid and reserve together, before recoveries.
func (p Position) Incurred() int64 { return money.Sum(p.Covered, p.Reserve) }

// Positions computes the cover of all insolvencies of one year of account and policy currency. Their total is limited to the
// aggregate limit of the policy in force at the last trigger. Sums that do not fit in 64 bits panic with money.ErrRange.
func Positions(year []Insolvency) []Position {
	list, limit := make([]Position, len(year)), Aggregate(year)
	shares := make([]share, len(year))
	for i, y := range year {
		for _, c := range y.Claims {
			list[i].Payable = money.Sum(list[i].Payable, c.Payable)
			list[i].Paid = money.Sum(list[i].Paid, c.Paid)
		}
		list[i].UnderTerms = underTerms(list[i].Payable, y.Cover)
		shares[i] = share{asked: list[i].UnderTerms, had: list[i].Paid}
	}
	for i, covered := range within(limit, shares) {
		list[i].Covered = covered
		list[i].Share(year[i].Claims)
		shares[i] = share{asked: covered, had: covered}
		if !year[i].Closed {
			shares[i].asked = underTerms(money.Sum(list[i].Payable, year[i].Expected), year[i].Cover)
		}
	}
	for i, expected := range within(limit, shares) {
		list[i].Reserve = expected - list[i].Covered
	}
	return list
}

// Aggregate is the aggregate limit of a year of account: that of the policy in force at the last trigger. 0 means no limit.
func Aggregate(year []Insolvency) int64 {
	if len(year) == 0 {
		return 0
	}
	return slices.MaxFunc(year, func(a, b Insolvency) int { return a.TriggerAt.Compare(b.TriggerAt) }).Cover.AggregateLimit
}

// Share shares the covered amount among the claims of the insolvency.
func (p *Position) Share(claims []Owed) {
	weights := make([]int64, len(claims))
	for i, c := range claims {
		weights[i] = c.Payable
	}
	p.Parts = parts(p.Covered, weights)
	p.Overpaid = make([]int64, len(claims))
	for i, c := range claims {
		p.Overpaid[i] = max(0, c.Paid-p.Parts[i])
	}
}

// share is the amount that an insolvency asks of a limit, and the part of it that it has already.
type share struct{ asked, had int64 }

// within applies a limit to the sum of the shares. If they exceed it, each keeps what it has, and the rest is shared in
// proportion to what is still asked for. A limit of 0 means no limit.
func within(limit int64, shares []share) []int64 {
	asked, had, open := make([]int64, len(shares)), make([]int64, len(shares)), make([]int64, len(shares))
	var total, held int64
	for i, s := range shares {
		asked[i], had[i] = s.asked, min(s.had, s.asked)
		open[i] = asked[i] - had[i]
		total, held = money.UpTo(total, asked[i]), money.UpTo(held, had[i])
	}
	switch {
	case limit == 0, total <= limit:
		return asked
	case held >= limit: // nothing is left, or more was paid than the limit is now
		return parts(limit, had)
	}
	for i, rest := range parts(limit-held, open) {
		had[i] += rest
	}
	return had
}

// parts is money.Split, except that weights that are all zero give zeros.
func parts(total int64, weights []int64) []int64 {
	if !slices.ContainsFunc(weights, func(w int64) bool { return w > 0 }) {
		return make([]int64, len(weights))
	}
	return money.Split(total, weights)
}
