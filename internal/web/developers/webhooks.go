package developers

import (
	"net/http"
	"slices"
	"strings"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/event"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/web/kit"
)

// webhooks lists the site's endpoints: at most sixteen.
func (p *pages) webhooks(v *kit.Visit) error {
	list, err := p.app.Webhooks.List(v.R.Context(), v.Actor)
	if err != nil {
		return err
	}
	var acts []kit.Link
	if v.Can(access.WriteSite) && len(list) < webhooks.MaxEndpoints {
		acts = append(acts, kit.Link{Text: "New webhook", Href: v.At("/developers/webhooks/new")})
	}
	t := kit.Table{
		Name: "webhooks", Caption: "Webhooks",
		Columns: []kit.Column{
			{Name: "url", Title: "URL"}, {Name: "types", Title: "Events"}, {Name: "state", Title: "Status"},
			{Name: "failing_since", Title: "Failing since"}, {Name: "created", Title: "Created"},
			{Name: "created_by", Title: "Created by", Hidden: true}, {Name: "id", Title: "ID", Figure: true, Hidden: true},
		},
		Empty: kit.Empty{
			Title: "No webhooks yet", Act: first(acts),
			Text: "A webhook sends events, such as new payments and statements, to your own URL within seconds.",
		},
	}
	for _, e := range list {
		t.Rows = append(t.Rows, kit.Row{Href: at(v, e.ID, ""), Cells: []kit.Cell{
			kit.Words(e.URL), kit.Words(typesText(e.Types)), stateOf(e), kit.AtInstant(e.FailingSince),
			kit.AtInstant(e.CreatedAt), kit.Words(e.CreatedBy), kit.Ident(e.ID),
		}})
	}
	made := v.Table(t)
	return v.ShowTable(p.Pages, "list.html", made, page(v, "Webhooks", "/developers/webhooks", listView{List: made}, acts...))
}

// listView is a page with one table.
type listView struct {
	List *kit.Table
	Text string
}

// at returns a URL below the webhook's.
func at(v *kit.Visit, id int64, below string) string {
	return v.At("/developers/webhooks/" + kit.Ident(id).Plain + below)
}

// typesText names the event types that an endpoint receives.
func typesText(types []string) string {
	if len(types) == 0 || slices.Contains(types, "*") {
		return "All"
	}
	return strings.Join(types, ", ")
}

func stateOf(e webhooks.Endpoint) kit.Cell {
	switch {
	case e.State != webhooks.Enabled:
		return kit.State(string(e.State), "bad")
	case !e.FailingSince.IsZero():
		return kit.Cell{Text: "Failing", Plain: string(e.State), Tone: "warn"}
	}
	return kit.State(string(e.State), "good")
}

// aboveWebhook is the breadcrumb trail of a webhook's page: the list and, with an ID, the webhook.
func aboveWebhook(v *kit.Visit, id int64) []kit.Link {
	path := []kit.Link{{Text: "Webhooks", Href: v.At("/developers/webhooks")}}
	if id != 0 {
		path = append(path, kit.Link{Text: "Webhook " + kit.Ident(id).Text, Href: at(v, id, "")})
	}
	return path
}

// group is the event types with one prefix.
type group struct {
	Name  string
	Types []event.Type
}

// groupsFor returns the event types that the user may choose, by group.
func groupsFor(actor access.Actor) (list []group) {
	for _, t := range event.Readable(actor, event.Types) {
		name, _, _ := strings.Cut(string(t), ".")
		if len(list) == 0 || list[len(list)-1].Name != name {
			list = append(list, group{Name: name})
		}
		list[len(list)-1].Types = append(list[len(list)-1].Types, t)
	}
	return list
}

func (p *pages) webhookForm(v *kit.Visit, form *kit.Form, id int64) error {
	title, act, send, back := "New webhook", "Create webhook", v.At("/developers/webhooks"), v.At("/developers/webhooks")
	if id != 0 {
		title, act, send, back = "Edit webhook", "Save", at(v, id, ""), at(v, id, "")
	}
	return v.Show(p.Pages, "webhookform.html", kit.Page{Title: title, Menu: menu, Path: aboveWebhook(v, id), Data: struct {
		Form            *kit.Form
		Groups          []group
		Act, Send, Back string
		New             bool
	}{form, groupsFor(v.Actor), act, send, back, id == 0}})
}

func (p *pages) newWebhook(v *kit.Visit) error {
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	return p.webhookForm(v, kit.Filled(), 0)
}

func (p *pages) editWebhook(v *kit.Visit) error {
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	form, err := p.filledWebhook(v, id)
	if err != nil {
		return err
	}
	return p.webhookForm(v, form, id)
}

