package apptest

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
)

// Histories is the number of random histories on which to check a property: a few, which are the same in every run, or as
// many as `make test-long` sets.
func Histories(t testing.TB, few uint64) uint64 {
	t.Helper()
	text := os.Getenv("HOLDFAST_TEST_HISTORIES")
	if text == "" {
		return few
	}
	many, err := strconv.ParseUint(text, 10, 32)
	if err != nil || many < few {
		t.Fatalf("HOLDFAST_TEST_HISTORIES is %q, must be a number of at least %d", text, few)
	}
	return many
}

// History builds a random book: transactions, changes and rates in any order.
type History struct {
	*World
	Random    *rand.Rand
	Channels  []merchant.Channel
	Bookings  []booking.Booking
	Suppliers []int64
	payments  []pastPayment
	accepted  Steps
}

// Steps counts the steps of a history that the service accepted. The rules reject many, and a history with too many
// rejections proves nothing.
type Steps struct {
	Bookings, Purchases, Refunds, Chargebacks, Reversals, Changes int
}

type pastPayment struct {
	payment.Transaction
	booking booking.Booking
}

// NewHistory starts a history in a world with five channels, three suppliers and a few rates. The seed determines what
// happens.
func NewHistory(w *World, seed uint64) *History {
	w.t.Helper()
	h := &History{World: w, Random: rand.New(rand.NewPCG(seed, 1))}
	w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365", "USD": "1.08520"})
	h.Channels = []merchant.Channel{
		w.Channel(merchant.ModeProtectionOnly, "EUR"), w.Channel(merchant.ModeProtectionOnly, "GBP"),
		w.Channel(merchant.ModeProtectionOnly, "JPY"), // without a fixing until late
		w.Channel(merchant.ModeDraft, "USD"), w.Channel(merchant.ModeTest, "EUR"),
	}
	for _, name := range []string{"Air", "Bus", "Camp"} {
		s, err := w.App.Suppliers.Create(w.t.Context(), w.Actor, merchant.SupplierFields{Name: &name})
		if err != nil {
			w.t.Fatal(err)
		}
		h.Suppliers = append(h.Suppliers, s.ID)
	}
	return h
}

// Day is a random day between today+from and today+from+days-1.
func (h *History) Day(from, days int) civil.Day {
	return civil.DayOf(h.Now()) + civil.Day(from+h.Random.IntN(days))
}

// someSuppliers returns none, some or all of the suppliers.
func (h *History) someSuppliers() []int64 {
	list := slices.Clone(h.Suppliers)
	h.Random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:h.Random.IntN(len(list)+1)]
}

// Step performs one random action, or lets some time pass.
func (h *History) Step() {
	switch h.Random.IntN(10) {
	case 0, 1:
		h.NewBooking()
	case 2, 3, 4, 5:
		h.Pay()
	case 6, 7:
		h.Adjust()
	case 8:
		if h.Random.IntN(4) == 0 {
			h.Lock()
		} else {
			h.Change()
		}
	default:
		h.Advance(time.Duration(h.Random.IntN(100)) * time.Hour)
	}
}

// NewBooking creates a booking in one of the channels.
func (h *History) NewBooking() {
	h.t.Helper()
	c := h.Channels[h.Random.IntN(len(h.Channels))]
	end := h.Day(-20, 90)
	start := end - civil.Day(h.Random.IntN(15))
	total, country := int64(1+h.Random.IntN(100000)), []string{"PT", "FR", "US"}[h.Random.IntN(3)]
	content, first, last, email, suppliers := "A week", "Ada", "Byron", "ada@example.org", h.someSuppliers()
	in := booking.BookingFields{
		ChannelID: &c.ID, Content: &content, Firstname: &first, Surname: &last, Email: &email, End: &end, Total: &total,
		Currency: &c.Currency, Suppliers: &suppliers, Country: &country,
	}
	if h.Random.IntN(3) > 0 {
		in.Start = &start
	}
	b, err := h.App.Bookings.Create(h.t.Context(), h.Actor, in)
	if err != nil {
		h.t.Fatal(err)
	}
	h.Bookings = append(h.Bookings, b)
	h.accepted.Bookings++
}

