package payments

import (
	"holdfast/internal/book/limits"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// oneTransaction reads the transaction that fulfils a condition, with all its parts.
func oneTransaction(tx *store.Tx, condition string, args ...any) (payment.Transaction, error) {
	t, err := scanTransaction(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+transactionColumns+` FROM transactions WHERE `+condition, args, dest...)
	})
	if err != nil {
		return t, err
	}
	list := []payment.Transaction{t}
	err = readTransactionParts(tx, t.SiteID, list)
	return list[0], err
}

// readTransactionParts sets the payments, adjustments and other lists of the transactions of a page, by one query for each kind.
func readTransactionParts(tx *store.Tx, siteID int64, list []payment.Transaction) error {
	if len(list) == 0 {
		return nil
	}
	at := map[int64]*payment.Transaction{}
	ids := make([]int64, len(list))
	for i := range list {
		at[list[i].ID], ids[i] = &list[i], list[i].ID
	}
	if err := readPaymentsOf(tx, siteID, ids, at); err != nil {
		return err
	}
	if err := statements.ReadStatementsOf(tx, siteID, ids, at); err != nil {
		return err
	}
	if err := limits.ReadOverLimits(tx, siteID, ids, at); err != nil {
		return err
	}
	var linked sqltext.Where
	linked.And("site_id = ?", siteID)
	sqltext.Around(&linked, "linked_id", ids)
	err := tx.Query(`SELECT linked_id, id FROM transactions WHERE `+linked.Text.String()+` ORDER BY linked_id, id`,
		linked.Args, func(scan func(dest ...any) error) error {
			var original, id int64
			err := scan(&original, &id)
			if t := at[original]; t != nil {
				t.Adjustments = append(t.Adjustments, id)
			}
			return err
		})
	if err != nil {
		return err
	}
	return readRareParts(tx, siteID, list)
}

// readRareParts sets what few transactions have, by no query where none can have it: what a processor was asked, where it came
// from and chargebacks. Their payments and adjustments are there already.
func readRareParts(tx *store.Tx, siteID int64, list []payment.Transaction) error {
	if err := readGatewayCharges(tx, siteID, list); err != nil {
		return err
	}
	if err := readModalPayments(tx, siteID, list); err != nil {
		return err
	}
	var locked []*payment.Transaction
	for i := range list {
		if list[i].Status == payment.StatusLocked {
			locked = append(locked, &list[i])
		}
	}
	return readChargebacks(tx, siteID, locked)
}

func readPaymentsOf(tx *store.Tx, siteID int64, ids []int64, at map[int64]*payment.Transaction) error {
	var w sqltext.Where
	w.And("p.site_id = ?", siteID)
	sqltext.Around(&w, "p.transaction_id", ids)
	return tx.Query(`SELECT `+paymentColumns+` FROM payments p WHERE `+w.Text.String()+` ORDER BY p.transaction_id, p.id`,
		w.Args, func(scan func(dest ...any) error) error {
			p, err := scanPayment(scan)
			if t := at[p.TransactionID]; t != nil {
				t.Payments = append(t.Payments, p)
			}
			return err
		})
}
