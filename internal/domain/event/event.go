// Package event has the types of what happened on a site, and who may read it. Start at Type.
package event

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
)

// Event is one thing that happened on a site. It names its object, which is read when the event is shown.
type Event struct {
	SiteID   int64
	ID       int64
	Position int64 // in the feed of the site, from 1
	Type     Type
	ObjectID int64
	At       time.Time // by the clock of the site
	Details  json.RawMessage
}

// Details is the data of the event itself. Each type fills in its own fields.
type Details struct {
	Status      string `json:"status,omitempty"`              // of the object after the change
	Before      string `json:"before,omitempty"`              // what Status or Mode was before
	Mode        string `json:"mode,omitempty"`                // of a channel after the change
	Kind        string `json:"kind,omitempty"`                // of a proposal or an insolvency
	Outcome     string `json:"outcome,omitempty"`             // of a dispute
	Protected   *bool  `json:"protected,omitempty"`           // whether a payment is protected: Yes or No
	Reason      string `json:"reason,omitempty"`              // why a payment is protected, or why not; of a dispute its code
	Cause       string `json:"cause,omitempty"`               // of a change of protection: the type of the adjustment, or terms
	Transaction int64  `json:"transaction,omitempty"`         // the adjustment, or the chargeback of a dispute
	Amount      int64  `json:"amount,omitempty"`              // in minor units of Currency
	Currency    string `json:"currency,omitempty"`            //
	Percent     int64  `json:"percent,omitempty"`             // of a limit
	LastDay     string `json:"last_day_of_dispute,omitempty"` // YYYY-MM-DD
	DueOn       string `json:"due_at,omitempty"`              // of a dispute, YYYY-MM-DD
}

var yes, no = true, false

// YesOrNo is for fields that are there in either case. The same answer is the same pointer, so that Details compare.
func YesOrNo(b bool) *bool {
	if b {
		return &yes
	}
	return &no
}

// Type is the type of an event, as object.verb.
type Type string

// The types of events.
const (
	BookingCreated       Type = "booking.created"
	BookingUpdated       Type = "booking.updated" // its fields, or its status where no other type says so
	BookingPaid          Type = "booking.paid"
	BookingCompleted     Type = "booking.completed"
	BookingDeleted       Type = "booking.deleted"
	TransactionCreated   Type = "transaction.created"
	TransactionUpdated   Type = "transaction.updated" // it waits: for the shopper, or for an outcome
	TransactionCompleted Type = "transaction.completed"
	TransactionFailed    Type = "transaction.failed"
	TransactionExpired   Type = "transaction.expired"
	TransactionLocked    Type = "transaction.locked"   // charged back
	TransactionUnlocked  Type = "transaction.unlocked" // the chargeback was reversed
	ProtectionAllocated  Type = "protection.allocated" // of a payment, protected or not (R2)
	ProtectionPriced     Type = "protection.priced"    // the rate that it waited for has come (R9)
	ProtectionChanged    Type = "protection.changed"   // by an adjustment, or by a change of the booking
	ProtectionEnded      Type = "protection.ended"     // its last day of dispute is over (R5)
	LimitCrossed         Type = "limit.crossed"        // 80, 95 or 100 percent of it are used (R12)
	StatementIssued      Type = "statement.issued"
	StatementPaid        Type = "statement.paid" // a payment against it was recorded
	ChannelCreated       Type = "channel.created"
	ChannelModeChanged   Type = "channel.mode_changed"
	ChannelLocked        Type = "channel.locked"
	ChannelUnlocked      Type = "channel.unlocked"
	// Of a request for the protection of a channel.
	ChannelProtectionAsked      Type = "channel.protection_asked"
	ChannelProtectionAnswered   Type = "channel.protection_answered" // taken, refused, or more is wanted
	ProposalOpened              Type = "proposal.opened"
	ProposalDecided             Type = "proposal.decided"
	DisputeOpened               Type = "dispute.opened"
	DisputeUpdated              Type = "dispute.updated" // its state, deadline, payment or assignee
	DisputeClosed               Type = "dispute.closed"  // won, lost, accepted, expired, cancelled or prevented
	DisputeDue                  Type = "dispute.due"     // its deadline is near
	InsolvencyReported          Type = "insolvency.reported"
	InsolvencyConfirmed         Type = "insolvency.confirmed" // new payments of the channel are not protected
	InsolvencyOpened            Type = "insolvency.opened"    // its snapshot exists
	InsolvencyWithdrawn         Type = "insolvency.withdrawn"
	InsolvencyClaimsClosed      Type = "insolvency.claims_closed"
	InsolvencyClosed            Type = "insolvency.closed"
	InsolvencyReinstated        Type = "insolvency.reinstated"
	InsolvencyProcessingAllowed Type = "insolvency.processing_allowed"
	ClaimCreated                Type = "claim.created"
	ClaimChanged                Type = "claim.changed" // its payable amount, because of a dispute, a refund or a rate
	ClaimAssessed               Type = "claim.assessed"
	ClaimApproved               Type = "claim.approved" // by one person; its state shows whether another must approve
	ClaimRejected               Type = "claim.rejected"
	ClaimWithdrawn              Type = "claim.withdrawn"
	ClaimReopened               Type = "claim.reopened"
	ClaimReleased               Type = "claim.released" // other protection does not pay
	ClaimPaid                   Type = "claim.paid"
	PayoutPlanned               Type = "payout.planned"
	PayoutSigned                Type = "payout.signed"
	PayoutPaid                  Type = "payout.paid"
	PayoutFailed                Type = "payout.failed"
	RecoveryRecorded            Type = "recovery.recorded"
	RecoveryCancelled           Type = "recovery.cancelled"
	WebhookTest                 Type = "webhook.test"     // sent on request, only to that webhook
	WebhookDisabled             Type = "webhook.disabled" // after three days of failures, or because its receiver responded with 410
)

