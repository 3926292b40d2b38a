package claims

import (
	"context"
	"slices"

	"holdfast/internal/book/disputes"
	"holdfast/internal/book/fixings"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// eventsAtOnce is how many allocation events of a channel the job takes up in one write, and idsAtOnce among how many events of the site
// it looks for them. They bound its memory and its time.
const (
	eventsAtOnce = 500
	idsAtOnce    = 50_000
)

// Make makes claims from disputes of insolvent merchants, and recomputes the claims of an allocation after a dispute, a refund or a
// reversal. It goes through the events of allocations in order, a piece at a time, once no write can add one with
// a lower id (R0). It returns more if work is left.
func (r *Claims) Make(ctx context.Context) (more bool, err error) {
	return sites.Each(ctx, r.DB, sitesWithWork, 1, func(tx *store.Tx, siteID int64, _ int) (int, error) {
		list, err := activeInsolvencies(tx, siteID)
		for _, w := range list {
			if err != nil {
				return 0, err
			}
			var did bool
			if did, err = w.do(tx); did {
				return 1, err
			}
		}
		return 0, err
	})
}

// do takes up the next events of an insolvency, and claims whose rate has arrived.
func (w work) do(tx *store.Tx) (did bool, err error) {
	to, err := w.finalTo(tx)
	if err != nil {
		return false, err
	}
	var allocations []int64
	if to = max(to, w.eventsTo); to > w.eventsTo {
		if allocations, to, err = w.changed(tx, to); err != nil {
			return false, err
		}
	}
	waited, err := priced(tx, w.siteID, w.insolvencyID, eventsAtOnce)
	if err != nil {
		return false, err
	}
	allocations = append(allocations, waited...)
	if len(allocations) == 0 && to < w.eventsTo+idsAtOnce/2 { // a mark that is a little behind costs less than writing it
		return false, nil
	}
	if err := lockClaims(tx, w.siteID); err != nil { // a review at the same time must not be overwritten
		return false, err
	}
	if err := makeOf(tx, w.siteID, w.insolvencyID, allocations); err != nil {
		return false, err
	}
	return true, saveMark(tx, w.siteID, w.insolvencyID, to)
}

// making has the terms by which the claims of an insolvency are computed.
type making struct {
	insolvencies.Insolvency
	currency money.Currency // Q of the policy in force at the trigger
	cover    terms.Cover
}

func makingOf(tx *store.Tx, siteID, insolvencyID int64) (m making, err error) {
	if m.Insolvency, err = insolvencies.ByID(tx, siteID, insolvencyID); err != nil {
		return m, err
	}
	policy, err := merchants.PolicyKnown(tx, siteID, m.Failure().Day(), m.ConfirmedAt)
	m.currency, m.cover = policy.Currency, policy.Cover
	return m, err
}

// makeOf computes the claims of some allocations anew: all facts that are recorded count. Claims that do not exist yet are made.
func makeOf(tx *store.Tx, siteID, insolvencyID int64, ids []int64) (err error) {
	if len(ids) == 0 {
		return nil
	}
	m, err := makingOf(tx, siteID, insolvencyID)
	if err != nil {
		return err
	}
	list, stored, err := m.allocations(tx, ids)
	for _, a := range list {
		if err == nil {
			err = m.store(tx, a, stored[a.ID])
		}
	}
	return err
}

// allocations reads allocations with everything that their claims depend on, and the claims that are stored.
func (m making) allocations(tx *store.Tx, ids []int64) (list []claim.Allocation, stored map[int64][]Claim, err error) {
	lines, err := insolvencies.LinesOf(tx, m.SiteID, m.ID, ids)
	if err != nil {
		return nil, nil, err
	}
	if stored, err = claimsOf(tx, m.SiteID, m.ID, ids); err != nil {
		return nil, nil, err
	}
	disputed, err := disputesOf(tx, m.SiteID, ids)
	if err != nil {
		return nil, nil, err
	}
	first, err := firstProtections(tx, m, ids)
	if err != nil {
		return nil, nil, err
	}
	closed, err := insolvencies.ClaimsClosedAt(tx, m.SiteID, m.ID)
	if err != nil {
		return nil, nil, err
	}
	histories, err := ledger.HistoriesWithIDs(tx, m.SiteID, ids, nil)
	for _, h := range histories {
		a := claim.Allocation{History: h, NotifyBy: m.cover.NotifyBy(m.TriggerAt), ClosedAt: closed}
		if line, ok := lines[h.ID]; ok {
			a.Line = &line
		}
		a.Disputes = m.claimed(disputed[h.ID], stored[h.ID], a.Line != nil, first[h.ID])
		list = append(list, a)
	}
	return list, stored, err
}

// claimed lists the disputes of an allocation that claims are made from, with the decisions on their claims. It omits disputes that
// were over before the failure: outside the snapshot, or fully credited. A claim stays, with a loss of 0, if its dispute was matched to
// another payment.
func (m making) claimed(disputed []claim.Dispute, stored []Claim, inSnapshot, first bool) (list []claim.Dispute) {
	left := slices.Clone(stored)
	for _, d := range disputed {
		known := find(left, d)
		if known == nil && !since(d, m.Failure()) && (!inSnapshot || settled(d)) {
			continue
		}
		d.Waits = first
		if known != nil {
			d.ID, d.Dropped, d.Waits = known.ID, known.Dropped(), first && !known.Released
			left = slices.DeleteFunc(left, func(c Claim) bool { return c.ID == d.ID })
		}
		list = append(list, d)
	}
	for _, c := range left {
		list = append(list, claim.Dispute{ID: c.ID, Source: c.Source, Case: c.CaseID, Dropped: c.Dropped()})
	}
	return list
}

// settled reports whether a dispute was fully credited.
func settled(d claim.Dispute) bool {
	return !slices.ContainsFunc(d.Debits, func(debit claim.Debit) bool { return debit.Amount > debit.Credited })
}

// since reports whether a debit of a dispute is of the day of the failure or later.
func since(d claim.Dispute, f claim.Failure) bool {
	return slices.ContainsFunc(d.Debits, func(debit claim.Debit) bool { return debit.Day >= f.Day() })
}

// disputesOf reads the disputes that moved money of allocations.
func disputesOf(tx *store.Tx, siteID int64, allocations []int64) (map[int64][]claim.Dispute, error) {
	list, err := disputes.OfAllocations(tx, siteID, allocations)
	found := map[int64][]claim.Dispute{}
	for _, d := range list {
		if made := fromCase(d); len(made.Debits) > 0 {
			found[d.AllocationID] = append(found[d.AllocationID], made)
		}
	}
	return found, err
}

// fromCase is a case with its debits, each with the credits that name it.
func fromCase(d disputes.Disputed) claim.Dispute {
	made := claim.Dispute{Source: d.Source, Case: d.CaseID}
	place := map[int64]int{}
	for _, m := range d.Movements { // debits come first
		if m.Kind != dispute.Credit {
			place[m.EventID] = len(made.Debits)
			made.Debits = append(made.Debits, claim.Debit{Day: m.Day, ReceivedAt: m.ReceivedAt, Amount: m.Base})
		} else if i, ok := place[m.Debit]; ok {
			made.Debits[i].Credited = money.Sum(made.Debits[i].Credited, m.Base)
		}
	}
	return made
}

func find(list []Claim, d claim.Dispute) *Claim {
	for i := range list {
		if list[i].Source == d.Source && list[i].CaseID == d.Case {
			return &list[i]
		}
	}
	return nil
}

// store stores the claims of an allocation that are new or have changed.
func (m making) store(tx *store.Tx, a claim.Allocation, stored []Claim) (err error) {
	defer money.Catch(&err)
	for _, computed := range claim.Claims(a, m.Failure()) {
		before := find(stored, computed.Dispute)
		var c Claim
		if before != nil {
			c = *before
		} else {
			c = Claim{
				SiteID: m.SiteID, InsolvencyID: m.ID, ChannelID: m.ChannelID, AllocationID: a.ID, TransactionID: a.TransactionID,
				BookingID: a.BookingID, Source: computed.Source, CaseID: computed.Case, Currency: a.Currency, PolicyCurrency: m.currency,
				Review: claim.Review{State: claim.StateOpen},
			}
		}
		if len(computed.Debits) > 0 {
			c.FirstDay = computed.FirstDebit()
		}
		c.Disputed, c.Loss, c.Payable = computed.Disputed, computed.Loss, computed.Payable
		c.Represent, c.Reason = computed.Represent(), computed.Reason
		if err := m.value(tx, a, &c); err != nil {
			return err
		}
		c.Review = c.Follow(c.Payable, c.State == claim.StatePaid)
		if before != nil && same(*before, c) {
			continue
		}
		action := "claim.change"
		if before == nil {
			action = "claim.make"
			if err := insert(tx, &c); err != nil {
				return err
			}
		} else if err := save(tx, &c); err != nil {
			return err
		}
		if err := note(tx, access.System(m.SiteID), c, action, ""); err != nil {
			return err
		}
	}
	return nil
}

// same reports whether the stored fields of a claim are unchanged.
func same(a, b Claim) bool {
	return a.FirstDay == b.FirstDay && a.Disputed == b.Disputed && a.Loss == b.Loss && a.Payable == b.Payable &&
		a.Represent == b.Represent && a.Reason == b.Reason && a.Priced == b.Priced && a.Value == b.Value && a.State == b.State
}

// value converts the payable amount to the policy currency: at the locked rate, and from there at the fixing of the trigger.
func (m making) value(tx *store.Tx, a claim.Allocation, c *Claim) error {
	c.Priced, c.Value = false, 0
	if a.PricedAt.IsZero() {
		return nil
	}
	atTrigger, ok, err := m.atTrigger(tx, a.Quote.To)
	if err != nil || !ok {
		return err
	}
	c.Value, err = claim.InPolicyCurrency(c.Payable, a.Quote, atTrigger)
	c.Priced = err == nil
	return err
}

// atTrigger is the fixing of the trigger from the policy currency of an allocation's locked rate to that of the insolvency. ok is false
// if there is none yet.
func (m making) atTrigger(tx *store.Tx, locked money.Currency) (quote fx.Quote, ok bool, err error) {
	if locked == m.currency {
		return fx.Quote{From: locked, To: locked}, true, nil
	}
	return fixings.SpotQuote(tx, m.SiteID, locked, m.currency, m.Failure().Day())
}

// firstProtections finds the allocations for which other protection pays first by the policy.
func firstProtections(tx *store.Tx, m making, allocations []int64) (map[int64]bool, error) {
	first := map[int64]bool{}
	if len(m.cover.OtherProtectionFirst) == 0 {
		return first, nil
	}
	protections, err := otherProtections(tx, m.SiteID, allocations)
	for id, protection := range protections {
		first[id] = slices.Contains(m.cover.OtherProtectionFirst, protection)
	}
	return first, err
}
