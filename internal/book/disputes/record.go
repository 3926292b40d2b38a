package disputes

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// CreateTransaction is payments.Create for transactions of all types: a chargeback, a prevented dispute or a reversal also makes or
// changes a case.
func (d *Disputes) CreateTransaction(
	ctx context.Context, actor access.Actor, in payment.NewTransaction,
) (t payment.Transaction, created bool, err error) {
	if in.Type == nil || !in.Type.Operators() {
		return d.Payments.Create(ctx, actor, in)
	}
	if err := actor.Require(access.WriteTransactions); err != nil {
		return t, false, err
	}
	type recorded struct {
		t       payment.Transaction
		created bool
	}
	made, err := idempotency.Once(ctx, d.DB, actor, func(tx *store.Tx) (made recorded, _ idempotency.Outcome, err error) {
		site, err := merchants.SiteInForce(tx, actor.SiteID)
		if err != nil {
			return made, idempotency.Outcome{}, err
		}
		if made.t, made.created, err = Record(tx, d.Payments, actor, site, in); err != nil {
			return made, idempotency.Outcome{}, err
		}
		return made, idempotency.Outcome{ID: made.t.ID}, ledger.SaveChanges(tx)
	}, func(ctx context.Context, made idempotency.Outcome) (recorded, error) {
		t, err := d.Transaction(ctx, actor, made.ID)
		return recorded{t, true}, err
	})
	return made.t, made.created, err
}

// Record is payments.Record for transactions of all types: see CreateTransaction.
func Record(
	tx *store.Tx, p *payments.Payments, actor access.Actor, site merchant.Site, in payment.NewTransaction,
) (t payment.Transaction, created bool, err error) {
	t, created, err = p.Record(tx, actor, site, in)
	if err != nil || !created || !t.Type.Operators() {
		return t, created, err
	}
	w := &write{payments: p, tx: tx, actor: actor, site: site, origin: originTransaction}
	if t.Type == payment.ChargebackReversal {
		return t, true, w.reversed(t, in.LinkedID)
	}
	return t, true, w.charged(t, in)
}

// charged makes the case of a chargeback that was recorded by hand and, if it was reported first, notes the reversal that ended it.
func (w *write) charged(t payment.Transaction, in payment.NewTransaction) error {
	r := dispute.Report{
		Source: Manual, CaseID: strconv.FormatInt(t.ID, 10), Stage: dispute.Chargeback, Status: dispute.Open, Kind: dispute.Debit, Number: 1,
		Day: civil.DayOf(t.EffectiveAt), At: t.EffectiveAt, Amount: t.Total, Currency: t.Currency, DueOn: civil.NoDay, ReasonCode: in.ReasonCode,
		Clues: dispute.Clues{TransactionID: t.LinkedID, PaidOn: civil.NoDay},
	}
	if in.ChallengeDay != nil {
		r.DueOn = *in.ChallengeDay
	}
	if t.Type == payment.Prevented {
		r.Stage, r.Status, r.Kind = dispute.PreDispute, dispute.Prevented, dispute.Prevention
	}
	c, created, err := w.open(r)
	if err != nil {
		return err
	}
	before := c
	if _, err := w.add(&c, r, rawOf(in)); err != nil {
		return err
	}
	paid, err := payments.Transaction(w.tx, w.site.ID, t.LinkedID)
	if err != nil {
		return err
	}
	if err := w.matched(&c, foundIn(paid), dispute.ByTransaction, dispute.Points{}, ""); err != nil {
		return err
	}
	if err := w.movedBy(&c, t, r.Kind); err != nil {
		return err
	}
	free, err := freeReversals(w.tx, w.site.ID, t.LinkedID, civil.DayOf(t.EffectiveAt))
	if err != nil {
		return err
	}
	if len(free) > 0 {
		same := func(r payment.Transaction) bool { return r.Total == t.Total }
		reversal, err := payments.Transaction(w.tx, w.site.ID, free[max(0, slices.IndexFunc(free, same))].ID)
		if err != nil {
			return err
		}
		if err := w.credited(&c, reversal); err != nil {
			return err
		}
	}
	return w.save(before, &c, created)
}

