// Package fx knows exchange rates: it reads the fixings that the European Central Bank publishes, holds the rule which
// fixing counts for a payment (R9) and for a valuation (R7), and converts amounts by it. All rates are units of a
// currency per euro, so that any two currencies convert over two legs.
package fx

import (
	"fmt"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
)

// Provider says who stands behind a fixing.
type Provider string

// The providers, the more trusted first: the rule takes the first of them that has a fixing which counts.
const (
	ECB    Provider = "ecb"    // reference rates of the European Central Bank
	Manual Provider = "manual" // quotes that two operators entered
	Demo   Provider = "demo"   // made-up rates of the demo; named, so that nobody takes them for real ones
)

var order = [...]Provider{ECB, Manual, Demo}

// Fixing is one published rate: what one euro cost in a currency on a day.
type Fixing struct {
	ID         int64
	SiteID     int64 // whose manual quote it is; 0: it counts for every site
	Provider   Provider
	Day        civil.Day
	Currency   money.Currency
	Rate       money.Rate // units of Currency per euro
	RecordedAt time.Time  // on file from this instant on; what was priced before does not see it
	ExpiresAt  time.Time  // does not count from this instant on; zero: never
	QuoteID    string     // of a manual quote
}

// Filter chooses fixings of a list; empty fields choose all.
type Filter struct {
	Currencies  []money.Currency
	Providers   []Provider
	First, Last civil.Day // civil.NoDay: no bound
}

// read makes the fixing that a file of the ECB states. A currency that has left ISO list one since (the history goes
// back to the kroon and the tolar) is not kept: no amount is ever in it. Its rate is checked all the same, because a
// broken cell means a broken file.
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

// checkCode refuses what cannot be the code of a quoted currency, now or in the past. The euro itself is refused too:
// its leg is 1 by definition, and a file that says otherwise is not quoted per euro.
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
		return fmt.Errorf("EUR has a rate, in a file of rates per euro")
	}
	return nil
}

// broken is the fault of a file that is not what it should be; trying again will not mend it. The cause goes into the
// message, because it is all that the owner of the file needs.
func broken(format string, args ...any) error { return fault.New(fault.Invalid, format, args...) }