// Types are all types, in the order of the description.
var Types = []Type{
	BookingCreated, BookingUpdated, BookingPaid, BookingCompleted, BookingDeleted,
	TransactionCreated, TransactionUpdated, TransactionCompleted, TransactionFailed, TransactionExpired, TransactionLocked,
	TransactionUnlocked,
	ProtectionAllocated, ProtectionPriced, ProtectionChanged, ProtectionEnded, LimitCrossed, StatementIssued, StatementPaid,
	ChannelCreated, ChannelModeChanged, ChannelLocked, ChannelUnlocked, ChannelProtectionAsked, ChannelProtectionAnswered,
	ProposalOpened, ProposalDecided,
	DisputeOpened, DisputeUpdated, DisputeClosed, DisputeDue,
	InsolvencyReported, InsolvencyConfirmed, InsolvencyOpened, InsolvencyWithdrawn, InsolvencyClaimsClosed, InsolvencyClosed,
	InsolvencyReinstated, InsolvencyProcessingAllowed,
	ClaimCreated, ClaimChanged, ClaimAssessed, ClaimApproved, ClaimRejected, ClaimWithdrawn, ClaimReopened, ClaimReleased, ClaimPaid,
	PayoutPlanned, PayoutSigned, PayoutPaid, PayoutFailed, RecoveryRecorded, RecoveryCancelled,
	WebhookTest, WebhookDisabled,
}

// Kind is the kind of an event's object.
type Kind string

// The kinds of objects.
const (
	Booking     Kind = "booking"
	Transaction Kind = "transaction"
	Payment     Kind = "payment" // the part of a transaction for one booking, and with the same id its allocation
	LimitEvent  Kind = "limit_event"
	Statement   Kind = "statement"
	Channel     Kind = "channel"
	Proposal    Kind = "proposal"
	Insolvency  Kind = "insolvency"
	Claim       Kind = "claim"
	Payout      Kind = "payout"
	Recovery    Kind = "recovery"
	Webhook     Kind = "webhook"
	Dispute     Kind = "dispute"
)

// Kinds are all kinds of objects.
var Kinds = []Kind{Booking, Transaction, Payment, LimitEvent, Statement, Channel, Proposal, Insolvency, Claim, Payout, Recovery, Webhook, Dispute}

// shownAs are the kinds of the objects of those types that are not named after them.
var shownAs = map[string]Kind{"protection": Payment, "limit": LimitEvent}

// Kind is the kind of the object that events of a type are about.
func (t Type) Kind() Kind {
	group, _, _ := strings.Cut(string(t), ".")
	return cmp.Or(shownAs[group], Kind(group))
}

// ObjectText names the object of an event, as ParseObject reads it.
func ObjectText(e Event) string {
	return string(e.Type.Kind()) + ":" + strconv.FormatInt(e.ObjectID, 10)
}

// ParseObject reads an object such as booking:73. The empty text names none. An error names the field object.
func ParseObject(text string) (kind Kind, id int64, err error) {
	if text == "" {
		return "", 0, nil
	}
	name, number, _ := strings.Cut(text, ":")
	id, err = strconv.ParseInt(number, 10, 64)
	if err != nil || id <= 0 || !slices.Contains(Kinds, Kind(name)) {
		return "", 0, errs.WrongField("object", "Must be an object such as booking:73.")
	}
	return Kind(name), id, nil
}

// matches reports whether a type is meant by a pattern: a type, or all types that begin so, as in booking.*
func (t Type) matches(pattern string) bool {
	if begin, all := strings.CutSuffix(pattern, "*"); all && (begin == "" || strings.HasSuffix(begin, ".")) {
		return strings.HasPrefix(string(t), begin)
	}
	return string(t) == pattern
}

// TypesOf returns the types that patterns mean, such as booking.* or transaction.completed. No patterns mean all types. ok
// is false if one of them means none.
func TypesOf(patterns []string) (found []Type, ok bool) {
	if len(patterns) == 0 {
		return slices.Clone(Types), true
	}
	for _, pattern := range patterns {
		if !slices.ContainsFunc(Types, func(t Type) bool { return t.matches(pattern) }) {
			return nil, false
		}
	}
	for _, t := range Types {
		if slices.ContainsFunc(patterns, t.matches) {
			found = append(found, t)
		}
	}
	return found, true
}

// Readable returns the types that an actor may read: an event is for those who may read its object.
func Readable(actor access.Actor, types []Type) []Type {
	return slices.DeleteFunc(slices.Clone(types), func(t Type) bool { return !t.Kind().readable(actor) })
}

// readable reports whether an actor may read objects of a kind.
func (k Kind) readable(actor access.Actor) bool {
	switch k {
	case Proposal:
		return actor.Can(access.ReadAudit)
	case Statement:
		return actor.Can(access.ReadStatements)
	case Dispute:
		return actor.Can(access.ReadDisputes)
	case LimitEvent: // a token that is limited reads them with the ability for reports
		return actor.Can(access.Read) && (actor.Abilities == 0 || actor.Abilities.Has(access.AbilityReports))
	default:
		return actor.Can(access.Read)
	}
}
