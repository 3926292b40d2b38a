package demo

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"holdfast/internal/book/imports"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
)

// The size of the book: bookings paid in the last nine months, for trips that end in the last two or the next twelve months.
const (
	bookings   = 2000
	failed     = 40 // of them, of the merchant that has failed
	paidDays   = 270
	travelDays = 365
	overDays   = 60
)

// merchant is a merchant with bookings in the book.
type shop struct {
	channel      string
	currency     money.Currency
	destinations []choice[destination]
	paidIn       []choice[money.Currency]
}

type destination struct {
	country, place string
	nightly        int64 // price of a night for one traveller, in minor units
}

// choice is a weighted value.
type choice[T any] struct {
	weight int
	value  T
}

var madeUpMerchants = []choice[shop]{
	{62, shop{
		channel: EURChannel, currency: "EUR",
		destinations: []choice[destination]{
			{26, destination{"ES", "Mallorca", 9400}}, {18, destination{"PT", "the Algarve", 8800}},
			{16, destination{"IT", "Sicily", 10400}}, {15, destination{"GR", "Crete", 8900}},
			{10, destination{"FR", "Provence", 12100}}, {8, destination{"HR", "Istria", 7900}},
			{7, destination{"ES", "Tenerife", 8700}},
		},
		paidIn: []choice[money.Currency]{{84, "EUR"}, {5, "CHF"}, {4, "USD"}, {3, "GBP"}, {2, "SEK"}, {1, "PLN"}, {1, "JPY"}},
	}},
	{38, shop{
		channel: GBPChannel, currency: "GBP",
		destinations: []choice[destination]{
			{34, destination{"GB", "the Highlands", 11200}}, {20, destination{"IE", "Kerry", 9900}},
			{18, destination{"IS", "Reykjavik", 16800}}, {16, destination{"NO", "Lofoten", 15400}},
			{12, destination{"PT", "Madeira", 9100}},
		},
		paidIn: []choice[money.Currency]{{86, "GBP"}, {8, "EUR"}, {3, "USD"}, {2, "AUD"}, {1, "CAD"}},
	}},
}

// solana is the merchant that has failed.
var solana = shop{
	channel: FailedChannel, currency: "EUR",
	destinations: []choice[destination]{
		{50, destination{"ES", "Fuerteventura", 8600}}, {30, destination{"PT", "the Algarve", 8800}}, {20, destination{"GR", "Rhodes", 8300}},
	},
	paidIn: []choice[money.Currency]{{88, "EUR"}, {8, "CHF"}, {4, "GBP"}},
}

type card struct{ scheme, bin string }

var cards = []choice[card]{
	{49, card{"visa", "411111"}}, {37, card{"mastercard", "555555"}}, {10, card{"amex", "378282"}}, {3, card{"discover", "601111"}},
	{1, card{"jcb", "353011"}},
}

// letters mark the type of payment in references.
var letters = map[payment.TransactionType]string{
	payment.Purchase: "P", payment.Refund: "R", payment.Chargeback: "C", payment.ChargebackReversal: "V",
}

// reasons are the schemes' reason codes for services not provided or not as described.
var reasons = map[string]string{"visa": "13.1", "mastercard": "4853", "amex": "C08", "discover": "RG"}

// season weights the months in which trips end.
var season = [12]int{4, 4, 6, 8, 9, 11, 15, 16, 10, 7, 4, 6}

var (
	firstnames = []string{"Ana", "Ben", "Clara", "David", "Elena", "Finn", "Greta", "Hugo", "Ines", "Jonas", "Katja", "Liam",
		"Maria", "Niall", "Olga", "Pedro", "Rosa", "Sven", "Tessa", "Viktor"}
	surnames = []string{"Almeida", "Berg", "Campbell", "Dubois", "Eriksen", "Ferrari", "Garcia", "Horvat", "Jensen", "Kowalski",
		"Lopez", "Murphy", "Nowak", "Oliveira", "Papadakis", "Rossi", "Schmidt", "Thomson", "Vogel", "Walsh"}
)

// Book returns the demo's payments up to a day, ordered by time. The same day always gives the same book.
func Book(today civil.Day) []imports.ImportedPayment {
	b := &book{today: today, rates: fx.NewTable(Rates(today)), chance: seeded("book"), codes: seeded("codes")}
	for n := 1; n <= bookings-failed; n++ {
		b.trip(n, pick(b.chance, madeUpMerchants))
	}
	// Nothing was booked or paid with the other merchant after it failed.
	late := &book{today: today - failedDays, rates: b.rates, chance: seeded("failed"), codes: seeded("failed codes")}
	for n := bookings - failed + 1; n <= bookings; n++ {
		late.trip(n, solana)
	}
	b.rows = append(b.rows, late.rows...)
	slices.SortFunc(b.rows, byTime)
	for i := range b.rows {
		b.rows[i].Line = i + 1
	}
	return b.rows
}

