package disputes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/store"
)

// NewReport is a report of a person.
type NewReport struct {
	Problems errs.Problems // of its fields
	dispute.Report
}

// Create records a report of a person: a new case, or a further event of a case that is known. created reports whether the case is new. It
// needs the permission WorkDisputes, as everything that changes a case does.
func (d *Disputes) Create(ctx context.Context, actor access.Actor, in NewReport) (c Case, created bool, err error) {
	in.Source, created = cmp.Or(in.Source, Manual), true // a repeated request answers like the first one
	c, err = d.once(ctx, actor, func(w *write) (Case, error) {
		if err := w.checkPersons(in); err != nil {
			return Case{}, err
		}
		c, _, err := w.take(in.Report, rawOf(in.Report))
		created = c.Version == 1
		return c, err
	})
	return c, created, err
}

// checkPersons checks a report of a person. The transaction that it names must exist.
func (w *write) checkPersons(in NewReport) error {
	p := in.Problems.Clone()
	checkReport(&p, in.Report, civil.DayOf(w.tx.Now))
	if id := in.Clues.TransactionID; id != 0 {
		if _, err := payments.Transaction(w.tx, w.site.ID, id); errors.Is(err, store.ErrNotFound) {
			p.Wrong("transaction_id", "Transaction %d not found.", id)
		} else if err != nil {
			return err
		}
	}
	if err := p.Err(); err != nil {
		return err
	}
	return noCardNumber(in.Report)
}

// AddEvent records an event of a case that a person reports, such as that it is lost.
func (d *Disputes) AddEvent(ctx context.Context, actor access.Actor, id int64, in NewReport) (Case, error) {
	return d.change(ctx, actor, id, "dispute.event", func(w *write, c *Case) error {
		in.Source, in.CaseID = c.Source, c.CaseID
		if err := w.checkPersons(in); err != nil {
			return err
		}
		r := in.Report
		if _, err := w.add(c, r, rawOf(r)); err != nil {
			return err
		}
		return w.settle(c, r.Clues.TransactionID)
	})
}

// Choice is a person's decision about the payment of a case.
type Choice struct {
	Problems      errs.Problems // of its fields
	TransactionID int64
	Reason        string
	KeepMerchant  bool // from now on, the merchant's name in files means the channel of the payment
}

// Match decides which payment a case is about. The error is ActionNotPossible if the case is matched already, or if the transaction took no
// money.
func (d *Disputes) Match(ctx context.Context, actor access.Actor, id int64, in Choice) (Case, error) {
	return d.change(ctx, actor, id, "dispute.match", func(w *write, c *Case) error {
		p := in.Problems.Clone()
		if in.TransactionID == 0 && !p.Has("transaction_id") {
			p.Missing("transaction_id")
		}
		if err := needText(&p, "reason", in.Reason); err != nil {
			return err
		}
		if c.TransactionID != 0 {
			return NotPossible(c, "already_matched", "Dispute %d is matched with transaction %d. Undo that first.", c.ID, c.TransactionID)
		}
		t, err := payments.Charged(w.tx, w.site.ID, in.TransactionID)
		if errors.Is(err, store.ErrNotFound) {
			return errs.WrongField("transaction_id", "Transaction %d not found.", in.TransactionID)
		}
		if err != nil {
			return err
		}
		to := addsValue(t)
		if to == nil {
			return NotPossible(c, "not_a_payment", "Transaction %d is a %s with status %s. A dispute is about a purchase or capture that took money.",
				t.ID, t.Type, t.Status)
		}
		if err := w.matched(c, to[0], dispute.ByPerson, pointsOf(c, t), in.Reason); err != nil {
			return err
		}
		if in.KeepMerchant && c.Merchant != "" {
			if err := w.keepMerchant(c.Merchant, t.ChannelID); err != nil {
				return err
			}
		}
		return w.post(c)
	})
}

// pointsOf are the points of the payment that a person chose.
func pointsOf(c *Case, t payment.Transaction) dispute.Points {
	return dispute.Score(c.report(), candidateOf(t))
}

// Unmatch undoes a match: what the case moved in the ledger is taken back, and it waits in the queue.
func (d *Disputes) Unmatch(ctx context.Context, actor access.Actor, id int64, reason string) (Case, error) {
	return d.change(ctx, actor, id, "dispute.unmatch", func(w *write, c *Case) error {
		if err := needText(&errs.Problems{}, "reason", reason); err != nil {
			return err
		}
		if c.TransactionID == 0 {
			return NotPossible(c, "not_matched", "Dispute %d is not matched with a payment.", c.ID)
		}
		if err := w.undo(c, "Taken back: the dispute is about another payment."); err != nil {
			return err
		}
		e := act(dispute.UnmatchKind, w)
		e.ObjectID, e.Note = c.TransactionID, reason
		if _, err := insertEvent(w.tx, c, e); err != nil {
			return err
		}
		list, err := candidates(w.tx, w.site.ID, 0, c.report())
		if err != nil {
			return err
		}
		ranked, _ := dispute.Choose(c.report(), list)
		c.TransactionID, c.BaseCurrency = 0, ""
		if c.ChannelID, err = w.channelOf(c.Merchant); err != nil {
			return err
		}
		// A person has to choose: by the same rules it would be matched as before.
		c.Candidates, c.Matching = ranked[:min(len(ranked), dispute.MostCandidates)], dispute.Queued
		return nil
	})
}

