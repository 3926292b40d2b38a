package disputes

import (
	"context"
	"errors"
	"fmt"
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

// Create records a report of a person: a new case, or a further event of a case that is known. It needs the permission WorkDisputes, as all
// that changes a case does.
func (d *Disputes) Create(ctx context.Context, actor access.Actor, r dispute.Report) (Case, error) {
	return d.once(ctx, actor, func(w *write) (Case, error) {
		if err := checkReport(r, civil.DayOf(w.tx.Now)); err != nil {
			return Case{}, err
		}
		c, _, err := w.take(r, rawOf(r))
		return c, err
	})
}

// AddEvent records an event of a case that a person reports, such as that it is lost.
func (d *Disputes) AddEvent(ctx context.Context, actor access.Actor, id int64, r dispute.Report) (Case, error) {
	return d.change(ctx, actor, id, "dispute.event", func(w *write, c *Case) error {
		r.Source, r.CaseID = c.Source, c.CaseID
		if err := checkReport(r, civil.DayOf(w.tx.Now)); err != nil {
			return err
		}
		if _, err := w.add(c, r, rawOf(r)); err != nil {
			return err
		}
		return w.settle(c, r.Clues.TransactionID)
	})
}

// Match decides which payment a case is about. The error is ActionNotPossible if the case is matched already, or if the transaction took no
// money.
func (d *Disputes) Match(ctx context.Context, actor access.Actor, id, transactionID int64, reason string) (Case, error) {
	return d.change(ctx, actor, id, "dispute.match", func(w *write, c *Case) error {
		if err := needReason(reason); err != nil {
			return err
		}
		if c.TransactionID != 0 {
			return notPossible(c, "already_matched", "Dispute %d is matched with transaction %d. Undo that first.", c.ID, c.TransactionID)
		}
		t, err := payments.Charged(w.tx, w.site.ID, transactionID)
		if errors.Is(err, store.ErrNotFound) {
			return errs.WrongField("transaction_id", "Transaction %d not found.", transactionID)
		}
		if err != nil {
			return err
		}
		to := addsValue(t)
		if to == nil {
			return notPossible(c, "not_a_payment", "Transaction %d is a %s with status %s. A dispute is about a purchase or capture that took money.",
				t.ID, t.Type, t.Status)
		}
		if err := w.matched(c, to[0], dispute.ByPerson, pointsOf(c, t), reason); err != nil {
			return err
		}
		return w.post(c)
	})
}

// pointsOf are the points of the payment that a person chose.
func pointsOf(c *Case, t payment.Transaction) dispute.Points {
	return dispute.Score(c.report(), dispute.Candidate{
		TransactionID: t.ID, Currency: t.Currency, Total: t.Total, BaseCurrency: t.BaseCurrency, BaseTotal: t.BaseTotal, AuthCode: t.AuthCode,
		LastFour: t.LastFour, BIN: t.BIN, PaidOn: civil.DayOf(t.EffectiveAt),
	})
}

// Unmatch undoes a match: what the case moved in the ledger is taken back, and it waits in the queue.
func (d *Disputes) Unmatch(ctx context.Context, actor access.Actor, id int64, reason string) (Case, error) {
	return d.change(ctx, actor, id, "dispute.unmatch", func(w *write, c *Case) error {
		if err := needReason(reason); err != nil {
			return err
		}
		if c.TransactionID == 0 {
			return notPossible(c, "not_matched", "Dispute %d is not matched with a payment.", c.ID)
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

// Assign sets who works on a case; "" is nobody.
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
		if err := needText("note", note); err != nil {
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

func (d *Disputes) decide(ctx context.Context, actor access.Actor, id int64, action string, to dispute.Status, note string) (Case, error) {
	return d.change(ctx, actor, id, action, func(w *write, c *Case) error {
		if c.Status.Final() || c.Status == to {
			return notPossible(c, "not_open", "Dispute %d is %s.", c.ID, c.Status)
		}
		if note != "" {
			if err := needText("note", note); err != nil {
				return err
			}
		}
		e := act(dispute.NoMoney, w)
		e.Stage, e.Status, e.Day, e.Note = c.Stage, to, civil.DayOf(w.tx.Now), note
		_, err := insertEvent(w.tx, c, e)
		return err
	})
}

// change changes a case in one write and records that in the audit.
func (d *Disputes) change(
	ctx context.Context, actor access.Actor, id int64, action string, fn func(w *write, c *Case) error,
) (Case, error) {
	return d.once(ctx, actor, func(w *write) (Case, error) {
		c, err := lockCase(w.tx, `site_id = $1 AND id = $2`, actor.SiteID, id)
		if err != nil {
			return c, unknownCase(err, id)
		}
		list := []Case{c}
		if err := readParts(w.tx, actor.SiteID, list); err != nil {
			return c, err
		}
		c = list[0]
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

func notPossible(c *Case, reason, format string, args ...any) error {
	return &errs.Error{Kind: errs.ActionNotPossible, State: string(c.Status), Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func needReason(reason string) error { return needText("reason", reason) }

func needText(field, text string) error {
	var p errs.Problems
	if text == "" {
		p.Missing(field)
	}
	check.Note(&p, field, text)
	if err := p.Err(); err != nil {
		return err
	}
	if card.HoldsCardNumber(text) {
		return errs.New(errs.CardNumber, "The text contains a card number.")
	}
	return nil
}

// checkReport checks what a person or a file reports. The days must not be in the future.
func checkReport(r dispute.Report, today civil.Day) error {
	var p errs.Problems
	for field, text := range map[string]string{
		"source": r.Source, "case_id": r.CaseID, "reason_code": r.ReasonCode, "refers_to": r.RefersTo, "merchant": r.Merchant,
		"processor_reference": r.Clues.ProcessorReference, "reference": r.Clues.PaymentReference, "auth_code": r.Clues.AuthCode,
	} {
		check.Line(&p, field, text)
		if card.HoldsCardNumber(text) {
			return errs.New(errs.CardNumber, "The field %s contains a card number.", field)
		}
	}
	check.Note(&p, "reason", r.Reason)
	if r.Source == "" {
		p.Missing("source")
	}
	if r.CaseID == "" {
		p.Missing("case_id")
	}
	if r.Stage != "" {
		check.OneOf(&p, "stage", r.Stage, dispute.Stages)
	}
	if r.Status != "" {
		check.OneOf(&p, "status", r.Status, dispute.Statuses)
	}
	if r.Kind != "" {
		check.OneOf(&p, "kind", r.Kind, []dispute.Kind{dispute.Debit, dispute.Credit, dispute.Fee, dispute.Prevention})
	}
	if r.Amount < 0 || r.Amount > check.MaxAmount {
		p.Wrong("amount", "Must be between 1 and %d minor units.", int64(check.MaxAmount))
	}
	if r.Amount > 0 && r.Currency == "" {
		p.Missing("currencies")
	}
	if r.Kind != "" && r.Kind != dispute.NoMoney && r.Amount == 0 && !r.Whole {
		p.Missing("amount")
	}
	if r.Day != civil.NoDay && r.Day > today {
		p.Wrong("day", "Must not be in the future.")
	}
	return p.Err()
}
