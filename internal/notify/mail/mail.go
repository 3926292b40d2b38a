// Package mail sends e-mails to travellers and merchants: receipts, refunds, failures, chargebacks and disabled webhooks. It
// follows the events of each site, queues e-mails and sends them over SMTP. It owns the tables mails and mail_marks. Start
// reading at Follow, then Mails.Send; docs/decisions/0009-mail.md describes the delivery guarantees after a crash.
package mail

import (
	"context"
	"fmt"
	"log/slog"
	"net/mail"
	"strings"
	"sync/atomic"
	"time"

	"holdfast/internal/book/certificates"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Kind says what an e-mail is about.
type Kind string

// The kinds of mails.
const (
	Receipt    Kind = "receipt"    // to the traveller: a payment is complete
	Refund     Kind = "refund"     // to the traveller: money goes back
	Failure    Kind = "failure"    // to primary_mail: a payment has failed
	Chargeback Kind = "chargeback" // to chargeback_mail: a payment was charged back
	Reversal   Kind = "reversal"   // to chargeback_mail: the money of a chargeback comes back
	Webhook    Kind = "webhook"    // to the site's admins: a webhook was disabled
	Test       Kind = "test"       // to an operator, to try the settings
	Heads      Kind = "heads"      // the chain heads, to store outside the database
	Invitation Kind = "invitation" // to a new user of the dashboard: a link to choose a password
	Access     Kind = "access"     // to a user of another site: they have access to one more
	Password   Kind = "password"   // to a user who has forgotten the password: a link to choose another
	// ProtectionAsked goes to operators, ProtectionAnswered to the site's admins.
	ProtectionAsked    Kind = "protection_asked"
	ProtectionAnswered Kind = "protection_answered"
	AddressKind        Kind = "address"         // to a user's new address: a link to confirm it
	AddressChanged     Kind = "address_changed" // to a user's old address: it is no longer in use
	ReportKind         Kind = "report"          // to a user of the service: a report, each week or month
	DisputeDue         Kind = "dispute_due"     // to chargeback_mail: a dispute has to be answered soon
	// InsolvencyReported goes to operators, Insolvency to the site's admins.
	InsolvencyReported Kind = "insolvency_reported"
	Insolvency         Kind = "insolvency"
	PayoutKind         Kind = "payout" // to the people who sign it off, and to the site's admins when it was paid or has failed
)

// Kinds lists the kinds.
var Kinds = []Kind{Receipt, Refund, Failure, Chargeback, Reversal, Webhook, Test, Heads, Invitation, Access, Password, AddressKind, AddressChanged,
	ReportKind, DisputeDue, ProtectionAsked, ProtectionAnswered, InsolvencyReported, Insolvency, PayoutKind}

// State is the delivery status of an e-mail.
type State string

// The states of a mail.
const (
	Outbox  State = "outbox"  // only shown: no mail server, a sandbox site, or an address that the server does not support
	Waiting State = "waiting" // sent at NextAt
	Sending State = "sending" // an attempt is in progress
	Sent    State = "sent"    // accepted by the server
	Dead    State = "dead"    // rejected permanently or for three days, or without an address
	Unknown State = "unknown" // possibly accepted: the server's response was lost
)

// States lists the states.
var States = []State{Outbox, Waiting, Sending, Sent, Dead, Unknown}

// Mail is one e-mail to one address.
type Mail struct {
	SiteID        int64
	ID            int64
	EventID       int64 // 0: sent on request
	Number        int64 // number among the e-mails about the same event
	Kind          Kind
	TransactionID int64 // 0 for none
	BookingID     int64 // 0 for none
	Copy          bool
	FileID        int64  // the attached file; 0 for none
	Recipient     string // "" without an address, or after it was forgotten
	Letter        Letter
	Forgotten     bool // address and letter have been deleted
	State         State
	Answer        string
	Attempts      int64
	Resends       int64
	QueuedAt      time.Time
	AskedAt       time.Time
	TriedAt       time.Time // zero: never
	NextAt        time.Time // zero: not due
	ForgetAt      time.Time // zero: not finished, or forgotten
}

// remember is how long address and letter of a finished e-mail are kept.
const remember = 30 * 24 * time.Hour

// Filter filters a list of e-mails. An empty field matches all.
type Filter struct {
	States       []State
	Kinds        []Kind
	Bookings     []int64
	Transactions []int64
}

// Mails are the use cases of mails.
type Mails struct {
	*sites.DB
	Events *events.Events // the feeds that are followed
	Log    *slog.Logger
	Batch  int // e-mails per write, which ends with the event that reaches this number
	// Transport sends e-mails. It is nil if no server is configured.
	Transport *SMTP
	// Sandboxes means that e-mails of sandboxes and test merchants are sent too.
	Sandboxes bool
	// Certificates gives travellers the link to the certificate of their booking.
	Certificates *certificates.Certificates
	Vault        *secrets.Vault // of the secrets of one-time links
	Addresses    Addresses
	last         atomic.Int64 // the site served last
}

// Addresses are the addresses of pages under which people reach the service. They are empty in a program that serves no pages.
type Addresses struct {
	Base      string // of all pages
	Dashboard string
	Link      string // of the page of a one-time link, whose secret follows it
}

// List returns one page of the e-mails of the actor's site, without their letters. E-mails with one-time links are shown to
// operators only, here and in Get, and without the link.
func (m *Mails) List(ctx context.Context, actor access.Actor, f Filter, page store.Page) (store.List[Mail], error) {
	return sites.ReadPage(ctx, m.DB, actor, page, func(tx *store.Tx) (store.List[Mail], error) {
		return mailsPage(tx, actor.SiteID, f, !actor.Can(access.ManageUsers), page)
	})
}

// Get returns an e-mail with its rendered text, which is empty for a forgotten one. The error is SettingNotFound if the site
// has no such e-mail.
func (m *Mails) Get(ctx context.Context, actor access.Actor, id int64) (Mail, Message, error) {
	found, err := sites.Read(ctx, m.DB, actor, func(tx *store.Tx) (Mail, error) {
		return visible(actor)(readMail(tx, actor.SiteID, id))
	})
	if err != nil || found.Forgotten {
		return found, Message{}, store.NotFoundAs(errs.SettingNotFound, err, "E-mail %d not found.", id)
	}
	text, err := m.text(ctx, found)
	return found, text, err
}

// Resend queues a finished e-mail again: sent, dead, unknown or in the outbox. E-mails to travellers go to the booking's
// current address. The error is NotPossible if it is being sent, was forgotten, if no server is configured, and for e-mails
// that are only shown: those of sandboxes and test merchants without Sandboxes.
func (m *Mails) Resend(ctx context.Context, actor access.Actor, id int64) (Mail, error) {
	if err := actor.Require(access.SendMails); err != nil {
		return Mail{}, err
	}
	made, err := idempotency.Once(ctx, m.DB, actor, func(tx *store.Tx) (Mail, idempotency.Outcome, error) {
		after, err := m.resend(tx, actor, id)
		return after, idempotency.Outcome{ID: id}, err
	}, m.found(actor))
	return made, store.NotFoundAs(errs.SettingNotFound, err, "E-mail %d not found.", id)
}

// found returns the object of an earlier request with the same idempotency key.
func (m *Mails) found(actor access.Actor) func(ctx context.Context, made idempotency.Outcome) (Mail, error) {
	return func(ctx context.Context, made idempotency.Outcome) (Mail, error) {
		return sites.Read(ctx, m.DB, actor, func(tx *store.Tx) (Mail, error) { return readMail(tx, actor.SiteID, made.ID) })
	}
}

// resend is Resend in its write.
func (m *Mails) resend(tx *store.Tx, actor access.Actor, id int64) (Mail, error) {
	before, err := visible(actor)(lockMail(tx, actor.SiteID, id))
	if err != nil {
		return before, err
	}
	after, err := m.again(tx, before)
	if err != nil {
		return after, err
	}
	if err := askAgain(tx, after); err != nil {
		return after, err
	}
	return after, audit.Record(tx, actor, "mail.resend", ObjectOf(id), audited(before), audited(after))
}

// again is an e-mail to resend.
func (m *Mails) again(tx *store.Tx, was Mail) (Mail, error) {
	impossible := func(reason, message string) (Mail, error) {
		return was, errs.NotPossibleBecause(reason, "%s", message)
	}
	switch {
	case m.Transport == nil:
		return impossible("no_server", "No mail server is configured, so nothing is sent. The text is in the outbox.")
	case was.Forgotten:
		return impossible("forgotten", "This e-mail is too old: its address and text have been deleted.")
	case was.State == Waiting || was.State == Sending:
		return impossible("under_way", "This e-mail is already being sent.")
	case m.onlyShown(was):
		return impossible("sandbox", sandboxAnswer)
	}
	mail := was
	if was.toTraveller() && !was.Copy {
		b, err := bookingOf(tx, was.SiteID, was.BookingID)
		if err != nil {
			return was, err
		}
		mail.Recipient, mail.Letter.To = b.Email, b.Email
	}
	if problem := checkAddress(mail.Recipient); problem != "" {
		return impossible("no_address", problem)
	}
	mail.State, mail.Answer, mail.Attempts, mail.Resends = Waiting, "", 0, was.Resends+1
	mail.AskedAt, mail.NextAt, mail.ForgetAt = sites.RealNow(tx), sites.RealNow(tx), time.Time{}
	return mail, nil
}

// sandboxAnswer is the note on e-mails that must not be sent. A sandbox may contain addresses of real people.
const sandboxAnswer = "E-mails of sandboxes and test merchants are only shown. Set --mail-sandbox to send them."

// onlyShown reports whether an e-mail must not be sent, because it belongs to a sandbox or a test merchant.
func (m *Mails) onlyShown(mail Mail) bool { return mail.Letter.Test && !m.Sandboxes }

// toTraveller reports whether mails of this kind go to the lead traveller.
func (m Mail) toTraveller() bool { return m.Kind == Receipt || m.Kind == Refund }

// Try queues a test e-mail to an address. The error is NotPossible if no server is configured.
func (m *Mails) Try(ctx context.Context, actor access.Actor, address string) (Mail, error) {
	return m.toOperator(ctx, actor, Test, address, nil)
}

// SendHeads queues an e-mail with the chain heads of the actor's site, to store outside the database. Each line is a head as
// printed by `verify --head`. The error is NotPossible if no server is configured.
func (m *Mails) SendHeads(ctx context.Context, actor access.Actor, address string, lines []string) (Mail, error) {
	return m.toOperator(ctx, actor, Heads, address, lines)
}

// toOperator queues an e-mail to an operator.
func (m *Mails) toOperator(ctx context.Context, actor access.Actor, kind Kind, address string, lines []string) (Mail, error) {
	if err := actor.Require(access.ManageSites); err != nil {
		return Mail{}, err
	}
	if m.Transport == nil {
		return Mail{}, errs.NotPossibleBecause("no_server", "No mail server is configured. See --smtp-url.")
	}
	if problem := checkAddress(address); problem != "" {
		return Mail{}, errs.WrongField("to", "%s", problem)
	}
	return idempotency.Once(ctx, m.DB, actor, func(tx *store.Tx) (Mail, idempotency.Outcome, error) {
		site, err := siteOf(tx, actor.SiteID)
		if err != nil {
			return Mail{}, idempotency.Outcome{}, err
		}
		made, err := insertMail(tx, Mail{
			SiteID: site.ID, Number: 1, Kind: kind, Recipient: address, State: Waiting, NextAt: sites.RealNow(tx),
			Letter: Letter{Language: check.DefaultLanguage, Sender: site.Name, To: address, Lines: lines},
		})
		if err == nil {
			err = audit.Record(tx, actor, "mail."+string(kind), ObjectOf(made.ID), nil, audited(made))
		}
		return made, idempotency.Outcome{ID: made.ID}, err
	}, m.found(actor))
}

// auditedMail is an e-mail in the audit log: without its text, which contains travellers' data.
type auditedMail struct {
	Kind      Kind   `json:"kind"`
	State     State  `json:"state"`
	Recipient string `json:"recipient"`
	Resends   int64  `json:"resends"`
}

func audited(m Mail) auditedMail { return auditedMail{m.Kind, m.State, m.Recipient, m.Resends} }

// maxAddress is the longest address of RFC 5321.
const maxAddress = 254

// checkAddress returns the error of an address, or "". Addresses are checked when saved, and again here, because imported or
// restored data may be older than the check.
func checkAddress(address string) (problem string) {
	if address == "" {
		return "The e-mail address is missing."
	}
	parsed, err := mail.ParseAddress(address)
	if err != nil || parsed.Address != address || parsed.Name != "" || len(address) > maxAddress ||
		strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "Invalid e-mail address."
	}
	return ""
}

// ObjectOf is the name of an e-mail in the audit log.
func ObjectOf(id int64) string { return fmt.Sprintf("mail %d", id) }
