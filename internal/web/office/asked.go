package office

import (
	"fmt"
	"strconv"
	"strings"

	"holdfast/internal/fault"
	"holdfast/internal/travel"
	"holdfast/internal/underwriting"
	"holdfast/internal/web/shell"
)

// askedTones are the marks of the states of requests.
var askedTones = map[underwriting.State]string{
	underwriting.Asked: "warn", underwriting.Questions: "calm", underwriting.Taken: "good", underwriting.Refused: "bad",
}

// asked shows the channels that ask for protection: those that wait for an answer, or those that have one.
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
			t.Rows = append(t.Rows, shell.Row{Href: requestAt(q.SiteID, q.ChannelID), Cells: []shell.Cell{
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
		Title: "Protection asked for", Menu: "/asked", Acts: []shell.Link{other}, Data: made,
	})
}

func requestAt(siteID, channelID int64) string {
	return fmt.Sprintf("%s/asked/%d/%d", shell.Path, siteID, channelID)
}

// requestView is what the page of a request shows.
type requestView struct {
	Company, Business, Cover []shell.Fact
	State                    []shell.Fact
	Lead                     *shell.Table
	Documents                *shell.Table
	At, Settings             string
	Decides, Taken           bool
	Form                     *shell.Form
}

// request shows what a merchant says of itself, and takes the answer.
func (p *pages) request(v *shell.Visit) error { return p.showRequest(v, nil) }

func (p *pages) showRequest(v *shell.Visit, form *shell.Form) error {
	q, err := p.findRequest(v)
	if err != nil {
		return err
	}
	site, err := p.app.Sites.Get(v.R.Context(), v.Actor, q.SiteID)
	if err != nil {
		return err
	}
	actor := v.Actor
	actor.SiteID, actor.Ahead = site.ID, site.ClockAhead
	channel, err := p.app.Channels.Get(v.R.Context(), actor, q.ChannelID)
	if err != nil {
		return err
	}
	if form == nil {
		form = shell.Filled("version", strconv.FormatInt(q.Version, 10))
	}
	data := requestView{
		State: requestState(q, site, channel), Company: companyFacts(q.Facts), Business: businessFacts(q.Facts), Cover: coverFacts(q.Facts),
		Lead: leadTable(v, q.Facts), Documents: documentTable(v, q), At: requestAt(q.SiteID, q.ChannelID),
		Settings: fmt.Sprintf("%s/sites/%s/channels/%d/settings", shell.Path, site.Path, channel.ID), Form: form,
		Decides: q.State == underwriting.Asked || q.State == underwriting.Taken, Taken: q.State == underwriting.Taken,
	}
	return v.Show(p.Pages, "request.html", shell.Page{
		Title: channel.Name, Menu: "/asked", Path: []shell.Link{{Text: "Protection asked for", Href: shell.Path + "/asked"}}, Data: data,
	})
}

// findRequest reads the request that the address names. What its author has not sent is not there for an operator.
func (p *pages) findRequest(v *shell.Visit) (q underwriting.Request, err error) {
	on, err := v.ID("on")
	if err != nil {
		return q, err
	}
	id, err := v.ID("id")
	if err != nil {
		return q, err
	}
	q, err = p.app.Underwriting.Get(v.R.Context(), v.Actor, on, id)
	if err == nil && (q.State == "" || q.State == underwriting.Writing) {
		err = fault.New(fault.RecordNotFound, "This channel has not asked for protection.")
	}
	return q, err
}

func requestState(q underwriting.Request, site travel.Site, c travel.Channel) []shell.Fact {
	return present([]shell.Fact{
		{Text: "State", Value: shell.Say(q.State), Tone: askedTones[q.State]}, {Text: "Site", Value: site.Name, Href: shell.Path + "/sites/" + site.Path},
		{Text: "Mode of the channel", Value: shell.Say(c.Mode)}, {Text: "Asked by", Value: q.AskedBy}, {Text: "Asked at", Value: shell.Instant(q.AskedAt)},
		{Text: "Answered by", Value: q.AnsweredBy}, {Text: "Answered at", Value: shell.Instant(q.AnsweredAt)}, {Text: "Your last word", Value: q.Note},
	})
}

func companyFacts(f underwriting.Facts) []shell.Fact {
	return present([]shell.Fact{
		{Text: "Company", Value: f.Company}, {Text: "Registration number", Value: f.RegistrationNo}, {Text: "Website", Value: f.Website},
		{Text: "What they sell", Value: f.Sells}, {Text: "Contact", Value: f.Contact}, {Text: "E-mail", Value: f.ContactMail},
		{Text: "Telephone", Value: f.ContactPhone},
	})
}

