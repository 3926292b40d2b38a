package channels

import (
	"maps"
	"net/http"
	"slices"

	"holdfast/internal/book/merchants"
	"holdfast/internal/book/onboarding"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/web/kit"
)

// gateway sets a merchant's processor and credentials. Credentials are write-only: the page only shows which are set.
func (p *pages) gateway(v *kit.Visit) error {
	if proven, err := v.NeedsProof(); !proven {
		return err
	}
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	view, err := p.app.Channels.Gateway(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	form := kit.Filled("processor", view.Channel.Processor, "tokenizer_id", view.Channel.TokenizerID)
	if v.R.Method == http.MethodPost {
		if form, err = v.Form(); err != nil {
			return err
		}
		in := onboarding.GatewayFields{Processor: form.Get("processor")}
		if in.Processor != "" {
			in.Credentials = merchants.Credentials{
				Key: form.Get("key_password"), WebhookSecret: form.Get("webhook_secret_password"), FieldsSecret: form.Get("tokenizer_secret_password"),
			}
			r := form.Reading()
			in.Tokenizer = merchant.ProcessorFields{TokenizerID: r.Text("tokenizer_id")}
			if key := r.Text("tokenizer_api_key_password"); key != nil && *key != "" {
				in.Tokenizer.TokenizerKey = key
			}
		}
		_, err := p.app.Channels.SetGateway(v.R.Context(), v.Actor, id, in)
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return v.Done(at(v, id, "/gateway"), "Processor saved.")
		}
		for _, name := range []string{"key", "webhook_secret", "tokenizer_secret", "tokenizer_api_key"} {
			if problem := form.Problem(name); problem != "" {
				form.Problems[name+"_password"] = problem
			}
		}
	}
	choices := []string{"", "None"}
	for _, name := range slices.Sorted(maps.Keys(p.app.Channels.Gateways)) {
		choices = append(choices, name, kit.Say(name))
	}
	isSet := func(set bool) string {
		if set {
			return "Set"
		}
		return "Not set"
	}
	return v.Show(p.Pages, "gateway.html", kit.Page{
		Title: "Processor", Menu: menu, Path: above(v, id, view.Channel.Name), Data: struct {
			Form    *kit.Form
			Facts   []kit.Fact
			Choices any
			Send    string
			Live    bool
		}{form, []kit.Fact{
			{Text: "Processor", Value: kit.Say(view.Channel.Processor)}, {Text: "Secret key", Value: isSet(view.HasKey)},
			{Text: "Webhook secret", Value: isSet(view.HasWebhookSecret)}, {Text: "Tokenizer secret", Value: isSet(view.HasFieldsSecret)},
		}, kit.Options(choices...), at(v, id, "/gateway"), view.Live},
	})
}
