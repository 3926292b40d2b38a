package office

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
	"holdfast/internal/web/shell"
)

// inbox shows what waits for an operator on all sites, the oldest first.
func (p *pages) inbox(v *shell.Visit) error {
	page, err := v.PageOf([]string{"id"}, false)
	if err != nil {
		return err
	}
	t := shell.Table{
		Name: "approvals", Caption: "Changes that wait for an operator", Number: page.Number, Total: -1,
		Columns: []shell.Column{
			{Name: "id", Title: "No.", Figure: true, Hidden: true}, {Name: "what", Title: "What"}, {Name: "kind", Title: "Kind"},
			{Name: "site", Title: "Site"}, {Name: "by", Title: "Asked by"}, {Name: "at", Title: "Asked at"},
			{Name: "reason", Title: "Reason"},
		},
		Empty: shell.Empty{
			Title: "Nothing waits for you",
			Text: "A new policy, a limit, a quote, a channel that gets protected and the takeover of a book need two people. " +
				"Changes that need a second operator wait here.",
		},
	}
	err = v.Each(page, func(page travel.Page) (bool, error) {
		list, err := p.app.Approvals.Inbox(v.R.Context(), v.Actor, page)
		for _, w := range list.Items {
			by := shell.Words(w.ProposedBy)
			if w.ProposedByID == v.User.ID {
				by = shell.Words("You")
			}
			href := fmt.Sprintf("%s/sites/%s/approvals/%d", shell.Path, w.Site.Path, w.ID)
			t.Rows = append(t.Rows, shell.Row{Href: href, Cells: []shell.Cell{
				shell.Ident(w.ID), shell.Linked(subject(w.Proposal), href), shell.Words(kindOf(w.Kind)), shell.Words(w.Site.Name), by,
				shell.AtInstant(w.ProposedAt), shell.Words(w.Reason),
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
	return v.Show(p.Pages, "inbox.html", shell.Page{Title: "Approvals", Menu: "/approvals", Data: made})
}

// kinds are the kinds of proposals in the words of people.
var kinds = map[travel.ProposalKind]string{
	travel.ProposeOpenCover: "Protection", travel.ProposeManualRate: "Quote", travel.ProposePolicy: "Policy",
	travel.ProposeLimits: "Limit", travel.ProposeTakeover: "Takeover",
}

func kindOf(k travel.ProposalKind) string {
	if text, ok := kinds[k]; ok {
		return text
	}
	return shell.Say(k)
}

// subject is what a proposal is about, as the first words of a line.
func subject(p travel.Proposal) string {
	if p.Subject == "" {
		return fmt.Sprintf("Proposal %d", p.ID)
	}
	if sha, ok := strings.CutPrefix(p.Subject, "file "); ok { // its mode and its sum stand on the page of the proposal
		sha, _, _ = strings.Cut(sha, ",")
		return strings.TrimSpace("File of payments " + sha[:min(len(sha), 12)])
	}
	if p.Kind == travel.ProposeOpenCover {
		return "Protection of " + p.Subject
	}
	return strings.ToUpper(p.Subject[:1]) + p.Subject[1:]
}

// stateTones are the marks of the states of proposals.
var stateTones = map[travel.ProposalState]string{
	travel.ProposalOpen: "warn", travel.ProposalApproved: "good", travel.ProposalRejected: "bad", travel.ProposalWithdrawn: "calm",
}

// proposals shows all proposals of a site, the latest first.
func (p *pages) proposals(v *shell.Visit) error {
	page, err := v.PageOf([]string{"id"}, true)
	if err != nil {
		return err
	}
	var filter travel.ProposalFilter
	if state := travel.ProposalState(v.Query("state")); state != "" {
		filter.States = []travel.ProposalState{state}
	}
	t := shell.Table{
		Name: "proposals", Caption: "Proposals of this site", Number: page.Number, Total: -1,
		Columns: []shell.Column{
			{Name: "id", Title: "No.", Figure: true, Hidden: true}, {Name: "what", Title: "What"}, {Name: "kind", Title: "Kind"},
			{Name: "state", Title: "State"}, {Name: "by", Title: "Asked by"}, {Name: "at", Title: "Asked at"},
			{Name: "decided_by", Title: "Decided by", Minor: true}, {Name: "decided_at", Title: "Decided at", Minor: true},
		},
		Empty: shell.Empty{
			Title: "There are no proposals", Text: "Changes that need two people appear here: who requested them, who decided, and what changed.",
		},
	}
	err = v.Each(page, func(page travel.Page) (bool, error) {
		list, err := p.app.Approvals.List(v.R.Context(), v.Actor, filter, page)
		for _, q := range list.Items {
			href := v.At(fmt.Sprintf("/approvals/%d", q.ID))
			t.Rows = append(t.Rows, shell.Row{Href: href, Cells: []shell.Cell{
				shell.Ident(q.ID), shell.Linked(subject(q), href), shell.Words(kindOf(q.Kind)),
				shell.State(string(q.State), stateTones[q.State]), shell.Words(q.ProposedBy), shell.AtInstant(q.ProposedAt),
				shell.Words(q.DecidedBy), shell.AtInstant(q.DecidedAt),
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
	return v.Show(p.Pages, "proposals.html", shell.Page{
		Title: "Proposals", Menu: "/settings",
		Data: struct {
			Form *shell.Form
			List *shell.Table
		}{shell.Filled("state", v.Query("state")), made},
	})
}

// proposalView is what the page of one proposal shows.
type proposalView struct {
	Facts    []shell.Fact
	Effect   travel.Effect
	Known    bool // what it changes is on record
	Verb     string
	Changes  *shell.Table
	Figures  []shell.Fact
	Channels *shell.Table // of a file
	Decides  bool         // this user may approve or reject it
	Own      bool         // this user has asked for it
	At       string       // below it are the addresses of the decisions
	Form     *shell.Form
}

// proposal shows one proposal: who asked, and what it changes.
func (p *pages) proposal(v *shell.Visit) error { return p.showProposal(v, shell.Filled()) }

func (p *pages) showProposal(v *shell.Visit, form *shell.Form) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	q, err := p.app.Approvals.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	data := proposalView{Form: form, Facts: proposalFacts(q), At: v.At(fmt.Sprintf("/approvals/%d", id))}
	channel, err := p.channelFact(v, q)
	if err != nil {
		return err
	}
	data.Facts = append(channel, data.Facts...)
	if q.Effect != "" {
		if err := json.Unmarshal([]byte(q.Effect), &data.Effect); err != nil {
			return fmt.Errorf("effect of proposal %d: %w", q.ID, err)
		}
		data.Known = true
	}
	data.Verb = map[travel.ProposalState]string{
		travel.ProposalOpen: "What it would change", travel.ProposalApproved: "What it has changed",
	}[q.State]
	if data.Verb == "" {
		data.Verb = "What it would have changed"
	}
	data.Changes, data.Figures = changesTable(v, data.Effect), figureFacts(data.Effect.Figures)
	if f := data.Effect.File; f != nil {
		data.Channels = sharesTable(v, f.Channels)
		data.Figures = append(data.Figures, fileFacts(*f)...)
	}
	if q.State == travel.ProposalOpen && v.Can(auth.DecideProposals) {
		data.Own = q.ProposedByID == v.User.ID
		data.Decides = !data.Own || v.Site.Sandbox
	}
	path := []shell.Link{{Text: "Proposals", Href: v.At("/approvals")}}
	if v.Operator() {
		path = []shell.Link{{Text: "Approvals", Href: shell.Path + "/approvals"}}
	}
	return v.Show(p.Pages, "proposal.html", shell.Page{Title: subject(q), Menu: "/settings", Path: path, Data: data})
}

// channelFact names the channel that a proposal is about, and leads to what its merchant has said. It is empty for other proposals, and
// for a channel that was deleted.
func (p *pages) channelFact(v *shell.Visit, q travel.Proposal) ([]shell.Fact, error) {
	number, ok := strings.CutPrefix(q.Subject, "channel ")
	id, err := strconv.ParseInt(number, 10, 64)
	if q.Kind != travel.ProposeOpenCover || !ok || err != nil {
		return nil, nil
	}
	c, err := p.app.Channels.Get(v.R.Context(), v.Actor, id)
	if fault.Is(err, fault.SettingNotFound) {
		return nil, nil
	}
	return []shell.Fact{{Text: "Channel", Value: c.Name, Href: v.At("/channels/" + number + "/protection")}}, err
}

func proposalFacts(q travel.Proposal) []shell.Fact {
	facts := []shell.Fact{
		{Text: "State", Value: shell.Say(q.State), Tone: stateTones[q.State]}, {Text: "Asked by", Value: q.ProposedBy},
		{Text: "Asked at", Value: shell.Instant(q.ProposedAt)},
	}
	if strings.HasPrefix(q.Subject, "file ") { // the title has only the beginning of its sum
		facts = append(facts, shell.Fact{Text: "Request", Value: q.Subject})
	}
	if q.Reason != "" {
		facts = append(facts, shell.Fact{Text: "Their reason", Value: q.Reason})
	}
	if q.DecidedAt.IsZero() {
		return facts
	}
	by := q.DecidedBy
	if q.Alone {
		by += ", alone"
	}
	facts = append(facts, shell.Fact{Text: "Decided by", Value: by}, shell.Fact{Text: "Decided at", Value: shell.Instant(q.DecidedAt)})
	if q.DecisionReason != "" {
		facts = append(facts, shell.Fact{Text: "Reason of the decision", Value: q.DecisionReason})
	}
	return facts
}

// changesTable has a row for each field, before and after.
func changesTable(v *shell.Visit, e travel.Effect) *shell.Table {
	t := shell.Table{
		Name: "changes", Bare: true, Caption: "Fields before and after",
		Columns: []shell.Column{{Name: "field", Title: "Field"}, {Name: "before", Title: "Before"}, {Name: "after", Title: "After"}},
	}
	for _, c := range e.Changes {
		t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{
			shell.Words(shell.Say(c.Field)), shell.Words(e.Text(c, true)), shell.Words(e.Text(c, false)),
		}})
	}
	return v.Table(t)
}

func figureFacts(list []travel.Figure) (facts []shell.Fact) {
	for _, f := range list {
		value := ""
		switch {
		case f.Count != nil:
			value = shell.Count(*f.Count)
		case f.Amount != nil:
			value = shell.Money(*f.Amount, f.Currency)
		}
		facts = append(facts, shell.Fact{Text: shell.Say(f.Name), Value: value, Figure: true})
	}
	return facts
}

func fileFacts(f travel.FileEffect) (facts []shell.Fact) {
	for _, of := range []struct {
		name string
		n    int
	}{
		{"Rows of the file", f.Rows}, {"Rows that are refused", f.Refused}, {"New bookings", f.BookingsCreated},
		{"Bookings already imported", f.BookingsThere}, {"New payments", f.PaymentsCreated},
		{"Payments already imported", f.PaymentsThere},
	} {
		facts = append(facts, shell.Fact{Text: of.name, Value: shell.Count(int64(of.n)), Figure: true})
	}
	return facts
}

// sharesTable has the channels of a file, with their sums.
func sharesTable(v *shell.Visit, list []travel.FileShares) *shell.Table {
	t := shell.Table{
		Name: "channels", Bare: true, Caption: "Channels of the file",
		Columns: []shell.Column{
			{Name: "channel", Title: "Channel"}, {Name: "new", Title: "New"}, {Name: "mode", Title: "Mode"},
			{Name: "payments", Title: "Payments", Figure: true}, {Name: "added", Title: "Paid", Figure: true},
			{Name: "taken", Title: "Paid back", Figure: true}, {Name: "first", Title: "First"}, {Name: "last", Title: "Last"},
		},
	}
	for _, c := range list {
		t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{
			shell.Words(c.Channel), shell.YesNo(c.Created), shell.Words(shell.Say(c.Mode)), shell.Number(int64(c.Payments)),
			shell.Sum(c.Added, c.Currency), shell.Sum(c.Taken, c.Currency), dayOf(c.FirstPaid), dayOf(c.LastPaid),
		}})
	}
	return v.Table(t)
}

// dayOf is a day of the wire; what is none stays as it is.
func dayOf(text string) shell.Cell {
	if day, err := civil.ParseDay(text); err == nil {
		return shell.OnDay(day)
	}
	return shell.Words(text)
}

// decide makes the handler of a decision: what the room is asked, and what is said when it is done. A decision against
// somebody needs a reason, because they read it.
func (p *pages) decide(verb string) shell.Handler {
	return func(v *shell.Visit) error {
		id, err := v.ID("id")
		if err != nil {
			return err
		}
		form, err := v.Form()
		if err != nil {
			return err
		}
		rooms, reason := p.app.Approvals, form.Get("reason")
		var problems fault.Problems
		if travel.CheckNote(&problems, "reason", reason); reason == "" && verb == "reject" {
			problems.Wrong("reason", "Give a reason. The person who requested the change sees it.")
		}
		var q travel.Proposal
		switch err = problems.Err(); {
		case err != nil:
		case verb == "approve":
			q, err = rooms.Approve(v.R.Context(), v.Actor, id, reason)
		case verb == "reject":
			q, err = rooms.Reject(v.R.Context(), v.Actor, id, reason)
		default:
			q, err = rooms.Withdraw(v.R.Context(), v.Actor, id, reason)
		}
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if !ok {
			return p.showProposal(v, form)
		}
		return v.Done(v.At(fmt.Sprintf("/approvals/%d", id)), "%s: %s.", subject(q), q.State)
	}
}
