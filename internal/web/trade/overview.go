package trade

import (
	"html/template"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/web/chart"
	"holdfast/internal/web/kit"
)

// overviewPage is the data of the overview.
type overviewPage struct {
	Steps              []step // onboarding of a new site; empty once it has bookings
	Todo               []todo
	Figures            []figure
	Notes              []string
	Months, RunOff     template.HTML
	Bookings, Payments *kit.Table
}

// step is an onboarding step.
type step struct {
	Text, Why, Href string
	Done            bool
}

// recent is the number of bookings and payments on the overview.
const recent = 5

func (p *pages) overview(v *kit.Visit) error {
	ctx := v.R.Context()
	page := store.Page{Number: 1, Size: recent, Offset: -1, OrderBy: "id", Descending: true}
	bookings, err := p.app.Bookings.List(ctx, v.Actor, bookings.BookingFilter{}, page)
	if err != nil {
		return err
	}
	var data overviewPage
	if len(bookings.Items) == 0 {
		if data.Steps, err = p.firstSteps(v); err != nil {
			return err
		}
		return p.showOverview(v, data)
	}
	payments, err := p.app.Payments.List(ctx, v.Actor, payments.TransactionFilter{}, page)
	if err != nil {
		return err
	}
	if data.Bookings, data.Payments, err = p.latest(v, bookings.Items, payments.Items); err != nil {
		return err
	}
	pending, err := p.addExposure(v, &data)
	if err != nil {
		return err
	}
	if data.Todo, err = p.attention(v, pending); err != nil {
		return err
	}
	return p.showOverview(v, data)
}

func (p *pages) showOverview(v *kit.Visit, data overviewPage) error {
	return v.Show(p.Pages, "overview.html", kit.Page{Title: "Overview", Menu: "", Data: data})
}

// firstSteps are the onboarding steps up to the first booking.
func (p *pages) firstSteps(v *kit.Visit) (list []step, err error) {
	channels, err := p.app.Channels.List(v.R.Context(), v.Actor, merchants.ChannelFilter{},
		store.Page{Number: 1, Size: 1, Offset: -1, OrderBy: "id"})
	if err != nil {
		return nil, err
	}
	tokens, err := p.app.Tokens.List(v.R.Context(), v.Actor)
	if err != nil {
		return nil, err
	}
	hasChannel := len(channels.Items) > 0
	list = []step{
		{"Create a merchant", "A merchant sells the trips you log. Start with one in test mode.", "", hasChannel},
		{"Create an API token", "Your systems use it to log bookings and payments.", "", len(tokens) > 0},
		{"Log a booking", "This page then shows what is protected.", "", false},
	}
	for i, link := range []struct {
		may  access.Permission
		href string
	}{{access.WriteChannels, "/channels/new"}, {access.ManageTokens, "/developers/tokens/new"}, {access.WriteBookings, "/bookings/new"}} {
		if v.Can(link.may) && !list[i].Done && (i != 2 || hasChannel) {
			list[i].Href = v.At(link.href)
		}
	}
	return list, nil
}

// addExposure adds the figures and charts, from the ledger's sums. It returns what is waiting for a rate.
func (p *pages) addExposure(v *kit.Visit, data *overviewPage) (pending []exposure.Pending, err error) {
	ctx := v.R.Context()
	now, err := p.app.Exposure.Report(ctx, v.Actor, report.ExposureQuery{By: exposure.ByMonth})
	if err != nil {
		return nil, err
	}
	week := now.Query.AsOf - 7
	before, err := p.app.Exposure.Report(ctx, v.Actor, report.ExposureQuery{Moment: ledger.Moment{AsOf: &week}, Currency: now.Query.Currency})
	if err != nil {
		return nil, err
	}
	runOff, err := p.app.Exposure.RunOff(ctx, v.Actor, report.ExposureQuery{Currency: now.Query.Currency})
	if err != nil {
		return nil, err
	}
	c := now.Query.Currency
	data.Figures = []figure{
		{"Protected now", kit.Money(now.Total.E1+now.Total.E2, c), v.At("/exposure")},
		{"Undelivered (E1)", kit.Money(now.Total.E1, c), v.At("/exposure")},
		{"Delivered, disputable (E2)", kit.Money(now.Total.E2, c), v.At("/exposure/ageing")},
		{"E1 since " + kit.Day(week), change(now.Total.E1-before.Total.E1, c), v.At("/exposure/movement?from=" + week.String())},
	}
	if now.Gaps.E1 || now.Gaps.E2 || before.Gaps.E1 {
		data.Notes = append(data.Notes, "An exchange rate is missing. Payments waiting for it are not included in these figures.")
	}
	data.Months, data.RunOff = byMonth(v, now), runOffOf(runOff)
	return now.PendingRate, nil
}

// change is an amount with its sign.
func change(amount int64, c money.Currency) string {
	if amount > 0 {
		return "+" + kit.Money(amount, c)
	}
	return kit.Money(amount, c)
}

// byMonth draws undelivered amounts by month of the end of travel.
func byMonth(v *kit.Visit, r report.ExposureReport) template.HTML {
	c := chart.Chart{
		ID: "months", Kind: chart.Bars, Title: "Undelivered by travel month", Currency: r.Query.Currency, Series: []string{"E1"}, Names: "Month",
	}
	for _, sub := range r.Subtotals { // in order of the months
		if sub.E1 == 0 {
			continue
		}
		point := chart.Point{Label: sub.Key.Month, Values: []int64{sub.E1}, Href: v.At("/exposure?months=" + sub.Key.Month)}
		if at, err := time.Parse("2006-01", sub.Key.Month); err == nil {
			point.Label, point.Long = at.Format("Jan 06"), at.Format("January 2006")
		}
		c.Points = append(c.Points, point)
	}
	return c.HTML()
}

// runOffOf draws the run-off with no new bookings.
func runOffOf(r report.RunOffReport) template.HTML {
	c := chart.Chart{
		ID: "run-off", Kind: chart.Area, Title: "Run-off with no new bookings", Currency: r.Query.Currency,
		Series: []string{"Undelivered", "Disputable"}, Names: "Day",
	}
	for _, point := range r.Points {
		label := point.Day.Start().Format("Jan 06")
		if n := len(c.Points); n > 0 && civil.Day(c.Points[n-1].At).Start().Format("Jan 06") == label {
			label = ""
		}
		c.Points = append(c.Points, chart.Point{
			Label: label, Long: kit.Day(point.Day), At: int64(point.Day), Values: []int64{point.Total.E1, point.Total.E2},
		})
	}
	return c.HTML()
}
