package merchants

import (
	"database/sql"
	"database/sql/driver"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// channelColumn is a column of the table channels, with the field that it stores.
type channelColumn struct {
	name  string
	field any // a pointer to it, or what reads and writes it
	when  writing
}

// writing says when a column is written.
type writing int

const (
	byDatabase  writing = iota
	writtenOnce         // when the channel is made
	written             // also when it changes
)

// columnsOf lists the columns of a channel. The statements that read and write channels are built from this list: a new
// column needs a row here and a migration.
func columnsOf(c *merchant.Channel) []channelColumn {
	return []channelColumn{
		{"site_id", &c.SiteID, writtenOnce},
		{"id", &c.ID, byDatabase},
		{"uuid", &c.UUID, writtenOnce},
		{"name", &c.Name, written},
		{"name_folded", folded{&c.Name}, written},
		{"slug", &c.Slug, writtenOnce},
		{"account_type", &c.AccountType, written},
		{"account_mode", &c.Mode, written},
		{"was_test", &c.WasTest, writtenOnce},
		{"protection_type", &c.ProtectionType, written},
		{"currencies", &c.Currency, written},
		{"language", &c.Language, written},
		{"primary_mail", &c.PrimaryMail, written},
		{"mail_bcc", &c.MailBCC, written},
		{"receipt_label", &c.ReceiptLabel, written},
		{"external_id", &c.ExternalID, written},
		{"other_protection", &c.OtherProtection, written},
		{"authorisation_days", &c.AuthorisationDays, written},
		{"status_override", &c.StatusOverride, written},
		{"statement_period", &c.StatementPeriod, written},
		{"locked", &c.Locked, written},
		{"lock_reason", &c.LockReason, written},
		{"insolvency_id", &c.Insolvency.ID, written},
		{"insolvent_from", maybeInstant{&c.Insolvency.TriggerAt}, written},
		{"insolvent_since", maybeInstant{&c.Insolvency.ConfirmedAt}, written},
		{"reinstated_at", maybeInstant{&c.Insolvency.ReinstatedAt}, written},
		{"insolvent_processing", &c.Insolvency.ProcessingAllowed, written},
		{"secret", &c.SealedSecret, writtenOnce}, // setChannelSecret writes another one
		{"version", &c.Version, writtenOnce},
		{"created_at", store.Stored{Instant: &c.CreatedAt}, writtenOnce},
		{"modified_at", store.Stored{Instant: &c.ModifiedAt}, written},
		{"cardholder_present", &c.CardholderPresent, written},
		{"mail_failures", &c.MailFailures, written},
		{"server_to_server", &c.ServerToServer, written},
		{"processor", &c.Processor, written},
		{"tokenizer_id", &c.TokenizerID, written},
		{"tokenizer_key_end", &c.TokenizerKeyEnd, written},
		{"beneficiary_id", &c.BeneficiaryID, written},
		{"settlement_currency", &c.SettlementCurrency, written},
		{"chargeback_mail", &c.ChargebackMail, written},
		{"payout_minimum", &c.PayoutMinimum, written},
		{"descriptor", &c.Descriptor, written},
	}
}

// folded is the column by which a name is searched and sorted. It is written with the name, and not read back.
type folded struct{ name *string }

// Value implements driver.Valuer.
func (f folded) Value() (driver.Value, error) { return sqltext.Folded(*f.name), nil }

// Scan implements sql.Scanner.
func (f folded) Scan(any) error { return nil }

// maybeInstant is a column with an instant, or NULL for the zero time.
type maybeInstant struct{ at *time.Time }

// Value implements driver.Valuer.
func (m maybeInstant) Value() (driver.Value, error) { return store.MaybeMicros(*m.at).Value() }

// Scan implements sql.Scanner.
func (m maybeInstant) Scan(stored any) error {
	var us sql.NullInt64
	err := us.Scan(stored)
	*m.at = store.MaybeInstant(us)
	return err
}

// channelColumns are the names of all columns, in the order in which scanChannel reads them.
var channelColumns = func() string {
	var names []string
	for _, column := range columnsOf(new(merchant.Channel)) {
		names = append(names, column.name)
	}
	return strings.Join(names, ", ")
}()

func scanChannel(scan func(dest ...any) error) (merchant.Channel, error) {
	var c merchant.Channel
	var fields []any
	for _, column := range columnsOf(&c) {
		fields = append(fields, column.field)
	}
	err := scan(fields...)
	return c, err
}

// writtenColumns returns the names of the columns that are written at some time, their values, and a placeholder for each, from
// $1 on.
func writtenColumns(c *merchant.Channel, when ...writing) (names string, values []any, marks string) {
	var list, places []string
	for _, column := range columnsOf(c) {
		if slices.Contains(when, column.when) {
			list, values = append(list, column.name), append(values, column.field)
			places = append(places, "$"+strconv.Itoa(len(values)))
		}
	}
	return strings.Join(list, ", "), values, strings.Join(places, ", ")
}
