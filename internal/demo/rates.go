// Package demo creates the data of `holdfast demo`: a sandbox site with people, channels and suppliers, made-up
// exchange rates, and a book of bookings with their payments. Nothing in it is real. Everything is derived from fixed
// seeds and the day, so everybody sees the same. Start at Prepare.
package demo

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
)

// ratesMonths is how many months of rates there are. They start shortly before the oldest payment of the book.
const ratesMonths = 14

// ratesBegin is the day on which all rates start to move. It is fixed, so that the rate of a day is always the same, and a
// later start of the demo only adds new days.
var ratesBegin = civil.Date(2020, time.January, 1)

// quoted are the currencies with a rate. Each rate moves around its level, which is in millionths.
var quoted = []struct {
	currency money.Currency
	level    int64
	decimals int
}{
	{"USD", 1_150_000, 4}, {"GBP", 865_000, 5}, {"CHF", 940_000, 4}, {"SEK", 11_100_000, 4}, {"NOK", 11_500_000, 4},
	{"DKK", 7_460_000, 4}, {"PLN", 4_270_000, 4}, {"CZK", 24_600_000, 3}, {"HUF", 388_000_000, 2}, {"AUD", 1_720_000, 4},
	{"CAD", 1_580_000, 4}, {"JPY", 168_000_000, 2},
}

// Rates returns fixings of twelve currencies for the weekdays of the last fourteen months, including today.
func Rates(today civil.Day) []fx.Fixing {
	var list []fx.Fixing
	first := civil.DayOf(today.Start().AddDate(0, -ratesMonths, 0))
	for _, q := range quoted {
		steps := seeded("rates " + string(q.currency))
		rate := q.level
		for day := ratesBegin; day <= today; day++ {
			if w := day.Start().Weekday(); w == time.Saturday || w == time.Sunday {
				continue
			}
			// A step is at most 0.4 %. Mean reversion keeps the rate near its level.
			rate += rate*steps.Int64N(801)/100_000 - rate*400/100_000 + (q.level-rate)/150
			if day >= first {
				list = append(list, fx.Fixing{Provider: fx.Demo, Day: day, Currency: q.currency, Rate: decimal(rate, q.decimals)})
			}
		}
	}
	return list
}

// decimal converts millionths to a rate with this number of decimals.
func decimal(millionths int64, decimals int) money.Rate {
	text := fmt.Sprintf("%d.%06d", millionths/1_000_000, millionths%1_000_000)
	rate, err := money.ParseRate(text[:len(text)-6+decimals])
	if err != nil {
		panic(fmt.Sprintf("demo: %q is not a rate: %v", text, err)) // cannot happen: no rate comes near zero
	}
	return rate
}

// seeded returns a generator that always yields the same numbers for the same word.
func seeded(word string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(word)) // never fails
	return rand.New(rand.NewPCG(h.Sum64(), 20260302))
}
