package disputes

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/platform/events"
	"holdfast/internal/store"
)

// write is one write that changes cases of a site.
type write struct {
	payments *payments.Payments
	tx       *store.Tx
	actor    access.Actor // who reports or decides
	site     merchant.Site
	origin   string           // of the events
	channels map[string]int64 // by the name of the merchant: see channelOf
	manual   *bool            // see anyManual
}

// The origins of events.
const (
	originProcessor   = "processor"
	originFile        = "file"
	originTransaction = "transaction"
	originPerson      = "person"
)

// take records what a processor or a person reports about a case, finds the payment if it is not known yet, and records in the ledger what
// moves it. repeated reports whether all of it was known before. ledger.SaveChanges has to follow.
func (w *write) take(r dispute.Report, raw string) (c Case, repeated bool, err error) {
	c, created, err := w.open(r)
	if err != nil {
		return c, false, err
	}
	before := c
	added, err := w.add(&c, r, raw)
	if err != nil {
		return c, false, err
	}
	if len(c.Events) == len(before.Events) {
		return c, true, nil
	}
	if err := w.settle(&c, r.Clues.TransactionID); err != nil {
		return c, false, err
	}
	return c, !added, w.save(before, &c, created)
}

// settle finds the payment of a case if it is not known, and records in the ledger what is not recorded yet. named is a transaction that a
// report names, or 0.
func (w *write) settle(c *Case, named int64) error {
	c.disputed()
	c.triedAt = w.tx.Now
	if c.TransactionID == 0 && !c.unmatched() {
		if err := w.match(c, named); err != nil {
			return err
		}
	}
	return w.post(c)
}

// unmatched reports whether a person has undone a match of the case. Then only a person matches it: the rules would choose the same payment.
func (c Case) unmatched() bool {
	return slices.ContainsFunc(c.Events, func(e Event) bool { return e.Kind == dispute.UnmatchKind })
}

// open locks the case of a report, or makes it. A case that a person recorded for the same payment and amount becomes this one.
func (w *write) open(r dispute.Report) (c Case, created bool, err error) {
	c, err = lockByKey(w.tx, w.site.ID, r.Source, r.CaseID)
	if errors.Is(err, store.ErrNotFound) {
		if c, err = w.adopt(r); errors.Is(err, store.ErrNotFound) {
			c, created, err = insertCase(w.tx, Case{
				SiteID: w.site.ID, Source: r.Source, CaseID: r.CaseID, Matching: dispute.Unmatched, Clues: noClues,
				State:    dispute.State{Stage: dispute.Inquiry, Status: dispute.Open, DueOn: civil.NoDay},
				OpenedOn: civil.DayOf(w.tx.Now), AlertedFor: civil.NoDay, triedAt: w.tx.Now, CreatedAt: w.tx.Now,
				ModifiedAt: w.tx.Now,
			})
		}
	}
	return c, created, err
}

// add appends the events of a report that are new. added reports whether there are any, apart from clues.
func (w *write) add(c *Case, r dispute.Report, raw string) (added bool, err error) {
	learned := c.learn(r)
	for _, part := range r.Parts() {
		known, more, found := dispute.Known(c.reported(), part)
		if !found {
			known, found = c.byHand(part)
			more = found
		}
		if found && !more {
			continue
		}
		e := Event{Event: dispute.Event{Report: part}, Origin: w.origin, Raw: raw, AuthorID: w.actor.UserID, Author: w.actor.Username}
		if found {
			e.SameAs = known.ID
		}
		if added { // its clues are with the first part
			e.Clues, e.Merchant, e.Raw = noClues, "", ""
		}
		if _, err := insertEvent(w.tx, c, e); err != nil {
			return added, err
		}
		added = true
	}
	if !learned || added {
		return added, nil
	}
	e := act(dispute.ClueKind, w)
	e.Source, e.CaseID, e.Clues, e.Merchant, e.Raw = r.Source, r.CaseID, r.Clues, r.Merchant, raw
	_, err = insertEvent(w.tx, c, e)
	return false, err
}

// byHand finds the movement that a person recorded before the processor reported it, possibly with another day.
func (c *Case) byHand(part dispute.Report) (known dispute.Event, found bool) {
	if part.Kind == dispute.NoMoney {
		return known, false
	}
	for _, e := range c.Events {
		taken := slices.ContainsFunc(c.Events, func(o Event) bool { return o.SameAs == e.ID })
		if e.Origin == originTransaction && e.Kind == part.Kind && e.SameAs == 0 && !taken && c.Source != Manual &&
			(e.Amount == part.Amount && e.Currency == part.Currency || part.Amount == 0) {
			return e.Event, true
		}
	}
	return known, false
}

