package statements_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// TestStatementsOfTheWorkedLines follows the third worked line of the rules over the statements of eight months.
func TestStatementsOfTheWorkedLines(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.At("2024-04-09")
		w.Fix("2024-04-08", map[money.Currency]string{"GBP": "0.85795"})
		taxes := []terms.TaxCode{{Code: "IPT", RatePPM: 120_000, Label: "Insurance premium tax"}}
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-01-01"), TaxCodes: &taxes})
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		w.Channel(merchant.ModeProtectionOnly, "USD") // never has anything to state
		b := w.Booking(c, 120000, "2024-08-31")
		p := w.Must(apptest.Report(payment.Purchase, b, 120000))
		test := w.Booking(w.Channel(merchant.ModeTest, "EUR"), 120000, "2024-08-31")
		w.Must(apptest.Report(payment.Purchase, test, 120000))
		w.SetClock(apptest.DayPtr(t, "2024-05-01").Start().Add(9999 * time.Millisecond))
		w.Issue(0)                                                                    // a write that began in April may still be under way
		waiting(t, w, 2, apptest.DayPtr(t, "2024-05-01").Start().Add(10*time.Second)) // of both channels
		w.Advance(time.Millisecond)
		w.Issue(1)
		w.Issue(0)
		w.At("2024-05-02")
		refund := w.Must(apptest.Linked(payment.Refund, p, b, 30000))
		if _, _, err := payStatement(t, w, w.Statements(statements.StatementFilter{})[0].ID, 500, "2024-05-02", "BACS 1"); err != nil {
			t.Fatal(err)
		}
		w.At("2024-06-01")
		w.Issue(1)
		w.Move(b, *apptest.DayPtr(t, "2024-11-30"))
		w.At("2024-12-05")
		w.Issue(6) // June to November: something is open all the time
		w.Must(apptest.Linked(payment.Refund, p, b, 10000))
		w.At("2025-01-01")
		w.Issue(1)

		list := w.Statements(statements.StatementFilter{})
		for i, want := range []struct {
			period, due                        string
			opening, lines, tax, paid, closing int64
		}{
			{"2024-04", "2024-05-15", 0, 875, 105, 0, 980},
			{"2024-05", "2024-06-14", 980, -219, -26, 500, 235},
			{"2024-06", "2024-12-19", 235, 271, 32, 0, 538}, // 12 % of 927 to date is 111.24, less 79
			{"2024-07", "2024-12-19", 538, 0, 0, 0, 538},
			{"2024-08", "2024-12-19", 538, 0, 0, 0, 538},
			{"2024-09", "2024-12-19", 538, 0, 0, 0, 538},
			{"2024-10", "2024-12-19", 538, 0, 0, 0, 538},
			{"2024-11", "2024-12-19", 538, 0, 0, 0, 538},
			{"2024-12", "2025-01-15", 538, 0, 0, 0, 538},
		} {
			s := list[i]
			var lines, tax int64
			for _, l := range s.Lines {
				lines += l.Amount
			}
			for _, x := range s.Taxes {
				tax += x.Amount
			}
			if s.Number != int64(i+1) || s.ChannelID != c.ID || s.Currency != "GBP" || s.Period.Name() != want.period ||
				s.Due.String() != want.due || s.Opening != want.opening || lines != want.lines || tax != want.tax ||
				s.Payments != want.paid || s.Closing != want.closing {
				t.Errorf("statement %d: %+v, want %+v", i+1, s, want)
			}
		}
		first, second, last := w.StatementLines(list[0].ID), w.StatementLines(list[1].ID), w.StatementLines(list[8].ID)
		if len(first) != 1 || first[0].RefersTo != 0 || len(second) != 1 || second[0].RefersTo != 1 ||
			len(last) != 1 || last[0].RefersTo != 3 || last[0].Retained != 103 {
			t.Errorf("lines %+v, %+v, %+v", first, second, last)
		}
		// The purchase is on April's statement and, because its booking moved, on June's; the refund on May's.
		got, refunded := w.ReadTransaction(p.ID), w.ReadTransaction(refund.ID)
		if got.StatementBatches != "1,3" || !got.StatementDate.Equal(list[2].IssuedAt) || refunded.StatementBatches != "2" {
			t.Errorf("on statements %q (%s), %q", got.StatementBatches, got.StatementDate, refunded.StatementBatches)
		}
		line := w.Lines(protection.PremiumFilter{})[0]
		err := w.App.DB.Store.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
			return statements.FillIDs(tx, w.Site.ID, []*protection.PremiumLine{&line})
		})
		if err != nil || line.StatementID != list[0].ID {
			t.Errorf("the first line stands on statement %d: %v", line.StatementID, err)
		}
	})
}

