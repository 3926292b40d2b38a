package failures

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"holdfast/internal/book/certificates"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// claimTones are the colours of the states of claims.
var claimTones = map[claim.State]string{
	claim.StateOpen: "warn", claim.StateAssessed: "warn", claim.StateApproved: "good", claim.StatePaid: "good", claim.StateRejected: "bad",
	claim.StateWithdrawn: "calm",
}

// claimAt returns the URL of a claim, or of a page below it.
func claimAt(v *kit.Visit, id int64, below string) string {
	return v.At("/claims/" + kit.Ident(id).Plain + below)
}

// claims lists the site's claims, latest first.
func (p *pages) claims(v *kit.Visit) error {
	page, err := v.PageOf([]string{"id", "payable"}, true)
	if err != nil {
		return err
	}
	form := &kit.Form{Values: v.R.URL.Query()}
	filter, err := claimFilter(form)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "claims", Caption: "Claims",
		Columns: []kit.Column{
			{Name: "id", Title: "Number", Figure: true, Sorts: true}, {Name: "merchant", Title: "Merchant"}, {Name: "state", Title: "Status"},
			{Name: "dispute", Title: "Dispute"}, {Name: "date", Title: "Disputed on"}, {Name: "booking", Title: "Booking", Hidden: true},
			{Name: "disputed", Title: "Disputed", Currency: "currencies"}, {Name: "payable", Title: "Payable", Currency: "currencies", Sorts: true},
			{Name: "represent", Title: "To represent", Currency: "currencies", Hidden: true}, {Name: "reason", Title: "Reason", Minor: true}, {Name: "covered", Title: "Covered", Currency: "policy_currency"},
			{Name: "paid", Title: "Paid or planned", Currency: "policy_currency", Hidden: true}, {Name: "overpaid", Title: "Overpaid", Currency: "policy_currency", Hidden: true},
			{Name: "loss", Title: "Loss", Currency: "currencies", Hidden: true}, {Name: "assessed_by", Title: "Assessed by", Hidden: true},
			{Name: "insolvencies", Title: "Insolvency", Figure: true, Hidden: true},
		},
		Empty: kit.Empty{
			Title: "No claims", Text: "When cardholders dispute payments of an insolvent merchant, each dispute becomes a claim, which you assess and approve here.",
		},
	}
	err = choices.Fill(v, p.app, &t, page, func(page store.Page) (store.List[claims.Claim], error) {
		return p.app.Claims.List(v.R.Context(), v.Actor, filter, page)
	}, func(c claims.Claim) int64 { return c.ChannelID }, func(c claims.Claim, m merchant.Channel) kit.Row { return claimRow(v, c, m.Name) })
	if err != nil {
		return err
	}
	made := v.Table(t)
	channels, err := choices.Channels(v, p.app, "All merchants")
	if err != nil {
		return err
	}
	totals, err := p.sums(v, filter)
	if err != nil {
		return err
	}
	return v.ShowTable(p.Pages, "claims.html", made, kit.Page{
		Title: "Claims", Menu: menu, Path: above(v)[:1], Parts: v.Parts("failures", "/claims"), Wide: true, Data: struct {
			List                      *kit.Table
			Filter                    *kit.Form
			Sums                      []kit.Fact
			States, Reasons, Channels any
			Represent                 any
			Send                      string
		}{
			made, form, totals, choices.Words(claim.States, "All"), choices.Words(claim.Reasons, "All"), channels,
			kit.Options("", "All", "1", "Claims to represent"), v.At("/claims"),
		},
	})
}

func claimFilter(form *kit.Form) (f claims.Filter, err error) {
	r := form.Reading()
	if id := r.Number("channels"); id != nil {
		f.Channels = []int64{*id}
	}
	if id := r.Number("insolvencies"); id != nil {
		f.Insolvencies = []int64{*id}
	}
	f.States = choices.OneOf(r, "state", claim.States)
	f.Reasons = choices.OneOf(r, "reason", claim.Reasons)
	switch r.Get("to_represent") {
	case "":
	case "1":
		f.ToRepresent = true
	default:
		r.Problems.Wrong("to_represent", "Unknown word.")
	}
	return f, r.Problems.Err()
}

