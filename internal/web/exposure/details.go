package exposure

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/web/kit"
)

// errEnough stops reading when a file is full.
var errEnough = errors.New("enough")

// details lists the allocations behind a report.
func (p *pages) details(v *kit.Visit) error {
	if went, err := tidy(v); went || err != nil {
		return err
	}
	s, err := p.read(v)
	if err != nil {
		return err
	}
	list, err := v.PageOf([]string{"id"}, false)
	if err != nil {
		return err
	}
	const which = withMoment | withValuation
	page := kit.Page{Title: "Allocations", Wide: true, Path: []kit.Link{{Text: "Exposure", Href: s.below("/exposure", "on", "", "bands", "")}}}
	in := report.DetailsQuery{On: s.in.Day("on"), Bands: s.list("bands"), Page: list}
	in.ExposureQuery = s.query()
	found, items, more, err := p.behind(v.R.Context(), v, in)
	if err != nil {
		return p.fail(s, which, err, page)
	}
	r := s.began(which)
	r.at(s, found.Query, found.Final)
	if found.On != found.Query.AsOf {
		r.Notes = append(r.Notes, note{Text: "Amounts still at risk at the end of " + kit.Day(found.On) + ", with no further activity.",
			Href: s.below("/exposure/run-off", "on", "")})
	}
	for _, band := range in.Bands {
		r.Notes = append(r.Notes, note{Text: "Undelivered only, " + bandName(band) + ".", Href: s.below("/exposure/ageing", "bands", "")})
	}
	r.Parts = []part{{Table: s.detailsTable(found, items, list.Number, more)}}
	return p.show(v, r, page)
}

// behind reads a page of items, or for a file all items in one pass.
func (p *pages) behind(
	ctx context.Context, v *kit.Visit, in report.DetailsQuery,
) (found report.DetailsReport, items []exposure.Detail, more bool, err error) {
	if v.Format() == "" {
		found, err = p.app.Exposure.Details(ctx, v.Actor, in)
		return found, found.Items.Items, found.Items.More, err
	}
	found, err = p.app.Exposure.EachDetail(ctx, v.Actor, in, func(_ report.DetailsReport, d exposure.Detail) error {
		if len(items) == mostRows {
			return errEnough
		}
		items = append(items, d)
		return nil
	})
	return found, items, false, enough(err)
}