func businessFacts(f underwriting.Facts) []shell.Fact {
	return []shell.Fact{
		{Text: "Turnover of a year", Value: shell.Money(f.Turnover, f.Currency), Figure: true},
		{Text: "Bookings in a month", Value: shell.Count(f.Bookings), Figure: true},
		{Text: "Average booking", Value: shell.Money(f.AverageBooking, f.Currency), Figure: true},
		{Text: "Chargebacks of the last year", Value: percent(f.ChargebackRate), Figure: true},
	}
}

func coverFacts(f underwriting.Facts) []shell.Fact {
	facts := []shell.Fact{
		{Text: "Licence or bond", Value: shell.Say(f.Licence)}, {Text: "Number", Value: f.LicenceNumber}, {Text: "Given by", Value: f.LicenceBody},
		{Text: "When a supplier fails", Value: f.SupplierCover},
	}
	if f.LicenceAmount > 0 {
		facts = append(facts, shell.Fact{Text: "Its amount", Value: shell.Money(f.LicenceAmount, f.Currency), Figure: true})
	}
	return present(facts)
}

// percent writes parts per million as a percentage.
func percent(ppm int64) string {
	text := strings.TrimRight(fmt.Sprintf("%d.%04d", ppm/10_000, ppm%10_000), "0")
	return strings.TrimSuffix(text, ".") + " %"
}

// present are the facts that say something.
func present(facts []shell.Fact) (list []shell.Fact) {
	for _, f := range facts {
		if f.Value != "" {
			list = append(list, f)
		}
	}
	return list
}

func leadTable(v *shell.Visit, f underwriting.Facts) *shell.Table {
	t := shell.Table{
		Name: "lead", Bare: true, Caption: "Turnover by the time between payment and return",
		Columns: []shell.Column{{Name: "lead", Title: "From payment to return"}, {Name: "share", Title: "Share of the turnover", Figure: true}},
	}
	for i, share := range f.Lead {
		t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{
			shell.Words(shell.Say(underwriting.LeadTimes[i])), shell.Words(strconv.FormatInt(share, 10) + " %"),
		}})
	}
	return v.Table(t)
}

func documentTable(v *shell.Visit, q underwriting.Request) *shell.Table {
	t := shell.Table{
		Name: "documents", Bare: true, Caption: "Documents",
		Columns: []shell.Column{
			{Name: "name", Title: "Document"}, {Name: "size", Title: "kB", Figure: true}, {Name: "by", Title: "Added by"}, {Name: "at", Title: "Added at"},
		},
		Empty: shell.Empty{Title: "No document is attached", Text: "Accounts, a licence or a bond can be attached to a request."},
	}
	for _, d := range q.Documents {
		t.Rows = append(t.Rows, shell.Row{Href: fmt.Sprintf("%s/documents/%d", requestAt(q.SiteID, q.ChannelID), d.ID), Cells: []shell.Cell{
			shell.Words(d.Name), shell.Number((d.Size + 1023) / 1024), shell.Words(d.AddedBy), shell.AtInstant(d.AddedAt),
		}})
	}
	return v.Table(t)
}

// document sends a document to be kept: a browser never opens it within the dashboard.
func (p *pages) document(v *shell.Visit) error {
	q, err := p.findRequest(v)
	if err != nil {
		return err
	}
	id, err := v.ID("document")
	if err != nil {
		return err
	}
	d, content, err := p.app.Underwriting.Document(v.R.Context(), v.Actor, q.SiteID, q.ChannelID, id)
	if err != nil {
		return err
	}
	return v.Attach(fmt.Sprintf("document-%d.%s", d.ID, d.Type), d.MIME(), content)
}

// answer makes the handler of an answer.
func (p *pages) answer(state underwriting.State) shell.Handler {
	return func(v *shell.Visit) error {
		q, err := p.findRequest(v)
		if err != nil {
			return err
		}
		form, err := v.Form()
		if err != nil {
			return err
		}
		version, _ := strconv.ParseInt(form.Get("version"), 10, 64) // what is no number is no version, and refused
		_, err = p.app.Underwriting.Answer(v.R.Context(), v.Actor, q.SiteID, q.ChannelID, underwriting.Answer{
			State: state, Note: form.Get("note"), IfVersion: max(1, version),
		})
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if !ok {
			return p.showRequest(v, form)
		}
		return v.Done(requestAt(q.SiteID, q.ChannelID), "%s.", map[underwriting.State]string{
			underwriting.Taken: "The request is taken", underwriting.Questions: "Your question is sent", underwriting.Refused: "The request is refused",
		}[state])
	}
}