// Assign sets who works on a case; "" unassigns it.
func (d *Disputes) Assign(ctx context.Context, actor access.Actor, id int64, to string) (Case, error) {
	return d.change(ctx, actor, id, "dispute.assign", func(w *write, c *Case) error {
		var p errs.Problems
		check.Line(&p, "assigned", to)
		if err := p.Err(); err != nil {
			return err
		}
		e := act(dispute.AssignKind, w)
		e.Note, c.Assignee = to, to
		_, err := insertEvent(w.tx, c, e)
		return err
	})
}

// Note adds a note of a person to a case.
func (d *Disputes) Note(ctx context.Context, actor access.Actor, id int64, note string) (Case, error) {
	return d.change(ctx, actor, id, "dispute.note", func(w *write, c *Case) error {
		if err := needText(&errs.Problems{}, "note", note); err != nil {
			return err
		}
		e := act(dispute.NoteKind, w)
		e.Note = note
		_, err := insertEvent(w.tx, c, e)
		return err
	})
}

// Accept records that the merchant does not defend a case. It moves no money.
func (d *Disputes) Accept(ctx context.Context, actor access.Actor, id int64, note string) (Case, error) {
	return d.decide(ctx, actor, id, "dispute.accept", dispute.Accepted, note)
}

// Challenge records that evidence was sent.
func (d *Disputes) Challenge(ctx context.Context, actor access.Actor, id int64, note string) (Case, error) {
	return d.decide(ctx, actor, id, "dispute.challenge", dispute.Challenged, note)
}

// Represent records that a chargeback was represented with the evidence of the case. The error is ActionNotPossible if it has no evidence, is
// not open, or is not a chargeback.
func (d *Disputes) Represent(ctx context.Context, actor access.Actor, id int64, note string) (Case, error) {
	return d.decide(ctx, actor, id, "dispute.represent", dispute.Challenged, note)
}

func (d *Disputes) decide(ctx context.Context, actor access.Actor, id int64, action string, to dispute.Status, note string) (Case, error) {
	return d.change(ctx, actor, id, action, func(w *write, c *Case) error {
		if c.Status.Final() || c.Status == to {
			return NotPossible(c, "not_open", "Dispute %d is %s.", c.ID, c.Status)
		}
		if note != "" {
			if err := needText(&errs.Problems{}, "note", note); err != nil {
				return err
			}
		}
		if action == "dispute.represent" {
			if err := w.representable(c); err != nil {
				return err
			}
		}
		e := act(dispute.NoMoney, w)
		e.Stage, e.Status, e.Day, e.Note = c.Stage, to, civil.DayOf(w.tx.Now), note
		_, err := insertEvent(w.tx, c, e)
		return err
	})
}

// representable returns an error unless a case can be represented.
func (w *write) representable(c *Case) error {
	if c.Stage == dispute.Inquiry || c.Stage == dispute.PreDispute {
		return NotPossible(c, "not_a_chargeback", "Dispute %d is in the stage %s. Only a chargeback can be represented.", c.ID, c.Stage)
	}
	evidence, err := FilesOf(w.tx, c.SiteID, c.ID)
	if err == nil && len(evidence) == 0 {
		err = NotPossible(c, "no_evidence", "Dispute %d has no evidence. Attach a file first.", c.ID)
	}
	return err
}

// change changes a case in one write and records that in the audit.
func (d *Disputes) change(
	ctx context.Context, actor access.Actor, id int64, action string, fn func(w *write, c *Case) error,
) (Case, error) {
	return d.once(ctx, actor, func(w *write) (Case, error) {
		c, err := lockByID(w.tx, actor.SiteID, id)
		if err != nil {
			return c, unknownCase(err, id)
		}
		before := c
		c.Events, c.Postings = slices.Clone(c.Events), slices.Clone(c.Postings)
		if err := fn(w, &c); err != nil {
			return c, err
		}
		if len(c.Events) == len(before.Events) && len(c.Postings) == len(before.Postings) {
			return c, nil // it was known
		}
		if err := w.save(before, &c, false); err != nil {
			return c, err
		}
		return c, audit.Record(w.tx, actor, action, fmt.Sprintf("dispute %d", id), audited(before), audited(c))
	})
}

// audited is the audited part of a case.
func audited(c Case) any {
	return struct {
		Transaction int64            `json:"transaction_id"`
		Matching    dispute.Matching `json:"matched"`
		Stage       dispute.Stage    `json:"stage"`
		Status      dispute.Status   `json:"status"`
		Assigned    string           `json:"assigned"`
		Events      int              `json:"events"`
	}{c.TransactionID, c.Matching, c.Stage, c.Status, c.Assignee, len(c.Events)}
}

