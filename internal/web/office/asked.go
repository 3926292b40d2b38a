package office

import (
	"fmt"

	"holdfast/internal/book/underwriting"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

// askedTones are the colours of request states.
var askedTones = map[underwriting.State]string{
	underwriting.Asked: "warn", underwriting.Questions: "calm", underwriting.Taken: "good", underwriting.Refused: "bad",
}

// asked shows protection requests, open or answered. Each links to the merchant's page, where it is reviewed and answered.
func (p *pages) asked(v *kit.Visit) error {
	page, err := v.PageOf([]string{"id"}, false)
	if err != nil {
		return err
	}
	states := []underwriting.State{underwriting.Asked}
	answered := v.Query("answered") == "1"
	if answered {
		states = []underwriting.State{underwriting.Questions, underwriting.Taken, underwriting.Refused}
	}
	t := kit.Table{
		Name: "asked", Caption: "Protection requests", Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "channel", Title: "Merchant"}, {Name: "site", Title: "Site"}, {Name: "company", Title: "Company"},
			{Name: "turnover", Title: "Annual turnover", Currency: "currency"}, {Name: "state", Title: "Status"},
			{Name: "by", Title: "Requested by"}, {Name: "at", Title: "Requested"},
		},
		Empty: kit.Empty{
			Title: "No protection requests",
			Text:  "Merchants request protection on their own page. Requests appear here until you answer them.",
		},
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Underwriting.In(v.R.Context(), v.Actor, states, page)
		for _, q := range list.Items {
			site := kit.Words(q.SitePath)
			if q.Sandbox {
				site.Text += " (sandbox)"
			}
			t.Rows = append(t.Rows, kit.Row{Href: fmt.Sprintf("%s/sites/%s/channels/%d/protection", kit.Path, q.SitePath, q.ChannelID), Cells: []kit.Cell{
				kit.Words(q.ChannelName), site, kit.Words(q.Facts.Company), kit.Sum(q.Facts.Turnover, q.Facts.Currency),
				kit.State(string(q.State), askedTones[q.State]), kit.Words(q.AskedBy), kit.AtInstant(q.AskedAt),
			}})
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	other := kit.Link{Text: "Answered", Href: kit.Path + "/asked?answered=1", Plain: true}
	if answered {
		other = kit.Link{Text: "Waiting", Href: kit.Path + "/asked", Plain: true}
	}
	return v.ShowTable(p.Pages, "inbox.html", made, kit.Page{
		Title: "Protection requests", Menu: "/asked", Acts: []kit.Link{other}, Data: made,
	})
}