// sums are the totals above the list, by currency.
func (p *pages) sums(v *kit.Visit, f claims.Filter) (facts []kit.Fact, err error) {
	list, err := p.app.Claims.Sums(v.R.Context(), v.Actor, f)
	for _, s := range list {
		facts = append(facts,
			kit.Fact{Text: "Claims in " + string(s.Currency), Value: kit.Count(s.Claims), Figure: true},
			kit.Fact{Text: "Disputed", Value: kit.Money(s.Disputed, s.Currency), Figure: true},
			kit.Fact{Text: "Payable", Value: kit.Money(s.Payable, s.Currency), Figure: true},
			kit.Fact{Text: "To represent", Value: kit.Money(s.Represent, s.Currency), Figure: true})
	}
	return facts, err
}

func claimRow(v *kit.Visit, c claims.Claim, merchant string) kit.Row {
	booking := kit.Ident(c.BookingID)
	booking.Href = v.At("/bookings/" + booking.Plain)
	return kit.Row{Href: claimAt(v, c.ID, ""), Cells: []kit.Cell{
		kit.Ident(c.ID), kit.Linked(merchant, claimAt(v, c.ID, "")), kit.State(string(c.State), claimTones[c.State]),
		kit.Words(dispute.CaseText(c.Source, c.CaseID)), kit.OnDay(c.FirstDay), booking, kit.Sum(c.Disputed, c.Currency), kit.Sum(c.Payable, c.Currency), kit.Sum(c.Represent, c.Currency),
		kit.State(string(c.Reason), ""), kit.Sum(c.Covered, c.PolicyCurrency), kit.Sum(c.Paid, c.PolicyCurrency),
		kit.Sum(c.Overpaid, c.PolicyCurrency), kit.Sum(c.Loss, c.Currency), kit.Words(c.AssessedByName), kit.Ident(c.InsolvencyID),
	}}
}

