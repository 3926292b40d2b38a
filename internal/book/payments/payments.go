// Package payments records transactions, adjusts them, and talks to processors. It owns the tables transactions,
// payments, gateway_charges, modal_payments and processor_events. Start at Payments.Create, then intake.run,
// intake.follow, ledger.Post and limits.Judge.
package payments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Payments records transactions, and reads them and their payment records. In the write that records a purchase or
// capture, it also decides whether the payment is protected (R2). If the channel has a processor, Payments asks the
// processor to carry the transaction out.
type Payments struct {
	*Room
	gateway *GatewayPayments
}

// NewPayments makes the use cases. gateway talks to the processors.
func NewPayments(room *Room, gateway *GatewayPayments) *Payments {
	return &Payments{Room: room, gateway: gateway}
}

// Room has everything that the payment use cases share.
type Room struct {
	*sites.DB
	*merchants.Processors
	Settings  Settings
	Rulepacks protection.Rulepacks // the dispute windows (R5)
	Random    io.Reader            // for the keys of shoppers who return from a challenge
	NewUUID   func() string        // for transactions
	Log       *slog.Logger
}

// Settings are a deployment's settings for payments through processors.
type Settings struct {
	BaseURL       string        // the public base URL, to which shoppers return; without a trailing slash
	CallTimeout   time.Duration // how long a processor may take to respond; 20 seconds by default
	ChallengeLife time.Duration // how long a shopper may take for a challenge; 30 minutes by default
	InFlight      int           // how many payments may wait for processors concurrently; 64 by default
}

// Complete returns the settings with their defaults filled in.
func (s Settings) Complete() Settings {
	s.BaseURL = strings.TrimSuffix(s.BaseURL, "/")
	s.CallTimeout = cmp.Or(s.CallTimeout, 20*time.Second)
	s.ChallengeLife = cmp.Or(s.ChallengeLife, 30*time.Minute)
	s.InFlight = cmp.Or(s.InFlight, 64)
	return s
}

// Create records a transaction as reported, or has the channel's processor carry it out. If the caller has reported the
// same payment before, created is false and t is the stored one. It needs one of the permissions WriteTransactions and
// LogPayment.
func (p *Payments) Create(
	ctx context.Context, actor access.Actor, in payment.NewTransaction,
) (t payment.Transaction, created bool, err error) {
	if err := actor.RequireEither(access.WriteTransactions, access.LogPayment); err != nil {
		return payment.Transaction{}, false, err
	}
	sem := p.gateway.semaphore()
	defer sem.release()
	made, err := p.takeIn(ctx, actor, sem, in, true)
	if errs.Is(err, errs.Invalid) { // an expired authorisation may hold what the payment needs
		if ended, failed := p.ExpireDue(ctx, actor.SiteID); failed == nil && ended > 0 || errors.Is(err, errAboveTotal) {
			made, err = p.takeIn(ctx, actor, sem, in, false)
		}
	}
	if err != nil {
		return payment.Transaction{}, false, err
	}
	if made.request == nil || !made.created {
		return made.t, made.created, nil
	}
	t, err = p.gateway.carryOut(ctx, actor, made.t, made.request)
	return t, err == nil, err
}

// takenIn is a stored transaction. request is the request to a processor for it; nil if it was recorded as
// reported.
type takenIn struct {
	t       payment.Transaction
	created bool
	request *gatewayRequest
}

// takeIn stores a transaction in one write.
func (p *Payments) takeIn(
	ctx context.Context, actor access.Actor, sem *semaphore, in payment.NewTransaction, within bool,
) (takenIn, error) {
	return idempotency.Once(ctx, p.DB, actor, func(tx *store.Tx) (made takenIn, _ idempotency.Outcome, err error) {
		site, err := merchants.SiteInForce(tx, actor.SiteID)
		if err != nil {
			return made, idempotency.Outcome{}, err
		}
		r := newIntake(p.Room, tx, actor, site, in)
		r.semaphore, r.within = sem, within
		if made.t, made.created, err = r.run(); err != nil {
			return made, idempotency.Outcome{}, err
		}
		made.request = r.request
		return made, idempotency.Outcome{ID: made.t.ID}, ledger.SaveChanges(tx)
	}, func(ctx context.Context, made idempotency.Outcome) (takenIn, error) {
		again := takenIn{created: true}
		err := p.ReadBy(ctx, sites.ClockFor(actor), func(tx *store.Tx) (err error) {
			again.t, err = Transaction(tx, actor.SiteID, made.ID)
			return err
		})
		return again, err
	})
}

// Get reads one transaction. If there is none, the error has the kind RecordNotFound.
func (p *Payments) Get(ctx context.Context, actor access.Actor, id int64) (payment.Transaction, error) {
	found, err := sites.LookupAfter(ctx, p.DB, actor, p.Due(), func(tx *store.Tx) (payment.Transaction, error) {
		return Transaction(tx, actor.SiteID, id)
	})
	return found, store.NotFoundAs(errs.RecordNotFound, err, "Transaction %d not found.", id)
}

