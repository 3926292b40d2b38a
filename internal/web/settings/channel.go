package settings

import (
	"context"
	"strings"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/limits"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

// shortList is the page of a table next to others.
var shortList = store.Page{Number: 1, Size: 50, Offset: -1, OrderBy: "id"}

// channelView is the data of a merchant's terms page.
type channelView struct {
	Facts                             []kit.Fact
	Card, Limits, Collateral, Changes *kit.Table
	History                           *kit.Table
}

// channel shows a merchant's terms: rate card, limits, collateral and their history.
func (p *pages) channel(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	c, err := p.app.Channels.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	page, err := v.PageOf([]string{"id", "from"}, true)
	if err != nil {
		return err
	}
	history, err := p.channelHistory(v, id, page)
	if err != nil {
		return err
	}
	if sent, err := v.File(history); sent || err != nil {
		return err
	}
	data := channelView{History: history}
	if err := p.fillChannel(v.R.Context(), v, c, &data); err != nil {
		return err
	}
	var acts []kit.Link
	if v.Can(access.WriteLimits) {
		acts = append(acts, kit.Link{Text: "New limit", Href: v.At("/settings/limit?channel=" + v.R.PathValue("id"))})
	}
	if v.Can(access.WriteCollateral) {
		acts = append(acts, kit.Link{Text: "Add collateral", Href: v.At("/settings/collateral/new?channel=" + v.R.PathValue("id")), Plain: true})
	}
	return v.Show(p.Pages, "channel.html", kit.Page{
		Title: c.Name, Menu: "/channels", Path: []kit.Link{{Text: "Merchants", Href: v.At("/channels")}}, Acts: acts,
		Parts: v.Parts("channel", "/settings/merchants/{id}", id), Data: data,
	})
}

// fillChannel reads the current terms.
func (p *pages) fillChannel(ctx context.Context, v *kit.Visit, c merchant.Channel, data *channelView) error {
	policy, err := p.app.Policies.On(ctx, v.Actor, nil)
	if err != nil {
		return err
	}
	data.Facts = []kit.Fact{
		{Text: "Mode", Value: kit.Say(c.Mode)}, {Text: "Currency", Value: string(c.Currency)},
		{Text: "Statements", Value: kit.Say(c.StatementPeriod)}, {Text: "Policy currency", Value: string(policy.Currency)},
		{Text: "Policy", Value: "From " + strings.ToLower(firstDay(policy.FromDay).Text[:1]) + firstDay(policy.FromDay).Text[1:], Href: v.At(policiesAt)},
	}
	data.Card = channelCard(v, policy, c.ID)
	in, err := p.app.Limits.List(ctx, v.Actor, limits.LimitFilter{Channels: []int64{c.ID, 0}}, shortList)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "limits", Bare: true, Caption: "Current limits", Columns: []kit.Column{
			{Name: "scope", Title: "Of"}, {Name: "limit", Title: "Limit", Figure: true}, {Name: "use", Title: "Use", Figure: true},
			{Name: "state", Title: "Status"},
		},
		Empty: kit.Empty{Title: "No merchant limits", Text: "Payments to this merchant only count against the site's limit, if there is one."},
	}
	for _, l := range in.Items {
		if l.Scope == protection.LimitSite {
			continue
		}
		use := kit.Cell{}
		if l.HasUse {
			use = kit.Sum(l.Use, l.Currency)
		}
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{kit.Words(scopes[l.Scope]), kit.Sum(l.Amount, l.Currency), use, levelOf(l)}})
	}
	data.Limits = v.Table(t)
	held, err := p.app.Collaterals.Held(ctx, v.Actor, ledger.Moment{}, errs.Problems{}, []int64{c.ID}, shortList)
	if err != nil {
		return err
	}
	data.Collateral = heldTable(v, held.Items)
	if !v.Can(access.ReadAudit) {
		return nil
	}
	latest := shortList
	latest.Size, latest.Descending = 20, true
	changes, err := p.app.Audit.List(ctx, v.Actor, audit.Filter{Objects: []string{"channel " + v.R.PathValue("id")}}, latest)
	if err != nil {
		return err
	}
	data.Changes = changesOf(v, changes.Items)
	return nil
}

// channelCard has the rate bands of a merchant: its own, or the site's.
func channelCard(v *kit.Visit, policy terms.Policy, id int64) *kit.Table {
	t := kit.Table{
		Name: "rate-card", Bare: true, Caption: "Rate card",
		Columns: []kit.Column{{Name: "lead", Title: "Days to end of travel"}, {Name: "price", Title: "Price", Figure: true}},
	}
	for _, of := range []int64{id, 0} {
		for _, l := range policy.RateCard {
			if l.ChannelID == of {
				t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{kit.Words(band(l)), kit.Words(percent(l.PPM))}})
			}
		}
		if len(t.Rows) > 0 {
			break
		}
	}
	return v.Table(t)
}

func heldTable(v *kit.Visit, list []exposure.Collateral) *kit.Table {
	t := kit.Table{
		Name: "collateral", Bare: true, Caption: "Current collateral", Columns: []kit.Column{
			{Name: "kind", Title: "Type"}, {Name: "amount", Title: "Amount", Figure: true}, {Name: "to", Title: "Until"},
			{Name: "reference", Title: "Reference"},
		},
		Empty: kit.Empty{Title: "No collateral", Text: "Collateral from this merchant reduces its net exposure."},
	}
	for _, c := range list {
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.Words(kit.Say(c.Kind)), kit.Sum(c.Amount, c.Currency), kit.OnDay(c.ToDay), kit.Words(c.Reference),
		}})
	}
	return v.Table(t)
}

func changesOf(v *kit.Visit, list []audit.Entry) *kit.Table {
	t := kit.Table{
		Name: "changes", Bare: true, Caption: "Latest changes",
		Columns: []kit.Column{{Name: "at", Title: "Time"}, {Name: "what", Title: "Action"}, {Name: "who", Title: "User"}},
		Empty:   kit.Empty{Title: "No changes yet", Text: "Changes to this merchant appear here."},
	}
	for _, a := range list {
		row := auditRow(v, a)
		t.Rows = append(t.Rows, kit.Row{Href: row.Href, Cells: []kit.Cell{
			kit.AtInstant(a.At), kit.Words(a.Action), kit.Words(a.Username),
		}})
	}
	return v.Table(t)
}

// channelHistory has all limits ever set for a merchant, including those for all merchants.
func (p *pages) channelHistory(v *kit.Visit, id int64, page store.Page) (*kit.Table, error) {
	t := kit.Table{
		Name: "limit-history", Caption: "Limit history", Number: page.Number, Total: -1, Sorted: page.OrderBy,
		Descending: page.Descending, Columns: limitColumns,
		Empty: kit.Empty{Title: "No limits yet", Text: "Every limit set appears here, with who set it and why."},
	}
	err := v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Limits.History(v.R.Context(), v.Actor, id, page)
		for _, l := range list.Items {
			t.Rows = append(t.Rows, pastLimit(v, l))
		}
		t.More = list.More
		return list.More, err
	})
	return v.Table(t), err
}
