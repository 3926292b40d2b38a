package fx

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
)

// Margin is added to the fixings in the feed of rates that shops use for their prices (section 2.3, forex_feed). The
// zero Margin adds nothing.
type Margin struct {
	ppm int64
}

const (
	million        = 1_000_000
	marginDecimals = 4 // of a percentage, so that a margin is a whole number of parts per million
)

// ParseMargin reads a margin in percent, such as "2.5". It is an error when it is below 0, 100 or more, or has more
// than four decimals.
func ParseMargin(percent string) (Margin, error) {
	whole, fraction, point := strings.Cut(percent, ".")
	wrong := fmt.Errorf("%.24q is not a valid margin: use a percentage such as 2.5, from 0 to less than 100, with at most %d decimals",
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

// FeedRate is one rate of a feed: how many units of Currency one unit of the feed's base costs (section 2.3,
// forex_feed).
type FeedRate struct {
	Currency money.Currency
	Rate     string   // decimal text, with the margin
	FixingID int64    // the fixing of Currency, or of the base when Currency is the euro
	Provider Provider // of that fixing
	Expires  time.Time
	Modified time.Time
}

// feedDigits is the least number of decimals of a rate, and the least number of its significant digits.
const feedDigits = 8

// Feed returns the rates of all other currencies that have a fixing. Each of the two legs is the last fixing up to
// day that was on file at known and is at most maxAge days old. The rate is the quotient of the legs, with the
// margin, rounded once. It expires when the first of its fixings expires or is too old. Without a fixing for base the
// list is nil.
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

// holdsUntil is when a fixing no longer counts, even if no newer one comes.
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

// feedText writes a rate with eight decimals. A rate below 0.1 gets more, so that eight digits are significant. Zeros
// at the end are left out.
func feedText(rate *big.Rat) string {
	decimals := feedDigits
	least := big.NewRat(1, 10)
	for ; rate.Cmp(least) < 0; decimals++ {
		least.Mul(least, big.NewRat(1, 10))
	}
	text := rate.FloatString(decimals) // rounds half away from zero
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
