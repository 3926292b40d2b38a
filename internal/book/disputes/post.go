package disputes

import (
	"cmp"
	"slices"

	"holdfast/internal/book/fixings"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
)

// movementOf is the transaction that records each kind of movement (R14).
var movementOf = map[dispute.Kind]payment.TransactionType{
	dispute.Debit: payment.Chargeback, dispute.Credit: payment.ChargebackReversal, dispute.Prevention: payment.Prevented,
}

// post records the movements of a matched case that are not in the ledger yet, debits before credits. Without a rate they wait. If a later
// report added the day of a movement, all are recorded again.
func (w *write) post(c *Case) error {
	if c.TransactionID == 0 {
		return nil
	}
	if slices.ContainsFunc(c.movements(), func(e dispute.Event) bool { p := c.posted(e.ID); return p != nil && p.Day != e.On() }) {
		if err := w.undo(c, "Recorded again on the day that the processor reported later."); err != nil {
			return err
		}
	}
	for _, e := range c.due() {
		if err := w.postOne(c, e); err != nil {
			return err
		}
	}
	return nil
}

// movements are the events of a case that change the ledger.
func (c *Case) movements() []dispute.Event {
	return slices.DeleteFunc(dispute.Facts(c.reported()), func(e dispute.Event) bool { return !e.Kind.Moves() })
}

// due are the movements of a matched case that are not in the ledger, debits before credits.
func (c *Case) due() []dispute.Event {
	if c.TransactionID == 0 {
		return nil
	}
	list := slices.DeleteFunc(c.movements(), func(e dispute.Event) bool { return c.posted(e.ID) != nil })
	slices.SortStableFunc(list, func(a, b dispute.Event) int {
		return cmp.Or(cmp.Compare(credits(a.Kind), credits(b.Kind)), cmp.Compare(a.On(), b.On()), cmp.Compare(a.ID, b.ID))
	})
	return list
}

func credits(k dispute.Kind) int {
	if k == dispute.Credit {
		return 1
	}
	return 0
}

// posted is the posting of an event in force, or nil.
func (c *Case) posted(eventID int64) *Posting {
	for _, p := range c.InForce() {
		if p.EventID == eventID {
			return &p
		}
	}
	return nil
}

// postOne records one movement in the ledger. If a rate is missing, it does nothing.
func (w *write) postOne(c *Case, e dispute.Event) error {
	t, err := payments.Charged(w.tx, w.site.ID, c.TransactionID)
	if err != nil {
		return err
	}
	paid := paidOf(t)
	kind, linked := movementOf[e.Kind], t.ID
	var a dispute.Amount
	weights, split := originals(t), dispute.Split
	debit := c.debitOf(e)
	switch {
	case debit != nil && c.posted(debit.ID) == nil:
		return nil // its debit waits for a rate
	case debit != nil:
		p := c.posted(debit.ID)
		movement, err := payments.Transaction(w.tx, w.site.ID, p.MovementID)
		if err != nil {
			return err
		}
		if a, err = dispute.CreditOf(e.Report, debit.Report, dispute.Amount{Paid: p.Paid, Base: p.Base, Converted: p.Converted}, paid); err != nil {
			return err
		}
		linked, weights, split = movement.ID, partsOf(t, movement), byDebit
	default:
		rates, err := w.rates(e, t)
		if err != nil {
			return err
		}
		var ok bool
		if a, ok, err = dispute.DebitOf(e.Report, paid, rates); err != nil || !ok {
			return err
		}
	}
	var items []payment.Item
	for i, total := range split(a.Base, weights, lefts(t)) {
		if total > 0 {
			items = append(items, payment.Item{BookingID: t.Payments[i].BookingID, Currency: t.BaseCurrency, Total: total})
		}
	}
	return w.record(c, e, t, kind, linked, a, items)
}

// record records a movement as an operator does by hand, and what it did.
func (w *write) record(
	c *Case, e dispute.Event, t payment.Transaction, kind payment.TransactionType, linked int64, a dispute.Amount, items []payment.Item,
) error {
	at := e.On().Start()
	if !e.At.IsZero() && civil.DayOf(e.At) == e.On() {
		at = e.At
	}
	if at.After(w.tx.Now) {
		at = w.tx.Now
	}
	made, _, err := w.payments.Record(w.tx, w.system(), w.site, payment.NewTransaction{
		ChannelID: &t.ChannelID, Currency: &t.Currency, Total: &a.Paid, Type: &kind, Items: &items, PSP: t.PSP, ProcessorReference: c.CaseID,
		LinkedID: linked, CardType: t.CardType, BIN: t.BIN, LastFour: t.LastFour, EffectiveAt: at, ReasonCode: c.ReasonCode,
		Content: "Reported by the processor.",
	})
	if err != nil {
		return err
	}
	return insertPosting(w.tx, c, Posting{
		EventID: e.ID, TransactionID: t.ID, MovementID: made.ID, Kind: e.Kind, Paid: made.Total, Base: made.BaseTotal,
		Converted: a.Converted, Day: e.On(),
	})
}