// movedBy notes the transaction that records the last movement of a case.
func (w *write) movedBy(c *Case, t payment.Transaction, kind dispute.Kind) error {
	for _, e := range slices.Backward(c.Events) {
		if e.Kind == kind {
			return insertPosting(w.tx, c, Posting{
				EventID: e.ID, TransactionID: t.LinkedID, MovementID: t.ID, Kind: kind, Paid: t.Total, Base: t.BaseTotal, Day: e.On(),
			})
		}
	}
	return nil
}

// reversed notes a reversal that was recorded by hand in the case of the chargeback that it names or, if it names the payment, in an open
// one of its day or before, preferably of the same amount and then the oldest. Without one it waits for its chargeback.
func (w *write) reversed(t payment.Transaction, named int64) error {
	list, err := casesOfPayments(w.tx, w.site.ID, []int64{t.LinkedID})
	if err != nil {
		return err
	}
	open := slices.DeleteFunc(list, func(c Case) bool {
		debits := slices.DeleteFunc(c.InForce(), func(p Posting) bool { return p.Kind == dispute.Credit || named != t.LinkedID && p.MovementID != named })
		return len(debits) == 0 || c.Credits > 0 && c.Credits >= c.Debits || named == t.LinkedID && c.OpenedOn > civil.DayOf(t.EffectiveAt)
	})
	if len(open) == 0 {
		return nil
	}
	c := open[max(0, slices.IndexFunc(open, func(c Case) bool { return c.Debits-c.Credits == t.BaseTotal }))]
	if c, err = lockByKey(w.tx, w.site.ID, c.Source, c.CaseID); err != nil {
		return err
	}
	before := c
	if err := w.credited(&c, t); err != nil {
		return err
	}
	return w.save(before, &c, false)
}

// credited adds a reversal to a case. It is won, unless only a part of the money came back and the rest is still disputed.
func (w *write) credited(c *Case, t payment.Transaction) error {
	original, err := payments.Charged(w.tx, w.site.ID, t.LinkedID)
	if err != nil {
		return err
	}
	c.Debits, c.Credits = c.sums()
	r := dispute.Report{
		Source: c.Source, CaseID: c.CaseID, Kind: dispute.Credit, Day: civil.DayOf(t.EffectiveAt), At: t.EffectiveAt, Amount: t.Total,
		Currency: t.Currency, DueOn: civil.NoDay, Clues: noClues,
	}
	for _, e := range c.Events {
		if e.Kind == dispute.Credit {
			r.Number++
		}
	}
	r.Number++
	if c.Credits+t.BaseTotal >= c.Debits || original.Status != payment.StatusLocked {
		r.Stage, r.Status = dispute.StateOf(c.reported()).Stage, dispute.Won
	}
	if _, err := w.add(c, r, ""); err != nil {
		return err
	}
	return w.movedBy(c, t, dispute.Credit)
}

// adopt makes the case that a person recorded by hand the one that a processor reports: a chargeback of the same payment and amount.
// store.ErrNotFound: there is none.
func (w *write) adopt(r dispute.Report) (Case, error) {
	if r.Source == Manual || r.Kind == dispute.NoMoney || r.Kind == dispute.Fee {
		return Case{}, store.ErrNotFound
	}
	if has, err := w.anyManual(); err != nil || !has {
		return Case{}, cmp.Or(err, store.ErrNotFound)
	}
	probe := Case{SiteID: w.site.ID, Clues: noClues, Amount: r.Amount, Currency: r.Currency}
	probe.learn(r)
	id, err := w.wouldMatch(&probe)
	if err != nil || id == 0 {
		return Case{}, cmp.Or(err, store.ErrNotFound)
	}
	manual, err := handMade(w.tx, w.site.ID, id)
	if err != nil || len(manual) == 0 {
		return Case{}, cmp.Or(err, store.ErrNotFound)
	}
	t, err := payments.Charged(w.tx, w.site.ID, id)
	if err != nil {
		return Case{}, err
	}
	amount, _, err := dispute.DebitOf(r, paidOf(t), dispute.Rates{})
	if err != nil {
		return Case{}, err
	}
	if r.Amount == 0 || r.Currency != t.Currency && r.Currency != t.BaseCurrency {
		amount.Paid = t.Total
	}
	for _, m := range manual {
		won := r.Status == dispute.Won || r.Kind == dispute.Credit
		if m.Postings[0].Paid != amount.Paid || m.Credits > 0 && !won {
			continue
		}
		c, err := lockByKey(w.tx, w.site.ID, m.Source, m.CaseID)
		if err != nil {
			return c, err
		}
		c.Source, c.CaseID = r.Source, r.CaseID
		return c, saveCase(w.tx, c)
	}
	return Case{}, store.ErrNotFound
}

