package payments

import (
	"database/sql"

	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// insertModalPayment stores that a transaction of this write is a payment in the modal, with the other verified fields.
func insertModalPayment(tx *store.Tx, t payment.Transaction, bookingID int64, authHash string) error {
	_, err := tx.Exec(`INSERT INTO modal_payments (site_id, transaction_id, booking_id, auth_hash, allocations, charge_channel)
		VALUES ($1, $2, $3, $4, $5, $6)`,
		t.SiteID, t.ID, bookingID, authHash, t.ModalAllocations, store.MaybeID(t.ModalCharge))
	return err
}

// modalAttempts lists the payments of a booking in the modal, ordered by id. The caller has locked the booking, so none is added in the
// meantime.
func modalAttempts(tx *store.Tx, siteID, bookingID int64) ([]payment.ModalAttempt, error) {
	var list []payment.ModalAttempt
	err := tx.Query(`SELECT m.transaction_id, m.auth_hash, t.status, p.decline <> ''
		FROM modal_payments m
		JOIN transactions t ON t.site_id = m.site_id AND t.id = m.transaction_id
		JOIN gateway_charges p ON p.site_id = m.site_id AND p.transaction_id = m.transaction_id
		WHERE m.site_id = $1 AND m.booking_id = $2 ORDER BY m.transaction_id`, []any{siteID, bookingID},
		func(scan func(dest ...any) error) error {
			var a payment.ModalAttempt
			err := scan(&a.TransactionID, &a.AuthHash, &a.Status, &a.Refused)
			list = append(list, a)
			return err
		})
	return list, err
}

// ModalPaymentOf returns nil if the transaction is a payment of the booking in the modal, else store.ErrNotFound.
func ModalPaymentOf(tx *store.Tx, siteID, transactionID, bookingID int64) error {
	var id int64
	return tx.QueryRow(`SELECT transaction_id FROM modal_payments WHERE site_id = $1 AND transaction_id = $2 AND booking_id = $3`,
		[]any{siteID, transactionID, bookingID}, &id)
}

// readModalPayments sets the fields of the transactions that only payments in the modal have. These always have a gateway
// charge with 3DS. If none of the transactions has one, it reads nothing.
func readModalPayments(tx *store.Tx, siteID int64, list []payment.Transaction) error {
	var ids []int64
	at := map[int64]*payment.Transaction{}
	for i, t := range list {
		if t.GatewayCharge != nil && t.Attempt3DS {
			ids, at[t.ID] = append(ids, t.ID), &list[i]
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "transaction_id", ids)
	return tx.Query(`SELECT transaction_id, allocations, charge_channel FROM modal_payments WHERE `+w.Text.String(), w.Args,
		func(scan func(dest ...any) error) error {
			var id int64
			var allocations string
			var charge sql.NullInt64
			err := scan(&id, &allocations, &charge)
			if err == nil {
				at[id].ModalAllocations, at[id].ModalCharge = allocations, charge.Int64
			}
			return err
		})
}