// filledWebhook returns the form with the stored values.
func (p *pages) filledWebhook(v *kit.Visit, id int64) (*kit.Form, error) {
	e, err := p.app.Webhooks.Get(v.R.Context(), v.Actor, id)
	form := kit.Filled("url", e.URL, "version", kit.Ident(e.Version).Plain)
	if typesText(e.Types) != "All" {
		form.Values["which"], form.Values["types"] = []string{"some"}, e.Types
	}
	return form, err
}

// endpointFields reads the webhook form.
func endpointFields(form *kit.Form) webhooks.EndpointFields {
	r := form.Reading()
	in := webhooks.EndpointFields{URL: r.Text("url"), IfVersion: r.Version()}
	if form.Get("which") != "" {
		types := form.All("types")
		if form.Get("which") != "some" {
			types = nil
		} else if len(types) == 0 {
			r.Problems.Wrong("types", "Choose at least one.")
		}
		in.Types = &types
	}
	in.Problems = r.Problems
	return in
}

// makeWebhook creates an endpoint and shows its secret once.
func (p *pages) makeWebhook(v *kit.Visit) error {
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	form, err := v.Form()
	if err != nil {
		return err
	}
	made, err := p.app.Webhooks.Create(v.R.Context(), v.Actor, endpointFields(form))
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.webhookForm(v, form, 0)
	}
	v.Status(http.StatusCreated)
	return p.webhookSecret(v, made, "Your new webhook")
}

func (p *pages) webhookSecret(v *kit.Visit, e webhooks.Endpoint, title string) error {
	return v.Show(p.Pages, "secret.html", kit.Page{Title: title, Menu: menu, Path: aboveWebhook(v, e.ID), Data: secretView{
		Name: e.URL, Secret: e.Secret, Back: at(v, e.ID, ""),
		Text: "This secret signs everything sent to your URL. Use it to verify signatures, and reject requests that fail.",
	}})
}

func (p *pages) changeWebhook(v *kit.Visit) error {
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	form, err := v.Form()
	if err != nil {
		return err
	}
	_, err = p.app.Webhooks.Change(v.R.Context(), v.Actor, id, endpointFields(form))
	if ok, err := v.TookOver(form, err, func() (*kit.Form, error) { return p.filledWebhook(v, id) }); err != nil {
		return err
	} else if !ok {
		return p.webhookForm(v, form, id)
	}
	return v.Done(at(v, id, ""), "Webhook saved.")
}

// switchWebhook enables or disables an endpoint.
func (p *pages) switchWebhook(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	form, err := v.Form()
	if err != nil {
		return err
	}
	on := form.Get("state") == string(webhooks.Enabled)
	if _, err := p.app.Webhooks.Change(v.R.Context(), v.Actor, id, webhooks.EndpointFields{Enabled: &on}); err != nil {
		return err
	}
	if on {
		return v.Done(at(v, id, ""), "Webhook enabled. Delivery resumes where it stopped.")
	}
	return v.Done(at(v, id, ""), "Webhook disabled. Nothing is sent until it is enabled again.")
}

func (p *pages) testWebhook(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	if _, err := p.app.Webhooks.Test(v.R.Context(), v.Actor, id); err != nil {
		return err
	}
	return v.Done(at(v, id, ""), "Test event sent. It appears in the log within seconds.")
}

// rotateWebhook rotates an endpoint's secret and shows it once.
func (p *pages) rotateWebhook(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	if v.R.Method == http.MethodPost {
		form, err := v.Form()
		if err != nil {
			return err
		}
		changed, err := p.app.Webhooks.Rotate(v.R.Context(), v.Actor, id, 0, form.Get("now") != "")
		if err != nil {
			return err
		}
		return p.webhookSecret(v, changed, "New webhook secret")
	}
	if _, err := p.app.Webhooks.Get(v.R.Context(), v.Actor, id); err != nil {
		return err
	}
	return v.Show(p.Pages, "rotate.html", kit.Page{Title: "Rotate the webhook's secret", Menu: menu, Path: aboveWebhook(v, id), Data: struct {
		Form *kit.Form
		Back string
	}{kit.Filled(), at(v, id, "")}})
}

// deleteWebhook deletes an endpoint, after a confirmation.
func (p *pages) deleteWebhook(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	if v.R.Method == http.MethodPost {
		if err := p.app.Webhooks.Delete(v.R.Context(), v.Actor, id, 0); err != nil {
			return err
		}
		return v.Done(v.At("/developers/webhooks"), "Webhook deleted.")
	}
	e, err := p.app.Webhooks.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	return v.Confirm(kit.Confirmation{
		Title: "Delete this webhook?", Act: "Delete webhook", Harm: true, Back: at(v, id, ""),
		Text: []string{
			"No more events are sent to " + e.URL + ".",
			"Pending events, the log and the secret are deleted with it. This cannot be undone.",
		},
	}, kit.Page{Menu: menu, Path: aboveWebhook(v, id)})
}
