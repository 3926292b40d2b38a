package demo_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"holdfast/internal/book/imports"
	"holdfast/internal/demo"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
)

// days are days on which the demo might be started: every season, a leap day, the ends of years.
var days = []civil.Day{
	civil.Date(2026, time.March, 2), civil.Date(2026, time.July, 31), civil.Date(2026, time.December, 31),
	civil.Date(2027, time.January, 1), civil.Date(2028, time.February, 29), civil.Date(2031, time.October, 5),
}

func TestTheBookKeepsTheRulesOfTravel(t *testing.T) {
	for _, today := range days {
		book := demo.Book(today)
		keys := map[string]bool{}
		bookings := map[string]int64{} // what was paid of each
		purchases := map[string]imports.ImportedPayment{}
		for _, row := range book {
			var p errs.Problems
			channel := int64(1)
			row.Booking.ChannelID, row.Payment.ChannelID = &channel, &channel
			b := row.Booking.NewBooking(&p)
			items := []payment.Item{{BookingID: 1, Currency: b.Currency, Total: row.BaseTotal}}
			row.Payment.Items = &items
			sign := int64(1)
			if *row.Payment.Type != payment.Purchase {
				sign = -1
				if *row.Payment.Type == payment.ChargebackReversal {
					sign = 1
				}
				row.Payment.LinkedID = 1
				if paid, ok := purchases[row.Linked]; !ok || paid.BaseTotal < row.BaseTotal || paid.Booking.ImportKey != b.ImportKey ||
					*paid.Payment.Total < *row.Payment.Total || (paid.BaseTotal == row.BaseTotal) != (*paid.Payment.Total == *row.Payment.Total) {
					t.Errorf("%s: %s refunds what %s did not bring", today, row.Payment.ImportKey, row.Linked)
				}
			}
			row.Payment.Check(today.Start(), &p)
			if err := p.Err(); err != nil {
				t.Fatalf("%s: %s: %v", today, row.Payment.ImportKey, err)
			}
			checkCodes(t, row, purchases[row.Linked], keys)
			purchases[row.Payment.ImportKey] = row
			if keys[row.Payment.ImportKey] {
				t.Errorf("%s: %s appears twice", today, row.Payment.ImportKey)
			}
			keys[row.Payment.ImportKey] = true
			bookings[b.ImportKey] += sign * row.BaseTotal
			if net := bookings[b.ImportKey]; net < 0 || net > b.Total {
				t.Errorf("%s: %s has %d of %d paid", today, b.ImportKey, net, b.Total)
			}
			if paid := civil.DayOf(row.Payment.EffectiveAt); paid < today-270-13 || paid >= today || b.End < today-60-13 || b.End > today+365 {
				t.Errorf("%s: %s was paid on %s for a trip until %s", today, row.Payment.ImportKey, paid, b.End)
			}
			same := *row.Payment.Currency == b.Currency
			if same && *row.Payment.Total != row.BaseTotal {
				t.Errorf("%s: %s converts %s into itself", today, row.Payment.ImportKey, b.Currency)
			}
		}
		if len(bookings) != 2000 || len(book) < 2300 {
			t.Errorf("%s: %d bookings, %d payments", today, len(bookings), len(book))
		}
	}
}

// checkCodes checks the issuer's and acquirer's codes of a payment. A chargeback and its reversal have the acquirer
// reference of the payment that they are about; any other payment has its own, which is added to known.
func checkCodes(t *testing.T, row, linked imports.ImportedPayment, known map[string]bool) {
	t.Helper()
	byCard := row.Payment.Method == payment.CreditCard
	arn, kind := row.Payment.AcquirerReference, *row.Payment.Type
	if (arn != "") != byCard || (row.Payment.ProcessorReference != "") != byCard || (row.Payment.BIN != "") != byCard || card.HoldsCardNumber(arn) ||
		(row.Payment.AuthCode != "") != (byCard && kind == payment.Purchase) {
		t.Errorf("%s: acquirer reference %q, code %q", row.Payment.ImportKey, arn, row.Payment.AuthCode)
	}
	if kind.Operators() && arn != linked.Payment.AcquirerReference || !kind.Operators() && arn != "" && known[arn] {
		t.Errorf("%s has the acquirer reference %q", row.Payment.ImportKey, arn)
	}
	known[arn] = true
}

