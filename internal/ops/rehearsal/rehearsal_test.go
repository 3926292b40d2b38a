package rehearsal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/book/certificates"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/disputes"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/ops/rehearsal"
	"holdfast/internal/ops/verify"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

var all = store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}

// shop makes a merchant with payments for journeys to come, and two for a journey that is over. Most payments have the
// references of processors.
func shop(t *testing.T, w *apptest.World, payments int) merchant.Channel {
	t.Helper()
	w.At("2024-06-03")
	c := w.Channel(merchant.ModeProtectionOnly, "GBP")
	for n := range payments {
		end := "2024-09-14"
		if n < 2 {
			end = "2024-06-01"
		}
		b := w.Booking(c, int64(50_000+n*1_000), end)
		in := apptest.Report(payment.Purchase, b, b.Total)
		if n != 4 {
			in.Reference, in.ProcessorReference = fmt.Sprintf("R-%d", n), fmt.Sprintf("psp_%d", n)
			in.AcquirerReference = fmt.Sprintf("2469216%016d", n)
		}
		in.BIN, in.LastFour, in.AuthCode = "411111", fmt.Sprintf("%04d", n), fmt.Sprintf("A%05d", n)
		w.Must(in)
	}
	w.Advance(time.Hour)
	return c
}

// outcome is everything that a rehearsal has led to, as text.
func outcome(t *testing.T, w *apptest.World, done rehearsal.Result) string {
	t.Helper()
	f := done.Figures
	text := fmt.Sprintf("%s %d exposed %d disputed %d payable %d covered %d paid %d recovered %d reserve %d\n", done.Insolvency.State, done.Day,
		f.Exposed, f.Breakdown.Total.Disputed, f.Payable, f.Covered, f.Paid, f.Recovered.Total, f.Reserve)
	list, err := w.App.Claims.List(t.Context(), w.Actor, claims.Filter{}, all)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range list.Items {
		lines = append(lines, fmt.Sprintf("%d %s %s %s %s %d %d %q %s\n", c.TransactionID, c.Source, c.CaseID, c.FirstDay, c.State, c.Payable, c.Paid, c.Reason, c.Note.Asked))
	}
	slices.Sort(lines)
	return text + strings.Join(lines, "")
}

// TestARehearsalEndsPaidAndClosed, on both engines, with the same outcome: at once, in parts, interrupted after any step, and run by two
// people at once.
func TestARehearsalEndsPaidAndClosed(t *testing.T) {
	var lock sync.Mutex
	first := ""
	for name, run := range map[string]func(t *testing.T, w *apptest.World, channel int64) rehearsal.Result{
		"at once": atOnce, "in parts": inParts, "interrupted": interrupted, "by two people": byTwo,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
				c := shop(t, w, 20)
				done := run(t, w, c.ID)
				got := outcome(t, w, done)
				lock.Lock()
				defer lock.Unlock()
				if first == "" {
					first = got
				}
				if got != first {
					t.Errorf("another outcome:\n%s\nand\n%s", got, first)
				}
				if done.Insolvency.State != insolvencies.Closed || done.Figures.Paid == 0 || done.Figures.Paid != done.Figures.Covered ||
					done.Figures.Recovered.Total != done.Figures.Paid/10 {
					t.Errorf("not paid and closed:\n%s", got)
				}
				checkKinds(t, w)
				_, err := w.App.Rehearsals.Run(t.Context(), w.Actor, c.ID, rehearsal.Options{})
				apptest.WantReason(t, err, "already_insolvent", "a second rehearsal")
				report, err := w.App.Verify.Run(t.Context(), access.System(0), verify.Query{})
				if err != nil || len(report.Findings) > 0 {
					t.Errorf("%v: %+v", err, report.Findings)
				}
			})
		})
	}
}

