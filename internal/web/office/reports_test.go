package office_test

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/notify/schedules"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/webtest"
	"holdfast/internal/web/kit"

	"github.com/xuri/excelize/v2"
)

// work creates the reports that are due.
func work(t *testing.T, h *webtest.House) {
	t.Helper()
	for range 20 {
		if more, err := h.App.Schedules.MakeDue(t.Context()); err != nil {
			t.Fatal(err)
		} else if !more {
			return
		}
	}
	t.Fatal("the work has no end")
}

// TestAReportIsScheduledFromItsTable, is sent on its day with the permissions of its owner, and has the content of the
// page on that day.
func TestAReportIsScheduledFromItsTable(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	c := h.Channel(merchant.ModeProtectionOnly, "GBP")
	h.Must(apptest.Report(payment.Purchase, h.Booking(c, 120000, "2024-12-31"), 120000))
	b := h.As(access.Finance)
	h.As(access.ReadOnly)
	view := "/exposure?by=channel&currency=GBP"
	order := h.At(kit.OrderPath + "?view=" + url.QueryEscape(view))
	if page := b.Must(h.At(view), "Schedule"); !strings.Contains(page.Body, strings.ReplaceAll(order, "&", "&amp;")) {
		t.Errorf("the table does not lead to %s", order)
	}
	form := b.Must(order, "Schedule report", "Only users who may see the report")
	if !strings.Contains(form.Body, `<option value="xlsx" selected>Excel (XLSX)</option><option value="csv">CSV</option></select>`) {
		t.Errorf("the choice of the file: %s", form.Body)
	}
	in := url.Values{"view": {view}, "name": {"Exposure by merchant"}, "when": {"week-2"}, "format": {"csv"}, "recipients": {"read_only"}, "key": {"one"}}
	if a := b.Post(h.At("/reports"), in); a.Status == http.StatusSeeOther || !strings.Contains(a.Text(), "read_only is not a user with access to this report") {
		t.Errorf("somebody gets what they may not take out: %d %s", a.Status, a.Text())
	}
	in.Set("recipients", "finance")
	made := b.Post(h.At("/reports"), in)
	if again := b.Post(h.At("/reports"), in); made.Status != http.StatusSeeOther || again.To != made.To {
		t.Fatalf("%d %s, sent twice it leads to %s and %s", made.Status, made.Text(), made.To, again.To)
	}
	b.Must(made.To, "every Tuesday", "4 Jun 2024", "Nothing sent yet", "E-mails are created but only shown")
	maker := h.App.Schedules.Make
	h.World.At("2024-06-11")
	work(t, h)
	b.SignIn("finance", webtest.Password)
	b.Must(made.To, "11 Jun 2024", "Sent", "exposure-2024-06-10.csv", "18 Jun 2024")
	user, err := h.App.Accounts.UserNamed(t.Context(), h.Actor, "finance")
	if err != nil {
		t.Fatal(err)
	}
	want := schedules.Want{UserID: user.ID, SiteID: h.World.Site.ID, Site: "demo", View: view, Format: schedules.CSV}
	want.On, want.Since = *apptest.DayPtr(t, "2024-06-11"), *apptest.DayPtr(t, "2024-06-04")
	file, err := maker(t.Context(), want)
	seen := b.Get(h.At(view + "&as_of=2024-06-10&format=csv"))
	if err != nil || string(file.Content) != seen.Body || !strings.Contains(seen.Body, "1200.00") {
		t.Errorf("%v: the mail has\n%s\nand the page\n%s", err, file.Content, seen.Body)
	}
	if !strings.HasPrefix(file.About, "At the end of 10 Jun 2024") || !slices.ContainsFunc(file.Rows, func(r [2]string) bool { return strings.Contains(r[1], "1,200.00") }) {
		t.Errorf("it says %q %q", file.About, file.Rows)
	}
	want.Format = schedules.XLSX
	file, err = maker(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	if book, err := excelize.OpenReader(bytes.NewReader(file.Content)); err != nil {
		t.Error(err)
	} else if rows, err := book.GetRows("Sheet1"); err != nil || len(rows) < 2 {
		t.Errorf("%v %v", rows, err)
	}
	for _, other := range []string{"/settings/audit", "/exposure/payments/1", "/receivables"} {
		want.View = other
		if _, err := maker(t.Context(), want); err == nil {
			t.Errorf("%s goes by mail", other)
		}
	}
	if a := b.Post(made.To+"/pause", nil); a.Status != http.StatusSeeOther {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	b.Must(h.At("/reports"), "Exposure by merchant", "Paused")
	b.Must(made.To+"/end", "Delete schedule")
	if a := b.Post(made.To+"/end", nil); a.Status != http.StatusSeeOther {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	empty := b.Must(h.At("/reports"), "No scheduled reports yet", "Schedule exposure")
	if way := h.At(kit.OrderPath + "?view=%2Fexposure"); !strings.Contains(empty.Body, way) {
		t.Errorf("nothing leads to %s", way)
	}
}

// TestAFileNamesTheDayOfItsFigures: the day whose end they describe or, for lists, today by the site's clock.
func TestAFileNamesTheDayOfItsFigures(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Finance)
	h.World.SetClock(apptest.DayPtr(t, "2024-06-11").Start())
	for _, c := range []struct {
		passes   time.Duration // by the machine's clock
		ahead    time.Duration // how far the site's clock is ahead
		today    string
		as, file string
	}{
		{0, 0, "2024-06-11", "2024-06-10", "2024-06-10"},
		{24*time.Hour - time.Microsecond, 0, "2024-06-11", "2024-06-11", "2024-06-11"},
		{0, time.Microsecond, "2024-06-12", "2024-06-11", "2024-06-11"},
		{0, 24 * time.Hour, "2024-06-12", "2024-05-31", "2024-05-31"},
		{time.Microsecond, 24 * time.Hour, "2024-06-13", "2024-06-12", "2024-06-12"},
	} {
		h.World.Advance(c.passes)
		dbtest.Write(t, h.App.DB.Store, func(tx *store.Tx) error { return sites.MoveClock(tx, h.World.Site.ID, c.ahead) })
		b.SignIn("finance", webtest.Password) // the earlier session has expired
		for path, want := range map[string]string{
			"/exposure?format=csv":                       "exposure-" + c.today + ".csv",
			"/exposure?format=xlsx&as_of=" + c.as:        "exposure-" + c.file + ".xlsx",
			"/exposure/run-off?format=csv&as_of=" + c.as: "run-off-" + c.file + ".csv",
			"/exposure/limits?format=csv":                "limits-" + c.today + ".csv",
			"/bookings?format=csv":                       "bookings-" + c.today + ".csv",
		} {
			a := b.Get(h.At(path))
			if got := a.Header.Get("Content-Disposition"); got != `attachment; filename="`+want+`"` {
				t.Errorf("%s on %s: %d %s, want %s", path, c.today, a.Status, got, want)
			}
		}
	}
}

// TestEveryReportThatGoesByMailHasAFile on an empty site, too.
func TestEveryReportThatGoesByMailHasAFile(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Operator)
	for _, view := range []string{
		"/exposure", "/exposure?by=channel&across=month", "/exposure/details", "/exposure/run-off", "/exposure/movement", "/exposure/ageing",
		"/exposure/model", "/exposure/what-if", "/exposure/merchants", "/exposure/limits", "/statements/bordereaux", "/statements",
	} {
		in := url.Values{"view": {view}, "name": {view}, "when": {"month-1"}, "format": {"xlsx"}, "recipients": {"operator"}, "key": {view}}
		if a := b.Post(h.At("/reports"), in); a.Status != http.StatusSeeOther {
			t.Errorf("%s: %d %s", view, a.Status, a.Text())
		}
	}
	in := url.Values{"view": {"/receivables?sandboxes=1"}, "name": {"Receivables"}, "when": {"month-31"}, "format": {"csv"}, "recipients": {"operator"}}
	made := b.Post("/reports", in)
	if made.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", made.Status, made.Text())
	}
	h.World.At("2024-07-01")
	work(t, h)
	b.SignIn("operator", webtest.Password)
	b.Must(made.To, "30 Jun 2024", "Sent", "receivables-2024-07-01.csv")
	list, err := h.App.Schedules.List(t.Context(), h.Actor)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		_, runs, err := h.App.Schedules.Get(t.Context(), h.Actor, o.ID)
		day := "-2024-06-30.xlsx" // the figures describe the end of the previous day
		if o.View == "/statements" || o.View == "/exposure/limits" {
			day = "-2024-07-01.xlsx" // the figures are current
		}
		if err != nil || len(runs) != 1 || runs[0].Outcome != schedules.Sent || !strings.HasSuffix(runs[0].File, day) {
			t.Errorf("%s: %+v %v, want a file that ends in %s", o.View, runs, err, day)
		}
	}
	finance := h.As(access.Finance)
	if a := finance.Post("/reports", in); a.Status != http.StatusNotFound {
		t.Errorf("finance orders what is about all sites: %d", a.Status)
	}
	reading := h.As(access.ReadOnly)
	for _, path := range []string{"/reports", "/reports/new"} {
		if a := reading.Get(h.At(path)); a.Status != http.StatusForbidden {
			t.Errorf("read_only sees %s: %d", path, a.Status)
		}
	}
	if a := reading.Post(h.At("/reports/1/pause"), nil); a.Status != http.StatusForbidden {
		t.Errorf("read_only pauses a report: %d", a.Status)
	}
}

// TestTheFormHasEachDayOfASchedule: a day set by the API or the command line is selected, so that an unchanged form
// changes nothing.
func TestTheFormHasEachDayOfASchedule(t *testing.T) {
	t.Parallel()
	h := webtest.New(t)
	b := h.As(access.Finance)
	in := url.Values{"view": {"/exposure"}, "name": {"Exposure"}, "format": {"csv"}, "recipients": {"finance"}}
	for i, when := range []string{"week-7", "month-1", "month-28", "month-29", "month-30", "month-31"} {
		in["when"], in["key"] = []string{when}, []string{"key " + when}
		made := b.Post(h.At("/reports"), in)
		if page := b.Must(made.To); !strings.Contains(page.Body, `<option value="`+when+`" selected>`) {
			t.Errorf("%d: %s is not chosen on %s", i, when, made.To)
		}
	}
}
