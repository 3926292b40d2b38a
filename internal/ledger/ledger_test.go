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

	"holdfast/internal/apptest"
	"holdfast/internal/civil"
	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/fault"
	"holdfast/internal/ledger"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
)

// TestPremiumHoldsAfterAnyHistory: payments, refunds, chargebacks, moved bookings, rates that come late and policies
// that change, in any order.
func TestPremiumHoldsAfterAnyHistory(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	c := w.Channel(travel.ModeProtectionOnly, "EUR")
	n, adjusted := apptest.Histories(t, 3), 0
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 10))
		w.Advance(40 * 24 * time.Hour) // past the age of the rates of the history before
		b := w.Booking(c, 10_000_000, (civil.DayOf(w.Now()) + civil.Day(r.IntN(300))).String())
		var paid []travel.Transaction
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

// TestHistoriesThatDifferInOrderAgree: wherever rates were on file, what is left of every payment, its value and its
// premium do not depend on the order in which things were reported; nor do the lines, where nothing was retained.
func TestHistoriesThatDifferInOrderAgree(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	for day := range civil.Day(40) {
		w.Fix((civil.DayOf(apptest.Began) - day).String(), map[money.Currency]string{"GBP": fmt.Sprintf("0.8%02d", day)})
	}
	c := w.Channel(travel.ModeProtectionOnly, "EUR")
	for seed := range apptest.Histories(t, 2) {
		r := rand.New(rand.NewPCG(seed, 20))
		type adjusted struct {
			kind   travel.TransactionType
			of     int // the payment
			amount int64
			at     time.Time
		}
		amounts, taken, facts := make([]int64, 4), make([]time.Time, 4), []adjusted{}
		for i := range amounts {
			amounts[i] = 1000 + r.Int64N(100_000)
			taken[i] = apptest.Began.Add(-time.Duration(12+r.IntN(30*24)) * time.Hour)
			for range r.IntN(4) {
				f := adjusted{travel.Refund, i, 1 + r.Int64N(amounts[i]/4), apptest.Began.Add(-time.Duration(12+r.IntN(48)) * time.Hour)}
				if f.at.Before(taken[i]) { // which is refused
					f.at = taken[i]
				}
				facts = append(facts, f)
			}
			// Chargebacks after all refunds, and a reversal: a refund of before them is recorded whenever it is learned.
			for n := range r.IntN(3) {
				facts = append(facts, adjusted{travel.Chargeback, i, 1 + r.Int64N(amounts[i]), apptest.Began.Add(-time.Duration(8-n) * time.Hour)})
			}
			if r.IntN(3) == 0 {
				facts = append(facts, adjusted{travel.ChargebackReversal, i, 1 + r.Int64N(amounts[i]), apptest.Began.Add(-2 * time.Hour)})
			}
		}
		end := civil.DayOf(apptest.Began) + civil.Day(r.IntN(200))
		moved := civil.DayOf(apptest.Began) + civil.Day(r.IntN(400))
		play := func(order *rand.Rand) (all []protection.Explained, stand []string) {
			b := w.Booking(c, 10_000_000, end.String())
			paid := make([]travel.Transaction, len(amounts))
			steps := order.Perm(len(amounts) + len(facts) + 1)
			for done := 0; done < len(steps); {
				for i, step := range steps {
					switch {
					case step < 0:
						continue
					case step < len(amounts):
						in := apptest.Report(travel.Purchase, b, amounts[step])
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
				stand = append(stand, standing(w, p.ID))
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

// standing is how a payment stands, and each of its chargebacks and reversals in order of their effective time.
func standing(w *apptest.World, id int64) string {
	p := w.ReadTransaction(id)
	var adjusted []travel.Transaction
	for _, other := range p.Adjustments {
		adjusted = append(adjusted, w.ReadTransaction(other))
	}
	slices.SortFunc(adjusted, func(a, b travel.Transaction) int {
		return cmp.Or(a.EffectiveAt.Compare(b.EffectiveAt), cmp.Compare(a.Total, b.Total))
	})
	text := fmt.Sprint(p.Status, p.Remaining, p.TotalRemaining(), p.Flags)
	for _, t := range adjusted {
		text += fmt.Sprint(" ", t.Type, t.Total, t.Flags)
	}
	return text
}

// TestAnImportBooksPremiumOnce: a file that is taken over again adds no line.
func TestAnImportBooksPremiumOnce(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-04-08", map[money.Currency]string{"GBP": "0.85795"})
		rows := []travel.ImportedPayment{apptest.ARow(2, "1", apptest.Paying(120_000)), apptest.ARow(3, "2"), apptest.ARow(4, "3", apptest.Refunding("1", 30_000))}
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

// TestPremiumWhateverRunsAtTheSameTime: refunds, moves of the booking and the rate they wait for, all at once.
func TestPremiumWhateverRunsAtTheSameTime(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(travel.ModeProtectionOnly, "EUR")
		b := w.Booking(c, 1_000_000, "2024-09-14")
		var paid []travel.Transaction
		for range 3 {
			paid = append(paid, w.Must(apptest.Report(travel.Purchase, b, 100_000)))
		}
		var group sync.WaitGroup
		run := func(do func() error) {
			group.Go(func() {
				err := do()
				for fault.KindOf(err) == fault.Unavailable { // too busy a machine: callers try again
					err = do()
				}
				if err != nil && !errors.Is(err, db.ErrConflict) {
					t.Error(err)
				}
			})
		}
		for i := range 6 {
			for _, p := range paid {
				run(func() error {
					_, _, err := w.App.Payments.Create(t.Context(), w.Actor, apptest.Linked(travel.Refund, p, b, int64(5_000+i)))
					return err
				})
			}
			end := civil.DayOf(apptest.Began) + civil.Day(20*i)
			run(func() error {
				_, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, travel.BookingFields{End: &end})
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

// holds checks what is always true of the premium of a payment, as known at an instant: its lines come to the premium
// of its state and what was retained, and the state of the last line is the one that follows from the facts.
func holds(t *testing.T, w *apptest.World, id int64, known time.Time) protection.Explained {
	t.Helper()
	x, err := w.App.Protection.Explain(t.Context(), w.Actor, id, reports.ProtectionQuery{Moment: ledger.Moment{KnownAt: known}})
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

// happens is one event of a random history, and says whether it adjusted a payment. What the rules refuse is no event.
func happens(t *testing.T, w *apptest.World, r *rand.Rand, c travel.Channel, b travel.Booking, paid *[]travel.Transaction) (adjusted bool) {
	t.Helper()
	on := w.Now().Add(-time.Duration(r.IntN(20*24)) * time.Hour)
	today := civil.DayOf(w.Now())
	switch n := r.IntN(12); {
	case n < 3 || len(*paid) == 0:
		in := apptest.Report(travel.Purchase, b, 1+r.Int64N(100_000))
		in.EffectiveAt = on
		*paid = append(*paid, w.Must(in))
	case n < 7:
		kinds := []travel.TransactionType{travel.Refund, travel.Refund, travel.Chargeback, travel.ChargebackReversal}
		of := (*paid)[r.IntN(len(*paid))]
		in := apptest.Linked(kinds[n-3], of, b, 1+r.Int64N(30_000))
		in.EffectiveAt = on
		if *in.Type == travel.Refund && on.Before(of.EffectiveAt) { // which is refused
			in.EffectiveAt = of.EffectiveAt
		}
		_, _, err := w.App.Payments.Create(t.Context(), w.Actor, in)
		if err != nil && !fault.Is(err, fault.NotPossible) {
			t.Fatal(err)
		}
		adjusted = err == nil
	case n < 9:
		w.Move(b, today+civil.Day(r.IntN(400)-30))
	case n < 11:
		w.Fix((today - civil.Day(r.IntN(20))).String(), map[money.Currency]string{"GBP": fmt.Sprintf("0.%d", 80+r.IntN(10))})
	default:
		from, refundable, least := today-civil.Day(r.IntN(20)), r.IntN(2) == 0, r.Int64N(300)
		card := append(travel.DefaultRateCard(), travel.RateLine{ChannelID: c.ID, To: travel.NoEnd, PPM: r.Int64N(30_000)})
		w.Policy(travel.PolicyFields{From: &from, PremiumRefundable: &refundable, MinimumPerLine: &least, RateCard: &card})
	}
	return adjusted
}
