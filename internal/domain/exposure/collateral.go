package exposure

import (
	"maps"
	"slices"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
)

// CollateralKind says what kind of collateral it is.
type CollateralKind string

// CollateralKinds lists the kinds of collateral.
var CollateralKinds = []CollateralKind{"cash", "guarantee", "rolling-reserve", "insurance", "other"}

// Collateral is money or a guarantee that is held against losses (R7). A correction is a new row of the same record.
type Collateral struct {
	SiteID     int64
	ID         int64
	RecordID   int64 // the id of the first row of the record
	Kind       CollateralKind
	ChannelID  int64 // for losses of this channel; 0: for losses of any channel of the site
	Currency   money.Currency
	Amount     int64     // minor units of Currency; 0 takes the record back
	FromDay    civil.Day // the first day on which it is held
	ToDay      civil.Day // the last one; civil.NoDay: until further notice
	Reference  string
	Note       string
	AuthorID   int64
	Author     string
	RecordedAt time.Time
}

// HeldOn reports whether the collateral is held at the end of a day.
func (c Collateral) HeldOn(day civil.Day) bool {
	return c.Amount > 0 && c.FromDay <= day && (c.ToDay == civil.NoDay || day <= c.ToDay)
}

// CollateralHeld picks the collateral that is held at the end of a day. known are all rows that were known, in order
// of recording: only the last row of each record counts.
func CollateralHeld(known []Collateral, day civil.Day) []Collateral {
	last := map[int64]Collateral{}
	for _, c := range known {
		last[c.RecordID] = c
	}
	var held []Collateral
	for _, id := range slices.Sorted(maps.Keys(last)) {
		if last[id].HeldOn(day) {
			held = append(held, last[id])
		}
	}
	return held
}

// Netting takes collateral off exposure: Net of R7. All its amounts are minor units of one currency.
type Netting struct {
	channels map[int64]int64
	site     int64
	// PendingRate is the collateral without a value in that currency, because a fixing is missing. It is taken off
	// nothing: the rest is unknown.
	PendingRate []HeldAmount
}

// HeldAmount is collateral in its own currency.
type HeldAmount struct {
	ChannelID int64
	Currency  money.Currency
	Amount    int64
}

// NewNetting converts collateral to a currency, at the last fixings up to a day. Each subtotal of a channel and
// currency is rounded once. It uses spot rates even for a locked valuation, because collateral has no locked rate. The
// error is money.ErrRange.
func NewNetting(held []Collateral, rates *fx.Table, currency money.Currency, day civil.Day, known time.Time) (*Netting, error) {
	type key struct {
		channel  int64
		currency money.Currency
	}
	sums := map[key]int64{}
	for _, c := range held {
		sums[key{c.ChannelID, c.Currency}] = money.Sum(sums[key{c.ChannelID, c.Currency}], c.Amount)
	}
	n := &Netting{channels: map[int64]int64{}}
	for k, sum := range sums {
		quote, ok := fx.Spot(rates, k.currency, currency, day, known)
		if !ok {
			n.PendingRate = append(n.PendingRate, HeldAmount{k.channel, k.currency, sum})
			continue
		}
		value, err := quote.Convert(sum)
		if err != nil {
			return nil, err
		}
		if k.channel == 0 {
			n.site = money.Sum(n.site, value)
		} else {
			n.channels[k.channel] = money.Sum(n.channels[k.channel], value)
		}
	}
	slices.SortFunc(n.PendingRate, func(a, b HeldAmount) int {
		if a.ChannelID != b.ChannelID {
			return int(min(1, max(-1, a.ChannelID-b.ChannelID)))
		}
		return slices.Compare([]byte(a.Currency), []byte(b.Currency))
	})
	return n, nil
}

// Channel returns the collateral held for a channel alone, and its net exposure.
func (n *Netting) Channel(id int64, of ChannelTotalE1) NetTotal {
	held := n.channels[id]
	gap := slices.ContainsFunc(n.PendingRate, func(h HeldAmount) bool { return h.ChannelID == id })
	return NetTotal{Held: held, Net: max(0, of.E1-held), HeldGap: gap, NetGap: of.Gap || gap && of.E1 > held}
}

// Total returns how much collateral can be taken off the exposures of channels, and the net of their sum. Collateral of
// a channel counts up to the exposure of that channel. Collateral of the site is subtracted from the rest.
func (n *Netting) Total(of map[int64]ChannelTotalE1) (t NetTotal) {
	var total int64
	t.Held = n.site
	pending := map[int64]bool{}
	for _, h := range n.PendingRate {
		pending[h.ChannelID] = true
	}
	t.HeldGap = pending[0]
	for id, e := range of {
		total = money.Sum(total, e.E1)
		t.Held = money.Sum(t.Held, min(n.channels[id], e.E1))
		t.NetGap = t.NetGap || e.Gap
		t.HeldGap = t.HeldGap || e.Gap && (n.channels[id] > 0 || pending[id]) || pending[id] && e.E1 > n.channels[id]
	}
	t.Net = max(0, total-t.Held)
	t.NetGap = t.NetGap || t.HeldGap && t.Net > 0
	return t
}
