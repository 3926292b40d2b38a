package channels

import (
	"slices"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// channelOrders are the sort orders of the list.
var channelOrders = []string{"name", "id", "external_id", "account_mode", "currencies"}

// modeTones are the colours of modes: live, test, or not taking payments.
var modeTones = map[merchant.AccountMode]string{
	merchant.ModeProtectionOnly: "good", merchant.ModeLive: "good", merchant.ModeAffiliate: "good", merchant.ModeTest: "warn",
	merchant.ModeDraft: "calm", merchant.ModeClosed: "calm",
}

// channels lists the site's merchants.
func (p *pages) channels(v *kit.Visit) error {
	page, err := v.PageOf(channelOrders, false)
	if err != nil {
		return err
	}
	profile := p.app.Channels.Profile
	f := merchants.ChannelFilter{
		Name: v.Query("name"), Currency: v.Query("currencies"), ExternalID: v.Query("external_id"),
		AccountType: v.Query("account_type"), StatementPeriod: v.Query("statement_period"),
	}
	if mode := merchant.AccountMode(v.Query("account_mode")); mode != "" {
		if !slices.Contains(profile.Modes(), mode) {
			return errs.WrongField("account_mode", "Unknown mode.")
		}
		f.Modes = []merchant.AccountMode{mode}
	}
	var acts []kit.Link
	if v.Can(access.WriteChannels) {
		acts = append(acts, kit.Link{Text: "New merchant", Href: v.At("/channels/new")})
	}
	if v.Can(access.ReadFailures) {
		acts = append(acts, kit.Link{Text: "Insolvencies", Href: v.At("/insolvencies"), Plain: true})
	}
	t := kit.Table{
		Name: "channels", Caption: "Merchants", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: []kit.Column{
			{Name: "name", Title: "Name", Sorts: true}, {Name: "account_mode", Title: "Mode", Sorts: true},
			{Name: "currencies", Title: "Currency", Sorts: true}, {Name: "external_id", Title: "External ID", Sorts: true, Minor: true},
			{Name: "statement_period", Title: "Statements", Minor: true}, {Name: "created", Title: "Created", Minor: true},
			{Name: "account_type", Title: "Type", Hidden: true}, {Name: "protection_type", Title: "Protection", Hidden: true},
			{Name: "language", Title: "Language", Hidden: true}, {Name: "primary_mail", Title: "E-mail", Hidden: true},
			{Name: "other_protection", Title: "Other protection", Hidden: true}, {Name: "uuid", Title: "UUID", Hidden: true},
			{Name: "id", Title: "Number", Figure: true, Sorts: true, Minor: true},
		},
		Empty: kit.Empty{
			Title: "No merchants found",
			Text:  "A merchant sells in one currency and has its own bookings and payments. Create one in test mode to try things out, or as a draft to request protection.",
		},
	}
	if v.Can(access.WriteChannels) {
		t.Empty.Act = acts[0]
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Channels.List(v.R.Context(), v.Actor, f, page)
		for _, c := range list.Items {
			t.Rows = append(t.Rows, channelRow(v, c))
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	form := kit.Form{Values: v.R.URL.Query()}
	return v.ShowTable(p.Pages, "channels.html", made, kit.Page{Title: "Merchants", Menu: menu, Acts: acts, Data: struct {
		List                    *kit.Table
		Filter                  *kit.Form
		Modes, Types, Statement any
		Send                    string
	}{made, &form, choices.Words(profile.Modes(), "All"), choices.Words(profile.AccountTypes(), "All"), choices.Words(terms.StatementPeriods, "All"), v.At("/channels")}})
}

func channelRow(v *kit.Visit, c merchant.Channel) kit.Row {
	mode := kit.State(string(c.Mode), modeTones[c.Mode])
	if locked := kit.LockedWord(c); locked != "" {
		mode = kit.Cell{Text: kit.Say(c.Mode) + ", " + locked, Plain: string(c.Mode), Tone: "bad"}
	}
	return kit.Row{Href: at(v, c.ID, ""), Cells: []kit.Cell{
		kit.Words(c.Name), mode, kit.Words(string(c.Currency)), kit.Words(c.ExternalID), kit.State(c.StatementPeriod, ""),
		kit.AtInstant(c.CreatedAt), kit.State(c.AccountType, ""), kit.State(c.ProtectionType, ""), kit.Words(c.Language),
		kit.Words(c.PrimaryMail), kit.State(string(c.OtherProtection), ""), kit.Words(c.UUID), kit.Ident(c.ID),
	}}
}
