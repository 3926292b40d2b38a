package exposure

import (
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// Gaps says which figures in the report currency are not known: an exchange rate is missing for a part of them. The part is
// in base currency among PendingRate of the report. A part of nothing needs no rate.
type Gaps struct {
	E1 bool
	E2 bool
}

// miss notes that an amount has no value.
func (g *Gaps) miss(l protection.Level) { g.add(Gaps{E1: l.E1 != 0, E2: l.E2 != 0}) }

func (g *Gaps) add(o Gaps) {
	g.E1 = g.E1 || o.E1
	g.E2 = g.E2 || o.E2
}

// MemoGaps says which memo figures in the report currency are not known.
type MemoGaps struct {
	E4 bool
	E5 bool
}

func (g *MemoGaps) add(o MemoGaps) {
	g.E4 = g.E4 || o.E4
	g.E5 = g.E5 || o.E5
}

// lockedGaps are the gaps of a locked valuation. Amounts pending a rate are kept separate there (R9), and the total is the sum
// of the priced amounts. If nothing is priced, the total is unknown.
func lockedGaps(q ReportQuery, priced int64, pending map[money.Currency]*Figures) (g Gaps) {
	if q.Valuation != Locked || priced > 0 {
		return g
	}
	for _, p := range pending {
		g.miss(protection.Level{E1: p.E1, E2: p.E2})
	}
	return g
}