// Pay pays part of one of the bookings.
func (h *History) Pay() {
	b := h.Bookings[h.Random.IntN(len(h.Bookings))]
	in := Report(payment.Purchase, b, 1+h.Random.Int64N(b.Total))
	in.CardType = []string{"visa", "mastercard", "amex", ""}[h.Random.IntN(4)]
	in.EffectiveAt = h.Now().Add(-time.Duration(h.Random.IntN(15*24)) * time.Hour)
	if h.Random.IntN(6) == 0 {
		in.Method = payment.BankTransfer
	}
	if t, ok := h.try(in); ok {
		h.payments = append(h.payments, pastPayment{t, b})
	}
}

// Adjust refunds a payment, charges it back, or reverses a chargeback.
func (h *History) Adjust() {
	if len(h.payments) == 0 {
		return
	}
	p := h.payments[h.Random.IntN(len(h.payments))]
	kinds := []payment.TransactionType{payment.Refund, payment.Refund, payment.Chargeback, payment.ChargebackReversal}
	total := 1 + h.Random.Int64N(p.Total)
	if h.Random.IntN(2) == 0 {
		total = p.Total
	}
	in := Linked(kinds[h.Random.IntN(len(kinds))], p.Transaction, p.booking, total)
	in.EffectiveAt = h.Now().Add(-time.Duration(h.Random.IntN(10*24)) * time.Hour)
	h.try(in)
}

// try logs a transaction that the rules may reject.
func (h *History) try(in payment.NewTransaction) (payment.Transaction, bool) {
	t, _, err := h.App.Disputes.CreateTransaction(h.t.Context(), h.Actor, in)
	if err != nil && !errs.Is(err, errs.Invalid) && !errs.Is(err, errs.NotPossible) {
		h.t.Error(err)
	}
	if err != nil {
		return t, false
	}
	switch *in.Type {
	case payment.Purchase:
		h.accepted.Purchases++
	case payment.Refund:
		h.accepted.Refunds++
	case payment.Chargeback:
		h.accepted.Chargebacks++
	case payment.ChargebackReversal:
		h.accepted.Reversals++
	}
	return t, true
}

// Change changes one field of one of the bookings.
func (h *History) Change() {
	b := h.Bookings[h.Random.IntN(len(h.Bookings))]
	end, suppliers, country := h.Day(-30, 120), h.someSuppliers(), []string{"PT", "ES"}[h.Random.IntN(2)]
	total := b.Total + h.Random.Int64N(50000)
	in := booking.BookingFields{}
	switch h.Random.IntN(4) {
	case 0:
		in.End = &end
	case 1:
		in.Suppliers = &suppliers
	case 2:
		in.Total = &total
	default:
		in.Country = &country
	}
	_, err := h.App.Bookings.Update(h.t.Context(), h.Actor, b.ID, in)
	switch {
	case err == nil:
		h.accepted.Changes++
	case !errs.Is(err, errs.Invalid) && !errs.Is(err, errs.NotPossible):
		h.t.Error(err)
	}
}

// Lock locks or unlocks one of the channels. Payments in a locked channel are not protected.
func (h *History) Lock() {
	c := &h.Channels[h.Random.IntN(len(h.Channels))]
	locked := !c.Locked
	if _, err := h.App.Channels.Change(h.t.Context(), h.Actor, c.ID, merchant.ChannelFields{Locked: &locked}); err != nil {
		h.t.Fatal(err)
	}
	c.Locked = locked
}

// Accepted is the number of steps that the service has accepted so far.
func (h *History) Accepted() Steps { return h.accepted }

// Add adds the steps of another history.
func (s *Steps) Add(more Steps) {
	s.Bookings, s.Purchases, s.Refunds = s.Bookings+more.Bookings, s.Purchases+more.Purchases, s.Refunds+more.Refunds
	s.Chargebacks, s.Reversals, s.Changes = s.Chargebacks+more.Chargebacks, s.Reversals+more.Reversals, s.Changes+more.Changes
}

// WantAtLeast fails the test if fewer steps of any kind were accepted.
func (s Steps) WantAtLeast(t *testing.T, least Steps) {
	t.Helper()
	if s.Bookings < least.Bookings || s.Purchases < least.Purchases || s.Refunds < least.Refunds ||
		s.Chargebacks < least.Chargebacks || s.Reversals < least.Reversals || s.Changes < least.Changes {
		t.Errorf("accepted only %+v, want at least %+v", s, least)
	}
}

// FoldSome folds up to limit deltas into the buckets and leaves the others out.
func (h *History) FoldSome(ctx context.Context, limit int) {
	if _, err := h.App.Buckets.FoldSite(ctx, h.Site.ID, limit); err != nil {
		h.t.Error(err)
	}
}
