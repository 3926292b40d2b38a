package ledger_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"holdfast/internal/book/imports"
	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestPremiumHoldsAfterAnyHistory: payments, refunds, chargebacks, moved bookings, rates that come late and policies
// that change, in any order.
func TestPremiumHoldsAfterAnyHistory(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	c := w.Channel(merchant.ModeProtectionOnly, "EUR")
	n, adjusted := apptest.Histories(t, 3), 0
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 10))
		w.Advance(40 * 24 * time.Hour) // past the age of the rates of the history before
		b := w.Booking(c, 10_000_000, (civil.DayOf(w.Now()) + civil.Day(r.IntN(300))).String())
		var paid []payment.Transaction
		var moments []time.Time
		for range 30 {
			w.Advance(time.Duration(r.IntN(36)) * time.Hour)
			moments = append(moments, w.Now())
			w.Advance(time.Minute)
			if happens(t, w, r, c, b, &paid) {
				adjusted++
			}
		}
		w.Fix((civil.DayOf(w.Now()) - 3).String(), map[money.Currency]string{"GBP": "0.91"})
		for _, p := range paid {
			holds(t, w, p.ID, w.Now())
			for i, known := range moments {
				if i%5 == 0 && !known.Before(p.CreatedAt) {
					holds(t, w, p.ID, known)
				}
			}
		}
	}
	if adjusted < 3*int(n) {
		t.Errorf("of all adjustments in %d histories %d were accepted", n, adjusted)
	}
}

// TestHistoriesThatDifferInOrderAgree: where rates were on file, the remaining amount of every payment, its value and
// its premium do not depend on the order of the reports; neither do the lines, if nothing was retained.
func TestHistoriesThatDifferInOrderAgree(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	for day := range civil.Day(40) {
		w.Fix((civil.DayOf(apptest.Began) - day).String(), map[money.Currency]string{"GBP": fmt.Sprintf("0.8%02d", day)})
	}
	c := w.Channel(merchant.ModeProtectionOnly, "EUR")
	for seed := range apptest.Histories(t, 2) {
		r := rand.New(rand.NewPCG(seed, 20))
		type adjusted struct {
			kind   payment.TransactionType
			of     int // the payment
			amount int64
			at     time.Time
		}
		amounts, taken, facts := make([]int64, 4), make([]time.Time, 4), []adjusted{}
		for i := range amounts {
			amounts[i] = 1000 + r.Int64N(100_000)
			taken[i] = apptest.Began.Add(-time.Duration(12+r.IntN(30*24)) * time.Hour)
			for range r.IntN(4) {
				f := adjusted{payment.Refund, i, 1 + r.Int64N(amounts[i]/4), apptest.Began.Add(-time.Duration(12+r.IntN(48)) * time.Hour)}
				if f.at.Before(taken[i]) { // which is refused
					f.at = taken[i]
				}
				facts = append(facts, f)
			}
			// Chargebacks after all refunds, and a reversal: an earlier refund is recorded whenever it is learned.
			for n := range r.IntN(3) {
				facts = append(facts, adjusted{payment.Chargeback, i, 1 + r.Int64N(amounts[i]), apptest.Began.Add(-time.Duration(8-n) * time.Hour)})
			}
			if r.IntN(3) == 0 {
				facts = append(facts, adjusted{payment.ChargebackReversal, i, 1 + r.Int64N(amounts[i]), apptest.Began.Add(-2 * time.Hour)})
			}
		}
		end := civil.DayOf(apptest.Began) + civil.Day(r.IntN(200))
		moved := civil.DayOf(apptest.Began) + civil.Day(r.IntN(400))
		play := func(order *rand.Rand) (all []protection.Explained, stand []string) {
			b := w.Booking(c, 10_000_000, end.String())
			paid := make([]payment.Transaction, len(amounts))
			steps := order.Perm(len(amounts) + len(facts) + 1)
			for done := 0; done < len(steps); {
				for i, step := range steps {
					switch {
					case step < 0:
						continue
					case step < len(amounts):
						in := apptest.Report(payment.Purchase, b, amounts[step])
						in.EffectiveAt = taken[step]
						paid[step] = w.Must(in)
					case step == len(amounts)+len(facts):
						w.Move(b, moved)
					default:
						f := facts[step-len(amounts)]
						if paid[f.of].ID == 0 { // it waits for its payment
							continue
						}
						in := apptest.Linked(f.kind, paid[f.of], b, f.amount)
						in.EffectiveAt = f.at
						w.Must(in)
					}
					steps[i] = -1
					done++
				}
			}
			for _, p := range paid {
				all = append(all, holds(t, w, p.ID, w.Now()))
				stand = append(stand, stateOf(w, p.ID))
			}
			return all, stand
		}
		one, then := play(r)
		other, now := play(r)
		for i, a := range one {
			b := other[i]
			x, y := a.Premium.State, b.Premium.State
			x.Line.ID, y.Line.ID = 0, 0
			if a.Amounts != b.Amounts || then[i] != now[i] {
				t.Fatalf("seed %d, payment %d: %+v, %s and %+v, %s", seed, i, a.Amounts, then[i], b.Amounts, now[i])
			}
			if a.Remaining != b.Remaining || a.Undelivered != b.Undelivered || a.State != b.State || a.Terms != b.Terms ||
				a.Value != b.Value || x != y {
				t.Fatalf("seed %d, payment %d: %+v and %+v", seed, i, a, b)
			}
			if a.Premium.Retained != 0 || a.Premium.Booked != b.Premium.Booked {
				t.Fatalf("seed %d, payment %d: booked %d and %d", seed, i, a.Premium.Booked, b.Premium.Booked)
			}
		}
	}
}

