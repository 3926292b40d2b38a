package disputes

import (
	"context"
	"net/http"

	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/web/kit"
)

// action is what a person does with a dispute, after a confirmation with a text.
type action struct {
	below, button, title, field string
	harm                        bool
	text                        []string // consequences
	done                        string
	possible                    func(c disputes.Case) bool
	do                          func(d *disputes.Disputes, ctx context.Context, actor access.Actor, id int64, text string) (disputes.Case, error)
}

func undecided(c disputes.Case) bool { return !c.Status.Final() }

func always(disputes.Case) bool { return true }

// actions lists the actions, in the order of their buttons.
var actions = []action{
	{
		below: "challenge", button: "Challenge", title: "Was this dispute answered?", field: "Note", do: (*disputes.Disputes).Challenge,
		text:     []string{"This records that evidence was sent to the processor. It sends nothing itself and moves no money."},
		possible: func(c disputes.Case) bool { return c.Status == dispute.Open }, done: "Dispute challenged.",
	},
	{
		below: "represent", button: "Represent", title: "Was this chargeback represented?", field: "Note", do: (*disputes.Disputes).Represent,
		text: []string{"This records that the attached evidence was sent to the processor. It sends nothing itself and moves no money."},
		possible: func(c disputes.Case) bool {
			return c.Status == dispute.Open && c.Stage != dispute.Inquiry && c.Stage != dispute.PreDispute
		},
		done: "Chargeback represented.",
	},
	{
		below: "accept", button: "Accept", title: "Accept this dispute?", field: "Note", do: (*disputes.Disputes).Accept,
		text: []string{"This records that the merchant does not defend it. It moves no money."}, possible: undecided, done: "Dispute accepted.",
	},
	{
		below: "lost", button: "Record as lost", title: "Is this dispute lost?", field: "Note", do: byHand(dispute.Lost),
		text: []string{"This records what the processor or the bank decided. It moves no money by itself."}, possible: undecided, done: "Dispute lost.",
	},
	{
		below: "won", button: "Record as won", title: "Is this dispute won?", field: "Note", do: byHand(dispute.Won),
		text: []string{"This records what the processor or the bank decided. Money that comes back is a credit, which the processor reports."}, possible: undecided,
		done: "Dispute won.",
	},
	{below: "assign", button: "Assign", title: "Who works on this dispute?", field: "Name", do: (*disputes.Disputes).Assign, possible: always, done: "Dispute assigned."},
	{below: "note", button: "Add note", title: "Add a note", field: "Note", do: (*disputes.Disputes).Note, possible: always, done: "Note added."},
	{
		below: "unmatch", button: "Undo match", title: "Undo the match?", field: "Reason", harm: true, do: (*disputes.Disputes).Unmatch,
		text: []string{
			"What this dispute charged back and gave back in the ledger is taken back.",
			"From then on only a person can match it.",
		},
		possible: func(c disputes.Case) bool { return c.TransactionID != 0 }, done: "Match undone.",
	},
}

// byHand returns an action that records a status, with a note.
func byHand(status dispute.Status) func(d *disputes.Disputes, ctx context.Context, actor access.Actor, id int64, text string) (disputes.Case, error) {
	return func(d *disputes.Disputes, ctx context.Context, actor access.Actor, id int64, text string) (disputes.Case, error) {
		c, err := d.AddEvent(ctx, actor, id, disputes.NewReport{Report: dispute.Report{
			Status: status, Reason: "", Day: civil.NoDay, DueOn: civil.NoDay, Clues: dispute.Clues{PaidOn: civil.NoDay},
		}})
		if err != nil || text == "" {
			return c, err
		}
		return d.Note(ctx, actor, id, text)
	}
}

// actsOf are the buttons of a dispute. The first one is the primary one.
func actsOf(v *kit.Visit, c disputes.Case) (list []kit.Link) {
	if !v.Can(access.WorkDisputes) {
		return nil
	}
	for _, a := range actions {
		if a.possible(c) {
			list = append(list, kit.Link{Text: a.button, Href: at(v, c.ID, "/"+a.below), Plain: len(list) > 0})
		}
	}
	return list
}

// act returns the handler of an action: a confirmation with a text, and the action itself.
func (p *pages) act(a action) kit.Handler {
	return func(v *kit.Visit) error {
		id, err := v.ID("id")
		if err != nil {
			return err
		}
		c, err := p.app.Disputes.Get(v.R.Context(), v.Actor, id)
		if err != nil {
			return err
		}
		return p.confirm(v, c, kit.Confirmation{
			Title: a.title, Text: a.text, Act: a.button, Harm: a.harm, Back: at(v, id, ""), Reason: a.field,
		}, a.done, func(text string) error {
			_, err := a.do(p.app.Disputes, v.R.Context(), v.Actor, id, text)
			return err
		})
	}
}

// confirm shows a confirmation, or does what was confirmed.
func (p *pages) confirm(v *kit.Visit, c disputes.Case, asked kit.Confirmation, done string, do func(text string) error) error {
	form := kit.Filled()
	if v.R.Method == http.MethodPost {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		if ok, err := v.Took(form, do(form.Get("reason"))); err != nil {
			return err
		} else if ok {
			return v.Done(at(v, c.ID, ""), "%s", done)
		}
	}
	asked.Again = form
	return v.Confirm(asked, kit.Page{Menu: menu, Path: append(above(v), kit.Link{Text: "Dispute " + c.CaseID, Href: at(v, c.ID, "")})})
}

// match confirms the choice of a payment.
func (p *pages) match(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	payment, err := v.ID("transaction")
	if err != nil {
		return err
	}
	c, err := p.app.Disputes.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	if _, err := p.app.Payments.Get(v.R.Context(), v.Actor, payment); err != nil {
		return err
	}
	return p.confirm(v, c, kit.Confirmation{
		Title: "Is this dispute about payment " + kit.Ident(payment).Text + "?", Act: "Match payment", Back: at(v, id, ""), Reason: "Reason",
		Text: []string{"Its chargebacks and reversals are recorded on this payment. You can undo this later."},
	}, "Payment matched.", func(reason string) error {
		_, err := p.app.Disputes.Match(v.R.Context(), v.Actor, id, disputes.Choice{TransactionID: payment, Reason: reason})
		return err
	})
}

// attach uploads a file of evidence.
func (p *pages) attach(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	form, file, name, err := v.Upload("file")
	if err != nil {
		return err
	}
	_, err = p.app.Disputes.Attach(v.R.Context(), v.Actor, id, name, form.Get("note"), file)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.show(v, id, form)
	}
	return v.Done(at(v, id, ""), "File attached.")
}

// file sends a file of evidence as a download. Browsers never render it inside the dashboard.
func (p *pages) file(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	which, err := v.ID("evidence")
	if err != nil {
		return err
	}
	e, content, err := p.app.Disputes.EvidenceFile(v.R.Context(), v.Actor, id, which)
	if err != nil {
		return err
	}
	return v.Attach(e.Name, e.MIME(), content)
}
