package failures

import (
	"net/http"

	"holdfast/internal/book/claims"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// recoveries lists the site's recoveries, latest first.
func (p *pages) recoveries(v *kit.Visit) error {
	page, err := v.PageOf([]string{"id", "date"}, true)
	if err != nil {
		return err
	}
	form := &kit.Form{Values: v.R.URL.Query()}
	filter, err := recoveryFilter(form)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "recoveries", Caption: "Recoveries",
		Columns: []kit.Column{
			{Name: "id", Title: "Number", Figure: true, Sorts: true}, {Name: "merchant", Title: "Merchant"}, {Name: "kind", Title: "Type"},
			{Name: "date", Title: "Received", Sorts: true}, {Name: "total", Title: "Amount", Currency: "currencies"},
			{Name: "value", Title: "In policy currency", Currency: "policy_currency", Minor: true}, {Name: "reference", Title: "Reference", Minor: true},
			{Name: "state", Title: "Status"}, {Name: "recorded_by", Title: "Recorded by", Hidden: true},
			{Name: "cancelled_for", Title: "Reason of cancellation", Hidden: true}, {Name: "insolvencies", Title: "Insolvency", Figure: true, Hidden: true},
			{Name: "cancel", Title: ""},
		},
		Empty: kit.Empty{
			Title: "No recoveries", Text: "Record money that came back after an insolvency, such as a dividend or a bond. It reduces the loss in the insolvency's report.",
		},
	}
	err = choices.Fill(v, p.app, &t, page, func(page store.Page) (store.List[claims.Recovery], error) {
		return p.app.Claims.Recoveries(v.R.Context(), v.Actor, filter, page)
	}, func(r claims.Recovery) int64 { return r.ChannelID }, func(r claims.Recovery, m merchant.Channel) kit.Row { return recoveryRow(v, r, m.Name) })
	if err != nil {
		return err
	}
	made := v.Table(t)
	var acts []kit.Link
	if v.Can(access.RecordRecoveries) {
		acts = append(acts, kit.Link{Text: "Record a recovery", Href: v.At("/recoveries/new")})
	}
	return v.ShowTable(p.Pages, "recoveries.html", made, kit.Page{
		Title: "Recoveries", Menu: menu, Path: above(v)[:1], Parts: v.Parts("failures", "/recoveries"), Acts: acts, Data: struct {
			List   *kit.Table
			Filter *kit.Form
			Kinds  any
			Send   string
		}{made, form, choices.Words(claims.RecoveryKinds, "All"), v.At("/recoveries")},
	})
}

func recoveryFilter(form *kit.Form) (f claims.RecoveryFilter, err error) {
	r := form.Reading()
	if id := r.Number("insolvencies"); id != nil {
		f.Insolvencies = []int64{*id}
	}
	f.Kinds = choices.OneOf(r, "kind", claims.RecoveryKinds)
	return f, r.Problems.Err()
}

func recoveryRow(v *kit.Visit, r claims.Recovery, name string) kit.Row {
	state, cancel := kit.State("counts", "good"), kit.Cell{}
	if r.CancelledBy != "" {
		state = kit.State("cancelled", "calm")
	} else if v.Can(access.RecordRecoveries) {
		cancel = kit.Linked("Cancel", recoveryAt(v, r.ID, "/cancel"))
	}
	return kit.Row{Cells: []kit.Cell{
		kit.Ident(r.ID), kit.Linked(name, at(v, r.InsolvencyID, "")), kit.State(string(r.Kind), ""), kit.OnDay(r.Day), kit.Sum(r.Amount, r.Currency),
		kit.Sum(r.Value, r.PolicyCurrency), kit.Words(r.Reference), state, kit.Words(r.RecordedBy), kit.Words(r.CancelledFor),
		kit.Ident(r.InsolvencyID), cancel,
	}}
}

// recoveryAt returns the URL of a page below a recovery.
func recoveryAt(v *kit.Visit, id int64, below string) string {
	return v.At("/recoveries/" + kit.Ident(id).Plain + below)
}

// newRecovery shows the form that records a recovery.
func (p *pages) newRecovery(v *kit.Visit) error {
	return p.recoveryForm(v, kit.Filled(
		"insolvencies", v.Query("insolvencies"), "date", civil.DayOf(v.Now()).String(), "key", p.app.Config.NewUUID(),
	))
}

func (p *pages) recoveryForm(v *kit.Visit, form *kit.Form) error {
	list, err := p.app.Insolvencies.List(v.R.Context(), v.Actor, insolvencies.Filter{
		States: []insolvencies.State{insolvencies.Open, insolvencies.ClaimsClosed, insolvencies.Closed},
	}, store.Page{Number: 1, Size: store.LongestPage, Offset: -1, OrderBy: store.OrderID, Descending: true})
	if err != nil {
		return err
	}
	channels, err := choices.ChannelsOf(v, p.app, list.Items, channelOf)
	if err != nil {
		return err
	}
	pairs := []string{"", "Choose"}
	for _, i := range list.Items {
		pairs = append(pairs, kit.Ident(i.ID).Plain, channels[i.ChannelID].Name+", "+kit.Day(civil.DayOf(i.TriggerAt)))
	}
	return v.Show(p.Pages, "recovery.html", kit.Page{
		Title: "Record a recovery", Menu: menu, Path: aboveRecoveries(v), Data: struct {
			Form                *kit.Form
			Insolvencies, Kinds any
			Send, Back          string
		}{form, kit.Options(pairs...), choices.Words(claims.RecoveryKinds, "Choose"), v.At("/recoveries"), v.At("/recoveries")},
	})
}

func aboveRecoveries(v *kit.Visit) []kit.Link {
	return []kit.Link{{Text: "Merchants", Href: v.At("/channels")}, {Text: "Recoveries", Href: v.At("/recoveries")}}
}

// recover records a recovery.
func (p *pages) recover(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	in := claims.NewRecovery{InsolvencyID: r.Number("insolvencies"), Day: r.Day("date"), Currency: r.Currency("currencies"), Reference: form.Get("reference")}
	if kind := claims.RecoveryKind(form.Get("kind")); kind != "" {
		in.Kind = &kind
	}
	var c money.Currency
	if in.Currency != nil {
		c = *in.Currency
	}
	if c != "" {
		in.Amount = r.Amount("total", c)
	}
	in.Problems = r.Problems
	_, err = p.app.Claims.Recover(v.R.Context(), v.Once(form), in)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.recoveryForm(v, form)
	}
	return v.Done(v.At("/recoveries"), "Recovery recorded.")
}

// cancelRecovery cancels a recovery that was recorded by mistake, after a confirmation with a reason.
func (p *pages) cancelRecovery(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	found, err := p.app.Claims.Recovery(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	form := kit.Filled()
	if v.R.Method == http.MethodPost {
		if form, err = v.Form(); err != nil {
			return err
		}
		_, err := p.app.Claims.Cancel(v.R.Context(), v.Actor, id, form.Get("reason"))
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return v.Done(v.At("/recoveries"), "Recovery cancelled.")
		}
	}
	return v.Confirm(kit.Confirmation{
		Title: "Cancel the recovery of " + kit.Money(found.Amount, found.Currency) + "?", Act: "Cancel recovery", Harm: true, Back: v.At("/recoveries"),
		Text: []string{"Do this if it was recorded by mistake. It stays on record, and no longer reduces the loss."}, Reason: "Reason", Again: form,
	}, kit.Page{Menu: menu, Path: aboveRecoveries(v)})
}
