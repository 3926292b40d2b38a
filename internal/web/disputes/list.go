package disputes

import (
	"cmp"

	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// orders are the sort orders of the list.
var orders = []string{disputes.OrderDue, "id", disputes.OrderOpened}

// disputes lists the site's disputes, those that have to be answered first on top.
func (p *pages) disputes(v *kit.Visit) error {
	page, err := v.PageOf(orders, false)
	if err != nil {
		return err
	}
	form := &kit.Form{Values: v.R.URL.Query()}
	if !form.Values.Has("status") { // what has to be done; status= is all
		form.Values.Set("status", string(dispute.Open))
	}
	filter, err := filterOf(form)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "disputes", Caption: "Disputes",
		Columns: []kit.Column{
			{Name: "due_at", Title: "Answer by", Sorts: true}, {Name: "case_id", Title: "Case"}, {Name: "source", Title: "Processor"},
			{Name: "stage", Title: "Stage"}, {Name: "status", Title: "Status"}, {Name: "amount", Title: "Amount", Currency: "currencies"},
			{Name: "merchant", Title: "Merchant"}, {Name: "matched", Title: "Payment"}, {Name: "reason", Title: "Reason", Minor: true},
			{Name: "assigned", Title: "Assigned to", Minor: true}, {Name: "opened", Title: "Opened", Sorts: true, Hidden: true},
			{Name: "id", Title: "Number", Figure: true, Sorts: true, Hidden: true}, {Name: "transaction_id", Title: "Payment ID", Figure: true, Hidden: true},
		},
		Empty: kit.Empty{
			Title: "No open disputes",
			Text: "Disputes come from your processors: connected ones report them, and files of others are imported under Dispute files. " +
				"Chargebacks that you record on a payment are disputes, too.",
		},
	}
	if form.Get("status") != string(dispute.Open) {
		t.Empty.Title = "No disputes"
	}
	err = choices.Fill(v, p.app, &t, page, func(page store.Page) (store.List[disputes.Case], error) {
		return p.app.Disputes.List(v.R.Context(), v.Actor, filter, page)
	}, channelOf, func(c disputes.Case, m merchant.Channel) kit.Row { return disputeRow(v, c, m) })
	if err != nil {
		return err
	}
	made := v.Table(t)
	channels, err := choices.Channels(v, p.app, "All merchants")
	if err != nil {
		return err
	}
	counts, err := p.counts(v)
	if err != nil {
		return err
	}
	return v.ShowTable(p.Pages, "disputes.html", made, kit.Page{
		Title: "Disputes", Menu: menu, Parts: v.Parts(group, "/disputes"), Wide: true, Data: struct {
			List                                         *kit.Table
			Filter                                       *kit.Form
			Counts                                       []kit.Fact
			Stages, Statuses, Matches, Reasons, Channels any
			Send                                         string
		}{
			made, form, counts, choices.Words(dispute.Stages, "All"), choices.Words(dispute.Statuses, "All"), matches(), choices.Words(dispute.Families, "All"), channels, v.At("/disputes"),
		},
	})
}

// counts are the numbers above the list. Each leads to a filtered list.
func (p *pages) counts(v *kit.Visit) ([]kit.Fact, error) {
	n, err := p.app.Disputes.Count(v.R.Context(), v.Actor, disputes.Filter{})
	if err != nil {
		return nil, err
	}
	today := civil.DayOf(v.Now())
	fact := func(name, query string, count int64) kit.Fact {
		return kit.Fact{Text: name, Value: kit.Count(count), Href: v.At("/disputes" + query), Figure: true}
	}
	return []kit.Fact{
		fact("Overdue", "?status=open&due_before="+today.String(), n.Overdue),
		fact("Due within 3 days", "?status=open&due_before="+(today+4).String(), n.DueSoon),
		fact("Open", "?status=open", n.Statuses[dispute.Open]), fact("Choose a payment", "?status=&matched=queue", n.Matching[dispute.Queued]),
		fact("No payment", "?status=&matched=unmatched", n.Matching[dispute.Unmatched]), fact("All", "?status=", n.All),
	}, nil
}

func matches() any {
	return kit.Options("", "All", "matched", "Matched", "queue", "Choose a payment", "unmatched", "No payment")
}

func filterOf(form *kit.Form) (f disputes.Filter, err error) {
	r := form.Reading()
	if id := r.Number("channels"); id != nil {
		f.Channels = []int64{*id}
	}
	f.DueBefore = r.Day("due_before")
	f.Stages = choices.OneOf(r, "stage", dispute.Stages)
	f.Statuses = choices.OneOf(r, "status", dispute.Statuses)
	f.Matchings = choices.OneOf(r, "matched", dispute.Matchings)
	f.Families = choices.OneOf(r, "reason_family", dispute.Families)
	if name := form.Get("assigned"); name != "" {
		f.Assigned = []string{name}
	}
	return f, r.Problems.Err()
}

func channelOf(c disputes.Case) int64 { return c.ChannelID }

func disputeRow(v *kit.Visit, c disputes.Case, channel merchant.Channel) kit.Row {
	amount := kit.Cell{}
	if c.Currency != "" {
		amount = kit.Sum(c.Amount, c.Currency)
	}
	due := kit.OnDay(c.DueOn)
	if c.Status == dispute.Open && c.DueOn != civil.NoDay {
		switch today := civil.DayOf(v.Now()); {
		case c.DueOn < today:
			due.Tone = "bad"
		case c.DueOn <= today+3:
			due.Tone = "warn"
		}
	}
	matched := kit.State(string(c.Matching), matchTones[c.Matching])
	matched.Text = matchWords[c.Matching]
	return kit.Row{Href: at(v, c.ID, ""), Cells: []kit.Cell{
		due, kit.Linked(c.CaseID, at(v, c.ID, "")), {Text: dispute.SourceText(c.Source), Plain: c.Source}, kit.State(string(c.Stage), ""), kit.State(string(c.Status), tones[c.Status]), amount,
		kit.Words(cmp.Or(channel.Name, c.Merchant)), matched, kit.Words(cmp.Or(c.Reason, c.ReasonCode)), kit.Words(c.Assignee), kit.OnDay(c.OpenedOn),
		kit.Ident(c.ID), kit.Ident(c.TransactionID),
	}}
}