type book struct {
	today  civil.Day
	rates  *fx.Table
	chance *rand.Rand
	codes  *rand.Rand // for auth codes and references, so that the rest of the book does not depend on them
	rows   []imports.ImportedPayment
}

// pick draws a value at random, by weight.
func pick[T any](chance *rand.Rand, choices []choice[T]) T {
	sum := 0
	for _, c := range choices {
		sum += c.weight
	}
	at := chance.IntN(sum)
	for _, c := range choices {
		if at -= c.weight; at < 0 {
			return c.value
		}
	}
	panic("demo: choices without weight")
}

// trip adds the payments of one booking.
func (b *book) trip(n int, m shop) {
	to := pick(b.chance, m.destinations)
	start, end, booked := b.days()
	pax := 1 + b.chance.Int64N(2) + b.chance.Int64N(3)*b.chance.Int64N(2)
	nights := int64(end - start)
	// Prices vary by up to a quarter and are slightly higher in summer. They are whole units.
	total := to.nightly * pax * nights * (100 + b.chance.Int64N(25) + int64(season[end.Start().Month()-1])) / 10_000 * 100
	first, last := firstnames[b.chance.IntN(len(firstnames))], surnames[b.chance.IntN(len(surnames))]
	key, currency := fmt.Sprintf("DEMO-%04d", n), m.currency
	content := fmt.Sprintf("%d nights, %s", nights, to.place)
	email := fmt.Sprintf("traveller%d@example.org", n)
	p := &payer{
		book: b, booked: booked, paidIn: pick(b.chance, m.paidIn), card: pick(b.chance, cards),
		lastFour: fmt.Sprintf("%04d", b.chance.IntN(10_000)), method: payment.CreditCard,
		row: imports.ImportedPayment{
			Channel: m.channel,
			Booking: booking.BookingFields{
				ImportKey: key, Reference: &key, Content: &content, Firstname: &first, Surname: &last, Email: &email,
				Start: &start, End: &end, Pax: &pax, Total: &total, Currency: &currency, Country: &to.country,
				OtherProtection: b.otherProtection(),
			},
		},
	}
	if p.paidIn == currency && b.chance.IntN(25) == 0 {
		p.method = payment.BankTransfer
	}
	p.payments(total, start)
}

// days chooses the start, end and booking date of a trip. More trips end in summer, and fewer in the distant future. Summer
// trips were booked in all months of the book, winter trips mostly in the last ones.
func (b *book) days() (start, end, booked civil.Day) {
	for {
		ahead := b.chance.IntN(travelDays+overDays+1) - overDays
		end = b.today + civil.Day(ahead)
		weight := season[end.Start().Month()-1]
		if b.chance.IntN(16) >= weight || b.chance.IntN(travelDays) < ahead*3/4 {
			continue
		}
		start = end - civil.Day(3+b.chance.IntN(4)+b.chance.IntN(8))
		last := min(b.today, start) - 1
		ago := b.chance.IntN(paidDays)
		if weight < 9 {
			ago = min(ago, b.chance.IntN(paidDays))
		}
		if booked = last - civil.Day(ago); booked >= b.today-paidDays {
			return start, end, booked
		}
	}
}

// payer is a traveller paying for one booking.
type payer struct {
	*book
	row      imports.ImportedPayment // the values shared by all payments of the booking
	booked   civil.Day
	paidIn   money.Currency
	card     card
	lastFour string
	method   string
	made     []imports.ImportedPayment
}

// payments creates the payments due by today: a deposit at booking and the rest eight weeks before the trip, or the full
// amount if the trip is sooner. Some travellers pay late, and some cancel.
func (p *payer) payments(total int64, start civil.Day) {
	due := start - 56
	deposit := total * (15 + 5*p.chance.Int64N(4)) / 100
	switch {
	case p.booked >= due:
		p.purchase(total, p.booked)
	case p.chance.IntN(8) == 0: // in three instalments
		third := total / 3
		middle := p.booked + (due-p.booked)/2
		p.purchase(third, p.booked)
		p.purchase(third, middle)
		p.purchase(total-2*third, due)
	default:
		p.purchase(deposit, p.booked)
		if p.chance.IntN(30) != 0 { // one in thirty has not paid the balance yet
			p.purchase(total-deposit, due+civil.Day(p.chance.IntN(3)))
		}
	}
	switch roll := p.chance.IntN(100); {
	case roll < 4:
		p.refundAll()
	case roll < 7: // something was not as described
		p.refund(len(p.made)-1, p.made[len(p.made)-1].BaseTotal/10)
	case roll < 17:
		p.dispute()
	}
	p.rows = append(p.rows, p.made...)
}