// TestPaymentsAgainstStatements: payments settle the oldest charges first, and open amounts past their due day are
// overdue.
func TestPaymentsAgainstStatements(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		b := w.Booking(c, 1_000_000, "2024-12-31")
		w.Must(apptest.Report(payment.Purchase, b, 100_000)) // 12.00 at 211 days
		w.At("2024-07-01")
		w.Must(apptest.Report(payment.Purchase, b, 100_000)) // 12.00 at 183 days
		w.At("2024-08-01")
		w.Issue(2)
		list := w.Statements(statements.StatementFilter{})
		open := func(want ...int64) {
			t.Helper()
			var got []int64
			for _, s := range w.Statements(statements.StatementFilter{}) {
				got = append(got, s.Open)
			}
			if !slices.Equal(got, want) {
				t.Errorf("open %v, want %v", got, want)
			}
		}
		overdue := func(yes bool, want int) {
			t.Helper()
			if got := w.Statements(statements.StatementFilter{Overdue: &yes}); len(got) != want {
				t.Errorf("overdue %v: %d statements, want %d", yes, len(got), want)
			}
		}
		open(1200, 2400)
		overdue(true, 0)
		w.At("2024-08-15") // both are due on that day
		overdue(true, 0)
		w.At("2024-08-16")
		overdue(true, 2)
		p, created, err := payStatement(t, w, list[1].ID, 1500, "2024-08-15", "BACS 1")
		if err != nil || !created {
			t.Fatal(created, err)
		}
		open(0, 900)
		overdue(true, 1)
		overdue(false, 1)
		again, created, err := payStatement(t, w, list[1].ID, 1500, "2024-08-15", "BACS 1")
		if err != nil || created || again.ID != p.ID {
			t.Errorf("the same payment again: %+v, %v, %v", again, created, err)
		}
		within := func(amount int64, reference string) error {
			_, _, err := w.App.Statements.Pay(t.Context(), w.Actor, list[1].ID, statements.StatementPaymentFields{
				PaidOn: apptest.DayPtr(t, "2024-08-15"), Amount: &amount, Reference: &reference, WithinOpen: true,
			})
			return err
		}
		if f, ok := errors.AsType[*errs.Error](within(901, "BACS 3")); !ok || f.Reason != "overpaid" {
			t.Errorf("a payment above what is open: %v", f)
		}
		if err := within(1500, "BACS 1"); err != nil {
			t.Errorf("the same payment, of which less is open now: %v", err)
		}
		open(0, 900)
		if _, _, err := payStatement(t, w, list[1].ID, 1600, "2024-08-15", "BACS 1"); !errs.Is(err, errs.ReferenceExists) {
			t.Errorf("another payment under the reference: %v", err)
		}
		if _, _, err := payStatement(t, w, list[1].ID, 900, "2024-08-17", "BACS 2"); !errs.Is(err, errs.Invalid) {
			t.Errorf("a payment of tomorrow: %v", err)
		}
		if _, _, err := payStatement(t, w, 99, 900, "2024-08-16", "BACS 2"); !errs.Is(err, errs.RecordNotFound) {
			t.Errorf("a payment of no statement: %v", err)
		}
		if _, _, err := payStatement(t, w, list[0].ID, 900, "2024-08-16", "BACS 1"); err != nil { // one transfer for two statements
			t.Error(err)
		}
		open(0, 0)
		overdue(true, 0)
		payments, err := w.App.Statements.Payments(t.Context(), w.Actor, list[1].ID, apptest.Everything)
		if err != nil || len(payments.Items) != 1 || payments.Items[0].Author != w.Actor.Username {
			t.Errorf("payments %+v, %v", payments, err)
		}
		w.At("2024-09-01")
		w.Issue(1)
		last := w.Statements(statements.StatementFilter{})[2]
		if last.Opening != 2400 || last.Payments != 2400 || last.Closing != 0 {
			t.Errorf("August: %+v", last)
		}
		w.At("2024-10-01")
		w.Issue(0) // nothing is owed and nothing happened
	})
}

