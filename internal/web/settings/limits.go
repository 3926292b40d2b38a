package settings

import (
	"fmt"

	"holdfast/internal/book/limits"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

const limitsAt = "/settings/limits"

// limits shows the limits in force with their usage, and the current collateral.
func (p *pages) limits(v *kit.Visit) error {
	page, err := v.PageOf([]string{"scope"}, false)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "limits", Caption: "Current limits", Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "scope", Title: "Of"}, {Name: "channel", Title: "Merchant"}, {Name: "limit", Title: "Limit", Currency: "currency"},
			{Name: "use", Title: "Use", Currency: "currency"}, {Name: "percent", Title: "Used", Figure: true},
			{Name: "headroom", Title: "Headroom", Currency: "currency"}, {Name: "state", Title: "Status"},
			{Name: "from", Title: "From", Hidden: true}, {Name: "note", Title: "Note", Hidden: true},
		},
		Empty: kit.Empty{
			Title: "No limits yet", Text: "A limit caps how much may be at risk in a payment, a booking, a merchant or the whole site. " +
				"Limits block nothing: you are notified of amounts above them.",
			Act: first(p.act(v, access.WriteLimits, "New limit", "/settings/limit")),
		},
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Limits.List(v.R.Context(), v.Actor, limits.LimitFilter{}, page)
		for _, l := range list.Items {
			t.Rows = append(t.Rows, limitRow(v, l))
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	acts := p.act(v, access.WriteLimits, "New limit", "/settings/limit")
	acts = append(acts, kit.Link{Text: "History", Href: v.At("/settings/limits/history"), Plain: true},
		kit.Link{Text: "Collateral", Href: v.At(collateralAt), Plain: true})
	return v.ShowTable(p.Pages, "table.html", made, p.settings(v, kit.Page{Title: "Limits", Acts: acts, Data: made}, limitsAt))
}

// first is the action of an empty table; nil without permission.
func first(list []kit.Link) (act kit.Link) {
	if len(list) > 0 {
		act = list[0]
	}
	return act
}

// scopes are the display names of limit scopes.
var scopes = map[protection.LimitScope]string{
	protection.LimitTransaction: "Each payment", protection.LimitBooking: "Each booking", protection.LimitChannel: "The merchant",
	protection.LimitSite: "The site",
}

func limitRow(v *kit.Visit, l limits.LimitRow) kit.Row {
	channel := kit.Words(l.ChannelName)
	switch {
	case l.ChannelID != 0:
		channel.Href = v.At(fmt.Sprintf("/settings/merchants/%d", l.ChannelID))
	case l.Scope != protection.LimitSite:
		channel = kit.Words("All")
	}
	use, percent, headroom := kit.Cell{}, kit.Cell{}, kit.Cell{}
	if l.HasUse {
		use = kit.Sum(l.Use, l.Currency)
		percent = kit.Cell{Text: l.Percent + " %", Plain: l.Percent}
		if len(l.Pending) == 0 {
			headroom = kit.Sum(l.Headroom, l.Currency)
		}
	}
	return kit.Row{Cells: []kit.Cell{
		kit.Words(scopes[l.Scope]), channel, kit.Sum(l.Amount, l.Currency), use, percent, headroom, levelOf(l), kit.OnDay(l.FromDay),
		kit.Words(l.Note),
	}}
}

// levelOf is how close usage is to the limit.
func levelOf(l limits.LimitRow) kit.Cell {
	switch {
	case l.NotInForce != "":
		return kit.State("no new payments counted", "bad")
	case l.Unknown != "":
		return kit.State("usage unknown", "warn")
	case l.Over > 0:
		return kit.Cell{Text: kit.Money(l.Over, l.Currency) + " over", Plain: "over", Tone: "bad"}
	case l.Level > 0:
		return kit.Cell{Text: fmt.Sprintf("Above %d %%", l.Level), Plain: fmt.Sprintf("above %d", l.Level), Tone: "warn"}
	case len(l.Pending) > 0:
		return kit.State("waiting for rates", "warn")
	case l.HasUse:
		return kit.State("within", "good")
	}
	return kit.Cell{}
}

