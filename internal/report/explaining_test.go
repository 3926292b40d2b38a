package report_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// TestBookingsComeToTheExposure: over random histories, the sums of all bookings are the figures of the exposure report.
func TestBookingsComeToTheExposure(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.App.Protection.Allocations = 2
		chance := rand.New(rand.NewPCG(3, 9))
		w.At("2024-06-03")
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		var bookings []booking.Booking
		for i := range 6 {
			b := w.Booking(c, 100_000, "2024-0"+strconv.Itoa(7+i%3)+"-15")
			bookings = append(bookings, b)
			var paid []payment.Transaction
			for range 1 + chance.IntN(4) {
				in := apptest.Report(payment.Purchase, b, 1+chance.Int64N(25_000))
				if chance.IntN(4) == 0 {
					in.Method = payment.BankTransfer
				}
				paid = append(paid, w.Must(in))
			}
			w.Advance(48 * 3600e9)
			p := paid[chance.IntN(len(paid))]
			w.Must(apptest.Linked(payment.Refund, p, b, 1+chance.Int64N(p.Total)))
			if chance.IntN(2) == 0 {
				w.Move(b, *apptest.DayPtr(t, "2024-10-01"))
			}
		}
		known := w.Now()
		w.Advance(time.Microsecond) // what was known in the past is read from the rows
		for _, asOf := range []string{"2024-06-01", "2024-06-05", "2024-06-30", "2024-07-16", "2024-09-16", "2024-12-31", "2025-06-01"} {
			q := report.ExposureQuery{Moment: ledger.Moment{AsOf: apptest.DayPtr(t, asOf), KnownAt: known}}
			var want, got exposure.Row
			for _, row := range w.Exposure(q).Rows {
				want.E1, want.E2, want.E4, want.E5 = want.E1+row.E1, want.E2+row.E2, want.E4+row.E4, want.E5+row.E5
			}
			for _, b := range bookings {
				s := explainBooking(t, w, b.ID, asOf, apptest.Everything).Sums
				got.E1, got.E2, got.E4, got.E5 = got.E1+s.E1, got.E2+s.E2, got.E4+s.E4, got.E5+s.E5
			}
			if got.Figures != want.Figures || got.Memo != want.Memo {
				t.Errorf("%s: the bookings come to %+v %+v, the report says %+v %+v", asOf, got.Figures, got.Memo, want.Figures, want.Memo)
			}
		}
	})
}

// TestABookingIsTheSumOfItsParts: the sums are those of all parts, whatever the page, and the parts are those that the
// transactions explain.
func TestABookingIsTheSumOfItsParts(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.App.Protection.Allocations = 2
		w.At("2024-06-03")
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 500_000, "2024-09-14")
		for range 5 {
			w.Must(apptest.Report(payment.Purchase, b, 60_000))
		}
		w.At("2024-06-20") // no rate of these days is on file
		waiting := w.Must(apptest.Report(payment.Purchase, b, 10_000))
		all := explainBooking(t, w, b.ID, "2024-06-20", apptest.Everything)
		v := all.Sums.Values[0]
		if s := all.Sums; s.Paid != 310_000 || s.Remaining != 310_000 || s.E4 != 190_000 || s.LastDay.String() != "2025-01-12" ||
			s.State != protection.Undelivered || v.Value != 5*51219 || v.Pending != 1 || v.Premium != 5*435 || len(all.Allocations.Items) != 6 {
			t.Errorf("%+v, %d parts", s, len(all.Allocations.Items))
		}
		var pages []protection.Explained
		for number := 1; number <= 2; number++ {
			page := explainBooking(t, w, b.ID, "2024-06-20", store.Page{Number: number, Size: 4, Offset: -1})
			pages = append(pages, page.Allocations.Items...)
			if page.Sums.Paid != all.Sums.Paid || page.Allocations.Total != 6 || page.Allocations.More != (number == 1) {
				t.Errorf("page %d: %+v of %d, more %t", number, page.Sums, page.Allocations.Total, page.Allocations.More)
			}
		}
		for i, x := range pages {
			if x.ID != all.Allocations.Items[i].ID {
				t.Errorf("part %d of the pages is %d", i, x.ID)
			}
		}
		of, err := w.App.Protection.Explain(t.Context(), w.Actor, waiting.ID, report.ProtectionQuery{})
		if err != nil || !slices.Equal(of.Allocations[0].Steps, pages[5].Steps) || !slices.Equal(of.Allocations[0].Premium.Steps, pages[5].Premium.Steps) {
			t.Errorf("the transaction says %+v, %v", of.Allocations, err)
		}
	})
}

// TestABookingIsExplainedWithTheTravelOfTheMoment: moves after the day or known_at of an explanation are not in it.
func TestABookingIsExplainedWithTheTravelOfTheMoment(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.At("2024-06-20")
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 120_000, "2024-08-31")
		if s := explainBooking(t, w, b.ID, "2024-06-20", apptest.Everything).Sums; s.Start != civil.NoDay || s.End != civil.NoDay {
			t.Errorf("without a payment: %s to %s", s.Start, s.End)
		}
		w.Must(apptest.Report(payment.Purchase, b, 60_000))
		w.At("2024-06-25")
		w.Move(b, *apptest.DayPtr(t, "2024-09-30"))
		for asOf, end := range map[string]string{"2024-06-24": "2024-08-31", "2024-06-25": "2024-09-30"} {
			if s := explainBooking(t, w, b.ID, asOf, apptest.Everything).Sums; s.End.String() != end || s.Start != s.End {
				t.Errorf("at the end of %s: %s to %s", asOf, s.Start, s.End)
			}
		}
	})
}

