package channels

import (
	"slices"

	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
	"holdfast/internal/web/shell"
)

// channelOrders are what the list can be ordered by.
var channelOrders = []string{"name", "id", "external_id", "account_mode", "currencies"}

// modeTones are the marks of modes: a channel takes payments, does so for a test, or does not.
var modeTones = map[travel.AccountMode]string{
	travel.ModeProtectionOnly: "good", travel.ModeLive: "good", travel.ModeAffiliate: "good", travel.ModeTest: "warn",
	travel.ModeDraft: "calm", travel.ModeClosed: "calm",
}

// channels lists the channels of the site.
func (p *pages) channels(v *shell.Visit) error {
	page, err := v.PageOf(channelOrders, false)
	if err != nil {
		return err
	}
	profile := p.app.Channels.Profile
	f := travel.ChannelFilter{
		Name: v.Query("name"), Currency: v.Query("currencies"), ExternalID: v.Query("external_id"),
		AccountType: v.Query("account_type"), StatementPeriod: v.Query("statement_period"),
	}
	if mode := travel.AccountMode(v.Query("account_mode")); mode != "" {
		if !slices.Contains(profile.Modes(), mode) {
			return fault.WrongField("account_mode", "There is no such mode.")
		}
		f.Modes = []travel.AccountMode{mode}
	}
	var acts []shell.Link
	if v.Can(auth.WriteChannels) {
		acts = append(acts, shell.Link{Text: "New channel", Href: v.At("/channels/new")})
	}
	t := shell.Table{
		Name: "channels", Caption: "Channels of this site", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: []shell.Column{
			{Name: "name", Title: "Name", Sorts: true}, {Name: "account_mode", Title: "Mode", Sorts: true},
			{Name: "currencies", Title: "Currency", Sorts: true}, {Name: "external_id", Title: "Your number", Sorts: true, Minor: true},
			{Name: "statement_period", Title: "Statements", Minor: true}, {Name: "created", Title: "Made", Minor: true},
			{Name: "account_type", Title: "Type", Hidden: true}, {Name: "protection_type", Title: "Protection", Hidden: true},
			{Name: "language", Title: "Language", Hidden: true}, {Name: "primary_mail", Title: "Mail", Hidden: true},
			{Name: "other_protection", Title: "Other protection", Hidden: true}, {Name: "uuid", Title: "UUID", Hidden: true},
			{Name: "id", Title: "Number", Figure: true, Sorts: true, Minor: true},
		},
		Empty: shell.Empty{
			Title: "No channels here",
			Text:  "A channel is one merchant in one currency. Bookings and payments are logged in it. Make one in the mode test to try things, or a draft that asks for protection.",
		},
	}
	if len(acts) > 0 {
		t.Empty.Act = acts[0]
	}
	err = v.Each(page, func(page travel.Page) (bool, error) {
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
	if sent, err := v.File(made); sent || err != nil {
		return err
	}
	form := shell.Form{Values: v.R.URL.Query()}
	return v.Show(p.Pages, "channels.html", shell.Page{Title: "Channels", Menu: menu, Acts: acts, Data: struct {
		List                    *shell.Table
		Filter                  *shell.Form
		Modes, Types, Statement any
		Send                    string
	}{made, &form, wordChoices(profile.Modes(), "All"), wordChoices(profile.AccountTypes(), "All"), wordChoices(travel.StatementPeriods, "All"), v.At("/channels")}})
}

func channelRow(v *shell.Visit, c travel.Channel) shell.Row {
	mode := shell.State(string(c.Mode), modeTones[c.Mode])
	if c.Locked {
		mode = shell.Cell{Text: shell.Say(c.Mode) + ", locked", Plain: string(c.Mode), Tone: "bad"}
	}
	return shell.Row{Href: at(v, c.ID, ""), Cells: []shell.Cell{
		shell.Words(c.Name), mode, shell.Words(string(c.Currency)), shell.Words(c.ExternalID), shell.State(c.StatementPeriod, ""),
		shell.AtInstant(c.CreatedAt), shell.State(c.AccountType, ""), shell.State(c.ProtectionType, ""), shell.Words(c.Language),
		shell.Words(c.PrimaryMail), shell.State(string(c.OtherProtection), ""), shell.Words(c.UUID), shell.Ident(c.ID),
	}}
}

// wordChoices are words of the wire to choose from. none is the text of no choice; "" where one has to be made.
func wordChoices[T ~string](words []T, none string) any {
	var pairs []string
	if none != "" {
		pairs = append(pairs, "", none)
	}
	for _, w := range words {
		pairs = append(pairs, string(w), shell.Say(w))
	}
	return shell.Options(pairs...)
}
