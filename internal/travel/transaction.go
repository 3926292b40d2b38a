package travel

import (
	"fmt"
	"time"

	"holdfast/internal/money"
)

// TransactionType says what a transaction does with money.
type TransactionType string

// The types of transactions. The last two are recorded by the operator.
const (
	Purchase           TransactionType = "purchase"
	Authorize          TransactionType = "authorize"
	Capture            TransactionType = "capture"
	Refund             TransactionType = "refund"
	Void               TransactionType = "void"
	Chargeback         TransactionType = "chargeback"
	ChargebackReversal TransactionType = "chargeback-reversal"
)

// TransactionTypes lists the types.
var TransactionTypes = []TransactionType{Purchase, Authorize, Capture, Refund, Void, Chargeback, ChargebackReversal}

// Linked reports whether a transaction of this type adjusts an earlier one.
func (t TransactionType) Linked() bool {
	switch t {
	case Capture, Refund, Void, Chargeback, ChargebackReversal:
		return true
	default: // also of a type that there is not, which has no rules
		return false
	}
}

// Operators reports whether only the operator records this type.
func (t TransactionType) Operators() bool { return t == Chargeback || t == ChargebackReversal }

// Takes reports whether a transaction of this type brings money in that the merchant then owes (R1): the types that
// have allocations.
func (t TransactionType) Takes() bool { return t == Purchase || t == Capture }

// TransactionStatus is the state of a transaction.
type TransactionStatus string

// The states of a transaction.
const (
	StatusPending    TransactionStatus = "pending"
	StatusComplete   TransactionStatus = "complete"
	StatusFailed     TransactionStatus = "failed"
	StatusIncomplete TransactionStatus = "incomplete" // the outcome is not known
	StatusLocked     TransactionStatus = "locked"     // charged back
	StatusExpired    TransactionStatus = "expired"    // an authorisation not captured in time, a challenge not passed in time
)

// TransactionStatuses lists the states.
var TransactionStatuses = []TransactionStatus{
	StatusPending, StatusComplete, StatusFailed, StatusIncomplete, StatusLocked, StatusExpired,
}

// Ways to pay. Only card payments can be protected (R2).
const (
	CreditCard   = "credit-card"
	BankTransfer = "bank-transfer"
)

// PaymentMethods lists the ways to pay, the default first.
var PaymentMethods = []string{CreditCard, BankTransfer}

// AuthorisationLife is how long an authorisation can be captured.
const AuthorisationLife = 7 * 24 * time.Hour

// What the sandbox of the protection-only profile accepts on test channels, and answers.
const (
	TestPSP     = "test_psp"
	TestToken   = "FINALTOKEN123"
	TestOutcome = "Succeeded!"
)

// Flags that a transaction can carry: facts that a reader should see and that stop nothing.
const (
	FlagLateLogged     = "late_logged"         // R2
	FlagForexDeviates  = "forex_rate_deviates" // more than a tenth from the service's own rate
	FlagDoubleRecovery = "double_recovery"     // R3: charged back what was refunded already, or the like
	FlagAmountDiffers  = "amount_differs"      // the processor moved another amount than it was asked for
)

// Transaction is a payment, or what was done with an earlier one, against one or more bookings (section 2.6).
type Transaction struct {
	SiteID    int64
	ID        int64
	UUID      string
	ChannelID int64
	// ChannelSecret is what the hash is made with by which a caller knows the transaction as ours; it is never shown.
	ChannelSecret string
	AuthorID      int64
	Author        string
	AuthorName    string
	Type          TransactionType
	Status        TransactionStatus
	Currency      money.Currency // of the payment
	Total         int64          // minor units of Currency
	Remaining     int64          // of it: what can still be refunded, captured or voided
	BaseCurrency  money.Currency // of the channel
	BaseTotal     int64          // sum of the items, minor units of BaseCurrency
	Payments      []Payment      // one per booking
	ForexRate     string         // eight decimals; "" where both currencies are the same
	Flags         []string
	PSP           string
	Method        string
	PayeeName     string
	PayeeSurname  string
	PayeeEmail    string
	Country       string
	Reference     string // the caller's, unique per channel and psp
	Token         string
	IPAddress     string
	BIN           string
	LastFour      string
	CardType      string
	AuthCode      string
	Attempt3DS    bool
	RedirectURL   string // where the shopper lands after 3DS
	LinkedID      int64  // the transaction that this one adjusts; 0 for none
	Adjustments   []int64
	Content       string
	ContentHash   string // of what the caller said, to tell a repetition from a reuse of the reference
	ImportKey     string // natural key of an imported payment, unique in its channel
	Simulated     bool   // of a test channel
	// On which statements its premium stands: their numbers with commas between, and when the last of them was issued.
	StatementBatches string
	StatementDate    time.Time
	// OverLimit is what lies above the limit that the transaction exceeds most (R12), minor units of OverLimitCurrency.
	OverLimit         int64
	OverLimitCurrency money.Currency
	GatewayCharge     *GatewayCharge // at a processor; nil of what was taken elsewhere and logged here
	// What the payment modal was told besides, verified by the integrator; it moves no money.
	ModalAllocations string    // a JSON array, as it came; "" for none
	ModalCharge      int64     // the channel named as charge_channel; 0 for none
	Disputes         []Dispute // in order of their ids
	EffectiveAt      time.Time
	CreatedAt        time.Time // recorded_at of R0
	ModifiedAt       time.Time
}

// TrustID is the transaction's identifier prefixed with the site's.
func (t Transaction) TrustID() string { return fmt.Sprintf("%d-%d", t.SiteID, t.ID) }

// Title names the transaction by identifier and payer.
func (t Transaction) Title() string {
	return t.TrustID() + " | " + t.PayeeSurname + " | " + t.PayeeEmail
}

// InTime reports whether an authorisation could be captured or voided at the instant: what was done in time counts,
// however late it is logged.
func (t Transaction) InTime(at time.Time) bool {
	return at.Before(t.EffectiveAt.Add(AuthorisationLife))
}

// TotalRemaining is what can still be refunded, captured or voided (wire: total_remaining). Of an expired authorisation
// that is nothing, although what was not taken of it stays known for a capture that is logged late.
func (t Transaction) TotalRemaining() int64 {
	if t.Status == StatusExpired {
		return 0
	}
	return t.Remaining
}

// Payment is the part of a transaction that belongs to one booking: what `payment_ids` of the wire refer to.
type Payment struct {
	SiteID        int64
	ID            int64
	TransactionID int64
	ChannelID     int64
	BookingID     int64
	Currency      money.Currency // base currency
	Total         int64
	Remaining     int64 // of a purchase, capture or authorisation: what is not yet refunded, captured or voided
	LinkedID      int64 // the payment of the original transaction that this one adjusts; 0 for none
	// Of the booking, for the wire's short form of it inside a transaction.
	BookingReference string
	BookingCountry   string
	CreatedAt        time.Time
}

// TransactionFilter chooses transactions of a list; empty fields choose all.
type TransactionFilter struct {
	Include, Exclude []int64
	Before, After    time.Time // created
	Statuses         []TransactionStatus
	Channels         []int64
	Countries        []string
	Reference        string
	Currencies       []string
	Types            []TransactionType
	Methods          []string
	CardTypes        []string
	BIN              string
	LastFour         string
	PayeeEmail       string
	PayeeSurname     string
	LinkedID         int64
	OverLimit        *bool // whether something of it lies above a limit
}

// TransactionOrders lists the attributes by which transactions can be sorted.
var TransactionOrders = []string{"id", "date", "created", "modified", "total", "include"}

// PaymentFilter chooses payment records of a list; empty fields choose all.
type PaymentFilter struct {
	Include, Exclude []int64
	Before, After    time.Time
	Transactions     []int64
	Bookings         []int64
	Channels         []int64
}

// PaymentOrders lists the attributes by which payment records can be sorted.
var PaymentOrders = []string{"id", "date", "created", "total", "include"}
