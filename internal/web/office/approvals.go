package office

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

// inbox shows the changes pending approval on all sites, oldest first.
func (p *pages) inbox(v *kit.Visit) error {
	page, err := v.PageOf([]string{"id"}, false)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "approvals", Caption: "Changes pending approval", Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "id", Title: "No.", Figure: true, Hidden: true}, {Name: "what", Title: "Change"}, {Name: "kind", Title: "Type"},
			{Name: "site", Title: "Site"}, {Name: "by", Title: "Requested by"}, {Name: "at", Title: "Requested"},
			{Name: "reason", Title: "Reason"},
		},
		Empty: kit.Empty{
			Title: "Nothing to approve",
			Text: "New policies, limits, quotes, merchant protection and book takeovers need two people. " +
				"Changes waiting for a second operator appear here.",
		},
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Approvals.Inbox(v.R.Context(), v.Actor, page)
		for _, w := range list.Items {
			by := kit.Words(w.ProposedBy)
			if w.ProposedByID == v.User.ID {
				by = kit.Words("You")
			}
			href := fmt.Sprintf("%s/sites/%s/approvals/%d", kit.Path, w.Site.Path, w.ID)
			t.Rows = append(t.Rows, kit.Row{Href: href, Cells: []kit.Cell{
				kit.Ident(w.ID), kit.Linked(subject(w.Proposal), href), kit.Words(kindOf(w.Kind)), kit.Words(w.Site.Name), by,
				kit.AtInstant(w.ProposedAt), kit.Words(w.Reason),
			}})
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	return v.ShowTable(p.Pages, "inbox.html", made, kit.Page{Title: "Approvals", Menu: "/approvals", Data: made})
}

// kinds are the display names of proposal kinds.
var kinds = map[proposal.Kind]string{
	proposal.OpenCover: "Protection", proposal.ManualRate: "Quote", proposal.Policy: "Policy",
	proposal.Limits: "Limit", proposal.Takeover: "Takeover",
	proposal.Reinstate: "Reinstate a merchant", proposal.InsolventProcessing: "Refunds of an insolvent merchant",
}

func kindOf(k proposal.Kind) string {
	if text, ok := kinds[k]; ok {
		return text
	}
	return kit.Say(k)
}

// subject names what a proposal is about, capitalized.
func subject(p proposal.Proposal) string {
	if p.Subject == "" {
		return fmt.Sprintf("Proposal %d", p.ID)
	}
	if sha, ok := strings.CutPrefix(p.Subject, "file "); ok { // its mode and checksum are on the proposal's page
		sha, _, _ = strings.Cut(sha, ",")
		return strings.TrimSpace("Payment file " + sha[:min(len(sha), 12)])
	}
	if p.Kind == proposal.OpenCover {
		return "Protection of " + p.Subject
	}
	return strings.ToUpper(p.Subject[:1]) + p.Subject[1:]
}

// stateTones are the colours of proposal states.
var stateTones = map[proposal.State]string{
	proposal.Open: "warn", proposal.Approved: "good", proposal.Rejected: "bad", proposal.Withdrawn: "calm",
}

// proposals shows all proposals of a site, latest first.
func (p *pages) proposals(v *kit.Visit) error {
	page, err := v.PageOf([]string{"id"}, true)
	if err != nil {
		return err
	}
	var filter approvals.Filter
	if state := proposal.State(v.Query("state")); state != "" {
		filter.States = []proposal.State{state}
	}
	t := kit.Table{
		Name: "proposals", Caption: "Proposals", Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "id", Title: "No.", Figure: true, Hidden: true}, {Name: "what", Title: "Change"}, {Name: "kind", Title: "Type"},
			{Name: "state", Title: "Status"}, {Name: "by", Title: "Requested by"}, {Name: "at", Title: "Requested"},
			{Name: "decided_by", Title: "Decided by", Minor: true}, {Name: "decided_at", Title: "Decided", Minor: true},
		},
		Empty: kit.Empty{
			Title: "No proposals yet", Text: "Changes that need two people appear here, with who requested them, who decided, and what changed.",
		},
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Approvals.List(v.R.Context(), v.Actor, filter, page)
		for _, q := range list.Items {
			href := v.At(fmt.Sprintf("/approvals/%d", q.ID))
			t.Rows = append(t.Rows, kit.Row{Href: href, Cells: []kit.Cell{
				kit.Ident(q.ID), kit.Linked(subject(q), href), kit.Words(kindOf(q.Kind)),
				kit.State(string(q.State), stateTones[q.State]), kit.Words(q.ProposedBy), kit.AtInstant(q.ProposedAt),
				kit.Words(q.DecidedBy), kit.AtInstant(q.DecidedAt),
			}})
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	return v.ShowTable(p.Pages, "proposals.html", made, kit.Page{
		Title: "Proposals", Menu: "/settings",
		Data: struct {
			Form *kit.Form
			List *kit.Table
		}{kit.Filled("state", v.Query("state")), made},
	})
}

