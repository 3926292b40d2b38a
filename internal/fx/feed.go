package fx

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/money"
)

// Margin is what a deployment adds to its fixings where it publishes rates for shops to quote prices by. The zero Margin
// adds nothing.
type Margin struct {
	ppm int64
}

const (
	million        = 1_000_000
	marginDecimals = 4 // of a percentage: whole parts per million
)

// ParseMargin reads a margin in percent, such as "2.5": from 0 to less than 100, with four decimals at most.
func ParseMargin(percent string) (Margin, error) {
	whole, fraction, point := strings.Cut(percent, ".")
	wrong := fmt.Errorf("%.24q is not a margin in percent such as 2.5, from 0 to less than 100 with at most %d decimals",
		percent, marginDecimals)
	if len(whole) == 0 || len(whole) > 2 || len(fraction) > marginDecimals || point && fraction == "" {
		return Margin{}, wrong
	}
	var m Margin
	for _, digit := range whole + fraction + strings.Repeat("0", marginDecimals-len(fraction)) {
		if digit < '0' || digit > '9' {
			return Margin{}, wrong
		}
		m.ppm = m.ppm*10 + int64(digit-'0')
	}
	return m, nil
}

// FeedRate is a rate of a feed, for shops to quote prices by: units of Currency for one of the feed's base.
type FeedRate struct {
	Currency money.Currency
	Rate     string   // decimal text, the margin included
	FixingID int64    // of the currency; of the base, where the currency is the euro
	Provider Provider // of the same
	Expires  time.Time
	Modified time.Time
}

// feedDigits is how many decimals a rate of a feed has, and at least how many digits of it say something.
const feedDigits = 8

// Feed gives what one unit of base costs in every other currency that has a fixing: each leg by its last fixing up to a
// day, at most maxAge days old, on file at known; the cross of both with the margin on top, rounded once. A rate holds
// until the older of its fixings is too old, or expires before that.
func Feed(t *Table, base money.Currency, day civil.Day, known time.Time, maxAge int, m Margin) []FeedRate {
	on := func(c money.Currency) (Fixing, bool) {
		if c == money.EUR {
			return Fixing{Currency: c, Rate: money.UnitRate(), Day: day}, true
		}
		return t.On(c, day, known, maxAge)
	}
	from, ok := on(base)
	if !ok {
		return nil
	}
	var list []FeedRate
	for _, c := range money.Currencies() {
		to, ok := on(c)
		if !ok || c == base {
			continue
		}
		named := to
		if c == money.EUR {
			named = from
		}
		rate := new(big.Rat).Quo(to.Rate.Rat(), from.Rate.Rat())
		rate.Mul(rate, big.NewRat(million+m.ppm, million))
		list = append(list, FeedRate{
			Currency: c, Rate: feedText(rate), FixingID: named.ID, Provider: named.Provider,
			Expires: earlier(from.holdsUntil(maxAge), to.holdsUntil(maxAge)), Modified: later(from.RecordedAt, to.RecordedAt),
		})
	}
	return list
}

// holdsUntil is when a fixing stops counting, were no other to come.
func (f Fixing) holdsUntil(maxAge int) time.Time {
	end := (f.Day + civil.Day(maxAge)).End()
	if !f.ExpiresAt.IsZero() {
		return earlier(f.ExpiresAt, end)
	}
	return end
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// feedText writes a rate with eight decimals, or with as many as it takes for eight digits that say something, and
// without zeros at its end.
func feedText(rate *big.Rat) string {
	decimals := feedDigits
	least := big.NewRat(1, 10)
	for ; rate.Cmp(least) < 0; decimals++ {
		least.Mul(least, big.NewRat(1, 10))
	}
	text := rate.FloatString(decimals) // rounds half away from zero
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
