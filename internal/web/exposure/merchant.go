package exposure

import (
	"context"
	"strconv"

	"holdfast/internal/book/limits"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// few is the number of rows in a merchant page's short tables. The linked pages have all rows.
const few = 12

// merchant shows the risk of one merchant.
func (p *pages) merchant(v *kit.Visit) error {
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
	s.Scope = exposure.Scope{Channels: []int64{id}}
	acts, err := choices.FailureActs(v, p.app, channel)
	if err != nil {
		return err
	}
	const which = withMoment | withValuation
	page := kit.Page{
		Title: channel.Name, Menu: "/channels", Parts: v.Parts("channel", "/exposure/merchants/{id}", id), Wide: true,
		Path: []kit.Link{{Text: "Merchants", Href: v.At("/channels")}},
		Acts: append(acts, kit.Link{Text: "Explore exposure", Href: s.below("/exposure", "channels", strconv.FormatInt(id, 10), "by", "month"), Plain: true}),
	}
	q := s.query()
	q.By, q.Across = exposure.ByMonth, ""
	found, err := p.app.Exposure.Report(v.R.Context(), v.Actor, q)
	if err != nil {
		return p.fail(s.of(id), which, err, page)
	}
	r := s.began(which)
	r.Settings.Fields = withoutChannels(r.Settings.Fields)
	r.at(s, found.Query, found.Final)
	r.keyFigures(found)
	state := kit.Say(channel.Mode)
	if locked := kit.LockedWord(channel); locked != "" {
		state = kit.Say(locked)
		r.Warnings = append(r.Warnings, note{Text: kit.LockedText(channel)})
	}
	r.Figures = append(r.Figures, figure{Text: "Status", Value: state, Hint: "in " + string(channel.Currency)})
	r.apartNotes(found.PendingRate, found.Uncovered)
	s.of(id)
	t, err := s.exposureTable(found)
	if err != nil {
		return err
	}
	switch channel.Mode {
	case merchant.ModeTest:
		t.Empty = kit.Empty{Title: "Test merchant", Text: "Its payments are not real, so exposure reports do not include them."}
	case merchant.ModeDraft:
		t.Empty = kit.Empty{Title: "Not protected yet", Text: "Exposure appears here after the first protected payment.",
			Act: kit.Link{Text: "View protection", Href: v.At("/channels/" + strconv.FormatInt(id, 10) + "/protection")}}
	}
	r.Parts = []part{{Title: "By travel month", Table: t}}
	if v.Format() == "" {
		if err := p.merchantView(v.R.Context(), s, r, found, id); err != nil {
			return err
		}
	}
	return p.show(v, r, page)
}

// of adds the merchant to the page's links.
func (s *settings) of(id int64) *settings {
	s.in.Values.Set("channels", strconv.FormatInt(id, 10))
	s.fixed = []string{"channels", strconv.FormatInt(id, 10)}
	return s
}

func withoutChannels(fields []field) (list []field) {
	for _, f := range fields {
		if f.Name != "channels" {
			list = append(list, f)
		}
	}
	return list
}

// merchantView adds what a page shows besides the table: charts, limits, collateral and statements.
func (p *pages) merchantView(ctx context.Context, s *settings, r *reportPage, found report.ExposureReport, id int64) error {
	v := s.v
	q := s.query()
	q.By, q.Across, q.KnownAt = "", "", found.Query.KnownAt
	runOff, err := p.app.Exposure.RunOff(ctx, v.Actor, q)
	if err != nil {
		return err
	}
	r.draw(runOffChart(runOff, "Run-off"))
	r.draw(s.chartOf(found, "month"))
	for _, by := range []exposure.Dimension{exposure.ByCountry, exposure.BySupplier} {
		q.By = by
		split, err := p.app.Exposure.Report(ctx, v.Actor, q)
		if err != nil {
			return err
		}
		if err := p.learn(v, s.names, s.suppliersOf(split)); err != nil {
			return err
		}
		r.draw(s.chartOf(split, string(by)))
	}
	if err := p.merchantLimits(ctx, v, r, id); err != nil {
		return err
	}
	if err := p.merchantCollateral(ctx, s, r, id); err != nil {
		return err
	}
	if err := p.merchantQuality(ctx, v, r, id); err != nil {
		return err
	}
	return p.merchantStatements(ctx, v, r, id)
}

// merchantLimits adds the limits that apply to a merchant: its own and the site's.
func (p *pages) merchantLimits(ctx context.Context, v *kit.Visit, r *reportPage, id int64) error {
	list, err := p.app.Limits.List(ctx, v.Actor, limits.LimitFilter{Channels: []int64{id, 0}}, store.Page{Number: 1, Size: few, Offset: -1, OrderBy: "id"})
	if err != nil {
		return err
	}
	drawLimits(v, r, list.Items)
	for _, row := range list.Items {
		if row.ChannelID == id && row.Scope == protection.LimitChannel && row.HasUse {
			hint := row.Percent + "% of " + kit.Money(row.Amount, row.Currency) + " used"
			value := kit.Money(row.Headroom, row.Currency)
			if len(row.Pending) > 0 {
				value, hint = "Unknown", waitingFor(row.Pending)+" is waiting for a rate. Without it, "+hint
			}
			r.Figures = append(r.Figures, figure{Text: "Limit headroom", Value: value, Hint: hint})
		}
	}
	t := limitTable(v, list.Items, store.Page{Number: 1, Size: few, Descending: true, OrderBy: "used"})
	t.Bare = true
	for i := range t.Columns {
		t.Columns[i].Sorts = false
	}
	r.Parts = append(r.Parts, part{Title: "Limits", Table: t})
	return nil
}

// merchantCollateral adds the collateral for this merchant and for all merchants.
func (p *pages) merchantCollateral(ctx context.Context, s *settings, r *reportPage, id int64) error {
	page := store.Page{Number: 1, Size: few, Offset: -1, OrderBy: "id"}
	held, err := p.app.Collaterals.Held(ctx, s.v.Actor, s.Moment, s.in.Problems, []int64{id}, page)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "collateral", Caption: "Collateral", Bare: true,
		Columns: []kit.Column{
			{Name: "kind", Title: "Type"}, {Name: "for", Title: "Covers"}, {Name: "amount", Title: "Amount", Figure: true},
			{Name: "from", Title: "From"}, {Name: "to", Title: "Until"}, {Name: "reference", Title: "Reference"},
		},
		Empty: kit.Empty{Title: "No collateral yet", Text: "Deposits and guarantees from this merchant appear here. They are deducted from the loss."},
	}
	for _, x := range held.Items {
		of := "all merchants"
		if x.ChannelID != 0 {
			of = "this merchant"
		}
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.Words(kit.Say(string(x.Kind))), kit.Words(of), kit.Sum(x.Amount, x.Currency), kit.OnDay(x.FromDay), kit.OnDay(x.ToDay),
			kit.Words(x.Reference),
		}})
	}
	r.Parts = append(r.Parts, part{Title: "Collateral", Table: s.v.Table(t)})
	return nil
}

