// Package fx handles exchange rates. It reads the fixings that the European Central Bank publishes, picks the fixing
// for a payment (R9) or a valuation (R7), and converts amounts with it. All rates are in units per euro, so two legs
// convert any two currencies.
package fx

import (
	"fmt"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

// Provider is the publisher of a fixing.
type Provider string

// The providers, the most trusted one first. R9 takes the first provider that has a usable fixing.
const (
	ECB    Provider = "ecb"    // reference rates of the European Central Bank
	Manual Provider = "manual" // quotes that two operators entered
	Demo   Provider = "demo"   // made-up rates of the demo, named so that they are not mistaken for real ones
)

var order = [...]Provider{ECB, Manual, Demo}

// Fixing is the published rate of a currency on a day, in units per euro (R9).
type Fixing struct {
	ID         int64
	SiteID     int64 // the site of a manual quote; 0: the fixing counts for every site
	Provider   Provider
	Day        civil.Day
	Currency   money.Currency
	Rate       money.Rate // units of Currency per euro
	RecordedAt time.Time  // when it was recorded; earlier prices do not change
	ExpiresAt  time.Time  // from then on it does not count; zero: it never expires
	QuoteID    string     // the quote_id of a manual quote
}

// Filter picks fixings from a list. An empty field picks all.
type Filter struct {
	Currencies  []money.Currency
	Providers   []Provider
	First, Last civil.Day // both included; civil.NoDay: no bound
}

// read makes the fixing of one entry of an ECB file. keep is false for a currency that money does not know: no amount is
// in it. Its rate is checked all the same, because a broken cell means a
// broken file.
func read(code string, day civil.Day, text string) (f Fixing, keep bool, err error) {
	rate, err := money.ParseRate(text)
	if err != nil {
		return Fixing{}, false, err
	}
	c, err := money.ParseCurrency(code)
	if err != nil {
		return Fixing{}, false, nil
	}
	return Fixing{Provider: ECB, Day: day, Currency: c, Rate: rate}, true, nil
}

// checkCode rejects a code that cannot name a currency, now or in the past. It also rejects the euro: its leg is 1, and
// a file with a rate for it is not a file of rates per euro.
func checkCode(code string) error {
	if len(code) != 3 {
		return fmt.Errorf("%.8q is not a currency code", code)
	}
	for i := range len(code) {
		if code[i] < 'A' || code[i] > 'Z' {
			return fmt.Errorf("%.8q is not a currency code", code)
		}
	}
	if money.Currency(code) == money.EUR {
		return fmt.Errorf("EUR has a rate, but the rates in this file are per euro")
	}
	return nil
}

// broken is the error for a wrong file or URL, where a retry does not help. The cause is in the
// message, because the owner of the file needs it.
func broken(format string, args ...any) error { return errs.New(errs.Invalid, format, args...) }