// claim shows one claim with its calculation and history.
func (p *pages) claim(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	c, err := p.app.Claims.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	channel, err := p.app.Channels.Get(v.R.Context(), v.Actor, c.ChannelID)
	if err != nil {
		return err
	}
	explained, err := p.app.Claims.Explain(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	history, err := p.app.Claims.History(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	disputed, err := p.disputeOf(v, c)
	if err != nil {
		return err
	}
	facts := []kit.Fact{
		{Text: "Status", Value: kit.Say(c.State), Tone: claimTones[c.State]}, {Text: "Merchant", Value: channel.Name, Href: at(v, c.InsolvencyID, "")},
		{Text: "Booking", Value: kit.Ident(c.BookingID).Text, Href: v.At("/bookings/" + kit.Ident(c.BookingID).Plain)},
		{Text: "Payment", Value: kit.Ident(c.TransactionID).Text, Href: v.At("/payments/" + kit.Ident(c.TransactionID).Plain)},
		disputed, {Text: "Disputed on", Value: kit.Day(c.FirstDay)},
		{Text: "Disputed", Value: kit.Money(c.Disputed, c.Currency), Figure: true}, {Text: "Payable", Value: kit.Money(c.Payable, c.Currency), Figure: true},
		{Text: "Covered", Value: kit.Money(c.Covered, c.PolicyCurrency), Figure: true}, {Text: "Paid or planned", Value: kit.Money(c.Paid, c.PolicyCurrency), Figure: true},
	}
	if c.Overpaid > 0 {
		facts = append(facts, kit.Fact{Text: "Overpaid", Value: kit.Money(c.Overpaid, c.PolicyCurrency), Figure: true})
	}
	if c.Represent > 0 {
		facts = append(facts, kit.Fact{Text: "To represent", Value: kit.Money(c.Represent, c.Currency), Figure: true})
	}
	if !c.Note.At.IsZero() {
		facts = append(facts, kit.Fact{Text: "The traveller asked", Value: askedWords[c.Note.Asked]})
	}
	note := duplicateText(c)
	var lines []happened
	for _, h := range history {
		lines = append(lines, happened{h.At, claimSteps[h.Step()], saidBy(h.By, h.Reason)})
	}
	return v.Show(p.Pages, "claim.html", kit.Page{
		Title: fmt.Sprintf("Claim %d", c.ID), Menu: menu, Path: aboveClaims(v), Acts: claimActs(v, c), Data: struct {
			Summary string
			Note    string
			Facts   []kit.Fact
			Steps   []protection.Step
			History []happened
		}{explained.Summary, note, facts, explained.Steps, lines},
	})
}

// askedWords are where travellers have asked for their money.
var askedWords = map[certificates.Asked]string{
	certificates.AskedBank: "The bank", certificates.AskedInsurer: "An insurer", certificates.AskedProtection: "A guarantee fund or bond",
	certificates.AskedNobody: "Nobody",
}

// duplicateText is a warning if the traveller may be paid by others.
func duplicateText(c claims.Claim) string {
	if !c.MayBeDuplicate() {
		return ""
	}
	var says []string
	if c.Note.PaidBack > c.Refunded {
		text := kit.Money(c.Note.PaidBack, c.Currency) + " has been paid back"
		if c.Refunded > 0 {
			text += " (refunds on record: " + kit.Money(c.Refunded, c.Currency) + ")"
		}
		says = append(says, text)
	}
	switch c.Note.Asked {
	case certificates.AskedInsurer:
		says = append(says, "an insurer was asked for the money")
	case certificates.AskedProtection:
		says = append(says, "a guarantee fund or bond was asked for the money")
	}
	return "This may be a duplicate: the traveller says that " + strings.Join(says, " and that ") + "."
}

// disputeOf names the dispute of a claim, with a link for those who may read disputes.
func (p *pages) disputeOf(v *kit.Visit, c claims.Claim) (kit.Fact, error) {
	fact := kit.Fact{Text: "Dispute", Value: dispute.CaseText(c.Source, c.CaseID)}
	if !v.Can(access.ReadDisputes) {
		return fact, nil
	}
	list, err := p.app.Disputes.List(v.R.Context(), v.Actor, disputes.Filter{Sources: []string{c.Source}, CaseIDs: []string{c.CaseID}}, store.Page{Number: 1, Size: 1})
	if err == nil && len(list.Items) > 0 {
		fact.Href = v.At("/disputes/" + kit.Ident(list.Items[0].ID).Plain)
	}
	return fact, err
}

// claimSteps are the display names of the steps in the history of a claim.
var claimSteps = map[string]string{
	"make": "Made from a dispute", "change": "Payable amount changed", "assess": "Assessed", "approve": "Approved", "reject": "Rejected",
	"withdraw": "Withdrawn", "reopen": "Reopened", "release": "Released", "pay": "Paid",
}

// saidBy names a person, and their reason.
func saidBy(by, reason string) string {
	text := ""
	if by != "" {
		text = "by " + by
	}
	if reason != "" && text != "" {
		text += ": "
	}
	return text + reason
}

func aboveClaims(v *kit.Visit) []kit.Link {
	return []kit.Link{{Text: "Merchants", Href: v.At("/channels")}, {Text: "Claims", Href: v.At("/claims")}}
}

// claimAction is a step of the review of a claim.
type claimAction struct {
	below, button, title, text string // title has a %d for the claim
	may                        access.Permission
	in                         []claim.State
	harm, why                  bool // why: a reason is required
	done                       string
	do                         func(r *claims.Claims, ctx context.Context, actor access.Actor, id int64, reason string) (claims.Claim, error)
}

// claimActions lists them, in the order of their buttons.
var claimActions = []claimAction{
	{
		below: "approve", button: "Approve", title: "Approve claim %d?", may: access.DecideClaims, in: []claim.State{claim.StateAssessed},
		text: "The covered amount is paid with the next payout. The person who assessed the claim cannot approve it.", done: "Claim approved.",
		do: (*claims.Claims).Approve,
	},
	{
		below: "assess", button: "Assess", title: "Assess claim %d?", may: access.AssessClaims, in: []claim.State{claim.StateOpen, claim.StateAssessed},
		text: "You have checked the claim, and it is payable as it is now. Another person approves it.", done: "Claim assessed.",
		do: (*claims.Claims).Assess,
	},
	{
		below: "reopen", button: "Reopen", title: "Reopen claim %d?", may: access.DecideClaims, why: true,
		in:   []claim.State{claim.StateAssessed, claim.StateApproved, claim.StatePaid, claim.StateRejected, claim.StateWithdrawn},
		text: "It has to be assessed and approved again.", done: "Claim reopened.", do: (*claims.Claims).Reopen,
	},
	{
		below: "reject", button: "Reject", title: "Reject claim %d?", may: access.DecideClaims, harm: true, why: true,
		in:   []claim.State{claim.StateOpen, claim.StateAssessed, claim.StateApproved, claim.StatePaid},
		text: "The claim is not paid. Amounts already paid are set off against the next payout.", done: "Claim rejected.", do: (*claims.Claims).Reject,
	},
	{
		below: "withdraw", button: "Withdraw", title: "Withdraw claim %d?", may: access.AssessClaims, why: true,
		in:   []claim.State{claim.StateOpen, claim.StateAssessed, claim.StateApproved, claim.StatePaid},
		text: "Do this if the claim is not pursued any further.", done: "Claim withdrawn.", do: (*claims.Claims).Withdraw,
	},
	{
		below: "release", button: "Release", title: "Release claim %d?", may: access.DecideClaims, why: true, in: claim.States,
		text: "The traveller's other protection does not pay, so the claim no longer waits for it.", done: "Claim released.",
		do: (*claims.Claims).Release,
	},
}

// claimActs are the buttons of a claim. The next step is the primary one.
func claimActs(v *kit.Visit, c claims.Claim) (list []kit.Link) {
	for _, a := range claimActions {
		if !v.Can(a.may) || !slices.Contains(a.in, c.State) || a.below == "release" && c.Reason != claim.OtherProtectionFirst ||
			a.below == "approve" && c.AssessedBy == v.User.ID && !v.Site.Sandbox {
			continue
		}
		list = append(list, kit.Link{Text: a.button, Href: claimAt(v, c.ID, "/"+a.below), Plain: len(list) > 0 || a.below != "approve" && a.below != "assess"})
	}
	return list
}

// actOnClaim returns the handler of a step: a confirmation with a reason, and the step itself.
func (p *pages) actOnClaim(a claimAction) kit.Handler {
	return func(v *kit.Visit) error {
		id, err := v.ID("id")
		if err != nil {
			return err
		}
		if _, err := p.app.Claims.Get(v.R.Context(), v.Actor, id); err != nil {
			return err
		}
		form := kit.Filled()
		if v.R.Method == http.MethodPost {
			if form, err = v.Form(); err != nil {
				return err
			}
			_, err := a.do(p.app.Claims, v.R.Context(), v.Actor, id, form.Get("reason"))
			if ok, err := v.Took(form, err); err != nil {
				return err
			} else if ok {
				return v.Done(claimAt(v, id, ""), "%s", a.done)
			}
		}
		label := "Note"
		if a.why {
			label = "Reason"
		}
		return v.Confirm(kit.Confirmation{
			Title: fmt.Sprintf(a.title, id), Text: []string{a.text}, Act: a.button, Harm: a.harm, Back: claimAt(v, id, ""), Reason: label, Again: form,
		}, kit.Page{Menu: menu, Path: append(aboveClaims(v), kit.Link{Text: fmt.Sprintf("Claim %d", id), Href: claimAt(v, id, "")})})
	}
}