// limitHistory shows all limits ever set.
func (p *pages) limitHistory(v *kit.Visit) error {
	page, err := v.PageOf([]string{"id", "from"}, true)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "limit-history", Caption: "Limit history", Number: page.Number, Total: -1, Sorted: page.OrderBy,
		Descending: page.Descending, Columns: limitColumns,
		Empty: kit.Empty{Title: "No limits yet", Text: "Every limit set appears here, with who set it and why."},
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Limits.History(v.R.Context(), v.Actor, 0, page)
		for _, l := range list.Items {
			t.Rows = append(t.Rows, pastLimit(v, l))
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	return v.ShowTable(p.Pages, "table.html", made, kit.Page{
		Title: "Limit history", Menu: "/settings", Path: []kit.Link{{Text: "Limits", Href: v.At(limitsAt)}}, Data: made,
	})
}

// limitColumns are the columns of the limit history.
var limitColumns = []kit.Column{
	{Name: "from", Title: "From", Sorts: true}, {Name: "scope", Title: "Of"}, {Name: "channel", Title: "Merchant"},
	{Name: "limit", Title: "Limit", Currency: "currency"}, {Name: "note", Title: "Note"}, {Name: "author", Title: "Set by", Minor: true},
	{Name: "recorded_at", Title: "Set on", Minor: true}, {Name: "id", Title: "No.", Figure: true, Hidden: true},
}

func pastLimit(v *kit.Visit, l protection.Limit) kit.Row {
	channel := kit.Words("All")
	switch {
	case l.ChannelID != 0:
		channel = kit.Linked(fmt.Sprintf("Merchant %d", l.ChannelID), v.At(fmt.Sprintf("/settings/merchants/%d", l.ChannelID)))
	case l.Scope == protection.LimitSite:
		channel = kit.Cell{}
	}
	amount := kit.Sum(l.Amount, l.Currency)
	if l.Lifted {
		amount = kit.NoSum("Lifted", l.Currency)
	}
	return kit.Row{Cells: []kit.Cell{
		kit.OnDay(l.FromDay), kit.Words(scopes[l.Scope]), channel, amount, kit.Words(l.Note), kit.Words(l.Author),
		kit.AtInstant(l.RecordedAt), kit.Ident(l.ID),
	}}
}

// newLimit shows the form for a new limit.
func (p *pages) newLimit(v *kit.Visit) error {
	return p.limitForm(v, kit.Filled("scope", "channel", "channels", v.Query("channel"), "from", civil.DayOf(v.Now()).String(),
		"key", p.app.Config.NewUUID()))
}

func (p *pages) limitForm(v *kit.Visit, form *kit.Form) error {
	policy, err := p.app.Policies.On(v.R.Context(), v.Actor, nil)
	if err != nil {
		return err
	}
	channels, err := choices.Channels(v, p.app, "All merchants")
	if err != nil {
		return err
	}
	return v.Show(p.Pages, "new-limit.html", kit.Page{
		Title: "New limit", Menu: "/settings", Path: []kit.Link{{Text: "Limits", Href: v.At(limitsAt)}},
		Data: struct {
			Form     *kit.Form
			Channels any
			Currency money.Currency
			Sandbox  bool
		}{form, channels, policy.Currency, v.Site.Sandbox},
	})
}

// setLimit sets a limit in a sandbox, or proposes it elsewhere.
func (p *pages) setLimit(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	in := limits.LimitFields{
		Scope: kit.Word[protection.LimitScope](r, "scope"), ChannelID: r.Number("channels"), From: r.Day("from"),
		Lift: *r.Yes("lift"), Note: r.Get("note"),
	}
	day := civil.DayOf(v.Now())
	if in.From != nil {
		day = *in.From
	}
	// The amount is in the policy currency on the limit's first day. If that changes in the meantime, the use case rejects
	// it.
	policy, err := p.app.Policies.On(v.R.Context(), v.Actor, &day)
	if err != nil {
		return err
	}
	in.Amount, in.Currency = r.Amount("amount", policy.Currency), policy.Currency
	in.Problems = r.Problems
	made, err := p.app.Limits.Set(v.R.Context(), v.Once(form), in)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.limitForm(v, form)
	}
	if made.Proposal != nil {
		return waits(v, *made.Proposal)
	}
	return v.Done(v.At(limitsAt), "Limit set.")
}
