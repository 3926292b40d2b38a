package payments

import (
	"database/sql"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/payment"
	"holdfast/internal/platform/events"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// insertDispute stores the dispute of a chargeback of this write.
func insertDispute(tx *store.Tx, d payment.Dispute) error {
	_, err := tx.Exec(`INSERT INTO disputes (site_id, transaction_id, chargeback_id, reversal_id, processor_id, outcome,
			reason_code, challenge_day)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		d.SiteID, d.TransactionID, d.ChargebackID, store.MaybeID(d.ReversalID), maybeText(d.ProcessorID), d.Outcome, d.ReasonCode,
		store.MaybeDay(d.ChallengeDay))
	recordDispute(tx, event.DisputeOpened, d)
	return err
}

// recordDispute records that a dispute began or ended. The API shows it in its transaction.
func recordDispute(tx *store.Tx, kind event.Type, d payment.Dispute) {
	events.Record(tx, d.SiteID, kind, d.TransactionID, event.Details{
		Outcome: string(d.Outcome), Reason: d.ReasonCode, Transaction: d.ChargebackID,
	})
}

// saveDispute stores the fields of a dispute that can change. The caller has locked its transaction.
func saveDispute(tx *store.Tx, before, d payment.Dispute) error {
	if d.Outcome != before.Outcome {
		recordDispute(tx, event.DisputeClosed, d)
	}
	_, err := tx.Exec(`UPDATE disputes SET reversal_id = $3, processor_id = $4, outcome = $5, reason_code = $6,
			challenge_day = $7
		WHERE site_id = $1 AND chargeback_id = $2`,
		d.SiteID, d.ChargebackID, store.MaybeID(d.ReversalID), maybeText(d.ProcessorID), d.Outcome, d.ReasonCode,
		store.MaybeDay(d.ChallengeDay))
	return err
}

// disputesOf lists the disputes of a transaction, in order of their chargebacks.
func disputesOf(tx *store.Tx, siteID, transactionID int64) ([]payment.Dispute, error) {
	var list []payment.Dispute
	err := eachDispute(tx, siteID, []int64{transactionID}, func(d payment.Dispute) { list = append(list, d) })
	return list, err
}

// freeReversals lists a payment's reversals from a day on that have not ended a dispute yet, earliest first.
func freeReversals(tx *store.Tx, siteID, transactionID int64, from civil.Day) ([]payment.Transaction, error) {
	var list []payment.Transaction
	err := tx.Query(`SELECT t.id, t.total FROM transactions t
		WHERE t.site_id = $1 AND t.linked_id = $2 AND t.type = $3 AND t.effective_at >= $4 AND NOT EXISTS (SELECT 1 FROM disputes d
			WHERE d.site_id = $1 AND d.transaction_id = t.linked_id AND d.reversal_id = t.id)
		ORDER BY t.effective_at, t.id`, []any{siteID, transactionID, payment.ChargebackReversal, store.Micros(from.Start())},
		func(scan func(dest ...any) error) error {
			var t payment.Transaction
			err := scan(&t.ID, &t.Total)
			list = append(list, t)
			return err
		})
	return list, err
}

// readDisputes sets the disputes of transactions. A transaction without adjustments has none.
func readDisputes(tx *store.Tx, siteID int64, list []payment.Transaction) error {
	var ids []int64
	at := map[int64]*payment.Transaction{}
	for i, t := range list {
		if t.Type.Takes() && len(t.Adjustments) > 0 {
			ids, at[t.ID] = append(ids, t.ID), &list[i]
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return eachDispute(tx, siteID, ids, func(d payment.Dispute) {
		at[d.TransactionID].Disputes = append(at[d.TransactionID].Disputes, d)
	})
}

func eachDispute(tx *store.Tx, siteID int64, transactions []int64, take func(d payment.Dispute)) error {
	var w sqltext.Where
	w.And("d.site_id = ?", siteID)
	sqltext.In(&w, "d.transaction_id", transactions)
	return tx.Query(`SELECT d.site_id, d.transaction_id, d.chargeback_id, d.reversal_id, d.processor_id, d.outcome, d.reason_code,
			d.challenge_day, t.total, t.currencies, t.effective_at
		FROM disputes d JOIN transactions t ON t.site_id = d.site_id AND t.id = d.chargeback_id
		WHERE `+w.Text.String()+` ORDER BY d.chargeback_id`, w.Args,
		func(scan func(dest ...any) error) error {
			var d payment.Dispute
			var reversal, day sql.NullInt64
			var name sql.NullString
			var opened int64
			err := scan(&d.SiteID, &d.TransactionID, &d.ChargebackID, &reversal, &name, &d.Outcome, &d.ReasonCode, &day,
				&d.Total, &d.Currency, &opened)
			if err == nil {
				d.ReversalID, d.ProcessorID, d.ChallengeDay, d.OpenedAt = reversal.Int64, name.String, store.DayOr(day), store.Instant(opened)
				take(d)
			}
			return err
		})
}