// purchase adds a payment, unless its day is in the future.
func (p *payer) purchase(amount int64, day civil.Day) {
	if day >= p.today {
		return
	}
	total := amount
	if base := *p.row.Booking.Currency; p.paidIn != base {
		quote, ok := fx.Lock(p.rates, base, p.paidIn, day, day.End(), 7)
		if !ok {
			panic(fmt.Sprintf("demo: no rate of %s on %s", p.paidIn, day)) // cannot happen: the rates begin before the book
		}
		converted, err := quote.Convert(amount)
		if err != nil {
			panic(fmt.Sprintf("demo: %v", err)) // cannot happen: the amounts are small enough
		}
		total = converted * (1005 + p.chance.Int64N(15)) / 1000 // the merchant's margin
	}
	p.add(payment.Purchase, amount, total, at(p.chance, day), "")
}

// refund refunds part of the payment with index i, some days later.
func (p *payer) refund(i int, amount int64) {
	paid := p.made[i]
	day := civil.DayOf(paid.Payment.EffectiveAt) + 1 + civil.Day(p.chance.IntN(30))
	if amount < 1 || day >= p.today {
		return
	}
	total := *paid.Payment.Total
	if amount < paid.BaseTotal {
		total = max(1, total*amount/paid.BaseTotal)
	}
	p.add(payment.Refund, amount, total, at(p.chance, day), paid.Payment.ImportKey)
}

// refundAll cancels the booking: all of its payments are refunded.
func (p *payer) refundAll() {
	for i := range len(p.made) {
		p.refund(i, p.made[i].BaseTotal)
	}
}

// dispute charges back the last payment, up to four weeks after the end of the trip. The merchant wins one case in three.
func (p *payer) dispute() {
	paid := p.made[len(p.made)-1]
	day := *p.row.Booking.End + 5 + civil.Day(p.chance.IntN(21))
	if p.method != payment.CreditCard || day >= p.today {
		return
	}
	// Both refer to the payment by its own acquirer reference.
	add := func(kind payment.TransactionType, day civil.Day) *payment.NewTransaction {
		p.add(kind, paid.BaseTotal, *paid.Payment.Total, at(p.chance, day), paid.Payment.ImportKey)
		made := &p.made[len(p.made)-1].Payment
		made.AcquirerReference = paid.Payment.AcquirerReference
		return made
	}
	answerBy := day + 30
	charged := add(payment.Chargeback, day)
	charged.ReasonCode, charged.ChallengeDay = reasons[p.card.scheme], &answerBy
	if won := day + 10; p.chance.IntN(3) == 0 && won < p.today {
		add(payment.ChargebackReversal, won)
	}
}

func (p *payer) add(kind payment.TransactionType, base, total int64, when time.Time, linked string) {
	row := p.row
	currency := p.paidIn
	key := fmt.Sprintf("%s-%s%d", row.Booking.ImportKey, letters[kind], len(p.made)+1)
	row.BaseTotal, row.Linked = base, linked
	row.Payment = payment.NewTransaction{
		Currency: &currency, Total: &total, Type: &kind, PSP: "demo_psp", Method: p.method, Reference: key, ImportKey: key,
		EffectiveAt: when, PayeeName: *row.Booking.Firstname, PayeeSurname: *row.Booking.Surname, PayeeEmail: *row.Booking.Email,
	}
	if p.method == payment.CreditCard {
		row.Payment.CardType, row.Payment.BIN, row.Payment.LastFour = p.card.scheme, p.card.bin, p.lastFour
		row.Payment.AcquirerReference = p.acquirerReference(civil.DayOf(when))
		row.Payment.ProcessorReference = processorReference(key)
		if kind == payment.Purchase { // refunds are not authorised
			row.Payment.AuthCode = authCode(p.codes)
		}
	}
	p.made = append(p.made, row)
}

// at picks a random second of a day.
func at(chance *rand.Rand, day civil.Day) time.Time {
	return day.Start().Add(time.Duration(chance.IntN(24*60*60)) * time.Second)
}

// byTime compares rows by time, then by key, so that the order is deterministic.
func byTime(x, y imports.ImportedPayment) int {
	return cmp.Or(x.Payment.EffectiveAt.Compare(y.Payment.EffectiveAt), cmp.Compare(x.Payment.ImportKey, y.Payment.ImportKey))
}