// once runs a write by a person once per idempotency key.
func (d *Disputes) once(ctx context.Context, actor access.Actor, fn func(w *write) (Case, error)) (Case, error) {
	if err := actor.Require(access.WorkDisputes); err != nil {
		return Case{}, err
	}
	return idempotency.Once(ctx, d.DB, actor, func(tx *store.Tx) (c Case, _ idempotency.Outcome, err error) {
		site, err := merchants.SiteInForce(tx, actor.SiteID)
		if err != nil {
			return c, idempotency.Outcome{}, err
		}
		w := &write{payments: d.Payments, tx: tx, actor: actor, site: site, origin: originPerson}
		if c, err = fn(w); err != nil {
			return c, idempotency.Outcome{}, err
		}
		return c, idempotency.Outcome{ID: c.ID}, ledger.SaveChanges(tx)
	}, func(ctx context.Context, made idempotency.Outcome) (Case, error) { return d.Get(ctx, actor, made.ID) })
}

// NotPossible is the error of an action that the state of a case does not allow.
func NotPossible(c *Case, reason, format string, args ...any) error {
	return &errs.Error{Kind: errs.ActionNotPossible, State: string(c.Status), Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// needText checks a text that is required, and returns all problems.
func needText(p *errs.Problems, field, text string) error {
	if text == "" {
		p.Missing(field)
	}
	check.Note(p, field, text)
	if err := p.Err(); err != nil {
		return err
	}
	if card.HoldsCardNumber(text) {
		return errs.New(errs.CardNumber, "The text contains a card number.")
	}
	return nil
}

// The forms of clues.
var (
	arnForm      = regexp.MustCompile(`^\d{23}$`)
	lastFourForm = regexp.MustCompile(`^\d{4}$`)
	binForm      = regexp.MustCompile(`^\d{6}(\d{2})?$`)
)

// textsOf are the texts of a report by the names of their fields.
func textsOf(r dispute.Report) map[string]string {
	return map[string]string{
		"source": r.Source, "case_id": r.CaseID, "reason_code": r.ReasonCode, "refers_to": r.RefersTo, "merchant": r.Merchant,
		"processor_reference": r.Clues.ProcessorReference, "processor_alias": r.Clues.ProcessorAlias, "reference": r.Clues.PaymentReference,
		"auth_code": r.Clues.AuthCode, "schemes": r.Clues.Scheme,
	}
}

func noCardNumber(r dispute.Report) error {
	for field, text := range textsOf(r) {
		if card.HoldsCardNumber(text) {
			return errs.New(errs.CardNumber, "The field %s contains a card number.", field)
		}
	}
	if card.HoldsCardNumber(r.Reason) {
		return errs.New(errs.CardNumber, "The field reason contains a card number.")
	}
	return nil
}

// checkReport checks the fields of a report. Its days must not be after today.
func checkReport(p *errs.Problems, r dispute.Report, today civil.Day) {
	for field, text := range textsOf(r) {
		check.Line(p, field, text)
	}
	check.Note(p, "reason", r.Reason)
	if r.CaseID == "" {
		p.Missing("case_id")
	}
	if r.Stage != "" {
		check.OneOf(p, "stage", r.Stage, dispute.Stages)
	}
	if r.Status != "" {
		check.OneOf(p, "status", r.Status, dispute.Statuses)
	}
	if r.Kind != dispute.NoMoney {
		check.OneOf(p, "kind", r.Kind, []dispute.Kind{dispute.Debit, dispute.Credit, dispute.Fee, dispute.Prevention})
	}
	for field, amount := range map[string]int64{"amount": r.Amount, "paid_total": r.Clues.PaidAmount} {
		if amount < 0 || amount > check.MaxAmount {
			p.Wrong(field, "Must be between 1 and %d minor units.", int64(check.MaxAmount))
		}
	}
	if r.Amount > 0 && r.Currency == "" && !p.Has("currencies") {
		p.Missing("currencies")
	}
	if r.Clues.PaidAmount > 0 && r.Clues.PaidCurrency == "" && !p.Has("paid_currencies") {
		p.Missing("paid_currencies")
	}
	if r.Kind != dispute.NoMoney && r.Amount == 0 && !r.Whole && !p.Has("amount") {
		p.Missing("amount")
	}
	if r.Day != civil.NoDay && r.Day > today {
		p.Wrong("day", "Must not be in the future.")
	}
	for _, clue := range []struct {
		field, text string
		form        *regexp.Regexp
		says        string
	}{
		{"acquirer_reference", r.Clues.AcquirerReference, arnForm, "Must be 23 digits."},
		{"last_four_digits", r.Clues.LastFour, lastFourForm, "Must be four digits."},
		{"bin_number", r.Clues.BIN, binForm, "Must be six or eight digits."},
	} {
		if clue.text != "" && !clue.form.MatchString(clue.text) {
			p.Wrong(clue.field, "%s", clue.says)
		}
	}
}