// system is who records movements: the program, by the clock of the site.
func (w *write) system() access.Actor {
	actor := access.System(w.site.ID)
	actor.Ahead = w.actor.Ahead
	return actor
}

// debitOf is the debit that a credit names, or nil.
func (c *Case) debitOf(e dispute.Event) *Event {
	id, ok := dispute.Named(c.reported())[e.ID]
	if i := slices.IndexFunc(c.Events, func(d Event) bool { return d.ID == id }); ok && i >= 0 {
		return &c.Events[i]
	}
	return nil
}

func paidOf(t payment.Transaction) dispute.Paid {
	p := dispute.Paid{Currency: t.Currency, Total: t.Total, Left: t.Left(), BaseCurrency: t.BaseCurrency, BaseTotal: t.BaseTotal}
	for _, part := range t.Payments {
		p.BaseLeft += part.Left()
	}
	return p
}

func originals(t payment.Transaction) (list []int64) {
	for _, part := range t.Payments {
		list = append(list, part.Total)
	}
	return list
}

func lefts(t payment.Transaction) (list []int64) {
	for _, part := range t.Payments {
		list = append(list, part.Left())
	}
	return list
}

// partsOf are the amounts of a movement by the parts of its payment.
func partsOf(t, movement payment.Transaction) []int64 {
	list := make([]int64, len(t.Payments))
	for i, part := range t.Payments {
		for _, m := range movement.Payments {
			if m.LinkedID == part.ID {
				list[i] = m.Total
			}
		}
	}
	return list
}

// byDebit splits a credit as its debit was split.
func byDebit(base int64, debit, _ []int64) []int64 { return money.Split(base, debit) }

// rates finds the rates for a movement in a third currency.
func (w *write) rates(e dispute.Event, t payment.Transaction) (r dispute.Rates, err error) {
	if e.Amount == 0 || e.Whole || e.Currency == t.Currency || e.Currency == t.BaseCurrency {
		return r, nil
	}
	lock := func(to money.Currency, day civil.Day) (*fx.Quote, error) {
		age := w.site.Policy.MaxFixingAgeDays
		table, err := fixings.For(w.tx, w.site, day, age, e.Currency, to)
		if err != nil {
			return nil, err
		}
		if q, ok := fx.Lock(table, e.Currency, to, day, w.tx.Now, int(age)); ok {
			return &q, nil
		}
		return nil, nil
	}
	if r.AsPaid, err = lock(t.Currency, civil.DayOf(t.EffectiveAt)); err == nil {
		r.AsDisputed, err = lock(t.BaseCurrency, e.On())
	}
	return r, err
}

// undo takes the postings of a case back, credits first, each with a movement of the opposite kind on the same day.
func (w *write) undo(c *Case, why string) error {
	list := c.InForce()
	slices.SortStableFunc(list, func(a, b Posting) int { return cmp.Compare(credits(b.Kind), credits(a.Kind)) })
	for _, p := range list {
		movement, err := payments.Charged(w.tx, w.site.ID, p.MovementID)
		if err != nil {
			return err
		}
		kind, linked := payment.ChargebackReversal, movement.ID
		if p.Kind == dispute.Credit {
			kind, linked = payment.Chargeback, p.TransactionID
		}
		var items []payment.Item
		for _, part := range movement.Payments {
			items = append(items, payment.Item{BookingID: part.BookingID, Currency: part.Currency, Total: part.Total})
		}
		made, _, err := w.payments.Record(w.tx, w.system(), w.site, payment.NewTransaction{
			ChannelID: &movement.ChannelID, Currency: &movement.Currency, Total: &movement.Total, Type: &kind, Items: &items, PSP: movement.PSP,
			ProcessorReference: c.CaseID, LinkedID: linked, EffectiveAt: movement.EffectiveAt,
			Content: why,
		})
		if err != nil {
			return err
		}
		err = insertPosting(w.tx, c, Posting{
			EventID: p.EventID, TransactionID: p.TransactionID, MovementID: made.ID, Kind: p.Kind, Paid: made.Total, Base: made.BaseTotal,
			Day: p.Day, Undoes: p.ID,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