func atOnce(t *testing.T, w *apptest.World, channel int64) rehearsal.Result {
	t.Helper()
	done, err := w.App.Rehearsals.Run(t.Context(), w.Actor, channel, rehearsal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func inParts(t *testing.T, w *apptest.World, channel int64) (done rehearsal.Result) {
	t.Helper()
	for done.Day < rehearsal.Days {
		was, steps, err := done.Day, 0, error(nil)
		done, err = w.App.Rehearsals.Run(t.Context(), w.Actor, channel, rehearsal.Options{Days: 3, Progress: func(rehearsal.Step) { steps++ }})
		if err != nil {
			t.Fatal(err)
		}
		if steps == 0 || done.Day != min(was+3, rehearsal.Days) {
			t.Fatalf("day %d follows %d, with %d steps", done.Day, was, steps)
		}
	}
	return done
}

func interrupted(t *testing.T, w *apptest.World, channel int64) (done rehearsal.Result) {
	t.Helper()
	for stops := 0; done.Day < rehearsal.Days; stops++ {
		ctx, stop := context.WithCancel(t.Context())
		steps := 0
		var err error
		done, err = w.App.Rehearsals.Run(ctx, w.Actor, channel, rehearsal.Options{Progress: func(step rehearsal.Step) {
			if steps++; steps > 1 && step.Text != "insolvency closed" { // the first one may be repeated
				stop()
			}
		}})
		stop()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if stops > 200 {
			t.Fatal("it does not end")
		}
	}
	return done
}

func byTwo(t *testing.T, w *apptest.World, channel int64) rehearsal.Result {
	t.Helper()
	for range 100 {
		results, failures := make(chan rehearsal.Result, 2), make(chan error, 2)
		for range 2 {
			go func() {
				done, err := w.App.Rehearsals.Run(t.Context(), w.Actor, channel, rehearsal.Options{})
				results <- done
				failures <- err
			}()
		}
		ended := rehearsal.Result{}
		for range 2 {
			if done, err := <-results, <-failures; err == nil && done.Day == rehearsal.Days {
				ended = done
			} else if kind := errs.KindOf(err); err != nil && (kind == errs.Internal || kind == errs.Forbidden) {
				t.Fatal(err)
			}
		}
		if ended.Day > 0 {
			return ended
		}
	}
	t.Fatal("neither has ended")
	return rehearsal.Result{}
}

// checkKinds checks that every kind of dispute and claim has occurred.
func checkKinds(t *testing.T, w *apptest.World) {
	t.Helper()
	counts, err := w.App.Disputes.Count(t.Context(), w.Actor, disputes.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []dispute.Status{dispute.Open, dispute.Won, dispute.Lost, dispute.Challenged, dispute.Prevented, dispute.Expired} {
		if counts.Statuses[s] == 0 {
			t.Errorf("no dispute is %s: %+v", s, counts)
		}
	}
	for _, s := range []dispute.Stage{dispute.Inquiry, dispute.PreDispute, dispute.Chargeback, dispute.PreArbitration} {
		if counts.Stages[s] == 0 {
			t.Errorf("no dispute is in the stage %s: %+v", s, counts)
		}
	}
	if counts.Matching[dispute.Unmatched] != 1 || counts.Matching[dispute.Queued] != 0 {
		t.Errorf("matched: %v", counts.Matching)
	}
	cases, err := w.App.Disputes.List(t.Context(), w.Actor, disputes.Filter{}, all)
	if err != nil {
		t.Fatal(err)
	}
	rules, sources := map[dispute.Rule]bool{}, map[string]bool{}
	for _, c := range cases.Items {
		rules[c.Rule], sources[c.Source] = true, true
	}
	if len(sources) != 6 || !rules[dispute.ByPerson] || !rules[dispute.ByScore] {
		t.Errorf("sources %v, matched by %v", sources, rules)
	}
	list, err := w.App.Claims.List(t.Context(), w.Actor, claims.Filter{}, all)
	if err != nil {
		t.Fatal(err)
	}
	reasons, notes := map[claim.Reason]bool{}, 0
	for _, c := range list.Items {
		reasons[c.Reason] = true
		if c.Note.Asked == certificates.AskedInsurer {
			notes++
		}
		want := claim.StatePaid
		if c.Payable == 0 {
			want = claim.StateAssessed
		}
		if c.State != want || c.Paid != c.Payable {
			t.Errorf("%+v", c)
		}
	}
	for _, r := range []claim.Reason{claim.Refunded, claim.Delivered, claim.Duplicate, claim.ClaimsClosed} {
		if !reasons[r] {
			t.Errorf("no claim is %s: %v", r, reasons)
		}
	}
	if notes != 1 {
		t.Errorf("%d claims with a traveller's note", notes)
	}
}

// TestARehearsalIsBounded: however many payments there are, a limited number is disputed.
func TestARehearsalIsBounded(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := shop(t, w, rehearsal.MostPayments+15)
		w.App.Rehearsals.Page = 2 // the first two are not at risk
		done, err := w.App.Rehearsals.Run(t.Context(), w.Actor, c.ID, rehearsal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		disputed := map[int64]bool{}
		list, err := w.App.Disputes.List(t.Context(), w.Actor, disputes.Filter{}, all)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list.Items {
			if c.TransactionID != 0 {
				disputed[c.TransactionID] = true
			}
		}
		if len(disputed) != rehearsal.MostPayments || done.Insolvency.State != insolvencies.Closed {
			t.Errorf("%d payments are disputed, and it is %s", len(disputed), done.Insolvency.State)
		}
	})
}

// TestASmallMerchantFails: one payment is enough, without references of a processor.
func TestASmallMerchantFails(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		w.Must(apptest.Report(payment.Purchase, w.Booking(c, 90_000, "2024-09-14"), 90_000))
		w.Advance(time.Hour)
		done, err := w.App.Rehearsals.Run(t.Context(), w.Actor, c.ID, rehearsal.Options{})
		if err != nil || done.Insolvency.State != insolvencies.Closed || done.Figures.Paid != 90_000 {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

// TestTheClockIsMovedDuringARehearsal: what was to happen meanwhile happens when it is continued.
func TestTheClockIsMovedDuringARehearsal(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := shop(t, w, 20)
		done, err := w.App.Rehearsals.Run(t.Context(), w.Actor, c.ID, rehearsal.Options{Days: 2})
		if err != nil || done.Day != 2 {
			t.Fatalf("%+v, %v", done, err)
		}
		w.MoveClock(done.Insolvency.TriggerAt.AddDate(0, 0, rehearsal.Days+9))
		done, err = w.App.Rehearsals.Run(t.Context(), w.Actor, c.ID, rehearsal.Options{Days: 1})
		if f := done.Figures; err != nil || done.Insolvency.State != insolvencies.Closed || f.Breakdown.Total.Claims != 19 || f.Paid == 0 || f.Paid != f.Covered {
			t.Errorf("%s, %+v, %v", done.Insolvency.State, f, err)
		}
	})
}

// TestARehearsalIsRefused outside a sandbox, for a merchant that is insolvent, and for one with nothing at risk.
func TestARehearsalIsRefused(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		path, name, currency := "real", "Real", w.Site.Policy.Currency
		real, err := w.App.Sites.Create(t.Context(), access.System(0), merchant.SiteFields{Path: &path, Name: &name, Currency: &currency})
		if err != nil {
			t.Fatal(err)
		}
		refused := func(actor access.Actor, channel int64, reason string) {
			t.Helper()
			_, err := w.App.Rehearsals.Run(t.Context(), actor, channel, rehearsal.Options{})
			apptest.WantReason(t, err, reason, "rehearse")
		}
		refused(merchants.SystemAt(real), 1, "not_a_sandbox")
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		refused(w.Actor, c.ID, "nothing_at_risk")
		w.Must(apptest.Report(payment.Purchase, w.Booking(c, 90_000, "2024-06-02"), 90_000)) // the journey is over
		refused(w.Actor, c.ID, "nothing_at_risk")
		refused(w.Actor, w.Channel(merchant.ModeTest, "EUR").ID, "nothing_at_risk")
		_, err = w.App.Rehearsals.Run(t.Context(), w.Actor, 99, rehearsal.Options{})
		apptest.WantKind(t, err, errs.SettingNotFound, "a merchant that does not exist")
		_, err = w.App.Rehearsals.Run(t.Context(), w.Actor, c.ID, rehearsal.Options{Days: -1})
		apptest.WantKind(t, err, errs.Invalid, "less than a day")
		admin := w.Actor
		admin.Role = access.MemberAdmin
		_, err = w.App.Rehearsals.Run(t.Context(), admin, c.ID, rehearsal.Options{})
		apptest.WantKind(t, err, errs.Forbidden, "by an admin, who does not move the clock")

		w.Must(apptest.Report(payment.Purchase, w.Booking(c, 90_000, "2024-09-14"), 90_000))
		kind, at := insolvencies.Kind("liquidation"), w.Now()
		if _, err := w.App.Insolvencies.Report(t.Context(), w.Actor, insolvencies.NewReport{
			ChannelID: &c.ID, Kind: &kind, TriggerAt: &at, Evidence: "Notice of the court",
		}); err != nil {
			t.Fatal(err)
		}
		refused(w.Actor, c.ID, "already_insolvent")
	})
}
