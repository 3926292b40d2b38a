package office

import (
	"fmt"

	"holdfast/internal/travel"
	"holdfast/internal/underwriting"
	"holdfast/internal/web/shell"
)

// askedTones are the marks of the states of requests.
var askedTones = map[underwriting.State]string{
	underwriting.Asked: "warn", underwriting.Questions: "calm", underwriting.Taken: "good", underwriting.Refused: "bad",
}

// asked shows the channels that ask for protection: those that wait for an answer, or those that have one. Each leads to the page of
// the channel, where it is read and answered.
func (p *pages) asked(v *shell.Visit) error {
	page, err := v.PageOf([]string{"id"}, false)
	if err != nil {
		return err
	}
	states := []underwriting.State{underwriting.Asked}
	answered := v.Query("answered") == "1"
	if answered {
		states = []underwriting.State{underwriting.Questions, underwriting.Taken, underwriting.Refused}
	}
	t := shell.Table{
		Name: "asked", Caption: "Channels that ask for protection", Number: page.Number, Total: -1,
		Columns: []shell.Column{
			{Name: "channel", Title: "Channel"}, {Name: "site", Title: "Site"}, {Name: "company", Title: "Company"},
			{Name: "turnover", Title: "Turnover of a year", Figure: true}, {Name: "state", Title: "State"},
			{Name: "by", Title: "Asked by"}, {Name: "at", Title: "Asked at"},
		},
		Empty: shell.Empty{
			Title: "Nobody waits for an answer",
			Text:  "A merchant asks for the protection of a channel on its page, with what an underwriter wants to know. It stands here until you answer.",
		},
	}
	err = v.Each(page, func(page travel.Page) (bool, error) {
		list, err := p.app.Underwriting.In(v.R.Context(), v.Actor, states, page)
		for _, q := range list.Items {
			site := shell.Words(q.SitePath)
			if q.Sandbox {
				site.Text += " (sandbox)"
			}
			t.Rows = append(t.Rows, shell.Row{Href: fmt.Sprintf("%s/sites/%s/channels/%d/protection", shell.Path, q.SitePath, q.ChannelID), Cells: []shell.Cell{
				shell.Words(q.ChannelName), site, shell.Words(q.Facts.Company), shell.Sum(q.Facts.Turnover, q.Facts.Currency),
				shell.State(string(q.State), askedTones[q.State]), shell.Words(q.AskedBy), shell.AtInstant(q.AskedAt),
			}})
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
	other := shell.Link{Text: "Answered", Href: shell.Path + "/asked?answered=1", Plain: true}
	if answered {
		other = shell.Link{Text: "Waiting", Href: shell.Path + "/asked", Plain: true}
	}
	return v.Show(p.Pages, "inbox.html", shell.Page{
		Title: "Protection requests", Menu: "/asked", Acts: []shell.Link{other}, Data: made,
	})
}
