package claims

import (
	"cmp"
	"context"
	"slices"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/certificates"
	"holdfast/internal/book/disputes"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// MostRepresented is the most refunds and the most other disputes that a representment has.
const MostRepresented = 100

// Ground is a ground on which a dispute can be represented, by the records.
type Ground string

// The grounds.
const (
	GroundRefunded  Ground = "refunded"
	GroundProvided  Ground = "service_provided" // at least partly
	GroundLate      Ground = "late_dispute"
	GroundDuplicate Ground = "duplicate"
)

// Grounds lists the grounds.
var Grounds = []Ground{GroundRefunded, GroundProvided, GroundLate, GroundDuplicate}

// Representment is a dispute with the evidence against it that is on record: the data of its paper.
type Representment struct {
	At       time.Time // when it was read
	From     string    // the site's issuer
	Merchant string
	Dispute  disputes.Case
	Payment  payment.Transaction
	Claims   []Claim // made from the dispute
	Bookings []RepresentedBooking
	Refunds  []payment.Transaction // of the payment, in order of their dates; MostRepresented at most
	Others   []disputes.Case       // other disputes of the payment that took money; MostRepresented at most
	Evidence []disputes.Evidence
}

// RepresentedBooking is a booking of a disputed payment.
type RepresentedBooking struct {
	booking.Booking
	Service  claim.Service
	Disputed civil.Day // the day of the first debit or, without one, on which the case was opened
	LastDay  civil.Day // L
	DaysLate int64
	Note     certificates.Note // the traveller's latest
	Refunded int64             // refunds of the booking on record, minor units of its currency
}

// PaidByOthers reports whether others may pay the traveller, or have paid more than the refunds on record: by their own note.
func (b RepresentedBooking) PaidByOthers() bool {
	return !b.Note.At.IsZero() && b.Note.Elsewhere(b.Refunded)
}

// Grounds are the grounds for which there is evidence, in their order.
func (r Representment) Grounds() []Ground {
	some := func(of func(b RepresentedBooking) bool) bool { return slices.ContainsFunc(r.Bookings, of) }
	holds := map[Ground]bool{
		GroundRefunded: len(r.Refunds) > 0,
		GroundProvided: some(func(b RepresentedBooking) bool { return b.Service.Provided > 0 }),
		GroundLate:     some(func(b RepresentedBooking) bool { return b.DaysLate > 0 }),
		GroundDuplicate: len(r.Others) > 0 ||
			some(func(b RepresentedBooking) bool { return b.PaidByOthers() }),
	}
	return slices.DeleteFunc(slices.Clone(Grounds), func(g Ground) bool { return !holds[g] })
}

// Represented collects the evidence against a dispute. Errors: RecordNotFound; ActionNotPossible with the reason not_matched if its payment is
// unknown, and payable_in_full if nothing of its claims is to be represented.
func (r *Claims) Represented(ctx context.Context, actor access.Actor, disputeID int64) (Representment, error) {
	if err := actor.Require(access.ReadDisputes); err != nil {
		return Representment{}, err
	}
	found, err := sites.Read(ctx, r.DB, actor, func(tx *store.Tx) (Representment, error) {
		c, err := disputes.ByID(tx, actor.SiteID, disputeID)
		if err != nil {
			return Representment{}, err
		}
		return represented(tx, c)
	})
	return found, store.NotFoundAs(errs.RecordNotFound, err, "Dispute %d not found.", disputeID)
}

func represented(tx *store.Tx, c disputes.Case) (r Representment, err error) {
	if c.TransactionID == 0 {
		return r, disputes.NotPossible(&c, "not_matched", "The payment of dispute %d is not known.", c.ID)
	}
	r = Representment{At: tx.Now, Dispute: c}
	if r.Claims, err = ofDispute(tx, c.SiteID, c.Source, c.CaseID); err != nil {
		return r, err
	}
	if len(r.Claims) > 0 && !slices.ContainsFunc(r.Claims, func(c Claim) bool { return c.Represent > 0 }) {
		return r, disputes.NotPossible(&c, "payable_in_full", "Dispute %d is payable in full.", c.ID)
	}
	if r.Payment, err = payments.Transaction(tx, c.SiteID, c.TransactionID); err != nil {
		return r, err
	}
	histories, err := ledger.HistoriesWithIDs(tx, c.SiteID, nil, []int64{c.TransactionID})
	if err != nil {
		return r, err
	}
	if err := r.addParties(tx, histories); err != nil {
		return r, err
	}
	if err := r.addRefunds(tx, histories); err != nil {
		return r, err
	}
	others, err := disputes.OfPayment(tx, c.SiteID, c.TransactionID)
	for _, other := range others {
		if other.ID != c.ID && other.Stage != dispute.Inquiry && other.Debits > other.Credits && len(r.Others) < MostRepresented {
			r.Others = append(r.Others, other)
		}
	}
	if err != nil {
		return r, err
	}
	r.Evidence, err = disputes.FilesOf(tx, c.SiteID, c.ID)
	return r, err
}

// addParties adds the merchant and the bookings, each with its service and its last day of dispute.
func (r *Representment) addParties(tx *store.Tx, histories []protection.History) error {
	siteID := r.Dispute.SiteID
	site, err := sites.Alone(tx, siteID)
	if err != nil {
		return err
	}
	channel, err := merchants.Channel(tx, siteID, r.Payment.ChannelID)
	if err != nil {
		return err
	}
	r.From, r.Merchant = cmp.Or(site.Issuer.Name, site.Name), channel.Name
	var ids, allocations []int64
	for _, h := range histories {
		ids, allocations = append(ids, h.BookingID), append(allocations, h.ID)
	}
	of, err := bookings.WithIDs(tx, siteID, ids)
	if err != nil {
		return err
	}
	notes, err := certificates.LastNotes(tx, siteID, ids)
	if err != nil {
		return err
	}
	refunded, err := refundsOf(tx, siteID, ids)
	if err != nil {
		return err
	}
	lines := map[int64]claim.SnapshotLine{}
	if len(r.Claims) > 0 {
		if lines, err = insolvencies.LinesOf(tx, siteID, r.Claims[0].InsolvencyID, allocations); err != nil {
			return err
		}
	}
	disputed := r.Dispute.FirstDay()
	until := disputed - 1
	if channel.Insolvency.InForce() { // a failed merchant provides nothing
		until = min(until, channel.Insolvency.Day()-1)
	}
	for _, h := range histories {
		terms := protection.TermsAt(h.Terms, tx.Now, tx.Now)
		b := RepresentedBooking{Booking: of[h.BookingID], Disputed: disputed, LastDay: terms.LastDay, Note: notes[h.BookingID], Refunded: refunded[h.BookingID]}
		if line, ok := lines[h.ID]; ok {
			b.LastDay = line.LastDay
		}
		b.ID = h.BookingID // also if it was deleted
		b.Service, b.DaysLate = claim.ServiceBy(terms.Start, terms.End, until), claim.DaysLate(disputed, b.LastDay)
		r.Bookings = append(r.Bookings, b)
	}
	return nil
}

// addRefunds adds the refunds of the payment.
func (r *Representment) addRefunds(tx *store.Tx, histories []protection.History) error {
	var ids []int64
	for _, h := range histories {
		for _, e := range h.Events {
			if e.Kind == payment.Refund && !slices.Contains(ids, e.TransactionID) && len(ids) < MostRepresented {
				ids = append(ids, e.TransactionID)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	refunds, err := payments.TransactionsWithIDs(tx, r.Dispute.SiteID, ids)
	for _, id := range ids {
		r.Refunds = append(r.Refunds, refunds[id])
	}
	slices.SortStableFunc(r.Refunds, func(a, b payment.Transaction) int { return a.EffectiveAt.Compare(b.EffectiveAt) })
	return err
}
