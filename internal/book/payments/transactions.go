package payments

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/payment"
	"holdfast/internal/lib/digest"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// transactionColumns are the columns that scanTransaction reads. $1 of the statement is the site.
const transactionColumns = `site_id, id, uuid, channel_id, author_id, author, author_name, type, status, currencies, total,
	remaining, base_currency, base_total, forex_rate, flags, psp, method, payee_name, payee_surname, payee_email, country,
	COALESCE(reference, ''), token, ip_address, bin_number, last_four, card_type, auth_code, attempt_3ds, redirect_url,
	COALESCE(linked_id, 0), content, content_hash, COALESCE(import_key, ''), simulated, effective_at, created_at, modified_at,
	acquirer_reference, capture_by, processor_reference, protected, protection_reason,
	(SELECT c.secret FROM channels c WHERE c.site_id = $1 AND c.id = transactions.channel_id)`

// scanTransaction reads one row of transactionColumns.
func scanTransaction(scan func(dest ...any) error) (payment.Transaction, error) {
	var t payment.Transaction
	var flags string
	var captureBy int64
	err := scan(&t.SiteID, &t.ID, &t.UUID, &t.ChannelID, &t.AuthorID, &t.Author, &t.AuthorName, &t.Type, &t.Status, &t.Currency,
		&t.Total, &t.Remaining, &t.BaseCurrency, &t.BaseTotal, &t.ForexRate, &flags, &t.PSP, &t.Method, &t.PayeeName,
		&t.PayeeSurname, &t.PayeeEmail, &t.Country, &t.Reference, &t.Token, &t.IPAddress, &t.BIN, &t.LastFour, &t.CardType,
		&t.AuthCode, &t.Attempt3DS, &t.RedirectURL, &t.LinkedID, &t.Content, &t.ContentHash, &t.ImportKey, &t.Simulated,
		store.Stored{Instant: &t.EffectiveAt}, store.Stored{Instant: &t.CreatedAt}, store.Stored{Instant: &t.ModifiedAt},
		&t.AcquirerReference, &captureBy, &t.ProcessorReference, &t.Protected, &t.ProtectionReason, &t.SealedSecret)
	if t.Flags = flagsIn(flags); captureBy != 0 {
		t.CaptureBy = store.Instant(captureBy)
	}
	return t, err
}

