package disputes

import (
	"context"

	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/payment"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Candidate is a payment that a case may be about, to be compared with the case by a person.
type Candidate struct {
	dispute.Candidate
	Rule    dispute.Rule // that a reference of the case identifies it, or ByScore
	Payment payment.Transaction
}

// Candidates finds the payments that a case may be about, as of now: those that its references identify, then the others, the best first. A
// merchant's name does not restrict them, because it may be the reason why nothing was found.
func (d *Disputes) Candidates(ctx context.Context, actor access.Actor, id int64) ([]Candidate, error) {
	if err := actor.Require(access.ReadDisputes); err != nil {
		return nil, err
	}
	list, err := sites.Read(ctx, d.DB, actor, func(tx *store.Tx) ([]Candidate, error) {
		c, err := ByID(tx, actor.SiteID, id)
		if err != nil {
			return nil, err
		}
		w := &write{payments: d.Payments, tx: tx, actor: actor}
		w.site.ID = actor.SiteID
		return w.candidatesOf(&c)
	})
	return list, unknownCase(err, id)
}

func (w *write) candidatesOf(c *Case) (list []Candidate, err error) {
	seen := map[int64]bool{}
	for _, by := range w.references(c, 0, 0) {
		named, err := by.find()
		if err != nil {
			return nil, err
		}
		for _, f := range named {
			if !seen[f.ID] && len(list) < dispute.MostCandidates {
				seen[f.ID] = true
				list = append(list, Candidate{Candidate: dispute.Candidate{TransactionID: f.ID}, Rule: by.rule})
			}
		}
	}
	scored, err := candidates(w.tx, w.site.ID, 0, c.report())
	if err != nil {
		return nil, err
	}
	ranked, _ := dispute.Choose(c.report(), scored)
	for _, one := range ranked {
		if !seen[one.TransactionID] && len(list) < dispute.MostCandidates {
			list = append(list, Candidate{Candidate: one, Rule: dispute.ByScore})
		}
	}
	for i := range list {
		t, err := payments.Transaction(w.tx, w.site.ID, list[i].TransactionID)
		if err != nil {
			return nil, err
		}
		list[i].Payment, list[i].Candidate = t, candidateOf(t)
		list[i].Points = dispute.Score(c.report(), list[i].Candidate)
	}
	return list, nil
}

// candidateOf is a payment as a candidate, without points.
func candidateOf(t payment.Transaction) dispute.Candidate {
	return dispute.Candidate{
		TransactionID: t.ID, ChannelID: t.ChannelID, Currency: t.Currency, Total: t.Total, BaseCurrency: t.BaseCurrency, BaseTotal: t.BaseTotal,
		AuthCode: t.AuthCode, LastFour: t.LastFour, BIN: t.BIN, Scheme: foundIn(t).Scheme, PaidOn: civil.DayOf(t.EffectiveAt),
	}
}
