package payments

import (
	"database/sql"
	"errors"
	"time"

	"holdfast/internal/domain/payment"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// gatewayChargeColumns are the columns of a gateway charge, in the order in which scanGatewayCharge reads them. The table
// is gateway_charges: the request to a processor for a transaction, and the outcome.
const gatewayChargeColumns = `site_id, transaction_id, channel_id, operation, reference, processor, live, processor_id, original,
	state, reserved, asked_for_at, ask_at, asks, return_key, challenge_type, challenge_value, decline, code, threeds_status,
	threeds_flow, threeds_eci, threeds_version, threeds_directory, liability_shift`

func scanGatewayCharge(scan func(dest ...any) error) (payment.GatewayCharge, error) {
	var p payment.GatewayCharge
	var asked int64
	var ask sql.NullInt64
	var key sql.NullString
	err := scan(&p.SiteID, &p.TransactionID, &p.ChannelID, &p.Operation, &p.Reference, &p.Processor, &p.Live, &p.ProcessorID,
		&p.Original, &p.State, &p.Reserved, &asked, &ask, &p.Asks, &key, &p.Challenge.Type, &p.Challenge.Value, &p.Decline,
		&p.Code, &p.ThreeDS.Status, &p.ThreeDS.Flow, &p.ThreeDS.ECI, &p.ThreeDS.Version, &p.ThreeDS.DirectoryID,
		&p.ThreeDS.LiabilityShift)
	p.AskedForAt, p.AskAt, p.ReturnKey = store.Instant(asked), store.MaybeInstant(ask), key.String
	return p, err
}

// insertGatewayCharge stores that a processor is about to be called for a transaction of this write.
func insertGatewayCharge(tx *store.Tx, p payment.GatewayCharge) error {
	_, err := tx.Exec(`INSERT INTO gateway_charges (`+gatewayChargeColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)`,
		p.SiteID, p.TransactionID, p.ChannelID, p.Operation, p.Reference, p.Processor, p.Live, p.ProcessorID, p.Original,
		p.State, p.Reserved, store.Micros(p.AskedForAt), store.MaybeMicros(p.AskAt), p.Asks, maybeText(p.ReturnKey), p.Challenge.Type,
		p.Challenge.Value, p.Decline, p.Code, p.ThreeDS.Status, p.ThreeDS.Flow, p.ThreeDS.ECI, p.ThreeDS.Version,
		p.ThreeDS.DirectoryID, p.ThreeDS.LiabilityShift)
	return err
}

// saveGatewayCharge stores the fields of a gateway charge that can change. The caller has locked its transaction: that is
// the lock on both.
func saveGatewayCharge(tx *store.Tx, p payment.GatewayCharge) error {
	_, err := tx.Exec(`UPDATE gateway_charges SET processor_id = $3, state = $4, reserved = $5, ask_at = $6, asks = $7,
			challenge_type = $8, challenge_value = $9, decline = $10, code = $11, threeds_status = $12, threeds_flow = $13,
			threeds_eci = $14, threeds_version = $15, threeds_directory = $16, liability_shift = $17
		WHERE site_id = $1 AND transaction_id = $2`,
		p.SiteID, p.TransactionID, p.ProcessorID, p.State, p.Reserved, store.MaybeMicros(p.AskAt), p.Asks, p.Challenge.Type,
		p.Challenge.Value, p.Decline, p.Code, p.ThreeDS.Status, p.ThreeDS.Flow, p.ThreeDS.ECI, p.ThreeDS.Version,
		p.ThreeDS.DirectoryID, p.ThreeDS.LiabilityShift)
	return err
}

// gatewayChargeOf reads the gateway charge of a transaction. It returns store.ErrNotFound if no processor was asked.
func gatewayChargeOf(tx *store.Tx, siteID, transactionID int64) (payment.GatewayCharge, error) {
	return oneGatewayCharge(tx, `site_id = $1 AND transaction_id = $2`, siteID, transactionID)
}

// Charge names a gateway charge of a channel as a processor does.
type Charge struct {
	SiteID, ChannelID int64
	Processor         string
	Reference         string // our reference; may be empty
	ProcessorID       string // the processor's id of the charge; may be empty
}

// gatewayChargeOfNotice reads the gateway charge that a processor names. It looks for our reference first, then for the
// processor's id. If adjustments have the same id as the charge, it takes the charge. It returns store.ErrNotFound if the
// channel has no such charge.
func gatewayChargeOfNotice(tx *store.Tx, h Charge) (payment.GatewayCharge, error) {
	if h.Reference != "" {
		p, err := oneGatewayCharge(tx, `reference = $3 AND site_id = $1 AND channel_id = $2`, h.SiteID, h.ChannelID, h.Reference)
		if !errors.Is(err, store.ErrNotFound) || h.ProcessorID == "" {
			return p, err
		}
	}
	return oneGatewayCharge(tx, `site_id = $1 AND channel_id = $2 AND processor_id = $4 AND processor = $3
		ORDER BY transaction_id LIMIT 1`, h.SiteID, h.ChannelID, h.Processor, h.ProcessorID)
}

// gatewayChargeByReturnKey reads the gateway charge for the key with which a shopper returns from a challenge.
func gatewayChargeByReturnKey(tx *store.Tx, key string) (payment.GatewayCharge, error) {
	return oneGatewayCharge(tx, `site_id = $1 AND return_key = $2`, secrets.SiteOfKey(key), key)
}

func oneGatewayCharge(tx *store.Tx, condition string, args ...any) (payment.GatewayCharge, error) {
	return scanGatewayCharge(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+gatewayChargeColumns+` FROM gateway_charges WHERE `+condition, args, dest...)
	})
}

// gatewayChargesDue lists the gateway charges of all sites whose outcome must be queried now, the longest overdue first.
func gatewayChargesDue(tx *store.Tx, limit int) ([]payment.GatewayCharge, error) {
	var list []payment.GatewayCharge
	err := tx.Query(`SELECT `+gatewayChargeColumns+` FROM gateway_charges WHERE ask_at <= $1 ORDER BY ask_at LIMIT $2`,
		[]any{store.Micros(sites.RealNow(tx)), limit}, func(scan func(dest ...any) error) error {
			p, err := scanGatewayCharge(scan)
			list = append(list, p)
			return err
		})
	return list, err
}

// claimAsk reserves a query about a gateway charge for the caller, and postpones the next one. It returns
// store.ErrNotFound if another process has claimed it since p was read.
func claimAsk(tx *store.Tx, p payment.GatewayCharge, next time.Time) error {
	n, err := tx.Exec(`UPDATE gateway_charges SET ask_at = $4, asks = asks + 1
		WHERE site_id = $1 AND transaction_id = $2 AND ask_at = $3`,
		p.SiteID, p.TransactionID, store.Micros(p.AskAt), store.Micros(next))
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// openAdjustments counts the adjustments of a transaction whose outcomes are not known yet.
func openAdjustments(tx *store.Tx, siteID, transactionID int64) (n int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM transactions t
		JOIN gateway_charges p ON p.site_id = t.site_id AND p.transaction_id = t.id
		WHERE t.site_id = $1 AND t.linked_id = $2 AND p.state IN ('called', 'challenged', 'unknown')`,
		[]any{siteID, transactionID}, &n)
	return n, err
}