// proposalView is the data of a proposal's page.
type proposalView struct {
	Facts    []kit.Fact
	Effect   proposal.Effect
	Known    bool // the changed fields are on record
	Verb     string
	Changes  *kit.Table
	Figures  []kit.Fact
	Channels *kit.Table // of a file
	Decides  bool       // this user may approve or reject it
	Own      bool       // requested by this user
	At       string     // base URL of the decisions
	Form     *kit.Form
}

// proposal shows one proposal: who requested it, and what it changes.
func (p *pages) proposal(v *kit.Visit) error { return p.showProposal(v, kit.Filled()) }

func (p *pages) showProposal(v *kit.Visit, form *kit.Form) error {
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
	data.Verb = map[proposal.State]string{
		proposal.Open: "Proposed changes", proposal.Approved: "Changes made",
	}[q.State]
	if data.Verb == "" {
		data.Verb = "Changes proposed"
	}
	data.Changes, data.Figures = changesTable(v, data.Effect), figureFacts(data.Effect.Figures)
	if f := data.Effect.File; f != nil {
		data.Channels = sharesTable(v, f.Channels)
		data.Figures = append(data.Figures, fileFacts(*f)...)
	}
	if q.State == proposal.Open && v.Can(access.DecideProposals) {
		data.Own = q.ProposedByID == v.User.ID
		data.Decides = !data.Own || v.Site.Sandbox
	}
	path := []kit.Link{{Text: "Proposals", Href: v.At("/approvals")}}
	if v.Operator() {
		path = []kit.Link{{Text: "Approvals", Href: kit.Path + "/approvals"}}
	}
	return v.Show(p.Pages, "proposal.html", kit.Page{Title: subject(q), Menu: "/settings", Path: path, Data: data})
}

// channelFact names the merchant that a proposal is about, and links to its protection request. It is empty for other
// proposals and for deleted merchants.
func (p *pages) channelFact(v *kit.Visit, q proposal.Proposal) ([]kit.Fact, error) {
	number, ok := strings.CutPrefix(q.Subject, "channel ")
	id, err := strconv.ParseInt(number, 10, 64)
	if q.Kind != proposal.OpenCover || !ok || err != nil {
		return nil, nil
	}
	c, err := p.app.Channels.Get(v.R.Context(), v.Actor, id)
	if errs.Is(err, errs.SettingNotFound) {
		return nil, nil
	}
	return []kit.Fact{{Text: "Merchant", Value: c.Name, Href: v.At("/channels/" + number + "/protection")}}, err
}

func proposalFacts(q proposal.Proposal) []kit.Fact {
	facts := []kit.Fact{
		{Text: "Status", Value: kit.Say(q.State), Tone: stateTones[q.State]}, {Text: "Requested by", Value: q.ProposedBy},
		{Text: "Requested", Value: kit.Instant(q.ProposedAt)},
	}
	if strings.HasPrefix(q.Subject, "file ") { // the title only has the start of the checksum
		facts = append(facts, kit.Fact{Text: "Request", Value: q.Subject})
	}
	if q.Reason != "" {
		facts = append(facts, kit.Fact{Text: "Requester's reason", Value: q.Reason})
	}
	if q.DecidedAt.IsZero() {
		return facts
	}
	by := q.DecidedBy
	if q.Alone {
		by += ", without a second operator"
	}
	facts = append(facts, kit.Fact{Text: "Decided by", Value: by}, kit.Fact{Text: "Decided", Value: kit.Instant(q.DecidedAt)})
	if q.DecisionReason != "" {
		facts = append(facts, kit.Fact{Text: "Decision reason", Value: q.DecisionReason})
	}
	return facts
}

