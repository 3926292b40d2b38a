package disputes

import (
	"errors"

	"holdfast/internal/book/payments"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
)

// match finds the payment of a case (R14): by the first rule that finds exactly one, else by score. If a report names a transaction, that
// is it.
func (w *write) match(c *Case, named int64) error {
	channel, err := w.channelOf(c.Merchant)
	if err != nil {
		return err
	}
	if c.TransactionID == 0 && channel != 0 {
		c.ChannelID = channel
	}
	to, rule, err := w.keyed(c, channel, named)
	if err != nil {
		return err
	}
	if rule != "" {
		return w.matched(c, to, rule, dispute.Points{}, "")
	}
	list, err := candidates(w.tx, w.site.ID, channel, c.report())
	if err != nil {
		return err
	}
	ranked, accepted := dispute.Choose(c.report(), list)
	if accepted {
		best := ranked[0]
		return w.matched(c, found{best.TransactionID, best.ChannelID, best.BaseCurrency, best.Scheme}, dispute.ByScore, best.Points, "")
	}
	c.Candidates, c.Matching = ranked[:min(len(ranked), dispute.MostCandidates)], dispute.Unmatched
	if len(ranked) > 0 {
		c.Matching = dispute.Queued
	}
	return nil
}

// reference is a way to find payments without a score.
type reference struct {
	rule dispute.Rule
	find func() ([]found, error)
}

// references are the references of a case, in the order of R14. named is a transaction that a report names, or 0.
func (w *write) references(c *Case, channel, named int64) []reference {
	by := func(rule dispute.Rule, column, value string) reference {
		return reference{rule, func() ([]found, error) { return w.byKey(c, channel, column, value) }}
	}
	return []reference{
		{dispute.ByTransaction, func() ([]found, error) { return w.named(c, max(named, c.Clues.TransactionID)) }},
		by(dispute.ByAcquirerReference, "acquirer_reference", c.Clues.AcquirerReference),
		by(dispute.ByProcessorReference, "processor_reference", c.Clues.ProcessorReference),
		by(dispute.ByProcessorReference, "processor_reference", c.Clues.ProcessorAlias),
		by(dispute.ByPaymentReference, "reference", c.Clues.PaymentReference),
	}
}

// keyed finds the payment of a case by its references. rule is "" if none of them identifies exactly one.
func (w *write) keyed(c *Case, channel, named int64) (to found, rule dispute.Rule, err error) {
	for _, by := range w.references(c, channel, named) {
		list, err := by.find()
		if err != nil {
			return to, "", err
		}
		if len(list) == 1 {
			return list[0], by.rule, nil
		}
	}
	return to, "", nil
}

// wouldMatch is the payment that a report is about, if something names it; 0 if not.
func (w *write) wouldMatch(c *Case) (int64, error) {
	channel, err := w.channelOf(c.Merchant)
	if err != nil {
		return 0, err
	}
	to, _, err := w.keyed(c, channel, 0)
	return to.ID, err
}

// act is an event for what a person or the program does with a case.
func act(kind dispute.Kind, w *write) Event {
	return Event{
		Event:  dispute.Event{Report: dispute.Report{Kind: kind, Day: civil.NoDay, DueOn: civil.NoDay, Clues: noClues}},
		Origin: w.origin, AuthorID: w.actor.UserID, Author: w.actor.Username,
	}
}

// matched records the payment of a case, and who or what found it.
func (w *write) matched(c *Case, to found, rule dispute.Rule, points dispute.Points, reason string) error {
	c.TransactionID, c.ChannelID, c.BaseCurrency, c.Scheme = to.ID, to.ChannelID, to.BaseCurrency, to.Scheme
	c.Matching, c.Candidates = dispute.Matched, nil
	e := act(dispute.MatchKind, w)
	e.ObjectID, e.Rule, e.RuleVersion, e.Score, e.Points, e.Note = to.ID, rule, dispute.RuleVersion, points.Sum(), points, reason
	_, err := insertEvent(w.tx, c, e)
	return err
}

// found is a payment that a case may be about.
type found struct {
	ID, ChannelID int64
	BaseCurrency  money.Currency
	Scheme        string
}

// channelOf finds the channel that a processor names: by what a person has kept, otherwise by its name or external_id. It is 0 if the name
// is unknown or means several.
func (w *write) channelOf(name string) (int64, error) {
	if id, known := w.channels[name]; known || name == "" {
		return id, nil
	}
	ids, err := store.Ids(w.tx, `SELECT channel_id FROM dispute_merchants WHERE site_id = $1 AND name = $2`, w.site.ID, name)
	if err == nil && len(ids) == 0 {
		ids, err = store.Ids(w.tx, `SELECT id FROM channels WHERE site_id = $1 AND (name = $2 OR external_id = $2) ORDER BY id LIMIT 2`,
			w.site.ID, name)
	}
	if err != nil {
		return 0, err
	}
	if w.channels == nil {
		w.channels = map[string]int64{}
	}
	if w.channels[name] = 0; len(ids) == 1 {
		w.channels[name] = ids[0]
	}
	return w.channels[name], nil
}

// keepMerchant keeps that a name in files means a channel. It replaces what was kept before.
func (w *write) keepMerchant(name string, channel int64) error {
	_, err := w.tx.Exec(`INSERT INTO dispute_merchants (site_id, name, channel_id, author, added_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (site_id, name) DO UPDATE SET channel_id = EXCLUDED.channel_id, author = EXCLUDED.author, added_at = EXCLUDED.added_at`,
		w.site.ID, name, channel, w.actor.Username, store.Micros(w.tx.Now))
	return err
}

// named finds the payment of a transaction that a report names. Of captures that fit equally well, it is the first.
func (w *write) named(c *Case, id int64) ([]found, error) {
	if id == 0 {
		return nil, nil
	}
	list, err := w.takenBy(c, id)
	return list[:min(1, len(list))], err
}

// takenBy finds the payment of a transaction: a chargeback, a payment, or an authorisation, of which it is one of the captures. There are
// several if their amounts fit equally well.
func (w *write) takenBy(c *Case, id int64) ([]found, error) {
	t, err := payments.Transaction(w.tx, w.site.ID, id)
	if err == nil && t.Type.Operators() {
		t, err = payments.Transaction(w.tx, w.site.ID, t.LinkedID)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if t.Type != payment.Authorize {
		return addsValue(t), nil
	}
	// Of several captures, choose one with the same amount, else one that is large enough.
	best, fits := []found(nil), 0
	for _, adjustment := range t.Adjustments {
		capture, err := payments.Transaction(w.tx, w.site.ID, adjustment)
		if err != nil {
			return nil, err
		}
		fit := 1
		switch {
		case capture.Type != payment.Capture || addsValue(capture) == nil:
			continue
		case capture.Total == c.Amount:
			fit = 3
		case capture.Total > c.Amount:
			fit = 2
		}
		if fit > fits {
			best, fits = nil, fit
		}
		if fit == fits {
			best = append(best, foundIn(capture))
		}
	}
	return best, nil
}

// addsValue is a payment that took money (R1), or nothing.
func addsValue(t payment.Transaction) []found {
	if !t.Type.Takes() || t.Status != payment.StatusComplete && t.Status != payment.StatusLocked {
		return nil
	}
	return []found{foundIn(t)}
}

func foundIn(t payment.Transaction) found {
	return found{t.ID, t.ChannelID, t.BaseCurrency, string(card.SchemeOf(t.CardType, t.BIN))}
}