func TestTheBookIsWorthLookingAt(t *testing.T) {
	seen := map[string]map[string]int{}
	count := func(what, value string) {
		if seen[what] == nil {
			seen[what] = map[string]int{}
		}
		seen[what][value]++
	}
	for _, row := range demo.Book(days[0]) {
		count("channel", row.Channel)
		count("type", string(*row.Payment.Type))
		if *row.Booking.End < days[0] {
			count("over", "yes")
		}
		count("country", *row.Booking.Country)
		count("currency", string(*row.Payment.Currency))
		count("method", row.Payment.Method)
		count("scheme", row.Payment.CardType)
		count("month", row.Booking.End.Month())
	}
	for what, least := range map[string]int{"channel": 2, "type": 4, "over": 1, "country": 10, "currency": 9, "method": 2, "scheme": 6, "month": 12} {
		if len(seen[what]) < least {
			t.Errorf("%s: only %v", what, seen[what])
		}
	}
	if r := seen["type"]["refund"]; r < 50 || r > 400 {
		t.Errorf("%d refunds", r)
	}
	if o, c := seen["over"]["yes"], seen["type"]["chargeback"]; o < 150 || o > 700 || c < 5 || c > 40 {
		t.Errorf("%d payments of trips that are over, %d chargebacks", o, c)
	}
	if seen["month"]["2026-08"] < 2*seen["month"]["2026-11"] {
		t.Errorf("August is no season: %v", seen["month"])
	}
}

func TestTheSameDayGivesTheSameBook(t *testing.T) {
	a, b := demo.Book(days[0]), demo.Book(days[0])
	if !reflect.DeepEqual(a, b) {
		t.Error("two books of one day differ")
	}
	if !slices.IsSortedFunc(a, func(x, y imports.ImportedPayment) int { return x.Payment.EffectiveAt.Compare(y.Payment.EffectiveAt) }) {
		t.Error("the book is not in the order of time")
	}
}

func TestRates(t *testing.T) {
	earlier := map[money.Currency]map[civil.Day]fx.Fixing{}
	for _, today := range []civil.Day{days[0], days[0] + 45} {
		currencies := map[money.Currency]int{}
		for _, f := range demo.Rates(today) {
			currencies[f.Currency]++
			if w := f.Day.Start().Weekday(); w == time.Saturday || w == time.Sunday || f.Day > today || f.Day < today-430 {
				t.Errorf("a rate on %s, a %s", f.Day, w)
			}
			if f.Provider != fx.Demo {
				t.Errorf("the rate of %s on %s is not marked as made up", f.Currency, f.Day)
			}
			if earlier[f.Currency] == nil {
				earlier[f.Currency] = map[civil.Day]fx.Fixing{}
			}
			if was, ok := earlier[f.Currency][f.Day]; ok && was != f {
				t.Errorf("%s on %s was %s and is now %s", f.Currency, f.Day, was.Rate, f.Rate)
			}
			earlier[f.Currency][f.Day] = f
		}
		for c, n := range currencies {
			if n < 300 {
				t.Errorf("%d rates of %s", n, c)
			}
		}
		if len(currencies) != 12 {
			t.Errorf("%d currencies", len(currencies))
		}
	}
}

func TestRatesStayPlausible(t *testing.T) {
	table := fx.NewTable(demo.Rates(civil.Date(2040, time.January, 2)))
	for c, bounds := range map[money.Currency][2]string{"USD": {"0.9", "1.4"}, "GBP": {"0.7", "1.1"}, "JPY": {"130", "210"}} {
		f, ok := table.On(c, civil.Date(2040, time.January, 2), time.Time{}, 7)
		low, high := rate(t, bounds[0]), rate(t, bounds[1])
		if !ok || f.Rate.Rat().Cmp(low.Rat()) < 0 || f.Rate.Rat().Cmp(high.Rat()) > 0 {
			t.Errorf("%s wandered off to %s", c, f.Rate)
		}
	}
}

func rate(t *testing.T, text string) money.Rate {
	t.Helper()
	r, err := money.ParseRate(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