// TestOverpaymentBecomesCredit: the latest statement shows payments beyond all charges as credit, which reduces the next one.
func TestOverpaymentBecomesCredit(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		b := w.Booking(c, 1_000_000, "2024-12-31")
		w.Must(apptest.Report(payment.Purchase, b, 100_000)) // 12.00 at 211 days
		w.At("2024-07-01")
		w.Issue(1)
		sums := func(want ...[3]int64) {
			t.Helper()
			var got [][3]int64
			for _, s := range w.Statements(statements.StatementFilter{}) {
				got = append(got, [3]int64{s.Closing, s.Open, s.Credit})
			}
			if !slices.Equal(got, want) {
				t.Errorf("closing, open and credit %v, want %v", got, want)
			}
		}
		sums([3]int64{1200, 1200, 0})
		pay := func(amount int64, day string) {
			t.Helper()
			if _, _, err := payStatement(t, w, w.Statements(statements.StatementFilter{})[0].ID, amount, day, "BACS "+day); err != nil {
				t.Fatal(err)
			}
		}
		pay(3300, "2024-07-01")
		sums([3]int64{1200, 0, 2100})
		w.Must(apptest.Report(payment.Purchase, b, 100_000)) // 12.00 at 183 days
		w.At("2024-08-01")
		w.Issue(1)
		sums([3]int64{1200, 0, 0}, [3]int64{-900, 0, 900})   // 12.00 of the credit are used up
		w.Must(apptest.Report(payment.Purchase, b, 200_000)) // 17.00 at 152 days
		w.At("2024-09-01")
		w.Issue(1)
		sums([3]int64{1200, 0, 0}, [3]int64{-900, 0, 0}, [3]int64{800, 800, 0})
		pay(-100, "2024-09-01") // paid back to the merchant
		sums([3]int64{1200, 0, 0}, [3]int64{-900, 0, 0}, [3]int64{800, 900, 0})
		pay(950, "2024-08-31")
		sums([3]int64{1200, 0, 0}, [3]int64{-900, 0, 0}, [3]int64{800, 0, 50})
	})
}

// TestALineOfMidnightIsOnTheNextStatement: a period ends just before midnight, and the next one begins with it.
func TestALineOfMidnightIsOnTheNextStatement(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 1_000_000, "2024-12-31")
		midnight := apptest.DayPtr(t, "2024-07-01").Start()
		for i, at := range []time.Time{midnight.Add(-time.Microsecond), midnight} {
			w.SetClock(at)
			w.Must(apptest.Report(payment.Purchase, b, int64(i+1)*100_000))
		}
		w.At("2024-08-02")
		w.Issue(2)
		for i, s := range w.Statements(statements.StatementFilter{}) {
			lines := w.StatementLines(s.ID)
			if s.LineCount() != 1 || len(lines) != 1 || lines[0].StateAmount != int64(i+1)*100_000 {
				t.Errorf("statement %d counts %d lines: %+v", s.Number, s.LineCount(), lines)
			}
		}
	})
}

// TestMonthlyMinimum: with weekly statements it is on that of the week in which the month ends.
func TestMonthlyMinimum(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		minimum, taxes := int64(2000), []terms.TaxCode{{Code: "IPT", RatePPM: 120_000}}
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-01-01"), MinimumPerMonth: &minimum, TaxCodes: &taxes})
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		week := terms.PeriodWeek
		c, err := w.App.Channels.Change(t.Context(), w.Actor, c.ID, merchant.ChannelFields{StatementPeriod: &week})
		if err != nil {
			t.Fatal(err)
		}
		b := w.Booking(c, 1_000_000, "2024-12-31")
		w.Must(apptest.Report(payment.Purchase, b, 100_000)) // Monday 2024-06-03: 12.00
		w.At("2024-07-08")
		w.Issue(5)
		var minima []string
		for _, s := range w.Statements(statements.StatementFilter{}) {
			text := s.Period.Name()
			if m := s.Minimum; m != nil {
				text += fmt.Sprintf(" %s %d+%d=%d tax %d", m.Month, m.Booked, m.Amount, m.Minimum, s.Taxes[0].Amount)
			}
			minima = append(minima, text)
		}
		want := []string{"2024-W23", "2024-W24", "2024-W25", "2024-W26 2024-06 1200+800=2000 tax 96", "2024-W27"}
		if !slices.Equal(minima, want) {
			t.Errorf("%q", minima)
		}
	})
}

// dying is a context that ends after a number of checks: a process that dies between two steps.
type dying struct {
	context.Context
	left atomic.Int64
	end  context.CancelFunc
}

func (d *dying) Done() <-chan struct{} {
	if d.left.Add(-1) < 0 {
		d.end()
	}
	return d.Context.Done()
}

