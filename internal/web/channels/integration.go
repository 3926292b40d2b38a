package channels

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"text/template"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/web/kit"
)

//go:embed snippets
var snippetFiles embed.FS

// snippetTexts are code samples with placeholders for a merchant's values. The page escapes them.
var snippetTexts = template.Must(template.ParseFS(snippetFiles, "snippets/*.txt"))

// snippet is a code sample, ready to use.
type snippet struct{ Title, Name, Text string }

// snippetNames are the languages, in their order.
var snippetNames = []struct{ file, title string }{
	{"curl", "curl"}, {"go", "Go"}, {"typescript", "TypeScript"}, {"php", "PHP"}, {"python", "Python"},
}

// integration shows how to log a merchant's bookings and payments, and how to open its payment modal.
func (p *pages) integration(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	c, err := p.app.Channels.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	values := p.snippetValues(v, c)
	var programs []snippet
	for _, s := range snippetNames {
		text, err := filled(s.file, values)
		if err != nil {
			return err
		}
		programs = append(programs, snippet{s.title, s.file, text})
	}
	modal, err := filled("modal", values)
	if err != nil {
		return err
	}
	facts := []kit.Fact{
		{Text: "API URL", Value: values["API"].(string)}, {Text: "Merchant ID", Value: kit.Ident(c.ID).Text},
		{Text: "Currency", Value: string(c.Currency)}, {Text: "Mode", Value: kit.Say(c.Mode), Tone: modeTones[c.Mode]},
	}
	secret := ""
	if v.Can(access.SeeChannelSecret) {
		secret = at(v, id, "/secret")
	}
	return v.Show(p.Pages, "integration.html", kit.Page{
		Title: c.Name, Menu: menu, Path: above(v, id, ""), Parts: v.Parts("channel", "/channels/{id}/integration", id), Data: struct {
			Facts                   []kit.Fact
			Programs                []snippet
			Modal                   snippet
			Secret, Tokens, Origins string
		}{facts, programs, snippet{"Payment modal", "modal", modal}, secret, v.At("/developers"), v.At("/developers/origins")},
	})
}

// snippetValues are the values of the placeholders.
func (p *pages) snippetValues(v *kit.Visit, c merchant.Channel) map[string]any {
	environment := "live"
	if c.Mode == merchant.ModeTest {
		environment = "test"
	}
	values := map[string]any{
		"Base": p.frame.Base, "API": p.frame.Base + "/" + v.Site.Path + p.frame.API, "Site": v.Site.Path, "ID": c.ID,
		"Currency": string(c.Currency), "Environment": environment, "Segments": "", "TypeScript": "",
		"Start": v.Now().AddDate(0, 0, 80).Format("2006-01-02"), "End": v.Now().AddDate(0, 0, 87).Format("2006-01-02"),
	}
	// The clients default to the standard path segments.
	if root, namespace, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(p.frame.API, "/"), "/v2"), "/"); root != "rest" || namespace != "svc" {
		values["Segments"] = fmt.Sprintf("client.WithSegments(%q, %q)", root, namespace)
		values["TypeScript"] = fmt.Sprintf("segments: { rest: %q, service: %q },", root, namespace)
	}
	return values
}

func filled(name string, values map[string]any) (string, error) {
	var out bytes.Buffer
	err := snippetTexts.ExecuteTemplate(&out, name+".txt", values)
	return out.String(), err
}