// enough returns the error of a read, without errEnough.
func enough(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (s *settings) detailsTable(found report.DetailsReport, items []exposure.Detail, number int, more bool) *kit.Table {
	c := found.Query.Currency
	t := kit.Table{
		Name: "allocations", Caption: "Allocations in this report", Number: number, More: more, Total: -1,
		Columns: []kit.Column{
			{Name: "payment", Title: "Allocation"}, {Name: "booking", Title: "Booking"}, {Name: "transaction", Title: "Transaction", Hidden: true},
			{Name: "merchant", Title: "Merchant"}, {Name: "country", Title: "Country", Hidden: true}, {Name: "scheme", Title: "Card scheme", Hidden: true},
			{Name: "end", Title: "Trip ends"}, {Name: "last_day", Title: "Dispute deadline", Hidden: true}, {Name: "standing", Title: "Status"},
			{Name: "remaining", Title: "Remaining", Currency: "currency", Hidden: true}, {Name: "e1", Title: "E1", Currency: "currency"},
			{Name: "e2", Title: "E2", Currency: "currency"}, {Name: "e1_report", Title: "E1 in " + string(c), Currency: "report_currency"},
			{Name: "e2_report", Title: "E2 in " + string(c), Currency: "report_currency", Hidden: true}, {Name: "e4", Title: "Unpaid (E4)", Currency: "currency"},
			{Name: "e5", Title: "Not protected (E5)", Currency: "currency", Hidden: true},
		},
		Empty: kit.Empty{Title: "No allocations at risk", Text: "An allocation is the part of a payment that pays for one booking. " +
			"Remove a filter or choose another day."},
	}
	for _, d := range items {
		t.Rows = append(t.Rows, s.detailRow(d, found.ChannelNames[d.ChannelID], c))
	}
	return s.v.Table(t)
}

func (s *settings) detailRow(d exposure.Detail, channel string, c money.Currency) kit.Row {
	id := func(path string, n int64) string { return s.v.At(path + strconv.FormatInt(n, 10)) }
	payment, href := kit.Idents("\u2013"), "" // nothing paid yet
	if d.AllocationID != 0 {
		payment = kit.Ident(d.AllocationID)
		href = s.below("/exposure/payments/"+strconv.FormatInt(d.TransactionID, 10), momentOnly...) + "#a" + strconv.FormatInt(d.AllocationID, 10)
	}
	last := kit.Cell{}
	if d.Category != exposure.Instalments {
		last = kit.OnDay(d.Terms.LastDay)
	}
	var figures [4]kit.Cell
	if d.Category == exposure.Covered {
		figures = [4]kit.Cell{
			dashed(kit.Sum(d.E1, d.Currency)), dashed(kit.Sum(d.E2, d.Currency)), dashed(sum(d.E1Report, d.Pending, c)),
			dashed(sum(d.E2Report, d.Pending, c)),
		}
	}
	tones := map[exposure.Category]string{exposure.Covered: "good", exposure.Uncovered: "warn"}
	return kit.Row{Href: href, Cells: []kit.Cell{
		payment, leading(kit.Ident(d.BookingID), id("/bookings/", d.BookingID)), kit.Ident(d.TransactionID),
		leading(kit.Words(channel), id("/exposure/merchants/", d.ChannelID)), kit.Words(country(d.Terms.Country)), kit.Words(d.Scheme.Label()),
		kit.OnDay(d.Terms.End), last, kit.State(string(d.Category), tones[d.Category]), dashed(kit.Sum(d.Remaining, d.Currency)),
		figures[0], figures[1], figures[2], figures[3], dashed(kit.Sum(d.E4, d.Currency)), dashed(kit.Sum(d.E5, d.Currency)),
	}}
}

// momentOnly removes all settings from a URL except the date and time.
var momentOnly = []string{
	"channels", "", "suppliers", "", "countries", "", "currencies", "", "schemes", "", "months", "", "currency", "", "valuation", "", "on", "",
	"bands", "", "from", "",
}

// payment explains a payment's allocations, step by step.
func (p *pages) payment(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	s, err := p.read(v)
	if err != nil {
		return err
	}
	in := report.ProtectionQuery{Moment: s.Moment, Problems: s.in.Problems}
	found, err := p.app.Protection.Explain(v.R.Context(), v.Actor, id, in)
	if errs.Is(err, errs.RecordNotFound) {
		return err
	}
	page := kit.Page{Title: "Payment " + strconv.FormatInt(id, 10), Path: []kit.Link{
		{Text: "Exposure", Href: s.below("/exposure", "on", "", "bands", "")},
	}}
	r := s.began(withDays)
	if err != nil {
		if err := s.refused(r.Settings, err); err != nil {
			return err
		}
		return p.show(v, r, page)
	}
	r.at(s, exposure.ReportQuery{AsOf: found.Moment.AsOf, KnownAt: found.Moment.KnownAt}, false)
	if found.Adjusted {
		r.Notes = append(r.Notes, note{Text: "This transaction adjusts another payment. The allocations below belong to that payment."})
	}
	if found.OverLimit > 0 {
		r.Warnings = append(r.Warnings, note{Text: "This payment exceeded a limit when it was logged, by " + kit.Money(found.OverLimit, found.OverLimitCurrency) + "."})
	}
	if len(found.Allocations) == 0 {
		r.Notes = append(r.Notes, note{Text: "This payment has no allocations because it took no money for a booking."})
	}
	for _, x := range found.Allocations {
		r.Parts = append(r.Parts, s.explained(x)...)
	}
	return v.Show(p.Pages, "report.html", kit.Page{Title: page.Title, Path: page.Path, Menu: "/exposure", Data: r})
}

// explained shows one allocation: what it is, how each figure is computed, and what has happened to it.
func (s *settings) explained(x protection.Explained) []part {
	c, id := x.Currency, strconv.FormatInt(x.ID, 10)
	facts := []kit.Fact{
		{Text: "Booking", Value: strconv.FormatInt(x.BookingID, 10), Href: s.v.At("/bookings/" + strconv.FormatInt(x.BookingID, 10))},
		{Text: "Status", Value: kit.Say(string(x.State))},
		{Text: "Paid", Value: kit.Day(x.Paid())}, {Text: "Amount", Value: kit.Money(x.Amount, c), Figure: true},
		{Text: "Refunded", Value: kit.Money(x.Amounts.Refunded, c), Figure: true},
		{Text: "Charged back", Value: kit.Money(x.Amounts.ChargedBack, c), Figure: true},
		{Text: "Remaining", Value: kit.Money(x.Remaining, c), Figure: true},
		{Text: "Undelivered", Value: kit.Money(x.Undelivered, c), Figure: true},
		{Text: "Trip", Value: kit.Day(x.Terms.Start) + " to " + kit.Day(x.Terms.End)},
		{Text: "Dispute deadline", Value: kit.Day(x.Terms.LastDay)},
	}
	stepped := kit.Table{
		Name: "steps", Caption: "How allocation " + id + " is calculated", Bare: true,
		Columns: []kit.Column{{Name: "figure", Title: "Figure"}, {Name: "rule", Title: "Rule"}, {Name: "how", Title: "Calculation"}},
	}
	for _, step := range x.Steps {
		stepped.Rows = append(stepped.Rows, kit.Row{Cells: []kit.Cell{kit.Words(step.Name), kit.Words(step.Rule), kit.Words(step.Text)}})
	}
	parts := []part{{Title: "Allocation " + id, ID: "a" + id, Facts: facts}, {Table: s.v.Table(stepped)}}
	if len(x.Events) > 0 || len(x.History) > 1 {
		parts = append(parts, part{Title: "History", Table: s.v.Table(happened(x))})
	}
	return parts
}

// happened lists refunds, chargebacks and trip changes, in the order recorded.
func happened(x protection.Explained) kit.Table {
	t := kit.Table{Name: "history", Caption: "Allocation history", Bare: true, Columns: []kit.Column{
		{Name: "recorded", Title: "Recorded"}, {Name: "effective", Title: "Effective"}, {Name: "what", Title: "What"},
		{Name: "amount", Title: "Amount", Figure: true},
	}}
	type fact struct {
		recorded, effective time.Time
		what                string
		amount              kit.Cell
	}
	var facts []fact
	for i, h := range x.History {
		what := "New trip dates: " + kit.Day(h.Start) + " to " + kit.Day(h.End)
		if i == 0 {
			what = "Paid, for a trip from " + kit.Day(h.Start) + " to " + kit.Day(h.End)
		}
		facts = append(facts, fact{h.RecordedAt, h.EffectiveAt, what, kit.Cell{}})
	}
	for _, e := range x.Events {
		facts = append(facts, fact{e.RecordedAt, e.EffectiveAt, kit.Say(string(e.Kind)), kit.Sum(e.Amount, x.Currency)})
	}
	slices.SortStableFunc(facts, func(a, b fact) int { return a.recorded.Compare(b.recorded) })
	for _, f := range facts {
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.AtInstant(f.recorded), kit.AtInstant(f.effective), kit.Words(f.what), f.amount,
		}})
	}
	return t
}

// bandName is the name of an ageing band.
func bandName(band string) string {
	from, to, several := strings.Cut(band, "-")
	switch {
	case band == "in_travel":
		return "in travel"
	case band == "over_365":
		return "in more than 365 days"
	case several:
		return "in " + from + " to " + to + " days"
	}
	return band
}