// stateOf is the state of a payment, and of each of its chargebacks and reversals in order of their effective time.
func stateOf(w *apptest.World, id int64) string {
	p := w.ReadTransaction(id)
	var adjusted []payment.Transaction
	for _, other := range p.Adjustments {
		adjusted = append(adjusted, w.ReadTransaction(other))
	}
	slices.SortFunc(adjusted, func(a, b payment.Transaction) int {
		return cmp.Or(a.EffectiveAt.Compare(b.EffectiveAt), cmp.Compare(a.Total, b.Total))
	})
	// Whether there was a dispute when a payment was logged depends on the order.
	flags := slices.DeleteFunc(slices.Clone(p.Flags), func(flag string) bool { return flag == payment.FlagAfterDispute })
	text := fmt.Sprint(p.Status, p.Remaining, p.TotalRemaining(), flags)
	for _, t := range adjusted {
		text += fmt.Sprint(" ", t.Type, t.Total, t.Flags)
	}
	return text
}

// TestAnImportBooksPremiumOnce: importing a file again adds no line.
func TestAnImportBooksPremiumOnce(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-04-08", map[money.Currency]string{"GBP": "0.85795"})
		rows := []imports.ImportedPayment{apptest.ARow(2, "1", apptest.Paying(120_000)), apptest.ARow(3, "2"), apptest.ARow(4, "3", apptest.Refunding("1", 30_000))}
		for range 2 {
			if _, refused := w.Imported(apptest.Protect, rows...); len(refused) > 0 {
				t.Fatal(refused)
			}
		}
		var got []int64
		for _, l := range w.Lines(protection.PremiumFilter{}) {
			got = append(got, l.Amount)
		}
		if want := "[875 263 -219]"; fmt.Sprint(got) != want {
			t.Errorf("lines %v, want %v", got, want)
		}
	})
}

