// Package payment defines transactions, their types and states, and the rules for their fields (sections 2.6 and 3).
// Start at Transaction and NewTransaction.
package payment

import (
	"fmt"
	"slices"
	"time"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/money"
)

// TransactionType is the kind of a transaction (R1).
type TransactionType string

// The types of transactions. Only the operator records the last three.
const (
	Purchase           TransactionType = "purchase"
	Authorize          TransactionType = "authorize"
	Capture            TransactionType = "capture"
	Refund             TransactionType = "refund"
	Void               TransactionType = "void"
	Chargeback         TransactionType = "chargeback"
	ChargebackReversal TransactionType = "chargeback-reversal"
	Prevented          TransactionType = "prevented" // the issuer was paid without a chargeback (R14)
)

// TransactionTypes lists the types.
var TransactionTypes = []TransactionType{Purchase, Authorize, Capture, Refund, Void, Chargeback, ChargebackReversal, Prevented}

// Linked reports whether a transaction of this type adjusts an earlier transaction.
func (t TransactionType) Linked() bool {
	switch t {
	case Capture, Refund, Void, Chargeback, ChargebackReversal, Prevented:
		return true
	default: // also for an unknown type
		return false
	}
}

// Operators reports whether only the operator may record this type.
func (t TransactionType) Operators() bool { return t.TakesBack() || t == ChargebackReversal }

// TakesBack reports whether a transaction of this type takes money of a payment away because of a dispute. A reversal gives it back.
func (t TransactionType) TakesBack() bool { return t == Chargeback || t == Prevented }

// Takes reports whether a transaction of this type takes money (R1). Only these types have allocations.
func (t TransactionType) Takes() bool { return t == Purchase || t == Capture }

// TransactionStatus is the state of a transaction (section 3).
type TransactionStatus string

// The states of a transaction.
const (
	StatusPending    TransactionStatus = "pending"
	StatusComplete   TransactionStatus = "complete"
	StatusFailed     TransactionStatus = "failed"
	StatusIncomplete TransactionStatus = "incomplete" // the outcome is not known yet
	StatusLocked     TransactionStatus = "locked"     // charged back
	StatusExpired    TransactionStatus = "expired"    // not captured in time, or challenge not passed in time
)

// TransactionStatuses lists the states.
var TransactionStatuses = []TransactionStatus{
	StatusPending, StatusComplete, StatusFailed, StatusIncomplete, StatusLocked, StatusExpired,
}

// The payment methods. Only card payments can be protected (R2).
const (
	CreditCard   = "credit-card"
	BankTransfer = "bank-transfer"
)

// PaymentMethods lists the payment methods, the default first.
var PaymentMethods = []string{CreditCard, BankTransfer}

// The test values on test channels: psp and token of a request, and content of the answer.
const (
	TestPSP     = "test_psp"
	TestToken   = "FINALTOKEN123"
	TestOutcome = "Succeeded!"
)

// Flags of a transaction. They are hints for readers, and nothing is refused because of them.
const (
	FlagLateLogged     = "late_logged"         // R2
	FlagForexDeviates  = "forex_rate_deviates" // more than a tenth from the service's own rate
	FlagDoubleRecovery = "double_recovery"     // R3: money came back twice, such as by a refund and a chargeback
	FlagAmountDiffers  = "amount_differs"      // the processor moved another amount than requested
	FlagAboveTotal     = "above_total"         // R2: more was paid than the booking costs
	FlagLateCapture    = "late_capture"        // R2: captured after the life of its authorisation
	FlagRateDisagrees  = "rate_disagrees"      // R3: an adjustment whose two amounts disagree with the rate of its payment
	FlagAfterDispute   = "after_dispute"       // R2: paid for a booking that has a payment with an open chargeback
	FlagInsolvent      = "insolvent"           // R13: logged for a merchant that had failed
	FlagOverLimit      = "over_limit"          // R12: partly above a limit; see AllFlags
)

// Flags lists the flags.
var Flags = []string{
	FlagAboveTotal, FlagAfterDispute, FlagAmountDiffers, FlagDoubleRecovery, FlagForexDeviates, FlagInsolvent, FlagLateCapture, FlagLateLogged,
	FlagOverLimit, FlagRateDisagrees,
}

