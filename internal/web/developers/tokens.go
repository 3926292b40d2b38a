package developers

import (
	"net/http"

	"holdfast/internal/account/tokens"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/web/kit"
)

// tokens shows the site's API tokens (section 5.2). There are at most two, so they are not a table.
func (p *pages) tokens(v *kit.Visit) error {
	list, err := p.app.Tokens.List(v.R.Context(), v.Actor)
	if err != nil {
		return err
	}
	var acts []kit.Link
	if v.Can(access.ManageTokens) && len(list) < tokens.MaxTokens {
		acts = append(acts, kit.Link{Text: "New token", Href: v.At("/developers/tokens/new")})
	}
	type view struct {
		tokens.APIToken
		Ended bool
		Facts []kit.Fact
	}
	var views []view
	for _, t := range list {
		views = append(views, view{t, !t.ExpiresAt.IsZero() && !v.Now().Before(t.ExpiresAt), tokenFacts(v, t)})
	}
	return v.Show(p.Pages, "tokens.html", page(v, "API tokens", "/developers", struct {
		Tokens []view
		Full   bool
		May    bool
		Empty  kit.Empty
		Below  string
	}{views, len(list) >= tokens.MaxTokens, v.Can(access.ManageTokens), kit.Empty{
		Title: "No API tokens yet",
		Text:  "API requests need a token. Create one here; its value is shown only once. A site can have two: one in use, and one to replace it with.",
		Act:   first(acts),
	}, v.At("/developers/tokens")}, acts...))
}

func first(acts []kit.Link) kit.Link {
	if len(acts) == 0 {
		return kit.Link{}
	}
	return acts[0]
}

// tokenFacts describe a token's permissions and expiry.
func tokenFacts(v *kit.Visit, t tokens.APIToken) []kit.Fact {
	expires := kit.Fact{Text: "Expires", Value: "Never"}
	switch now := v.Now(); {
	case t.ExpiresAt.IsZero():
	case !now.Before(t.ExpiresAt):
		expires.Value, expires.Tone = "Expired: "+kit.Instant(t.ExpiresAt), "bad"
	case t.ExpiresAt.Sub(now) < soon:
		expires.Value, expires.Tone = kit.Instant(t.ExpiresAt), "warn"
	default:
		expires.Value = kit.Instant(t.ExpiresAt)
	}
	used := "Never"
	if !t.LastUsedAt.IsZero() {
		used = kit.Instant(t.LastUsedAt)
	}
	may := "Everything its creator can do"
	if names := t.Abilities.Names(); len(names) > 0 {
		may = listed(names, kit.Say)
	}
	from := "Anywhere"
	if networks := t.NetworkTexts(); len(networks) > 0 {
		from = listed(networks, func(text any) string { return text.(string) })
	}
	return []kit.Fact{
		{Text: "Permissions", Value: may}, {Text: "Allowed addresses", Value: from}, expires, {Text: "Last used", Value: used},
		{Text: "Created", Value: kit.Instant(t.CreatedAt)},
	}
}

// newToken shows the form for a new token.
func (p *pages) newToken(v *kit.Visit) error {
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	return p.tokenForm(v, kit.Filled())
}

// abilities are the permissions to choose from, in words.
var abilities = []kit.Fact{
	{Text: string(access.AbilityRead), Value: "Read the site, merchants, suppliers, bookings and payments"},
	{Text: string(access.AbilityLogBookings), Value: "Create, change and delete bookings"},
	{Text: string(access.AbilityLogPayments), Value: "Log payments"},
	{Text: string(access.AbilityReports), Value: "Read exposure, premiums, statements and limits"},
}

func (p *pages) tokenForm(v *kit.Visit, form *kit.Form) error {
	return v.Show(p.Pages, "token.html", kit.Page{Title: "New API token", Menu: menu, Path: above(v), Data: struct {
		Form      *kit.Form
		Abilities []kit.Fact
		Send      string
		Back      string
		Today     string
	}{form, abilities, v.At("/developers/tokens"), v.At("/developers"), v.Now().Format("2006-01-02")}})
}

// above is the breadcrumb trail to the API tokens.
func above(v *kit.Visit) []kit.Link {
	return []kit.Link{{Text: "API tokens", Href: v.At("/developers")}}
}

// makeToken creates a token and shows it, only once.
func (p *pages) makeToken(v *kit.Visit) error {
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	in := tokens.TokenFields{Name: r.Text("name"), Addresses: r.Items("addresses")}
	if form.Get("expires") != "never" {
		if in.Expires = r.Day("expires_at"); in.Expires == nil {
			r.Problems.Wrong("expires_at", "Enter the token's last day, or choose that it does not expire.")
		}
	}
	if form.Get("may") == "some" {
		some := form.All("abilities")
		in.Abilities = &some
		if len(some) == 0 {
			r.Problems.Wrong("abilities", "Choose at least one.")
		}
	}
	in.Problems = r.Problems
	made, text, err := p.app.Tokens.Create(v.R.Context(), v.Actor, in)
	if errs.Is(err, errs.TokenLimit) {
		return err
	}
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.tokenForm(v, form)
	}
	v.Status(http.StatusCreated)
	return v.Show(p.Pages, "secret.html", kit.Page{Title: "Your new API token", Menu: menu, Path: above(v), Data: secretView{
		Name: made.Name, Secret: text, Back: v.At("/developers"),
		Text: "Send it with each request as Authorization: Bearer. Anyone with the token can act as you on this site, within its permissions.",
	}})
}

// secretView is a secret that is shown once.
type secretView struct {
	Name, Secret, Text, Back string
}

// deleteToken deletes a token, after a confirmation.
func (p *pages) deleteToken(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	if v.R.Method == http.MethodPost {
		if err := p.app.Tokens.Delete(v.R.Context(), v.Actor, id); err != nil {
			return err
		}
		return v.Done(v.At("/developers"), "API token deleted. Requests with it are now rejected.")
	}
	list, err := p.app.Tokens.List(v.R.Context(), v.Actor)
	if err != nil {
		return err
	}
	for _, t := range list {
		if t.ID == id {
			return v.Confirm(kit.Confirmation{
				Title: "Delete the API token " + t.Name + "?", Act: "Delete token", Harm: true, Back: v.At("/developers"),
				Text: []string{"Programs that use it are rejected immediately. This cannot be undone: a new token has a different value."},
			}, kit.Page{Menu: menu, Path: above(v)})
		}
	}
	return errs.New(errs.TokenNotFound, "API token %d not found.", id)
}