// TestPremiumWhateverRunsAtTheSameTime: concurrent refunds, moves of the booking and the late rate.
func TestPremiumWhateverRunsAtTheSameTime(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b := w.Booking(c, 1_000_000, "2024-09-14")
		var paid []payment.Transaction
		for range 3 {
			paid = append(paid, w.Must(apptest.Report(payment.Purchase, b, 100_000)))
		}
		var group sync.WaitGroup
		run := func(do func() error) {
			group.Go(func() {
				err := do()
				for errs.KindOf(err) == errs.Unavailable { // too busy a machine: callers try again
					err = do()
				}
				if err != nil && !errors.Is(err, store.ErrConflict) {
					t.Error(err)
				}
			})
		}
		for i := range 6 {
			for _, p := range paid {
				run(func() error {
					_, _, err := w.App.Payments.Create(t.Context(), w.Actor, apptest.Linked(payment.Refund, p, b, int64(5_000+i)))
					return err
				})
			}
			end := civil.DayOf(apptest.Began) + civil.Day(20*i)
			run(func() error {
				_, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, booking.BookingFields{End: &end})
				return err
			})
			if i == 2 {
				run(func() error {
					w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
					return nil
				})
			}
			run(func() error {
				_, err := w.App.Rates.PricePending(t.Context())
				return err
			})
		}
		group.Wait()
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		w.Advance(time.Second)
		for _, p := range paid {
			a := holds(t, w, p.ID, w.Now())
			if a.Premium.State.Amount != 100_000-6*5_000-15 {
				t.Errorf("the state's amount is %d", a.Premium.State.Amount)
			}
		}
	})
}

// holds checks the invariants of a payment's premium, as known at an instant: its lines add up to the premium of its
// state plus the retained amount, and the state of the last line follows from the facts.
func holds(t *testing.T, w *apptest.World, id int64, known time.Time) protection.Explained {
	t.Helper()
	x, err := w.App.Protection.Explain(t.Context(), w.Actor, id, report.ProtectionQuery{Moment: ledger.Moment{KnownAt: known}})
	if err != nil {
		t.Fatal(err)
	}
	a := x.Allocations[0]
	p := a.Premium
	if p.Booked != p.State.Premium+p.Retained {
		t.Fatalf("payment %d, known %s: lines %d, premium %d, retained %d: %+v", id, known, p.Booked, p.State.Premium, p.Retained, p.Lines)
	}
	if p.Priced != (len(p.Lines) > 0) || p.Priced && p.Lines[len(p.Lines)-1].State.Premium != p.State.Premium {
		t.Fatalf("payment %d: state %+v after %+v", id, p.State, p.Lines)
	}
	return a
}

// happens is one event of a random history, and reports whether it adjusted a payment. Rejected events do not count.
func happens(t *testing.T, w *apptest.World, r *rand.Rand, c merchant.Channel, b booking.Booking, paid *[]payment.Transaction) (adjusted bool) {
	t.Helper()
	on := w.Now().Add(-time.Duration(r.IntN(20*24)) * time.Hour)
	today := civil.DayOf(w.Now())
	switch n := r.IntN(12); {
	case n < 3 || len(*paid) == 0:
		in := apptest.Report(payment.Purchase, b, 1+r.Int64N(100_000))
		in.EffectiveAt = on
		*paid = append(*paid, w.Must(in))
	case n < 7:
		kinds := []payment.TransactionType{payment.Refund, payment.Refund, payment.Chargeback, payment.ChargebackReversal}
		of := (*paid)[r.IntN(len(*paid))]
		in := apptest.Linked(kinds[n-3], of, b, 1+r.Int64N(30_000))
		in.EffectiveAt = on
		if *in.Type == payment.Refund && on.Before(of.EffectiveAt) { // which is refused
			in.EffectiveAt = of.EffectiveAt
		}
		_, _, err := w.App.Payments.Create(t.Context(), w.Actor, in)
		if err != nil && !errs.Is(err, errs.NotPossible) {
			t.Fatal(err)
		}
		adjusted = err == nil
	case n < 9:
		w.Move(b, today+civil.Day(r.IntN(400)-30))
	case n < 11:
		w.Fix((today - civil.Day(r.IntN(20))).String(), map[money.Currency]string{"GBP": fmt.Sprintf("0.%d", 80+r.IntN(10))})
	default:
		from, refundable, least := today-civil.Day(r.IntN(20)), r.IntN(2) == 0, r.Int64N(300)
		card := append(terms.DefaultRateCard(), terms.RateLine{ChannelID: c.ID, To: terms.NoEnd, PPM: r.Int64N(30_000)})
		w.Policy(terms.PolicyFields{From: &from, PremiumRefundable: &refundable, MinimumPerLine: &least, RateCard: &card})
	}
	return adjusted
}
