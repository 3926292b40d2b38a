package report

import (
	"context"
	"errors"
	"slices"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/limits"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// explaining explains allocations of a site at one moment. It takes many at once: one query reads a kind of fact for
// all of them.
type explaining struct {
	tx       *store.Tx
	siteID   int64
	moment   protection.Moment
	room     *Protection
	policies map[int64]terms.Policy // those read so far, by id
}

func newExplaining(room *Protection, tx *store.Tx, siteID int64, m protection.Moment) *explaining {
	return &explaining{tx: tx, siteID: siteID, moment: m, room: room, policies: map[int64]terms.Policy{}}
}

// all explains allocations and their premium, in the order of the ids.
func (e *explaining) all(ids []int64) ([]protection.Explained, error) {
	facts, err := limits.FactsOf(e.tx, e.siteID, ids, nil)
	if err != nil || len(facts) == 0 {
		return nil, err
	}
	lines, err := ledger.PremiumOfEach(e.tx, e.siteID, ids)
	if err != nil {
		return nil, err
	}
	var transactions []int64
	for _, f := range facts {
		transactions = append(transactions, f.Allocation.TransactionID)
	}
	slices.Sort(transactions)
	over, err := overLimitsKnown(e.tx, e.siteID, slices.Compact(transactions), e.moment.KnownAt)
	if err != nil {
		return nil, err
	}
	list := make([]protection.Explained, len(ids))
	for i, id := range ids {
		f := facts[id]
		list[i] = explainOver(protection.Explain(f.History, e.moment, e.room.Rulepacks), over)
		policy, err := e.policyOf(f.Allocation)
		if err != nil {
			return nil, err
		}
		if err := list[i].ExplainPremium(policy, lines[id], e.moment); err != nil {
			return nil, err
		}
		list[i].Summary = Summarize(list[i:i+1], e.moment)
	}
	return list, nil
}

// policyOf is the policy that priced an allocation. Each policy is read once.
func (e *explaining) policyOf(a protection.Allocation) (terms.Policy, error) {
	if found, ok := e.policies[a.PolicyID]; ok {
		return found, nil
	}
	policy, err := ledger.PolicyOf(e.tx, a)
	if err == nil {
		e.policies[a.PolicyID] = policy
	}
	return policy, err
}

// overLimitsKnown reads by how much transactions exceeded limits, as it was known at an instant.
func overLimitsKnown(tx *store.Tx, siteID int64, transactions []int64, known time.Time) ([]protection.OverLimit, error) {
	over, err := limits.OverLimits(tx, siteID, transactions)
	return slices.DeleteFunc(over, func(o protection.OverLimit) bool { return o.RecordedAt.After(known) }), err
}

// BookingProtection explains one booking at a moment: the sums of all its allocations, and one page of them.
type BookingProtection struct {
	Summary     string // in words
	Booking     booking.Booking
	Moment      protection.Moment
	Policy      terms.Policy
	Sums        exposure.ExplainedBooking
	Allocations store.List[protection.Explained]
}

// ExplainBooking computes the protection of a booking: the sums of all its allocations, and one page of them with
// every input and step, in order of their ids.
func (p *Protection) ExplainBooking(
	ctx context.Context, actor access.Actor, id int64, in ProtectionQuery, page store.Page,
) (BookingProtection, error) {
	read := sites.Read[BookingProtection]
	if many, err := p.manyPayments(ctx, actor, id); err != nil {
		return BookingProtection{}, err
	} else if many {
		read = sites.Report[BookingProtection]
	}
	return read(ctx, p.DB, actor, func(tx *store.Tx) (report BookingProtection, err error) {
		if report.Moment, err = in.complete(tx); err != nil {
			return report, err
		}
		report.Booking, err = bookings.Alone(tx, actor.SiteID, id)
		// At the moment of the report a later booking was not known.
		if err == nil && report.Booking.CreatedAt.After(report.Moment.KnownAt) {
			err = store.ErrNotFound
		}
		if err != nil {
			return report, store.NotFoundAs(errs.RecordNotFound, err, "Booking %d not found.", id)
		}
		m := &report.Moment
		if report.Policy, err = merchants.PolicyKnown(tx, actor.SiteID, m.AsOf, m.KnownAt); err != nil {
			return report, err
		}
		m.Recognition = report.Policy.Recognition
		return report, report.add(newExplaining(p, tx, actor.SiteID, *m), page)
	})
}

// manyPayments reports whether a booking has so many payments that explaining it takes long.
func (p *Protection) manyPayments(ctx context.Context, actor access.Actor, id int64) (bool, error) {
	booking, err := sites.Read(ctx, p.DB, actor, func(tx *store.Tx) (booking.Booking, error) {
		return bookings.Alone(tx, actor.SiteID, id)
	})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return booking.Payments > int64(p.Allocations), err
}

// add reads the allocations piece by piece, adds them up, and keeps those of the page.
func (b *BookingProtection) add(e *explaining, page store.Page) error {
	m := e.moment
	at := m.KnownAt
	if end := m.AsOf.End(); end.Before(at) {
		at = end
	}
	total, err := ledger.BookingTotalAt(e.tx, e.siteID, b.Booking.ID, at)
	if err != nil {
		return err
	}
	unprotected, err := merchants.UnprotectedChannels(e.tx, e.siteID, m.AsOf, m.KnownAt)
	if err != nil {
		return err
	}
	summary := newSummary(m)
	sums := exposure.NewExplainedBooking(total, !unprotected[b.Booking.ChannelID], m)
	for after := int64(0); ; {
		ids, err := ledger.AllocationIDsOfBooking(e.tx, e.siteID, b.Booking.ID, after, m.KnownAt, e.room.Allocations)
		if err != nil {
			return err
		}
		list, err := e.all(ids)
		if err != nil {
			return err
		}
		for _, x := range list {
			place := int(sums.Allocations) - page.Skip()
			sums.Add(x)
			summary.add(x)
			if place >= 0 && place < page.Size {
				b.Allocations.Items = append(b.Allocations.Items, x)
			}
			after = x.ID
		}
		if len(ids) < e.room.Allocations {
			break
		}
	}
	sums.Close()
	b.Sums = *sums
	b.Summary = summary.text()
	if sums.E4 > 0 {
		b.Summary += " Another " + money.FormatSigned(sums.E4, b.Booking.Currency) + " is still to be paid."
	}
	b.Allocations.Total = sums.Allocations
	b.Allocations.More = sums.Allocations > int64(page.Skip()+page.Size)
	b.Allocations.PastEnd = pastEnd(page, len(b.Allocations.Items), sums.Allocations)
	return nil
}

// pastEnd reports whether a page, given by its number, is past the end of a collection that is not empty.
func pastEnd(page store.Page, items int, total int64) bool {
	return items == 0 && page.Offset < 0 && page.Number > 1 && total > 0
}

// explainOver adds a step to an explanation for each limit that the allocation exceeds.
func explainOver(x protection.Explained, over []protection.OverLimit) protection.Explained {
	for _, o := range over {
		if o.AllocationID == x.ID {
			x.Steps = append(x.Steps, o.Step())
		}
	}
	return x
}
