package exposure_test

import (
	"encoding/csv"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/testkit/apptest"
)

// file is a page as CSV, without its header.
func (b book) file(t *testing.T, below string) [][]string {
	t.Helper()
	join := "?"
	if strings.Contains(below, "?") {
		join = "&"
	}
	rows, err := csv.NewReader(strings.NewReader(b.taker.Must(b.At(below) + join + "format=csv").Body)).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%s: %v", below, err)
	}
	return rows[1:]
}

// wants compares the rows of a file.
func wants(t *testing.T, what string, got [][]string, want ...[]string) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n%v, want\n%v", what, got, want)
	}
}

// TestARunOffIsShownDayByDay: each day links to the amounts still at risk on it.
func TestARunOffIsShownDayByDay(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	a := b.reader.Must(b.At("/exposure/run-off"), "Undelivered today (E1) 1,000.00 GBP", "Tail today (E2) 70.00 GBP", "50% run off by 21 Sep 2024",
		"Remaining by day")
	rows := b.file(t, "/exposure/run-off")
	wants(t, "the first and the last day", [][]string{rows[0], rows[len(rows)-1]},
		[]string{"2024-06-10", "0", "GBP", "1000.00", "70.00", "1070.00"}, append(rows[len(rows)-1][:2:2], "GBP", "0.00", "0.00", "0.00"))
	a = b.reader.Must(b.At("/exposure/details?on=2024-10-01"), "Amounts still at risk at the end of 1 Oct 2024", "500.00 EUR")
	if a = b.reader.Get(b.At("/exposure/details?on=2024-01-01")); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "Must not be before the day of the report") {
		t.Errorf("a day before the report: %d %s", a.Status, a.Text())
	}
}

// TestAMovementSaysWhy: line by line, by default since last week.
func TestAMovementSaysWhy(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.Must(apptest.Linked(payment.Refund, b.paid, b.first, 10000))
	b.reader.Must(b.At("/exposure/movement"), "From the end of 3 Jun 2024 to the end of 10 Jun 2024", "Undelivered (E1) on 3 Jun 2024 1,070.00 GBP",
		"900.00 GBP", "-170.00 GBP", "Refunds", "Delivered")
	wants(t, "the movement of E1", b.file(t, "/exposure/movement?by=channel"),
		[]string{b.pounds.Name, "GBP", "670.00", "-100.00", "-70.00", "500.00"},
		[]string{b.euros.Name, "EUR", "500.00", "0.00", "0.00", "500.00"})
	wants(t, "the movement of E2 in pounds", b.file(t, "/exposure/movement?figure=e2&currencies=GBP&from=2024-06-01"),
		[]string{"GBP", "0.00", "70.00", "70.00"})
	wants(t, "the lines that somebody chooses", b.file(t, "/exposure/movement?col=new&col=re_dated&from=2024-06-02&currencies=GBP"),
		[]string{"GBP", "670.00", "0.00"})
	rows := b.file(t, "/exposure/movement?list=1")
	if len(rows) != 3 || rows[0][0] != "1" || rows[0][3] != "GBP" || rows[0][8] != "-100.00" {
		t.Errorf("behind the movement stand %v", rows)
	}
	if a := b.reader.Get(b.At("/exposure/movement?from=2024-07-01")); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "must not start after its end") {
		t.Errorf("a wrong first day: %d %s", a.Status, a.Text())
	}
}