// merchantQuality adds the merchant's data quality: how many payments have each flag. It shows nothing if there are none.
func (p *pages) merchantQuality(ctx context.Context, v *kit.Visit, r *reportPage, id int64) error {
	counts, err := p.app.Payments.FlagCounts(ctx, v.Actor, id)
	if err != nil || len(counts) == 0 {
		return err
	}
	t := kit.Table{
		Name: "quality", Caption: "Data quality", Bare: true,
		Columns: []kit.Column{{Name: "flag", Title: "Flag"}, {Name: "payments", Title: "Payments", Figure: true}},
	}
	for _, flag := range payment.Flags {
		if counts[flag] == 0 {
			continue
		}
		t.Rows = append(t.Rows, kit.Row{
			Href:  v.At("/payments?flags=" + flag + "&channels=" + strconv.FormatInt(id, 10)),
			Cells: []kit.Cell{kit.Words(kit.Say(flag)), kit.Number(counts[flag])},
		})
	}
	r.Parts = append(r.Parts, part{Title: "Data quality", Table: v.Table(t)})
	return nil
}

// merchantStatements adds the latest statements, if the user may read them.
func (p *pages) merchantStatements(ctx context.Context, v *kit.Visit, r *reportPage, id int64) error {
	if !v.Can(access.ReadStatements) {
		return nil
	}
	page := store.Page{Number: 1, Size: few, Offset: -1, OrderBy: "number", Descending: true}
	list, _, err := p.app.Statements.List(ctx, v.Actor, statements.StatementFilter{Channels: []int64{id}}, page)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "statements", Caption: "Latest statements", Bare: true,
		Columns: []kit.Column{
			{Name: "number", Title: "Number"}, {Name: "issued", Title: "Issued"}, {Name: "due", Title: "Due"},
			{Name: "closing", Title: "Closing balance", Figure: true}, {Name: "open", Title: "Open", Figure: true}, {Name: "state", Title: "Status"},
		},
		Empty: kit.Empty{Title: "No statements yet", Text: "Statements are issued at the end of each period, and charge its premium."},
	}
	for _, x := range list.Items {
		if x.Credit > 0 {
			r.Figures = append(r.Figures, figure{Text: "Credit", Value: kit.Money(x.Credit, x.Currency), Hint: "deducted from the next statement"})
		}
		state := kit.State("paid", "good")
		switch {
		case x.OverdueOn(today(v)):
			state = kit.State("overdue", "bad")
		case x.Open > 0:
			state = kit.State("open", "warn")
		}
		t.Rows = append(t.Rows, kit.Row{Href: v.At("/statements/" + strconv.FormatInt(x.ID, 10)), Cells: []kit.Cell{
			kit.Ident(x.Number), kit.AtInstant(x.IssuedAt), kit.OnDay(x.Due), kit.Sum(x.Closing, x.Currency), dashed(kit.Sum(x.Open, x.Currency)), state,
		}})
	}
	r.Parts = append(r.Parts, part{Title: "Statements", Table: v.Table(t)})
	return nil
}
