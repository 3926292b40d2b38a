package protection

import (
	"maps"
	"slices"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/fx"
	"holdfast/internal/money"
)

// CollateralKind says what is held.
type CollateralKind string

// CollateralKinds lists the kinds of collateral.
var CollateralKinds = []CollateralKind{"cash", "guarantee", "rolling-reserve", "insurance", "other"}

// Collateral is what is held against a loss from a day on. A correction is a new one of the same record.
type Collateral struct {
	SiteID     int64
	ID         int64
	RecordID   int64 // the id of the first row of the record
	Kind       CollateralKind
	ChannelID  int64 // for the losses of this channel; 0: for any of the site's
	Currency   money.Currency
	Amount     int64     // 0 takes the record back
	FromDay    civil.Day // held from this day
	ToDay      civil.Day // to this one, included; civil.NoDay: until further notice
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

// CollateralHeld picks from all rows that were known, in order of recording, what is held at the end of a day: of each
// record the last row counts, and it alone.
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

// Netting sets collateral against exposure: Net of R7. All amounts are minor units of one currency.
type Netting struct {
	channels map[int64]int64
	site     int64
	// PendingRate is what has no value in that currency, because a fixing is missing: it is set against nothing.
	PendingRate []HeldAmount
}

// HeldAmount is collateral in its own currency.
type HeldAmount struct {
	ChannelID int64
	Currency  money.Currency
	Amount    int64
}

// NewNetting values collateral at the last fixings up to a day, each currency's subtotal per channel rounded once. Also
// beside locked values: collateral has no rate of its own.
func NewNetting(held []Collateral, rates *fx.Table, currency money.Currency, day civil.Day, known time.Time) (*Netting, error) {
	type key struct {
		channel  int64
		currency money.Currency
	}
	sums := map[key]int64{}
	for _, c := range held {
		sums[key{c.ChannelID, c.Currency}] += c.Amount
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
			n.site += value
		} else {
			n.channels[k.channel] += value
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

// Channel gives what is held for a channel alone, and the net of its exposure.
func (n *Netting) Channel(id, e1 int64) (held, net int64) {
	return n.channels[id], max(0, e1-n.channels[id])
}

// Total gives what of all collateral can be set against the exposures of the given channels, and the net of their sum.
// What is held for one channel covers no other: of it no more counts than that channel's own exposure. What is held for
// the whole site covers what is left.
func (n *Netting) Total(e1 map[int64]int64) (held, net int64) {
	var total int64
	held = n.site
	for id, amount := range e1 {
		total += amount
		held += min(n.channels[id], amount)
	}
	return held, max(0, total-held)
}
