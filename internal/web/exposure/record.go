package exposure

import (
	"math/big"

	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/report"
	"holdfast/internal/web/chart"
	"holdfast/internal/web/kit"
)

// record shows a merchant's track record: how much was charged back, and how much premium is earned.
func (p *pages) record(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	if went, err := tidy(v); went || err != nil {
		return err
	}
	channel, err := p.app.Channels.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	s, err := p.read(v)
	if err != nil {
		return err
	}
	page := kit.Page{
		Title: channel.Name, Menu: "/channels", Parts: v.Parts("channel", "/exposure/merchants/{id}/record", id), Wide: true,
		Path: []kit.Link{{Text: "Merchants", Href: v.At("/channels")}},
	}
	in := report.VintageQuery{Problems: s.in.Problems, Moment: s.Moment, ChannelID: id}
	found, err := p.app.Exposure.Vintages(v.R.Context(), v.Actor, in)
	if err != nil {
		return p.fail(s, withDays, err, page)
	}
	r := s.began(withDays)
	r.at(s, exposure.ReportQuery{AsOf: found.AsOf, KnownAt: found.KnownAt}, found.Final)
	r.Notes = []note{{Text: "Card payments by month of payment. Premium is earned daily, from the payment to its dispute deadline."}}
	for _, total := range found.Totals {
		r.Figures = append(r.Figures, totalFigures(total)...)
		r.recordCharts(found, total)
	}
	t, err := s.recordTable(found)
	if err != nil {
		return err
	}
	r.Parts = []part{{Table: t}}
	return p.show(v, r, page)
}

// totalFigures are the key figures of one currency.
func totalFigures(v estimate.Vintage) []figure {
	return []figure{
		{Text: "Card payments", Value: kit.Money(v.Allocated, v.Currency), Hint: kit.Plural(v.Payments, "payment", "payments")},
		{Text: "Chargeback rate", Value: rate(v) + "\u00a0%", Hint: kit.Count(v.Disputed) + " charged back"},
		{Text: "Chargeback losses", Value: kit.Money(v.ChargedBack-v.Reversed, v.Currency), Hint: "chargebacks minus reversals"},
		{Text: "Premium", Value: kit.Money(v.Booked, v.Policy)},
		{Text: "Earned premium", Value: kit.Money(v.Earned, v.Policy), Hint: kit.Money(v.Booked-v.Earned, v.Policy) + " not earned yet"},
	}
}

// rate is the chargeback rate in percent, with two decimals.
func rate(v estimate.Vintage) string { return money.Format(hundredths(v), money.EUR) }

// hundredths is the rate in hundredths of a percent, rounded half away from zero.
func hundredths(v estimate.Vintage) int64 {
	if v.Payments == 0 {
		return 0
	}
	n, err := money.Round(new(big.Int).Mul(big.NewInt(v.Disputed), big.NewInt(10_000)), big.NewInt(v.Payments))
	if err != nil { // unreachable: there are never more chargebacks than payments
		return 0
	}
	return n
}

// recordCharts draws the months of one currency.
func (r *reportPage) recordCharts(found report.VintageReport, total estimate.Vintage) {
	id := string(total.Currency) + string(total.Policy)
	premium := chart.Chart{
		ID: "premium-" + id, Kind: chart.Bars, Title: "Premium of " + string(total.Currency) + " payments", Currency: total.Policy, Names: "Payment month",
		Series: []string{"Earned", "Not earned yet"}, Caption: "By payment month, in " + string(total.Policy),
	}
	disputes := chart.Chart{
		ID: "rate-" + id, Kind: chart.Bars, Title: "Chargeback rate of " + string(total.Currency) + " payments", Unit: chart.Percent, Names: "Payment month",
		Series: []string{"Charged back"}, Caption: "Share of each month's payments charged back",
	}
	for _, v := range found.Rows {
		if v.Currency != total.Currency || v.Policy != total.Policy {
			continue
		}
		label, long := shortMonth(v.Month, len(premium.Points) == 0), month(v.Month)
		premium.Points = append(premium.Points, chart.Point{Label: label, Long: long, Values: []int64{v.Earned, v.Booked - v.Earned}})
		disputes.Points = append(disputes.Points, chart.Point{Label: label, Long: long, Values: []int64{hundredths(v)}})
	}
	r.draw(premium)
	r.draw(disputes)
}

func (s *settings) recordTable(found report.VintageReport) (*kit.Table, error) {
	page, err := s.v.PageOf([]string{"month"}, false)
	if err != nil {
		return nil, err
	}
	t := kit.Table{
		Name: "track-record", Caption: "Card payments by month", Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "month", Title: "Month"}, {Name: "currency", Title: "Currency", Hidden: true}, {Name: "payments", Title: "Payments", Figure: true},
			{Name: "taken", Title: "Taken", Currency: "currency"}, {Name: "refunded", Title: "Refunded", Currency: "currency"},
			{Name: "charged_back", Title: "Charged back", Currency: "currency"}, {Name: "reversed", Title: "Reversed", Currency: "currency", Hidden: true},
			{Name: "disputed", Title: "Payments charged back", Figure: true, Hidden: true}, {Name: "rate", Title: "Rate", Figure: true},
			{Name: "premium", Title: "Premium", Currency: "policy_currency"}, {Name: "earned", Title: "Earned", Currency: "policy_currency"}, {Name: "unearned", Title: "Not earned", Currency: "policy_currency", Hidden: true},
		},
		Empty: kit.Empty{Title: "No card payments yet", Text: "Each month with card payments to this merchant appears here."},
	}
	rows, more := pick(s.v, found.Rows, page.Number, page.Size)
	t.More = more
	for _, v := range rows {
		t.Rows = append(t.Rows, kit.Row{Cells: recordCells(month(v.Month), v)})
	}
	for _, total := range found.Totals {
		t.Foot = append(t.Foot, kit.Row{Cells: recordCells("Total "+string(total.Currency), total)})
	}
	return s.v.Table(t), nil
}

func recordCells(name string, v estimate.Vintage) []kit.Cell {
	back := func(n int64) kit.Cell { return dashed(kit.Sum(n, v.Currency)) }
	return []kit.Cell{
		kit.Words(name), kit.Words(string(v.Currency)), kit.Number(v.Payments), kit.Sum(v.Allocated, v.Currency), back(v.Refunded),
		back(v.ChargedBack), back(v.Reversed), dashed(kit.Number(v.Disputed)), kit.Percent(rate(v)), kit.Sum(v.Booked, v.Policy),
		kit.Sum(v.Earned, v.Policy), dashed(kit.Sum(v.Booked-v.Earned, v.Policy)),
	}
}
