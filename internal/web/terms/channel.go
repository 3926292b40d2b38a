package terms

import (
	"context"
	"strings"

	"holdfast/internal/auth"
	"holdfast/internal/exposure"
	"holdfast/internal/fault"
	"holdfast/internal/ledger"
	"holdfast/internal/limits"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
	"holdfast/internal/web/shell"
)

// shortList is the page of a table beside others.
var shortList = travel.Page{Number: 1, Size: 50, Offset: -1, OrderBy: "id"}

// channelView is what the page of a channel's terms shows.
type channelView struct {
	Facts                             []shell.Fact
	Card, Limits, Collateral, Changes *shell.Table
	History                           *shell.Table
}

// channel shows the terms of one channel: its price, its limits, what is held for it, and how all that has changed.
func (p *pages) channel(v *shell.Visit) error {
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
	var acts []shell.Link
	if v.Can(auth.WriteLimits) {
		acts = append(acts, shell.Link{Text: "New limit", Href: v.At("/settings/limit?channel=" + v.R.PathValue("id"))})
	}
	if v.Can(auth.WriteCollateral) {
		acts = append(acts, shell.Link{Text: "Add collateral", Href: v.At("/settings/collateral/new?channel=" + v.R.PathValue("id")), Plain: true})
	}
	return v.Show(p.Pages, "channel.html", shell.Page{
		Title: c.Name, Menu: "/channels", Path: []shell.Link{{Text: "Channels", Href: v.At("/channels")}}, Acts: acts,
		Parts: v.Parts("channel", "/channels/{id}/terms", id), Data: data,
	})
}

// fillChannel reads the terms of today.
func (p *pages) fillChannel(ctx context.Context, v *shell.Visit, c travel.Channel, data *channelView) error {
	policy, err := p.app.Policies.On(ctx, v.Actor, nil)
	if err != nil {
		return err
	}
	data.Facts = []shell.Fact{
		{Text: "Mode", Value: shell.Say(c.Mode)}, {Text: "Currency", Value: string(c.Currency)},
		{Text: "Statements", Value: shell.Say(c.StatementPeriod)}, {Text: "Currency of the policy", Value: string(policy.Currency)},
		{Text: "Policy", Value: "From " + strings.ToLower(firstDay(policy.FromDay).Text[:1]) + firstDay(policy.FromDay).Text[1:], Href: v.At(policiesAt)},
	}
	data.Card = channelCard(v, policy, c.ID)
	in, err := p.app.Limits.List(ctx, v.Actor, limits.LimitFilter{Channels: []int64{c.ID, 0}}, shortList)
	if err != nil {
		return err
	}
	t := shell.Table{
		Name: "limits", Bare: true, Caption: "Limits in force today", Columns: []shell.Column{
			{Name: "scope", Title: "Of"}, {Name: "limit", Title: "Limit", Figure: true}, {Name: "use", Title: "Use", Figure: true},
			{Name: "state", Title: "State"},
		},
		Empty: shell.Empty{Title: "No limit counts for this channel", Text: "Its payments count against the limit of the site alone, if there is one."},
	}
	for _, l := range in.Items {
		if l.Scope == protection.LimitSite {
			continue
		}
		use := shell.Cell{}
		if l.HasUse {
			use = shell.Sum(l.Use, l.Currency)
		}
		t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{shell.Words(scopes[l.Scope]), shell.Sum(l.Amount, l.Currency), use, levelOf(l)}})
	}
	data.Limits = v.Table(t)
	held, err := p.app.Collaterals.Held(ctx, v.Actor, ledger.Moment{}, fault.Problems{}, []int64{c.ID}, shortList)
	if err != nil {
		return err
	}
	data.Collateral = heldTable(v, held.Items)
	if !v.Can(auth.ReadAudit) {
		return nil
	}
	latest := shortList
	latest.Size, latest.Descending = 20, true
	changes, err := p.app.Audit.List(ctx, v.Actor, travel.AuditFilter{Objects: []string{"channel " + v.R.PathValue("id")}}, latest)
	if err != nil {
		return err
	}
	data.Changes = changesOf(v, changes.Items)
	return nil
}

// channelCard has the bands that price the payments of a channel: its own, or those of the site.
func channelCard(v *shell.Visit, policy travel.Policy, id int64) *shell.Table {
	t := shell.Table{
		Name: "rate-card", Bare: true, Caption: "Price of this channel",
		Columns: []shell.Column{{Name: "lead", Title: "Days to the end of travel"}, {Name: "price", Title: "Price", Figure: true}},
	}
	for _, of := range []int64{id, 0} {
		for _, l := range policy.RateCard {
			if l.ChannelID == of {
				t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{shell.Words(band(l)), shell.Words(percent(l.PPM))}})
			}
		}
		if len(t.Rows) > 0 {
			break
		}
	}
	return v.Table(t)
}

func heldTable(v *shell.Visit, list []exposure.Collateral) *shell.Table {
	t := shell.Table{
		Name: "collateral", Bare: true, Caption: "Collateral held today", Columns: []shell.Column{
			{Name: "kind", Title: "Kind"}, {Name: "amount", Title: "Amount", Figure: true}, {Name: "to", Title: "Until"},
			{Name: "reference", Title: "Reference"},
		},
		Empty: shell.Empty{Title: "Nothing is held for this channel", Text: "Collateral of a channel lowers the net exposure to it."},
	}
	for _, c := range list {
		t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{
			shell.Words(shell.Say(c.Kind)), shell.Sum(c.Amount, c.Currency), shell.OnDay(c.ToDay), shell.Words(c.Reference),
		}})
	}
	return v.Table(t)
}

func changesOf(v *shell.Visit, list []travel.AuditRecord) *shell.Table {
	t := shell.Table{
		Name: "changes", Bare: true, Caption: "Latest changes of the channel",
		Columns: []shell.Column{{Name: "at", Title: "When"}, {Name: "what", Title: "What"}, {Name: "who", Title: "Who"}},
		Empty:   shell.Empty{Title: "Nothing was changed yet", Text: "Each change of the channel stays on record."},
	}
	for _, a := range list {
		row := auditRow(v, a)
		t.Rows = append(t.Rows, shell.Row{Href: row.Href, Cells: []shell.Cell{
			shell.AtInstant(a.At), shell.Words(a.Action), shell.Words(a.Username),
		}})
	}
	return v.Table(t)
}

// channelHistory has all limits that were ever set for a channel, also those of every channel.
func (p *pages) channelHistory(v *shell.Visit, id int64, page travel.Page) (*shell.Table, error) {
	t := shell.Table{
		Name: "limit-history", Caption: "All limits that were set for this channel", Number: page.Number, Total: -1, Sorted: page.OrderBy,
		Descending: page.Descending, Columns: limitColumns,
		Empty: shell.Empty{Title: "No limit was ever set", Text: "Each limit stays on record here, with who set it and why."},
	}
	err := v.Each(page, func(page travel.Page) (bool, error) {
		list, err := p.app.Limits.History(v.R.Context(), v.Actor, id, page)
		for _, l := range list.Items {
			t.Rows = append(t.Rows, pastLimit(v, l))
		}
		t.More = list.More
		return list.More, err
	})
	return v.Table(t), err
}