// learn adds the clues of a report to those of the case. changed reports whether any was new.
func (c *Case) learn(r dispute.Report) (changed bool) {
	before, merchant := c.Clues, c.Merchant
	k, n := &c.Clues, r.Clues
	k.TransactionID = cmp.Or(k.TransactionID, n.TransactionID)
	k.AcquirerReference = cmp.Or(k.AcquirerReference, n.AcquirerReference)
	k.ProcessorReference = cmp.Or(k.ProcessorReference, n.ProcessorReference)
	k.ProcessorAlias = cmp.Or(k.ProcessorAlias, n.ProcessorAlias)
	k.PaymentReference = cmp.Or(k.PaymentReference, n.PaymentReference)
	k.AuthCode, k.LastFour, k.BIN = cmp.Or(k.AuthCode, n.AuthCode), cmp.Or(k.LastFour, n.LastFour), cmp.Or(k.BIN, n.BIN)
	k.Scheme = cmp.Or(k.Scheme, n.Scheme)
	if k.PaidOn == civil.NoDay {
		k.PaidOn = n.PaidOn
	}
	if k.PaidAmount == 0 {
		k.PaidAmount, k.PaidCurrency = n.PaidAmount, n.PaidCurrency
	}
	c.Merchant = cmp.Or(c.Merchant, r.Merchant)
	return c.Clues != before || c.Merchant != merchant
}

// report is everything known about the payment of a case, as one report.
func (c *Case) report() dispute.Report {
	return dispute.Report{Source: c.Source, CaseID: c.CaseID, Amount: c.Amount, Currency: c.Currency, Merchant: c.Merchant, Clues: c.Clues}
}

// disputed sets the disputed amount: that of the first movement by the order of facts, otherwise the first one reported.
func (c *Case) disputed() {
	best := -1
	for i, e := range c.Events {
		moves := e.Kind == dispute.Debit || e.Kind == dispute.Prevention
		if e.Amount == 0 || e.SameAs != 0 || !moves && e.Kind != dispute.NoMoney {
			continue
		}
		if best < 0 || moves && c.Events[best].Kind == dispute.NoMoney ||
			moves == (c.Events[best].Kind != dispute.NoMoney) && e.On() < c.Events[best].On() {
			best = i
		}
	}
	if best >= 0 {
		c.Amount, c.Currency = c.Events[best].Amount, c.Events[best].Currency
	}
}

// save computes what follows from the events and postings of a case, stores it, and records what changed.
func (w *write) save(before Case, c *Case, created bool) error {
	c.Derive()
	kind := event.DisputeUpdated
	switch {
	case created:
		kind = event.DisputeOpened
	case c.Status.Final() && c.State != before.State:
		kind = event.DisputeClosed
	}
	events.Record(w.tx, c.SiteID, kind, c.ID, c.details())
	if created && c.Status.Final() {
		events.Record(w.tx, c.SiteID, event.DisputeClosed, c.ID, c.details())
	}
	c.ModifiedAt = w.tx.Now
	return saveCase(w.tx, *c)
}

// Derive computes the fields that follow from the events and postings of a case: its key, clues, state, payment, assignee, amounts and days.
func (c *Case) Derive() {
	c.Source, c.CaseID, c.Merchant, c.Clues = "", "", "", noClues
	c.TransactionID, c.Rule, c.RuleVersion, c.Score, c.Assignee, c.AlertedFor = 0, "", "", 0, "", civil.NoDay
	for i, e := range c.Events {
		c.learn(e.Report)
		if e.Source != "" && (e.Source != Manual || c.Source == "") {
			c.Source, c.CaseID = e.Source, e.CaseID
		}
		switch e.Kind {
		case dispute.MatchKind:
			c.TransactionID, c.Rule, c.RuleVersion, c.Score = e.ObjectID, e.Rule, e.RuleVersion, e.Score
		case dispute.UnmatchKind:
			c.TransactionID, c.Rule, c.RuleVersion, c.Score = 0, "", "", 0
		case dispute.AssignKind:
			c.Assignee = e.Note
		case dispute.AlertKind:
			c.AlertedFor = e.DueOn
		}
		if i == 0 || e.On() < c.OpenedOn {
			c.OpenedOn = e.On()
		}
	}
	c.State = dispute.StateOf(c.reported())
	c.Family = dispute.FamilyOf(c.ReasonCode, c.Reason)
	if c.TransactionID == 0 {
		c.Scheme = c.Clues.Scheme
	}
	c.disputed()
	c.Debits, c.Credits = c.sums()
	c.Waiting = int64(len(c.due()))
}

// sums adds up the postings in force.
func (c Case) sums() (debits, credits int64) {
	for _, p := range c.InForce() {
		if p.Kind == dispute.Credit {
			credits += p.Base
		} else {
			debits += p.Base
		}
	}
	return debits, credits
}

// InForce are the postings that are not taken back, without those that take others back.
func (c Case) InForce() []Posting {
	return slices.DeleteFunc(slices.Clone(c.Postings), func(p Posting) bool {
		return p.Undoes != 0 || slices.ContainsFunc(c.Postings, func(o Posting) bool { return o.Undoes == p.ID })
	})
}

func (c Case) details() event.Details {
	return event.Details{
		Status: string(c.Status), Outcome: string(outcomeOf(c.Status)), Reason: c.ReasonCode, Transaction: c.TransactionID,
		Amount: c.Amount, Currency: string(c.Currency), DueOn: dayText(c.DueOn),
	}
}

func dayText(d civil.Day) string {
	if d == civil.NoDay {
		return ""
	}
	return d.String()
}

// rawOf is the text that is kept of a report that does not come from a file.
func rawOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