// Transaction reads a transaction with its disputes. If there is none, the error has the kind RecordNotFound.
func (d *Disputes) Transaction(ctx context.Context, actor access.Actor, id int64) (payment.Transaction, error) {
	t, err := d.Payments.Get(ctx, actor, id)
	if err != nil {
		return t, err
	}
	list := []payment.Transaction{t}
	err = d.fill(ctx, actor, list)
	return list[0], err
}

// Transactions reads one page of transactions with their disputes.
func (d *Disputes) Transactions(
	ctx context.Context, actor access.Actor, filter payments.TransactionFilter, page store.Page,
) (store.List[payment.Transaction], error) {
	list, err := d.Payments.List(ctx, actor, filter, page)
	if err == nil {
		err = d.fill(ctx, actor, list.Items)
	}
	return list, err
}

func (d *Disputes) fill(ctx context.Context, actor access.Actor, list []payment.Transaction) error {
	if !slices.ContainsFunc(list, maybeDisputed) {
		return nil
	}
	_, err := sites.Read(ctx, d.DB, actor, func(tx *store.Tx) (struct{}, error) { return struct{}{}, Fill(tx, actor.SiteID, list) })
	return err
}

// maybeDisputed reports whether a transaction can have disputes in the ledger: one without adjustments has none.
func maybeDisputed(t payment.Transaction) bool { return t.Type.Takes() && len(t.Adjustments) > 0 }

// Fill sets the disputes of transactions: one for each debit in force, in order of recording.
func Fill(tx *store.Tx, siteID int64, list []payment.Transaction) error {
	var ids []int64
	at := map[int64]*payment.Transaction{}
	for i, t := range list {
		if maybeDisputed(t) {
			ids, at[t.ID] = append(ids, t.ID), &list[i]
			list[i].Disputes = nil
		}
	}
	if len(ids) == 0 {
		return nil
	}
	cases, err := casesOfPayments(tx, siteID, ids)
	for _, c := range cases {
		t := at[c.TransactionID]
		t.Disputes = append(t.Disputes, c.chargebacks(t.Currency)...)
	}
	for _, t := range at {
		slices.SortFunc(t.Disputes, func(a, b payment.Dispute) int { return int(a.ChargebackID - b.ChargebackID) })
	}
	return err
}

// chargebacks shows a case as the chargebacks of its payment.
func (c Case) chargebacks(currency money.Currency) (list []payment.Dispute) {
	credited := map[int64]int64{} // movements of credits, by the event of the debit that they name
	named := dispute.Named(c.reported())
	for _, p := range c.InForce() {
		if p.Kind == dispute.Credit {
			credited[named[p.EventID]] = p.MovementID
		}
	}
	debits := slices.DeleteFunc(c.InForce(), func(p Posting) bool { return p.Kind == dispute.Credit })
	for i, p := range debits {
		d := payment.Dispute{
			SiteID: c.SiteID, TransactionID: p.TransactionID, ChargebackID: p.MovementID, ReversalID: credited[p.EventID], DisputeID: c.ID,
			Outcome: outcomeOf(c.Status), ReasonCode: c.ReasonCode, ChallengeDay: c.DueOn, Total: p.Paid, Currency: currency,
		}
		if i < len(debits)-1 && d.ReversalID != 0 {
			d.Outcome = payment.DisputeWon // and charged back again since
		}
		if c.Source != Manual {
			d.ProcessorID = c.CaseID
		}
		e := c.Events[slices.IndexFunc(c.Events, func(e Event) bool { return e.ID == p.EventID })]
		if d.OpenedAt = e.On().Start(); !e.At.IsZero() {
			d.OpenedAt = e.At
		}
		list = append(list, d)
	}
	return list
}

// outcomeOf is the outcome of a chargeback for the merchant, by the status of its case.
func outcomeOf(s dispute.Status) payment.DisputeOutcome {
	switch s {
	case dispute.Won, dispute.Cancelled:
		return payment.DisputeWon
	case dispute.Lost, dispute.Accepted, dispute.Expired, dispute.Prevented:
		return payment.DisputeLost
	default:
		return payment.DisputePending
	}
}
