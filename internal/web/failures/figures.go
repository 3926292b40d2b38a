package failures

import (
	"html/template"
	"strings"
	"time"

	"holdfast/internal/book/claims"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/web/chart"
	"holdfast/internal/web/kit"
)

// figuresView has the figures of an insolvency.
type figuresView struct {
	Facts    []kit.Fact
	Chart    template.HTML // "" without claims
	Tables   []*kit.Table  // by day, scheme and reason
	Approved bool          // a claim is approved or paid, so that the insolvency can no longer be withdrawn
}

// figures reads the exposed, disputed, payable, covered, paid and recovered amounts, with the claims by day, scheme and reason.
func (p *pages) figures(v *kit.Visit, id int64) (*figuresView, error) {
	r, err := p.app.Claims.Report(v.R.Context(), v.Actor, id)
	if err != nil {
		return nil, err
	}
	view := &figuresView{Approved: r.Claims[claim.StateApproved]+r.Claims[claim.StatePaid] > 0}
	for _, f := range []struct {
		name   string
		amount int64
	}{
		{"Exposed", r.Exposed}, {"Disputed", r.Breakdown.Total.Disputed}, {"Payable", r.Payable}, {"Covered", r.Covered},
		{"Paid or planned", r.Paid}, {"Reserve", r.Reserve}, {"Incurred", r.Incurred()}, {"Recovered", r.Recovered.Total},
	} {
		view.Facts = append(view.Facts, kit.Fact{Text: f.name, Value: kit.Money(f.amount, r.Currency), Figure: true})
	}
	if r.Pending > 0 {
		view.Facts = append(view.Facts, kit.Fact{Text: "Waiting for a rate", Value: kit.Plural(r.Pending, "payment", "payments"), Figure: true})
	}
	if r.Exposed == 0 {
		return view, nil
	}
	view.Chart = claimsChart(r).HTML()
	if r.Breakdown.Total.Claims == 0 {
		return view, nil
	}
	schemes, reasons, days := sumTable("schemes", "Scheme"), sumTable("reasons", "Reason"), sumTable("days", "Disputed on")
	for _, s := range r.Breakdown.Schemes {
		schemes.Rows = append(schemes.Rows, sumRow(kit.Words(kit.Say(s.Scheme.Label())), s.Sum, r.Currency))
	}
	for _, s := range r.Breakdown.Reasons {
		name := kit.Words(kit.Say(s.Reason))
		if s.Reason == "" {
			name = kit.Words("Payable in full")
		}
		reasons.Rows = append(reasons.Rows, sumRow(name, s.Sum, r.Currency))
	}
	for _, s := range r.Breakdown.Days {
		days.Rows = append(days.Rows, sumRow(kit.OnDay(s.Day), s.Sum, r.Currency))
	}
	for _, t := range []kit.Table{schemes, reasons, days} {
		t.Foot = []kit.Row{sumRow(kit.Words("Total"), r.Breakdown.Total, r.Currency)}
		view.Tables = append(view.Tables, v.Table(t))
	}
	return view, nil
}

// claimsChart shows the payable claims by day, and the amount that can still be disputed as deadlines pass.
func claimsChart(r claims.Report) chart.Chart {
	c := chart.Chart{
		ID: "claims", Kind: chart.Area, Title: "Claims and deadlines", Currency: r.Currency, Names: "At the end of",
		Series:  []string{"Payable claims", "Can still be disputed"},
		Caption: "Undelivered amounts of the snapshot in " + string(r.Currency) + ". Future days assume no new disputes.",
	}
	last := ""
	for _, x := range r.Breakdown.RunOff {
		point := chart.Point{Long: kit.Day(x.Day), Values: []int64{x.Payable, x.Open}, At: int64(x.Day)}
		if m := x.Day.Month(); m != last { // the first point of a month
			point.Label, last = monthLabel(x.Day, last == ""), m
		}
		c.Points = append(c.Points, point)
	}
	return c
}

// monthLabel is a short name of a month, with the year in January and where it is needed.
func monthLabel(d civil.Day, withYear bool) string {
	if at := d.Start(); withYear || at.Month() == time.January {
		return at.Format("Jan 2006")
	}
	return d.Start().Format("Jan")
}

func sumTable(name, title string) kit.Table {
	t := kit.Table{
		Name: "claims-by-" + strings.TrimSuffix(name, "s"), Bare: true, Caption: "Claims by " + strings.ToLower(title),
		Columns: []kit.Column{{Name: strings.TrimSuffix(name, "s"), Title: title}, {Name: "claims", Title: "Claims", Figure: true}},
	}
	for _, column := range []string{"Disputed", "Payable", "Covered", "Paid"} {
		t.Columns = append(t.Columns, kit.Column{Name: strings.ToLower(column), Title: column, Currency: "policy_currency"})
	}
	return t
}

func sumRow(name kit.Cell, s claims.Sum, c money.Currency) kit.Row {
	return kit.Row{Cells: []kit.Cell{
		name, kit.Number(s.Claims), kit.Sum(s.Disputed, c), kit.Sum(s.Payable, c), kit.Sum(s.Covered, c), kit.Sum(s.Paid, c),
	}}
}