// saveOutcome stores the fields of a locked transaction that the processor's answer changes, with those of
// saveTransaction.
func saveOutcome(tx *store.Tx, t payment.Transaction) error {
	_, err := tx.Exec(`UPDATE transactions SET content = $3, auth_code = $4, card_type = $5, bin_number = $6, last_four = $7,
		processor_reference = $8, protected = $9, protection_reason = $10 WHERE site_id = $1 AND id = $2`,
		t.SiteID, t.ID, t.Content, t.AuthCode, t.CardType, t.BIN, t.LastFour, t.ProcessorReference,
		t.Protected, t.ProtectionReason)
	if err != nil {
		return err
	}
	return saveTransaction(tx, t)
}

// freeReference removes the caller's payment reference from a locked transaction that failed, so that the caller can try
// the payment again with the same reference.
func freeReference(tx *store.Tx, siteID, transactionID int64) error {
	_, err := tx.Exec(`UPDATE transactions SET reference = NULL WHERE site_id = $1 AND id = $2`, siteID, transactionID)
	return err
}

// readGatewayCharges sets the gateway charges of transactions. Only a transaction with a token, or one that adjusts
// another, can have one. If there is no such transaction, it reads nothing.
func readGatewayCharges(tx *store.Tx, siteID int64, list []payment.Transaction) error {
	var ids []int64
	at := map[int64]*payment.Transaction{}
	for i, t := range list {
		if t.Token != "" || t.LinkedID != 0 {
			ids, at[t.ID] = append(ids, t.ID), &list[i]
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "transaction_id", ids)
	return tx.Query(`SELECT `+gatewayChargeColumns+` FROM gateway_charges WHERE `+w.Text.String(), w.Args,
		func(scan func(dest ...any) error) error {
			p, err := scanGatewayCharge(scan)
			if err == nil {
				at[p.TransactionID].GatewayCharge = &p
			}
			return err
		})
}