// Transaction is a payment for one or more bookings, or an adjustment of an earlier payment (section 2.6).
type Transaction struct {
	SiteID    int64
	ID        int64
	UUID      string
	ChannelID int64
	// SealedSecret is the sealed secret of the channel, for the hash of the transaction.
	SealedSecret string
	AuthorID     int64
	Author       string
	AuthorName   string
	Type         TransactionType
	Status       TransactionStatus
	Currency     money.Currency // of the payment
	Total        int64          // minor units of Currency
	Remaining    int64          // the part of Total that is not refunded, captured or voided yet
	ChargedBack  int64          // the part of Total that was charged back, less reversals
	BaseCurrency money.Currency // of the channel
	BaseTotal    int64          // sum of the items, minor units of BaseCurrency
	Payments     []Payment      // one for each booking
	ForexRate    string         // with eight decimals; "" when both currencies are equal
	Flags        []string
	PSP          string
	Method       string
	PayeeName    string
	PayeeSurname string
	PayeeEmail   string
	Country      string
	Reference    string // of the caller, unique in a channel and psp
	Token        string
	IPAddress    string
	BIN          string
	LastFour     string
	CardType     string
	AuthCode     string
	// AcquirerReference is the ARN, 23 digits: the acquirer's own number of the payment.
	AcquirerReference string
	// ProcessorReference is the processor's own id of this movement. It is not unique.
	ProcessorReference string
	Attempt3DS         bool
	RedirectURL        string // the page to which the shopper comes back after 3DS
	LinkedID           int64  // the transaction that this one adjusts; 0 for none
	Adjustments        []int64
	Content            string
	ContentHash        string // NewTransaction.Hash: it differs when another payment uses the same reference
	ImportKey          string // reference of an imported payment, unique in its channel
	Simulated          bool   // of a test channel
	// StatementBatches are the numbers of the statements with its premium, with commas between. StatementDate is when
	// the last of them was issued.
	StatementBatches string
	StatementDate    time.Time
	// OverLimit is the largest amount by which the transaction exceeds a limit (R12), in minor units of
	// OverLimitCurrency.
	OverLimit         int64
	OverLimitCurrency money.Currency
	GatewayCharge     *GatewayCharge // nil for a payment that was taken elsewhere and logged here
	// Further fields of the payment modal, which the integrator's auth string verified. They move no money.
	ModalAllocations string    // a JSON array, as it came; "" for none
	ModalCharge      int64     // the channel in charge_channel; 0 for none
	Disputes         []Dispute // in order of their ids
	// Protected and ProtectionReason are the decision of R2 on a purchase or capture. The reason is "" where none was made: an
	// outcome is not known yet, or the transaction is of another type.
	Protected        bool
	ProtectionReason string
	EffectiveAt      time.Time
	CaptureBy        time.Time // of an authorisation: it can be captured before this instant
	CreatedAt        time.Time // recorded_at of R0
	ModifiedAt       time.Time
}

// AllFlags returns Flags, plus over_limit if part of the transaction is above a limit. Limits of merchants and sites are computed after
// the payment was logged (R12), so this flag is not stored with the others.
func (t Transaction) AllFlags() []string {
	all := append([]string{}, t.Flags...)
	if t.OverLimit > 0 {
		all = append(all, FlagOverLimit)
		slices.Sort(all)
	}
	return all
}

// TrustID is the trust_id: the id of the site, a dash and the id of the transaction (section 2.6).
func (t Transaction) TrustID() string { return fmt.Sprintf("%d-%d", t.SiteID, t.ID) }

// Title is composed of trust_id, surname and e-mail of the payer, if they are known.
func (t Transaction) Title() string { return check.Title(t.TrustID(), t.PayeeSurname, t.PayeeEmail) }

// InTime reports whether an authorisation could be captured or voided at a time. A capture that was made in time
// counts, even when it is logged late.
func (t Transaction) InTime(at time.Time) bool {
	return at.Before(t.CaptureBy)
}

// TotalRemaining is total_remaining: what can still be refunded, captured or voided. It is 0 for an expired
// authorisation, although Remaining stays, for a capture that is logged late. It is also 0 if no part of any booking is
// left to be refunded.
func (t Transaction) TotalRemaining() int64 {
	if t.Status == StatusExpired || !slices.ContainsFunc(t.Payments, func(p Payment) bool { return p.Left() > 0 }) {
		return 0
	}
	return t.Left()
}

// Language is that of its first booking.
func (t Transaction) Language() string {
	if len(t.Payments) == 0 {
		return check.DefaultLanguage
	}
	return t.Payments[0].BookingLanguage
}

// Left is Remaining less the chargebacks in effect, in minor units of Currency.
func (t Transaction) Left() int64 { return left(t.Remaining, t.ChargedBack) }

// left is never below 0, although the same money may be both refunded and charged back.
func left(remaining, chargedBack int64) int64 { return max(0, remaining-max(0, chargedBack)) }

// Payment is the part of a transaction that belongs to one booking: payment_ids refers to it (section 2.6).
type Payment struct {
	SiteID        int64
	ID            int64
	TransactionID int64
	ChannelID     int64
	BookingID     int64
	Currency      money.Currency // base currency
	Total         int64
	Remaining     int64 // of a purchase, capture or authorisation: the part that is not refunded, captured or voided yet
	ChargedBack   int64 // the part of Total that was charged back, less reversals
	LinkedID      int64 // the payment of the original transaction that this one adjusts; 0 for none
	// Of the booking, for the transaction that shows it.
	BookingReference string
	BookingCountry   string
	BookingLanguage  string
	CreatedAt        time.Time
}

// Left is Remaining less the chargebacks in effect, in minor units of Currency.
func (p Payment) Left() int64 { return left(p.Remaining, p.ChargedBack) }