// TestStatementLinesAreExplained follows the third worked line of the rules: every line of every statement follows from
// its explanation, down to the last refund, which returns nothing.
func TestStatementLinesAreExplained(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.At("2024-04-09")
		w.Fix("2024-04-08", map[money.Currency]string{"GBP": "0.85795"})
		taxes := []terms.TaxCode{{Code: "IPT", RatePPM: 120_000, Label: "Insurance premium tax"}}
		minimum := int64(1000)
		w.Policy(terms.PolicyFields{From: apptest.DayPtr(t, "2024-01-01"), TaxCodes: &taxes, MinimumPerMonth: &minimum})
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 120_000, "2024-08-31")
		p := w.Must(apptest.Report(payment.Purchase, b, 120_000))
		w.At("2024-05-02")
		w.Must(apptest.Linked(payment.Refund, p, b, 30_000))
		w.At("2024-06-01")
		w.Move(b, *apptest.DayPtr(t, "2024-11-30"))
		w.At("2024-12-05")
		w.Must(apptest.Linked(payment.Refund, p, b, 10_000))
		w.At("2025-01-02")
		if _, err := w.App.Statements.IssueDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, s := range w.Statements(statements.StatementFilter{}) {
			addsUp(t, w, s)
		}
		last := explainLine(t, w, w.Statements(statements.StatementFilter{})[8].ID, "return", apptest.Everything).Premium.Items[0]
		if x := last.Steps[len(last.Steps)-1].Text; last.Retained != 103 || last.Before.State.Premium != 927 ||
			!strings.HasSuffix(x, "nothing is returned, 103 is retained: the change came after D = 2024-11-30") {
			t.Errorf("%+v: %s", last.Line, x)
		}
	})
}

// TestAPageOfAStatementLine: pages follow each other without a gap, in the order of the statement.
func TestAPageOfAStatementLine(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.At("2024-06-03")
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 500_000, "2024-09-14")
		for range 5 {
			p := w.Must(apptest.Report(payment.Purchase, b, 60_000))
			w.Must(apptest.Linked(payment.Refund, p, b, 30_000)) // lines of another kind lie between
		}
		w.At("2024-07-01")
		w.Issue(1)
		id := w.Statements(statements.StatementFilter{})[0].ID
		var want, got []int64
		for _, l := range w.StatementLines(id) {
			if l.Kind == "original" {
				want = append(want, l.ID)
			}
		}
		for number := 1; number <= 3; number++ {
			r := explainLine(t, w, id, "original", store.Page{Number: number, Size: 2, Offset: -1})
			for _, l := range r.Premium.Items {
				got = append(got, l.ID)
			}
			if r.Part.Amount != 5*435 || r.Premium.Total != 5 || r.Premium.More != (number < 3) || r.Premium.PastEnd {
				t.Errorf("page %d: %+v, %+v", number, r.Part, r.Premium)
			}
		}
		if len(got) != 5 || !slices.Equal(got, want) {
			t.Errorf("the pages hold %v, the statement %v", got, want)
		}
		if r := explainLine(t, w, id, "original", store.Page{Number: 4, Size: 2, Offset: -1}); !r.Premium.PastEnd {
			t.Errorf("past the end: %+v", r.Premium)
		}
	})
}

func explainBooking(t *testing.T, w *apptest.World, id int64, asOf string, page store.Page) report.BookingProtection {
	t.Helper()
	in := report.ProtectionQuery{Moment: ledger.Moment{AsOf: apptest.DayPtr(t, asOf)}}
	report, err := w.App.Protection.ExplainBooking(t.Context(), w.Actor, id, in, page)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func explainLine(t *testing.T, w *apptest.World, id int64, line string, page store.Page) report.StatementLineProtection {
	t.Helper()
	in := report.StatementLineQuery{Line: line, Page: page}
	report, err := w.App.Protection.ExplainStatementLine(t.Context(), w.Actor, id, in)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return report
}

// addsUp compares each line of a statement with its explanation.
func addsUp(t *testing.T, w *apptest.World, s protection.IssuedStatement) {
	t.Helper()
	for _, name := range s.LineNames() {
		r := explainLine(t, w, s.ID, name, apptest.Everything)
		var lines, inputs int64
		for _, l := range r.Premium.Items {
			lines += l.Amount
			before := int64(0)
			if l.Before != nil {
				before = l.Before.State.Premium
			}
			if l.Line.State.Premium-before != l.Amount-l.Retained {
				t.Errorf("statement %d, line %d: %+v after %d", s.Number, l.ID, l.Line, before)
			}
			if one := explainLine(t, w, s.ID, strconv.FormatInt(l.ID, 10), apptest.Everything); !slices.Equal(one.Premium.Items[0].Steps, l.Steps) || one.Part.Amount != l.Amount {
				t.Errorf("statement %d, line %d by itself: %+v", s.Number, l.ID, one.Part)
			}
		}
		for _, i := range r.Part.Inputs {
			inputs += i.Amount
		}
		switch {
		case len(r.Premium.Items) > 0 && (lines != r.Part.Amount || int64(len(r.Premium.Items)) != r.Part.Lines),
			(name == protection.ClosingLine || name == protection.OpeningLine) && inputs != r.Part.Amount,
			strings.HasPrefix(name, protection.TaxLine) && inputs != s.Taxes[0].Parts[0].Base,
			len(r.Part.Steps) == 0:
			t.Errorf("statement %d, %s: %+v, lines %d, inputs %d", s.Number, name, r.Part, lines, inputs)
		}
	}
	_, err := w.App.Protection.ExplainStatementLine(t.Context(), w.Actor, s.ID, report.StatementLineQuery{Line: "correction", Page: apptest.Everything})
	if f, ok := errors.AsType[*errs.Error](err); !ok || f.Kind != errs.RecordNotFound {
		t.Errorf("a line that is none: %v", err)
	}
}