// flagsIn reads the flags of a transaction from its row.
func flagsIn(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// paymentsMemory caches the transactions that a write has read, so that it does not read the same rows twice.
type paymentsMemory struct {
	transactions map[store.Key]payment.Transaction // created or locked by the write
	absent       map[Reference]bool                // payment references that no transaction has
}

// hold notes that the write has created, locked or changed a transaction.
func (m *paymentsMemory) hold(t payment.Transaction) {
	if m.transactions == nil {
		m.transactions = map[store.Key]payment.Transaction{}
	}
	m.transactions[store.Key{SiteID: t.SiteID, ID: t.ID}] = copied(t)
}

var inPayments = store.NewLocal[paymentsMemory]()

const (
	insertedTransaction = `id, site_id, uuid, channel_id, author_id, author, author_name, type, status, currencies, total,
		remaining, base_currency, base_total, forex_rate, flags, psp, method, payee_name, payee_surname, payee_email, country,
		reference, token, ip_address, bin_number, last_four, card_type, auth_code, attempt_3ds, redirect_url, linked_id, content,
		content_hash, import_key, simulated, effective_at, version, created_at, modified_at, acquirer_reference,
		capture_by, digest, processor_reference, protected, protection_reason`
	insertedPayment = `id, site_id, transaction_id, channel_id, booking_id, currencies, total, remaining, linked_id, created_at,
		digest`
)

// InsertTransaction stores a new transaction with its payments, and returns it with all ids.
func InsertTransaction(tx *store.Tx, t payment.Transaction) (payment.Transaction, error) {
	id, err := tx.NextID("transactions", t.SiteID)
	if err != nil {
		return payment.Transaction{}, err
	}
	parts, err := tx.NextIDs("payments", t.SiteID, len(t.Payments))
	if err != nil {
		return payment.Transaction{}, err
	}
	t.ID, t.CreatedAt, t.ModifiedAt = id, tx.Now, tx.Now
	sum, err := digest.Of(t.Facts()...)
	if err != nil {
		return payment.Transaction{}, err
	}
	now := store.Micros(tx.Now)
	tx.Insert("transactions", insertedTransaction, []any{
		t.ID, t.SiteID, t.UUID, t.ChannelID, t.AuthorID, t.Author, t.AuthorName, t.Type, t.Status, t.Currency, t.Total,
		t.Remaining, t.BaseCurrency, t.BaseTotal, t.ForexRate, strings.Join(t.Flags, ","), t.PSP, t.Method, t.PayeeName,
		t.PayeeSurname, t.PayeeEmail, t.Country, maybeText(t.Reference), t.Token, t.IPAddress, t.BIN, t.LastFour,
		t.CardType, t.AuthCode, t.Attempt3DS, t.RedirectURL, store.MaybeID(t.LinkedID), t.Content, t.ContentHash,
		maybeText(t.ImportKey), t.Simulated, store.Micros(t.EffectiveAt), 1, now, now, t.AcquirerReference,
		max(0, t.CaptureBy.UnixMicro()), sum, t.ProcessorReference, t.Protected, t.ProtectionReason,
	})
	delete(inPayments.Of(tx).absent, Reference{t.SiteID, t.ChannelID, t.PSP, t.Reference})
	t.Payments = slices.Clone(t.Payments) // a second run of the write starts with the caller's list
	for i := range t.Payments {
		p := &t.Payments[i]
		p.ID, p.SiteID, p.TransactionID, p.ChannelID, p.CreatedAt = parts[i], t.SiteID, t.ID, t.ChannelID, tx.Now
		if sum, err = digest.Of(p.Facts()...); err != nil {
			return payment.Transaction{}, err
		}
		tx.Insert("payments", insertedPayment, []any{p.ID, p.SiteID, p.TransactionID, p.ChannelID, p.BookingID, p.Currency,
			p.Total, p.Remaining, store.MaybeID(p.LinkedID), now, sum})
	}
	inPayments.Of(tx).hold(t)
	events.Record(tx, t.SiteID, event.TransactionCreated, t.ID, event.Details{Status: string(t.Status)})
	if t.Status == payment.StatusComplete {
		recordStatus(tx, t, "")
	}
	return t, nil
}

// statusEvents maps the statuses of transactions to their events.
var statusEvents = map[payment.TransactionStatus]event.Type{
	payment.StatusComplete: event.TransactionCompleted, payment.StatusFailed: event.TransactionFailed,
	payment.StatusExpired: event.TransactionExpired, payment.StatusLocked: event.TransactionLocked,
	payment.StatusPending: event.TransactionUpdated, payment.StatusIncomplete: event.TransactionUpdated,
}

// recordStatus records the event of a transaction whose status has changed, or that is new.
func recordStatus(tx *store.Tx, t payment.Transaction, before payment.TransactionStatus) {
	kind := statusEvents[t.Status]
	if before == payment.StatusLocked {
		kind = event.TransactionUnlocked
	}
	events.Record(tx, t.SiteID, kind, t.ID, event.Details{Status: string(t.Status)})
}

// copied copies the lists of a transaction, so that the caller may change them.
func copied(t payment.Transaction) payment.Transaction {
	t.Payments, t.Flags = slices.Clone(t.Payments), slices.Clone(t.Flags)
	return t
}

// Transaction reads one transaction of the site, with its payments, adjustments, statements, gateway charge and disputes.
// It returns store.ErrNotFound if there is none.
func Transaction(tx *store.Tx, siteID, id int64) (payment.Transaction, error) {
	return oneTransaction(tx, `site_id = $1 AND id = $2`, siteID, id)
}

// lockTransaction locks a transaction and reads it with its payments: no other write changes it before this one ends.
func lockTransaction(tx *store.Tx, siteID, id int64) (payment.Transaction, error) {
	if held, ok := inPayments.Of(tx).transactions[store.Key{SiteID: siteID, ID: id}]; ok {
		return copied(held), nil
	}
	t, err := scanTransaction(func(dest ...any) error {
		return tx.QueryRow(`UPDATE transactions SET version = version + 1 WHERE site_id = $1 AND id = $2
			RETURNING `+transactionColumns, []any{siteID, id}, dest...)
	})
	if err != nil {
		return payment.Transaction{}, err
	}
	if err := readPaymentsOf(tx, siteID, []int64{id}, map[int64]*payment.Transaction{id: &t}); err != nil {
		return payment.Transaction{}, err
	}
	inPayments.Of(tx).hold(t)
	return t, nil
}

// Reference is a caller's payment reference. It identifies one transaction of a channel and processor.
type Reference struct {
	SiteID, ChannelID int64
	PSP, Text         string
}

// byReference selects a transaction by its payment reference. "+ 0" keeps PostgreSQL from using the index on the channel: before
// statistics exist, it would read all transactions of a new channel for each payment.
const byReference = `site_id = $1 AND reference = $2 AND psp || '' = $3 AND channel_id + 0 = $4`

// referencesAtOnce is how many payment references share a statement.
const referencesAtOnce = 200

// LookUpReferences checks in one query which of many payment references of a site are free, so that this write need not look up
// each of them. Empty references are skipped.
func LookUpReferences(tx *store.Tx, siteID int64, asked []Reference) error {
	asked = slices.DeleteFunc(slices.Clone(asked), func(r Reference) bool { return r.Text == "" })
	absent := map[Reference]bool{}
	inPayments.Of(tx).absent = absent
	for some := range slices.Chunk(asked, referencesAtOnce) {
		var w sqltext.Where
		rows := make([]string, len(some))
		for i, r := range some {
			rows[i] = "(CAST(" + w.Arg(r.ChannelID) + " AS BIGINT), " + strings.TrimPrefix(w.Values(r.PSP, r.Text), "(")
		}
		site := w.Arg(siteID) // last, because SQLite is faster with values in the order of the text (sqlite.Positional)
		taken := map[Reference]bool{}
		err := tx.Query(`WITH wanted (channel_id, psp, reference) AS (VALUES `+strings.Join(rows, ", ")+`)
			SELECT w.channel_id, w.psp, w.reference FROM wanted w WHERE (SELECT t.id FROM transactions t WHERE t.site_id = `+site+`
				AND t.reference = w.reference AND t.psp || '' = w.psp AND t.channel_id + 0 = w.channel_id) IS NOT NULL`, w.Args,
			func(scan func(dest ...any) error) error {
				r := Reference{SiteID: siteID}
				err := scan(&r.ChannelID, &r.PSP, &r.Text)
				taken[r] = true
				return err
			})
		if err != nil {
			return err
		}
		for _, r := range some {
			r.SiteID = siteID
			absent[r] = !taken[r]
		}
	}
	return nil
}

// transactionByReference reads the transaction of a channel and processor with a payment reference, or returns
// store.ErrNotFound.
func transactionByReference(tx *store.Tx, siteID, channelID int64, psp, reference string) (payment.Transaction, error) {
	if inPayments.Of(tx).absent[Reference{siteID, channelID, psp, reference}] {
		return payment.Transaction{}, store.ErrNotFound
	}
	return oneTransaction(tx, byReference, siteID, reference, psp, channelID)
}

// saveTransaction stores the fields of a locked transaction that can change: its status, remaining amounts and flags.
func saveTransaction(tx *store.Tx, t payment.Transaction) error {
	t.ModifiedAt = tx.Now
	before, held := inPayments.Of(tx).transactions[store.Key{SiteID: t.SiteID, ID: t.ID}]
	if !held {
		return fmt.Errorf("transaction %d cannot be stored: this write does not hold its lock", t.ID)
	}
	if before.Status != t.Status {
		recordStatus(tx, t, before.Status)
	}
	inPayments.Of(tx).hold(t)
	_, err := tx.Exec(`UPDATE transactions SET status = $3, remaining = $4, flags = $5, modified_at = $6
		WHERE site_id = $1 AND id = $2`, t.SiteID, t.ID, t.Status, t.Remaining, strings.Join(t.Flags, ","), store.Micros(tx.Now))
	if err != nil {
		return err
	}
	parts := make([][]any, len(t.Payments))
	for i, p := range t.Payments {
		parts[i] = []any{p.SiteID, p.ID, p.Remaining}
	}
	return tx.UpdateRows("payments", "BIGINT, BIGINT, BIGINT", "remaining = v.column3", parts)
}

// transactionsPage reads one page of the site's transactions.
func transactionsPage(
	tx *store.Tx, siteID int64, f TransactionFilter, page store.Page,
) (store.List[payment.Transaction], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	if f.Created != (civil.Span{}) || page.Modified != (civil.Span{}) {
		w.Narrow()
	}
	andTransactions(&w, siteID, f, len(page.Include) > 0)
	list, err := store.ListPage(tx, "transactions", transactionColumns, &w, page, store.Orders{
		"date": "created_at", "created": "created_at", "modified": "modified_at", "total": "total",
	}, scanTransaction)
	if err != nil {
		return list, err
	}
	return list, readTransactionParts(tx, siteID, list.Items)
}

// TransactionsWithIDs reads transactions of the site by id, as Transaction does. Missing ones are left out.
func TransactionsWithIDs(tx *store.Tx, siteID int64, ids []int64) (map[int64]payment.Transaction, error) {
	found := map[int64]payment.Transaction{}
	for some := range slices.Chunk(ids, store.LongestPage) {
		list, err := transactionsPage(tx, siteID, TransactionFilter{}, store.Of(some))
		if err != nil {
			return nil, err
		}
		for _, t := range list.Items {
			found[t.ID] = t
		}
	}
	return found, nil
}

// openAuthorisation is an authorisation that can still be captured, with the clock of its site.
type openAuthorisation struct {
	SiteID, ID int64
	Clock      sites.Clock
}

// openAuthorisations selects open authorisations that have expired at an instant, by the clock of their site. A condition
// follows it.
const openAuthorisations = `SELECT t.site_id, t.id, s.clock_ahead FROM sites s JOIN transactions t ON t.site_id = s.id
	WHERE t.capture_by <= ? + s.clock_ahead AND ` + authorisedOnly + ` AND `

// authorisedOnly is the condition that a transaction t is an open authorisation without pending adjustments.
const authorisedOnly = `t.type = 'authorize' AND t.status = 'complete' AND t.remaining > 0
		AND NOT EXISTS (SELECT 1 FROM transactions a JOIN gateway_charges p ON p.site_id = a.site_id AND p.transaction_id = a.id
			WHERE a.site_id = t.site_id AND a.linked_id = t.id AND p.state IN ('called', 'challenged', 'unknown'))`

// authorisationsDue lists the authorisations of all sites that were not captured in time, at most limit of them.
func authorisationsDue(tx *store.Tx, limit int) ([]openAuthorisation, error) {
	clocks, err := sites.ClocksAhead(tx)
	if err != nil {
		return nil, err
	}
	list, err := readAuthorisationsDue(tx, `s.clock_ahead = 0 AND t.capture_by <= ?
		ORDER BY t.capture_by, t.site_id, t.id LIMIT ?`, store.Micros(sites.RealNow(tx)), limit)
	for _, clock := range clocks {
		if err != nil || len(list) >= limit {
			return list, err
		}
		var more []openAuthorisation
		more, err = authorisationsDueOf(tx, clock.SiteID, limit-len(list))
		list = append(list, more...)
	}
	return list, err
}

// authorisationsDueOf is authorisationsDue for one site.
func authorisationsDueOf(tx *store.Tx, siteID int64, limit int) ([]openAuthorisation, error) {
	return readAuthorisationsDue(tx, `s.id = ? ORDER BY t.capture_by, t.id LIMIT ?`, siteID, limit)
}

// anyAuthorisationDue reports whether a site has an authorisation that is due, by its clock in this transaction.
func anyAuthorisationDue(tx *store.Tx, siteID int64) (bool, error) {
	return store.Exists(tx, "SELECT 1 FROM transactions t WHERE t.site_id = $1 AND t.capture_by <= $2 AND "+authorisedOnly, siteID, store.Micros(tx.Now))
}

func readAuthorisationsDue(tx *store.Tx, condition string, args ...any) (list []openAuthorisation, err error) {
	var w sqltext.Where
	query := w.Fill(openAuthorisations+condition, append([]any{store.Micros(sites.RealNow(tx))}, args...)...)
	err = tx.Query(query, w.Args, func(scan func(dest ...any) error) error {
		var a openAuthorisation
		var ahead int64
		err := scan(&a.SiteID, &a.ID, &ahead)
		a.Clock = sites.Clock{SiteID: a.SiteID, Ahead: sites.Microseconds(ahead)}
		list = append(list, a)
		return err
	})
	return list, err
}

// maybeText stores an empty text as NULL. A unique index ignores NULLs, so many rows may have none.
func maybeText(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }
