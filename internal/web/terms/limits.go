package terms

import (
	"fmt"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/limits"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/shell"
)

const limitsAt = "/settings/limits"

// limits shows the limits in force with their uses, and the collateral that is held.
func (p *pages) limits(v *shell.Visit) error {
	page, err := v.PageOf([]string{"scope"}, false)
	if err != nil {
		return err
	}
	t := shell.Table{
		Name: "limits", Caption: "Limits in force today", Number: page.Number, Total: -1,
		Columns: []shell.Column{
			{Name: "scope", Title: "Of"}, {Name: "channel", Title: "Channel"}, {Name: "limit", Title: "Limit", Figure: true},
			{Name: "use", Title: "Use", Figure: true}, {Name: "percent", Title: "Used", Figure: true},
			{Name: "headroom", Title: "Headroom", Figure: true}, {Name: "state", Title: "State"},
			{Name: "from", Title: "From", Hidden: true}, {Name: "note", Title: "Note", Hidden: true},
		},
		Empty: shell.Empty{
			Title: "No limit is set", Text: "A limit says how much may be at risk in a payment, a booking, a channel or the whole site. " +
				"It refuses nothing: you are notified of amounts above it.",
			Act: first(p.act(v, auth.WriteLimits, "New limit", "/settings/limit")),
		},
	}
	err = v.Each(page, func(page travel.Page) (bool, error) {
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
	if sent, err := v.File(made); sent || err != nil {
		return err
	}
	acts := p.act(v, auth.WriteLimits, "New limit", "/settings/limit")
	acts = append(acts, shell.Link{Text: "History", Href: v.At("/settings/limits/history"), Plain: true},
		shell.Link{Text: "Collateral", Href: v.At(collateralAt), Plain: true})
	return v.Show(p.Pages, "table.html", p.settings(v, shell.Page{Title: "Limits", Acts: acts, Data: made}, limitsAt))
}

// first is the act of an empty table; none for those who may not do it.
func first(list []shell.Link) (act shell.Link) {
	if len(list) > 0 {
		act = list[0]
	}
	return act
}

// scopes are what a limit is of, in the words of people.
var scopes = map[protection.LimitScope]string{
	protection.LimitTransaction: "Each payment", protection.LimitBooking: "Each booking", protection.LimitChannel: "The channel",
	protection.LimitSite: "The site",
}

func limitRow(v *shell.Visit, l limits.LimitRow) shell.Row {
	channel := shell.Words(l.ChannelName)
	switch {
	case l.ChannelID != 0:
		channel.Href = v.At(fmt.Sprintf("/channels/%d/terms", l.ChannelID))
	case l.Scope != protection.LimitSite:
		channel = shell.Words("All")
	}
	use, percent, headroom := shell.Cell{}, shell.Cell{}, shell.Cell{}
	if l.HasUse {
		use, headroom = shell.Sum(l.Use, l.Currency), shell.Sum(l.Headroom, l.Currency)
		percent = shell.Cell{Text: l.Percent + " %", Plain: l.Percent}
	}
	return shell.Row{Cells: []shell.Cell{
		shell.Words(scopes[l.Scope]), channel, shell.Sum(l.Amount, l.Currency), use, percent, headroom, levelOf(l), shell.OnDay(l.FromDay),
		shell.Words(l.Note),
	}}
}

// levelOf says how near a use is to its limit.
func levelOf(l limits.LimitRow) shell.Cell {
	switch {
	case l.NotInForce != "":
		return shell.State("counts no new payments", "bad")
	case l.Unknown != "":
		return shell.State("use not known", "warn")
	case l.Over > 0:
		return shell.Cell{Text: shell.Money(l.Over, l.Currency) + " over", Plain: "over", Tone: "bad"}
	case l.Level > 0:
		return shell.Cell{Text: fmt.Sprintf("Above %d %%", l.Level), Plain: fmt.Sprintf("above %d", l.Level), Tone: "warn"}
	case l.HasUse:
		return shell.State("within", "good")
	}
	return shell.Cell{}
}

// limitHistory shows all limits that were ever set.
func (p *pages) limitHistory(v *shell.Visit) error {
	page, err := v.PageOf([]string{"id", "from"}, true)
	if err != nil {
		return err
	}
	t := shell.Table{
		Name: "limit-history", Caption: "All limits that were set", Number: page.Number, Total: -1, Sorted: page.OrderBy,
		Descending: page.Descending, Columns: limitColumns,
		Empty: shell.Empty{Title: "No limit was ever set", Text: "Each limit stays on record here, with who set it and why."},
	}
	err = v.Each(page, func(page travel.Page) (bool, error) {
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
	if sent, err := v.File(made); sent || err != nil {
		return err
	}
	return v.Show(p.Pages, "table.html", shell.Page{
		Title: "All limits that were set", Menu: "/settings", Path: []shell.Link{{Text: "Limits", Href: v.At(limitsAt)}}, Data: made,
	})
}

// limitColumns are those of the history of limits.
var limitColumns = []shell.Column{
	{Name: "from", Title: "From", Sorts: true}, {Name: "scope", Title: "Of"}, {Name: "channel", Title: "Channel"},
	{Name: "limit", Title: "Limit", Figure: true}, {Name: "note", Title: "Note"}, {Name: "author", Title: "Set by", Minor: true},
	{Name: "recorded_at", Title: "Set at", Minor: true}, {Name: "id", Title: "No.", Figure: true, Hidden: true},
}

func pastLimit(v *shell.Visit, l protection.Limit) shell.Row {
	channel := shell.Words("All")
	switch {
	case l.ChannelID != 0:
		channel = shell.Linked(fmt.Sprintf("Channel %d", l.ChannelID), v.At(fmt.Sprintf("/channels/%d/terms", l.ChannelID)))
	case l.Scope == protection.LimitSite:
		channel = shell.Cell{}
	}
	amount := shell.Sum(l.Amount, l.Currency)
	if l.Lifted {
		amount = shell.Words("Lifted")
	}
	return shell.Row{Cells: []shell.Cell{
		shell.OnDay(l.FromDay), shell.Words(scopes[l.Scope]), channel, amount, shell.Words(l.Note), shell.Words(l.Author),
		shell.AtInstant(l.RecordedAt), shell.Ident(l.ID),
	}}
}

// newLimit shows the form for a limit.
func (p *pages) newLimit(v *shell.Visit) error {
	return p.limitForm(v, shell.Filled("scope", "channel", "channels", v.Query("channel"), "from", civil.DayOf(v.Now()).String(),
		"key", p.app.Limits.NewUUID()))
}

func (p *pages) limitForm(v *shell.Visit, form *shell.Form) error {
	policy, err := p.app.Policies.On(v.R.Context(), v.Actor, nil)
	if err != nil {
		return err
	}
	channels, err := choices.Channels(v, p.app, "Every channel")
	if err != nil {
		return err
	}
	return v.Show(p.Pages, "new-limit.html", shell.Page{
		Title: "New limit", Menu: "/settings", Path: []shell.Link{{Text: "Limits", Href: v.At(limitsAt)}},
		Data: struct {
			Form     *shell.Form
			Channels any
			Currency money.Currency
			Sandbox  bool
		}{form, channels, policy.Currency, v.Site.Sandbox},
	})
}

// setLimit sets a limit, or asks for it outside a sandbox.
func (p *pages) setLimit(v *shell.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	in := limits.LimitFields{
		Scope: shell.Word[protection.LimitScope](r, "scope"), ChannelID: r.Number("channels"), From: r.Day("from"),
		Lift: *r.Yes("lift"), Note: r.Get("note"),
	}
	day := civil.DayOf(v.Now())
	if in.From != nil {
		day = *in.From
	}
	// The amount is one in the currency of the policy on its first day. Where that changes meanwhile, the room refuses it.
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
	return v.Done(v.At(limitsAt), "The limit is set.")
}