// List reads one page of transactions.
func (p *Payments) List(
	ctx context.Context, actor access.Actor, filter TransactionFilter, page store.Page,
) (store.List[payment.Transaction], error) {
	if err := sites.EndDue(ctx, p.DB, actor, p.Due()); err != nil {
		return store.List[payment.Transaction]{}, err
	}
	return sites.ReadPage(ctx, p.DB, actor, page, func(tx *store.Tx) (store.List[payment.Transaction], error) {
		return transactionsPage(tx, actor.SiteID, filter, page)
	})
}

// Payment reads one payment record. If there is none, the error has the kind RecordNotFound.
func (p *Payments) Payment(ctx context.Context, actor access.Actor, id int64) (payment.Payment, error) {
	found, err := sites.Read(ctx, p.DB, actor, func(tx *store.Tx) (payment.Payment, error) {
		return paymentByID(tx, actor.SiteID, id)
	})
	return found, store.NotFoundAs(errs.RecordNotFound, err, "Payment %d not found.", id)
}

// FlagCounts reports a channel's data quality: how many of its latest 10,000 flagged transactions have each flag.
func (p *Payments) FlagCounts(ctx context.Context, actor access.Actor, channelID int64) (map[string]int64, error) {
	return sites.Read(ctx, p.DB, actor, func(tx *store.Tx) (map[string]int64, error) { return flagCounts(tx, actor.SiteID, channelID) })
}

// ListPayments reads one page of payment records.
func (p *Payments) ListPayments(
	ctx context.Context, actor access.Actor, filter PaymentFilter, page store.Page,
) (store.List[payment.Payment], error) {
	return sites.ReadPage(ctx, p.DB, actor, page, func(tx *store.Tx) (store.List[payment.Payment], error) {
		return paymentsPage(tx, actor.SiteID, filter, page)
	})
}

// expireBatch bounds how many authorisations expire in one run of the job.
const expireBatch = 200

// ExpireAuthorisations ends authorisations that were not captured in time, a bounded number in each call. It returns how
// many.
func (p *Payments) ExpireAuthorisations(ctx context.Context) (expired int, err error) {
	return p.expireAll(ctx, store.Deployment, func(tx *store.Tx) ([]openAuthorisation, error) { return authorisationsDue(tx, expireBatch) })
}

// Due ends expired authorisations of a site before its transactions and bookings are read. Checking that none is due
// is one index lookup.
func (p *Payments) Due() sites.Due {
	return sites.Due{
		Any: anyAuthorisationDue,
		End: p.ExpireDue,
	}
}

// ExpireDue ends the expired authorisations of one site, and returns how many. It is called before a payment, so that the result does not
// depend on whether the job has run.
func (p *Payments) ExpireDue(ctx context.Context, siteID int64) (expired int, err error) {
	list := func(tx *store.Tx) ([]openAuthorisation, error) { return authorisationsDueOf(tx, siteID, expireBatch) }
	for n := expireBatch; err == nil && n == expireBatch; expired += n {
		n, err = p.expireAll(ctx, siteID, list)
	}
	return expired, err
}

func (p *Payments) expireAll(
	ctx context.Context, siteID int64, list func(tx *store.Tx) ([]openAuthorisation, error),
) (expired int, err error) {
	var due []openAuthorisation
	err = p.Store.Read(ctx, siteID, func(tx *store.Tx) error {
		due, err = list(tx)
		return err
	})
	for _, a := range due {
		done := false
		if err == nil {
			err = p.WriteBy(ctx, a.Clock, func(tx *store.Tx) (err error) {
				done, err = p.expire(tx, a)
				return err
			})
		}
		if err != nil {
			return expired, fmt.Errorf("authorisation %d-%d: %w", a.SiteID, a.ID, err)
		}
		if done {
			expired++
		}
	}
	return expired, err
}

func (p *Payments) expire(tx *store.Tx, a openAuthorisation) (done bool, err error) {
	t, err := lockTransaction(tx, a.SiteID, a.ID)
	if err != nil {
		return false, err
	}
	// It was captured, voided or expired since it was listed.
	if t.Status != payment.StatusComplete || t.Remaining == 0 {
		return false, nil
	}
	if ready, err := beginRelease(tx, t); err != nil || !ready {
		return false, err
	}
	for _, part := range t.Payments {
		b, err := bookings.Lock(tx, t.SiteID, part.BookingID)
		if err != nil {
			return false, err
		}
		b.Sums.Held -= part.Remaining
		b.Sums.OpenAuthorised -= part.Remaining
		if err := bookings.SetSums(tx, b); err != nil {
			return false, err
		}
	}
	// Remaining keeps its value: a capture made in time may be reported later.
	t.Status = payment.StatusExpired
	if err := saveTransaction(tx, t); err != nil {
		return false, err
	}
	return true, bookings.SaveChanges(tx)
}

// Record stores one transaction inside a write, as reported. No processor is called. ledger.SaveChanges must follow, once
// for any number of them. See intake.run.
func (p *Payments) Record(
	tx *store.Tx, actor access.Actor, site merchant.Site, in payment.NewTransaction,
) (t payment.Transaction, created bool, err error) {
	return newIntake(p.Room, tx, actor, site, in).run()
}
