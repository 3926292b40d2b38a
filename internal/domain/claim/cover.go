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

// InPolicyCurrency converts what is payable of a claim to the policy currency Q: at the locked rate of the allocation, and from
// there at the fixing of the trigger if the allocation was priced in the Q of an older policy. A claim books the difference to
// what it has booked, so that amounts that become payable in steps round as if they had come at once. The error is
// money.ErrRange.
func InPolicyCurrency(payable int64, locked, atTrigger fx.Quote) (int64, error) {
	value, err := locked.Convert(payable)
	if err != nil {
		return 0, err
	}
	return atTrigger.Convert(value)
}

// underTerms computes B, what the terms of cover leave of all that is payable of one insolvency: less the deductible and the
// coinsurance, up to the merchant limit.
func underTerms(payable int64, c terms.Cover) int64 {
	b := part(max(0, payable-c.Deductible), wholePPM-c.CoinsurancePPM)
	if c.MerchantLimit > 0 {
		b = min(b, c.MerchantLimit)
	}
	return b
}

// part is an amount times parts per million, at most a million, rounded once.
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
	Paid    int64 // less what was set off
}

// Insolvency is what the cover of an insolvency is computed from. Minor units of Q.
type Insolvency struct {
	TriggerAt time.Time
	Cover     terms.Cover // of the policy in force at the trigger
	Claims    []Owed      // in the order of Dispute.Compare
	// Expected is what else may become payable, times development: see Open.
	Expected int64
	Closed   bool // no more claims are expected
}

// Position is what the cover of an insolvency comes to. Minor units of Q.
type Position struct {
	Payable    int64
	UnderTerms int64   // B: what deductible, coinsurance and merchant limit leave of Payable
	Covered    int64   // of it what the aggregate limit leaves
	Parts      []int64 // of Covered, one for each claim
	Paid       int64
	Overpaid   []int64 // what was paid of each claim beyond its part
	Reserve    int64   // what may still become covered
}

// Unpaid is what is covered and not paid.
func (p Position) Unpaid() int64 { return p.Covered - p.Paid }

// Incurred is what the insolvency is expected to cost the cover, before recoveries.
func (p Position) Incurred() int64 { return money.Sum(p.Covered, p.Reserve) }

// Positions computes the cover of all insolvencies of one year of account and policy currency. Together they get no more than the
// aggregate limit of the policy in force at the last trigger. Sums that leave 64 bits panic with money.ErrRange.
func Positions(year []Insolvency) []Position {
	list, limit := make([]Position, len(year)), aggregate(year)
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
		list[i].cover(covered, year[i].Claims)
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

func aggregate(year []Insolvency) int64 {
	if len(year) == 0 {
		return 0
	}
	return slices.MaxFunc(year, func(a, b Insolvency) int { return a.TriggerAt.Compare(b.TriggerAt) }).Cover.AggregateLimit
}

// cover shares what is covered among the claims.
func (p *Position) cover(covered int64, claims []Owed) {
	weights := make([]int64, len(claims))
	for i, c := range claims {
		weights[i] = c.Payable
	}
	p.Covered, p.Parts = covered, parts(covered, weights)
	p.Overpaid = make([]int64, len(claims))
	for i, c := range claims {
		p.Overpaid[i] = max(0, c.Paid-p.Parts[i])
	}
}

// share is what an insolvency asks of a limit, and what it has of it already.
type share struct{ asked, had int64 }

// within computes what each gets, if together they get no more than a limit: all that it asks for, or what it has and a share of
// the rest by what it still asks for. A limit of 0 is none.
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

// parts is money.Split, but gives zero where all weights are zero.
func parts(total int64, weights []int64) []int64 {
	if !slices.ContainsFunc(weights, func(w int64) bool { return w > 0 }) {
		return make([]int64, len(weights))
	}
	return money.Split(total, weights)
}
