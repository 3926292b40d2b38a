package disputes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
)

// errNothingDisputed is the error for a dispute of a charge that took no money, as far as we know.
var errNothingDisputed = errors.New("no payment of the charge was completed")

// Reconcile asks processors for unknown outcomes of payments, and records the disputes that they report with them: see
// payments.Disputes.Reconcile.
func (d *Disputes) Reconcile(ctx context.Context) (more bool, err error) {
	reported, more, err := d.Gateway.Reconcile(ctx)
	return more, errors.Join(err, d.Apply(ctx, reported))
}

// Apply records the disputes that processors reported with their charges. Each is recorded once, however often it is reported.
func (d *Disputes) Apply(ctx context.Context, list []payments.ReportedDisputes) error {
	var failed []error
	for _, charge := range list {
		for _, one := range charge.Disputes {
			if err := d.apply(ctx, charge, one); err != nil {
				failed = append(failed, fmt.Errorf("dispute %s: %w", one.ProcessorID, err))
			}
		}
	}
	return errors.Join(failed...)
}

func (d *Disputes) apply(ctx context.Context, charge payments.ReportedDisputes, one payment.Dispute) error {
	return d.WriteBy(context.WithoutCancel(ctx), charge.Clock, func(tx *store.Tx) error {
		site, err := merchants.SiteInForce(tx, charge.SiteID)
		if err != nil {
			return err
		}
		actor := access.System(charge.SiteID)
		actor.Ahead = charge.Clock.Ahead
		w := &write{payments: d.Payments, tx: tx, actor: actor, site: site, origin: originProcessor}
		for _, r := range reportsOf(charge, one) {
			c, _, err := w.take(r, rawOf(one))
			if err != nil {
				return err
			}
			if c.TransactionID == 0 {
				return errNothingDisputed // it is asked again when the charge is
			}
		}
		return ledger.SaveChanges(tx)
	})
}

// reportsOf turns a dispute of a charge into reports. A processor gives no day for a win.
func reportsOf(charge payments.ReportedDisputes, d payment.Dispute) []dispute.Report {
	r := dispute.Report{
		Source: charge.Processor, CaseID: d.ProcessorID, Stage: dispute.Chargeback, Status: dispute.Open, Kind: dispute.Debit, Number: 1,
		Day: civil.DayOf(d.OpenedAt), At: d.OpenedAt, Amount: d.Total, Currency: d.Currency, DueOn: d.ChallengeDay, ReasonCode: d.ReasonCode,
		Clues: dispute.Clues{TransactionID: charge.TransactionID, PaidOn: civil.NoDay},
	}
	switch d.Outcome {
	case payment.DisputeLost:
		r.Status = dispute.Lost
	case payment.DisputeWon:
		r.Status = dispute.Won
		won := r
		won.Status, won.Kind, won.Day, won.At = dispute.Won, dispute.Credit, civil.NoDay, time.Time{}
		return []dispute.Report{r, won}
	}
	return []dispute.Report{r}
}