// TestNumbersHaveNoGaps: wherever a process dies, and however many issue concurrently, every line is on one statement,
// and the numbers of the site are consecutive.
func TestNumbersHaveNoGaps(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		for range 6 {
			b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 1_000_000, "2024-12-31")
			w.Must(apptest.Report(payment.Purchase, b, 100_000))
		}
		w.At("2024-09-02")
		for steps := range int64(60) {
			inner, end := context.WithCancel(t.Context())
			d := &dying{Context: inner, end: end}
			d.left.Store(steps)
			// Whether it succeeded does not matter: the state it leaves behind does.
			if _, err := w.App.Statements.IssueDue(d); err != nil && inner.Err() == nil {
				t.Fatalf("after %d steps: %v", steps, err)
			}
			end()
		}
		w.At("2024-12-02")
		var running sync.WaitGroup
		for range 8 {
			process := app.New(w.App.Config)
			running.Go(func() {
				if _, err := process.Statements.IssueDue(t.Context()); err != nil {
					t.Error(err)
				}
				// They exist when the call returns, whichever process issued them.
				list, _, err := w.App.Statements.List(t.Context(), w.Actor, statements.StatementFilter{}, apptest.Everything)
				if err != nil || len(list.Items) != 6*6 {
					t.Errorf("a process returned with %d of 36 statements, %v", len(list.Items), err)
				}
			})
		}
		running.Wait()
		w.Issue(0)
		list := w.Statements(statements.StatementFilter{})
		seen := map[string]bool{}
		lines := 0
		for i, s := range list {
			key := fmt.Sprint(s.ChannelID, s.Period.Name())
			if s.Number != int64(i+1) || seen[key] {
				t.Errorf("place %d: number %d, %s", i+1, s.Number, key)
			}
			seen[key] = true
			lines += len(w.StatementLines(s.ID))
		}
		if len(list) != 6*6 || lines != 6 { // June to November, six channels
			t.Errorf("%d statements with %d lines", len(list), lines)
		}
	})
}

// TestAnotherKindOfPeriod: a channel whose period length changes continues where it was.
func TestAnotherKindOfPeriod(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		w.Must(apptest.Report(payment.Purchase, w.Booking(c, 1_000_000, "2024-12-31"), 100_000))
		w.At("2024-07-01")
		w.Issue(1)
		biweek := terms.PeriodBiweek
		if _, err := w.App.Channels.Change(t.Context(), w.Actor, c.ID, merchant.ChannelFields{StatementPeriod: &biweek}); err != nil {
			t.Fatal(err)
		}
		w.At("2024-07-30")
		w.Issue(2)
		var days []string
		for _, s := range w.Statements(statements.StatementFilter{Channels: []int64{c.ID}}) {
			days = append(days, s.Period.First.String()+" "+s.Period.Last.String())
		}
		if got := strings.Join(days, ", "); got != "2024-06-01 2024-06-30, 2024-07-01 2024-07-07, 2024-07-08 2024-07-21" {
			t.Error(got)
		}
	})
}

// TestStatementsFollowTheSandboxClock: statements are issued by the site's own clock, and only after all writes in
// progress when it was moved are visible.
func TestStatementsFollowTheSandboxClock(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		w.Must(apptest.Report(payment.Purchase, w.Booking(c, 1_000_000, "2024-12-31"), 100_000))
		ahead := 40 * 24 * time.Hour
		if err := w.App.DB.Store.Write(t.Context(), store.Deployment, func(tx *store.Tx) error { return sites.MoveClock(tx, w.Site.ID, ahead) }); err != nil {
			t.Fatal(err)
		}
		w.Actor.Ahead = ahead
		w.Issue(0)
		w.Advance(4 * time.Second)
		waiting(t, w, 1, apptest.Began.Add(10*time.Second)) // June, which the clock jumped over the end of
		w.Advance(6*time.Second - time.Microsecond)
		w.Issue(0)
		w.Advance(time.Microsecond)
		w.Issue(1)
		waiting(t, w, 0, time.Time{})
		if s := w.Statements(statements.StatementFilter{})[0]; civil.DayOf(s.IssuedAt).String() != "2024-07-13" {
			t.Errorf("issued at %s", s.IssuedAt)
		}
	})
}

// waiting checks the number of ended periods whose statements cannot be issued yet, and from when they can.
func waiting(t *testing.T, w *apptest.World, count int, from time.Time) {
	t.Helper()
	got, err := w.App.Statements.Waiting(t.Context(), w.Actor)
	if err != nil || got.Count != count || count > 0 && !got.From.Equal(from) {
		t.Errorf("%d periods wait until %s, %v; want %d until %s", got.Count, got.From, err, count, from)
	}
}

func payStatement(t *testing.T, w *apptest.World, id, amount int64, day, reference string) (statements.StatementPayment, bool, error) {
	t.Helper()
	return w.App.Statements.Pay(t.Context(), w.Actor, id, statements.StatementPaymentFields{
		PaidOn: apptest.DayPtr(t, day), Amount: &amount, Reference: &reference,
	})
}