// changesTable has a row per field, before and after.
func changesTable(v *kit.Visit, e proposal.Effect) *kit.Table {
	t := kit.Table{
		Name: "changes", Bare: true, Caption: "Fields before and after",
		Columns: []kit.Column{{Name: "field", Title: "Field"}, {Name: "before", Title: "Before"}, {Name: "after", Title: "After"}},
	}
	for _, c := range e.Changes {
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.Words(kit.Say(c.Field)), kit.Words(e.Text(c, true)), kit.Words(e.Text(c, false)),
		}})
	}
	return v.Table(t)
}

func figureFacts(list []proposal.Figure) (facts []kit.Fact) {
	for _, f := range list {
		value := ""
		switch {
		case f.Count != nil:
			value = kit.Count(*f.Count)
		case f.Amount != nil:
			value = kit.Money(*f.Amount, f.Currency)
		}
		facts = append(facts, kit.Fact{Text: kit.Say(f.Name), Value: value, Figure: true})
	}
	return facts
}

func fileFacts(f proposal.FileEffect) (facts []kit.Fact) {
	for _, of := range []struct {
		name string
		n    int
	}{
		{"Rows in the file", f.Rows}, {"Rejected rows", f.Refused}, {"New bookings", f.BookingsCreated},
		{"Bookings already imported", f.BookingsThere}, {"New payments", f.PaymentsCreated},
		{"Payments already imported", f.PaymentsThere},
	} {
		facts = append(facts, kit.Fact{Text: of.name, Value: kit.Count(int64(of.n)), Figure: true})
	}
	return facts
}

// sharesTable has the merchants in a file, with their sums.
func sharesTable(v *kit.Visit, list []proposal.FileShares) *kit.Table {
	t := kit.Table{
		Name: "channels", Bare: true, Caption: "Merchants in the file",
		Columns: []kit.Column{
			{Name: "channel", Title: "Merchant"}, {Name: "new", Title: "New"}, {Name: "mode", Title: "Mode"},
			{Name: "payments", Title: "Payments", Figure: true}, {Name: "added", Title: "Paid", Figure: true},
			{Name: "taken", Title: "Refunded", Figure: true}, {Name: "first", Title: "First"}, {Name: "last", Title: "Last"},
		},
	}
	for _, c := range list {
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.Words(c.Channel), kit.YesNo(c.Created), kit.Words(kit.Say(c.Mode)), kit.Number(int64(c.Payments)),
			kit.Sum(c.Added, c.Currency), kit.Sum(c.Taken, c.Currency), dayOf(c.FirstPaid), dayOf(c.LastPaid),
		}})
	}
	return v.Table(t)
}

// dayOf formats an API day; anything else is returned as is.
func dayOf(text string) kit.Cell {
	if day, err := civil.ParseDay(text); err == nil {
		return kit.OnDay(day)
	}
	return kit.Words(text)
}

// decide returns the handler of a decision: the use case to call and the flash message. Rejecting needs a reason, because
// the requester reads it.
func (p *pages) decide(verb string) kit.Handler {
	return func(v *kit.Visit) error {
		id, err := v.ID("id")
		if err != nil {
			return err
		}
		form, err := v.Form()
		if err != nil {
			return err
		}
		rooms, reason := p.app.Approvals, form.Get("reason")
		var problems errs.Problems
		if check.Note(&problems, "reason", reason); reason == "" && verb == "reject" {
			problems.Wrong("reason", "Give a reason. The person who requested the change sees it.")
		}
		var q proposal.Proposal
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