// TestDaysArePrefilled: by the site's clock. A day that the user leaves unchanged is not kept in the URL, so tomorrow the page shows
// another day.
func TestDaysArePrefilled(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	fields := func(path string) (list []string) {
		a := b.reader.Get(b.At(path))
		for _, name := range []string{"from", "as_of"} {
			m := regexp.MustCompile(` name="` + name + `" value="([^"]*)"`).FindStringSubmatch(a.Body)
			list = append(list, strings.Join(m[min(len(m), 1):], ""))
		}
		return list
	}
	for path, want := range map[string][]string{
		"/exposure": {"", "2024-06-10"}, "/exposure?as_of=2024-06-04": {"", "2024-06-04"}, "/exposure/what-if": {"", "2024-06-10"},
		"/exposure/movement": {"2024-06-03", "2024-06-10"}, "/exposure/movement?as_of=2024-06-09": {"2024-06-02", "2024-06-09"},
		"/exposure/movement?from=2024-06-01": {"2024-06-01", "2024-06-10"}, "/exposure/ageing?as_of=x": {"", "x"},
	} {
		if got := fields(path); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	for sent, want := range map[string]string{
		"as_of=2024-06-10&default_as_of=2024-06-10":                                             "",
		"as_of=2024-06-09&default_as_of=2024-06-10&channels=":                                   "?as_of=2024-06-09",
		"as_of=2024-06-10&default_as_of=2024-06-10&from=2024-06-03&default_from=2024-06-03&by=": "",
		"as_of=2024-06-10&default_as_of=2024-06-10&from=2024-06-01&default_from=2024-06-03&by=": "?from=2024-06-01",
		"as_of=2024-06-10&from=2024-06-01&default_from=2024-06-03&figure=e2":                    "?as_of=2024-06-10&figure=e2&from=2024-06-01",
	} {
		if a := b.reader.Get(b.At("/exposure/movement?" + sent)); a.To != b.At("/exposure/movement"+want) {
			t.Errorf("%s leads to %q (%d)", sent, a.To, a.Status)
		}
	}
}

// TestMerchantsHaveTheirChangeSinceLastWeek: the largest first, including merchants no longer in the book.
func TestMerchantsHaveTheirChangeSinceLastWeek(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.reader.Must(b.At("/exposure/merchants"), "-70.00 GBP since last week", "Top merchants by exposure")
	wants(t, "merchants", b.file(t, "/exposure/merchants"),
		[]string{b.pounds.Name, "2", "GBP", "600.00", "-70.00", "-10.4", "70.00", "0.00", "600.00"},
		[]string{b.euros.Name, "1", "GBP", "400.00", "0.00", "0.0", "0.00", "0.00", "400.00"})
	rows := b.file(t, "/exposure/merchants?sort=merchant&down=1&as_of=2024-06-04")
	if len(rows) != 2 || rows[0][0] != b.pounds.Name || rows[0][4] != "670.00" || rows[0][5] != "" {
		t.Errorf("a week before the first payment: %v", rows)
	}
}

// TestLimitsShowTheirUse: exceeded limits come first.
func TestLimitsShowTheirUse(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.reader.Must(b.At("/exposure/limits"), "No limits yet")
	b.Limit(protection.LimitSite, 0, 125000)
	b.Limit(protection.LimitChannel, b.pounds.ID, 50000)
	b.Limit(protection.LimitTransaction, 0, 1000000)
	for range 2 { // the job records what it sees, and settles that later
		for more := true; more; {
			var err error
			if more, err = b.App.Limits.Recompute(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		b.Advance(6 * time.Second)
	}
	b.reader.Must(b.At("/exposure/limits"), "Limits in force 3", "80% used or more 1", "Over the limit 1", "Limit usage", "Each transaction of all merchants")
	wants(t, "limits", b.file(t, "/exposure/limits"),
		[]string{b.pounds.Name, "GBP", "500.00", "600.00", "120.0", "0.00", "100.00", "over"},
		[]string{"Whole site", "GBP", "1250.00", "1000.00", "80.0", "250.00", "0.00", "80% reached"},
		[]string{"Each transaction of all merchants", "GBP", "10000.00", "", "", "", "", "Individual"})
	wants(t, "what is over", b.file(t, "/exposure/limits?over=1"), []string{b.pounds.Name, "GBP", "500.00", "600.00", "120.0", "0.00", "100.00", "over"})
	b.reader.Must(b.At("/exposure/merchants/"+strconv.FormatInt(b.pounds.ID, 10)), "Limit headroom 0.00 GBP", "120.0% of 500.00 GBP used", "Whole site")
	b.reader.Must(b.At("/exposure/what-if?channels="+strconv.FormatInt(b.pounds.ID, 10)), "If the chosen merchant fails.", "Loss (E1) 600.00 GBP", "100.00 GBP")
	unpriced := b.Channel(merchant.ModeProtectionOnly, "CHF") // without a rate, no limit is "within"
	b.Limit(protection.LimitChannel, unpriced.ID, 1_000_000)
	b.Must(apptest.Report(payment.Purchase, b.Booking(unpriced, 90_000, "2024-09-14"), 90_000))
	a := b.reader.Must(b.At("/exposure/limits"), unpriced.Name+": 900.00 CHF of the use is waiting for a rate.", "Waiting for rates")
	if strings.Contains(a.Text(), "Within") {
		t.Errorf("a limit is reported as within although part of its use is unknown: %s", a.Text())
	}
	b.reader.Must(b.At("/exposure/merchants/"+strconv.FormatInt(unpriced.ID, 10)), "Limit headroom Unknown", "900.00 CHF is waiting for a rate")
}

// TestEstimates: ageing, the model and what-if add up, and show problems with their settings.
func TestEstimates(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.reader.Must(b.At("/exposure/ageing"), "Undelivered by trip end", "In 91 to 180 days")
	rows := b.file(t, "/exposure/ageing")
	wants(t, "bands", [][]string{rows[0], rows[5]}, []string{"In travel", "0", "GBP", "0.00", "0.0"}, []string{"In 91 to 180 days", "2", "GBP", "1000.00", "100.0"})
	b.reader.Must(b.At("/exposure/details?bands=91-180"), "Undelivered only, in 91 to 180 days.", "600.00 GBP", "500.00 EUR")
	b.reader.Must(b.At("/exposure/model?bands=30:1000000"), "100.0 % of the turnover of the last 30 days", "Actual (E1) 1,000.00 GBP")
	b.reader.Must(b.At("/exposure/what-if"), "If all merchants fail (none selected).", "Failing merchants (none selected: all fail)", "Loss (E1) 1,000.00 GBP", "Tail (E2) 70.00 GBP", "By card scheme")
	ids := strconv.FormatInt(b.pounds.ID, 10) + "&channels=" + strconv.FormatInt(b.euros.ID, 10)
	b.reader.Must(b.At("/exposure/what-if?channels="+ids), "If the 2 chosen merchants fail.", "1,000.00 GBP")
	if a := b.reader.Get(b.At("/exposure/what-if?channels=" + ids)); strings.Contains(a.Text(), "none selected") {
		t.Error("the form says that none is selected")
	}
	wants(t, "what-if", b.file(t, "/exposure/what-if?channels="+strconv.FormatInt(b.euros.ID, 10)),
		[]string{b.euros.Name, "1", "GBP", "400.00", "0.00", "400.00", "GBP", "", ""})
	for at, says := range map[string]string{
		"/exposure/model?bands=x": "Invalid bands", "/exposure/what-if?countries=PT": "This report covers whole merchants.",
	} {
		if a := b.reader.Get(b.At(at)); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), says) {
			t.Errorf("%s: %d %s", at, a.Status, a.Text())
		}
	}
}

// TestAMerchantHasAPage: with everything about it, and nothing about others. Statements need permission.
func TestAMerchantHasAPage(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	at := b.At("/exposure/merchants/" + strconv.FormatInt(b.pounds.ID, 10))
	says := []string{"Undelivered (E1) 600.00 GBP", "Run-off", "By country", "By supplier", "Collateral", "Protection only"}
	a := b.reader.Must(at, says...)
	if strings.Contains(a.Text(), "No statements yet") || strings.Contains(a.Text(), "EUR of") {
		t.Errorf("the page shows too much: %s", a.Text())
	}
	b.As(access.Finance).Must(at, append(says, "No statements yet")...)
	wants(t, "its months", b.file(t, "/exposure/merchants/"+strconv.FormatInt(b.pounds.ID, 10)),
		[]string{"Jun 2024", "GBP", "1", "0.00", "GBP", "0.00", "70.00", "70.00"}, []string{"Sep 2024", "GBP", "1", "600.00", "GBP", "600.00", "0.00", "600.00"})
	b.reader.Must(link(t, a.Body, "Sep 2024"), "Travel month: Sep 2024", "600.00 GBP")
	if strings.Contains(a.Text(), "Data quality") {
		t.Errorf("no payment has a flag: %s", a.Text())
	}
	b.Must(apptest.Report(payment.Purchase, b.first, 90_000)) // more than the booking costs
	a = b.reader.Must(at, "Data quality", "Above total 1")
	b.reader.Must(link(t, a.Body, "Above total"), "900.00 GBP")
	in := merchant.ChannelFields{Locked: new(true), LockReason: new("The licence was withdrawn.")}
	if _, err := b.App.Channels.Change(t.Context(), b.Actor, b.pounds.ID, in); err != nil {
		t.Fatal(err)
	}
	b.reader.Must(at, "Status Locked", "This merchant is locked: new payments are not protected. Reason: The licence was withdrawn.")
	b.reader.Must(b.At("/channels/"+strconv.FormatInt(b.pounds.ID, 10)+"/protection"), "Reason: The licence was withdrawn.")
	fails(t, b, b.pounds.ID)
	const insolvent = "Insolvent since 10 June 2024: new payments are not protected. Also locked: The licence was withdrawn."
	b.reader.Must(at, "Status Insolvent", insolvent)
	b.reader.Must(b.At("/channels/"+strconv.FormatInt(b.pounds.ID, 10)+"/protection"), insolvent)
	b.reader.Must(b.At("/channels"), "Protection only, insolvent")
	draft := b.Channel(merchant.ModeDraft, "GBP")
	a = b.reader.Must(b.At("/exposure/merchants/"+strconv.FormatInt(draft.ID, 10)), "Not protected yet")
	if strings.Contains(a.Text(), "Run-off") {
		t.Error("a run-off of nothing is drawn")
	}
	if a := b.reader.Get(b.At("/exposure/merchants/999")); a.Status != http.StatusNotFound {
		t.Errorf("a channel that is not there: %d", a.Status)
	}
}

// TestATrackRecordSaysWhatCameBack: by month of payment, with the premium and its earned part.
func TestATrackRecordSaysWhatCameBack(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.Must(apptest.Linked(payment.Chargeback, b.paid, b.first, 60000))
	at := "/exposure/merchants/" + strconv.FormatInt(b.pounds.ID, 10) + "/record"
	b.reader.Must(b.At(at), "Card payments 670.00 GBP", "2 payments", "Chargeback rate 50.00 %", "Chargeback losses 600.00 GBP", "Chargeback rate of GBP payments")
	wants(t, "months", b.file(t, at), []string{"Jun 2024", "2", "GBP", "670.00", "0.00", "600.00", "50.00", "GBP", "5.28", "5.11"})
	if a := b.reader.Get(b.At(at + "?as_of=x")); a.Status != http.StatusBadRequest || !strings.Contains(a.Text(), "Enter a date") {
		t.Errorf("a wrong day: %d %s", a.Status, a.Text())
	}
	b.reader.Must(b.At("/exposure/merchants/"+strconv.FormatInt(b.euros.ID, 10)+"/record?as_of=2024-01-01"), "No card payments yet")
}

// fails reports and confirms that a merchant failed now.
func fails(t *testing.T, b book, id int64) {
	t.Helper()
	kind, trigger := insolvencies.Kinds[0], b.Now()
	made, err := b.App.Insolvencies.Report(t.Context(), b.Actor, insolvencies.NewReport{ChannelID: &id, Kind: &kind, TriggerAt: &trigger, Evidence: "Notice"})
	if err == nil {
		_, err = b.App.Insolvencies.Confirm(t.Context(), b.Actor, made.ID, "")
	}
	if err != nil {
		t.Fatal(err)
	}
}
