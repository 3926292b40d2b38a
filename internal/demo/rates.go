// Package demo makes the world that `holdfast demo` shows: a sandbox site with its people, channels and suppliers,
// made-up exchange rates, and a book of bookings with their payments. Nothing in it is real and everything follows from
// fixed seeds and the day, so that two people who look at it see the same.
package demo

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/fx"
	"holdfast/internal/money"
)

// ratesMonths is how far the made-up rates reach back: past the oldest payment of the book, and a little more.
const ratesMonths = 14

// ratesBegin is where all walks begin. Walking from a fixed day makes the rate of a day the same whenever it is asked
// for, so that a later start of the demo only adds the days that have come since.
var ratesBegin = civil.Date(2020, time.January, 1)

// quoted are the currencies that get a rate, with the level around which it wanders, in millionths.
var quoted = []struct {
	currency money.Currency
	level    int64
	decimals int
}{
	{"USD", 1_150_000, 4}, {"GBP", 865_000, 5}, {"CHF", 940_000, 4}, {"SEK", 11_100_000, 4}, {"NOK", 11_500_000, 4},
	{"DKK", 7_460_000, 4}, {"PLN", 4_270_000, 4}, {"CZK", 24_600_000, 3}, {"HUF", 388_000_000, 2}, {"AUD", 1_720_000, 4},
	{"CAD", 1_580_000, 4}, {"JPY", 168_000_000, 2},
}

// Rates gives made-up fixings of twelve currencies for the weekdays of the last fourteen months up to today.
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
			// Up to 0.4 % a day, drawn back to the level so that no currency wanders off for good.
			rate += rate*steps.Int64N(801)/100_000 - rate*400/100_000 + (q.level-rate)/150
			if day >= first {
				list = append(list, fx.Fixing{Provider: fx.Demo, Day: day, Currency: q.currency, Rate: decimal(rate, q.decimals)})
			}
		}
	}
	return list
}

// decimal writes millionths as a rate of so many decimals.
func decimal(millionths int64, decimals int) money.Rate {
	text := fmt.Sprintf("%d.%06d", millionths/1_000_000, millionths%1_000_000)
	rate, err := money.ParseRate(text[:len(text)-6+decimals])
	if err != nil {
		panic(fmt.Sprintf("demo: %q is not a rate: %v", text, err)) // the walks never come near zero
	}
	return rate
}

// seeded gives the same numbers for the same word, for ever.
func seeded(word string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(word)) // a hash takes everything
	return rand.New(rand.NewPCG(h.Sum64(), 20260302))
}
