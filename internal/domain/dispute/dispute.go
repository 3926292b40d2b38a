// Package dispute defines disputes of card payments (R14): what a processor reports about a case, the three axes of a case (stage, status,
// money), and how a case is matched to a payment. Start at Report, which is one statement of a processor about one case.
package dispute

import (
	"slices"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
)

// Stage is how far a dispute has come in the scheme's process (R14).
type Stage string

// The stages, in their order.
const (
	Inquiry        Stage = "inquiry"         // also a retrieval or a fraud report
	PreDispute     Stage = "pre_dispute"     // before a chargeback, such as a rapid resolution
	Chargeback     Stage = "chargeback"      // the first chargeback
	PreArbitration Stage = "pre_arbitration" // also a second chargeback
	Arbitration    Stage = "arbitration"
)

// Stages lists the stages in their order.
var Stages = []Stage{Inquiry, PreDispute, Chargeback, PreArbitration, Arbitration}

// Known reports whether it is one of Stages.
func (s Stage) Known() bool { return slices.Contains(Stages, s) }

// Status is how a dispute stands within its stage (R14).
type Status string

// The statuses.
const (
	Open       Status = "open"
	Accepted   Status = "accepted"   // the merchant does not defend it
	Challenged Status = "challenged" // evidence was sent
	Won        Status = "won"
	Lost       Status = "lost"
	Expired    Status = "expired" // not answered in time
	Cancelled  Status = "cancelled"
	Prevented  Status = "prevented" // the issuer was paid without a chargeback
)

// Statuses lists the statuses.
var Statuses = []Status{Open, Accepted, Challenged, Won, Lost, Expired, Cancelled, Prevented}

// Known reports whether it is one of Statuses.
func (s Status) Known() bool { return slices.Contains(Statuses, s) }

// Kind is what a report says about money (R14).
type Kind string

// The kinds. Only Debit, Credit and Prevention change the ledger.
const (
	NoMoney    Kind = ""          // a notification, or a change of the status only
	Debit      Kind = "debit"     // the money was taken: a chargeback of R1
	Credit     Kind = "credit"    // the money came back: a reversal of R1 that names its chargeback
	Fee        Kind = "fee"       // shown with the case, and never a part of the loss
	Prevention Kind = "prevented" // the issuer was paid without a chargeback
)

// Report is what a processor says in one line, event or message about a case. All fields but Source and CaseID may be empty.
type Report struct {
	Source   string // the processor, whichever of its files says it: adyen, stripe, …
	CaseID   string // the processor's name for the case
	Stage    Stage  // "" if it does not say
	Status   Status // "" if it does not say
	Kind     Kind
	Number   int            // which of the case's movements of this kind it is, from 1; 0: the first, or the one with this day and amount
	Day      civil.Day      // of the event, in GMT; civil.NoDay if it does not say
	Amount   int64          // minor units of Currency, never negative; 0 if it does not say
	Currency money.Currency // "" if it does not say
	// Whole says that the amount is the whole payment, whatever currency it is in.
	Whole      bool
	DueOn      civil.Day // last day to answer; civil.NoDay if it does not say
	ReasonCode string    // the scheme's or the processor's
	Reason     string    // in the processor's words
	Merchant   string    // the file's name of the merchant; "" if it has none
	Clues      Clues
	// RefersTo is the case or movement that a credit or a fee refers to, where the file names it by a reference of its own.
	RefersTo string
	Notes    []Note // what could not be used as it was written
}

// Clues are what a report says about the payment that is disputed. Each is empty if it does not say.
type Clues struct {
	TransactionID      int64  // the chargeback's own transaction or the payment, if the report names one of ours
	AcquirerReference  string // 23 digits
	ProcessorReference string // the processor's name of the payment
	ProcessorAlias     string // another name that it has for the same payment, such as Stripe's payment intent beside its charge
	PaymentReference   string // the merchant's
	AuthCode           string
	LastFour           string // four digits
	BIN                string // six or eight digits
	Scheme             string // as in R5
	PaidOn             civil.Day
	PaidAmount         int64 // minor units of PaidCurrency
	PaidCurrency       money.Currency
}

// Note is something in a report that was not used, with the reason, such as a reference that a spreadsheet has destroyed.
type Note struct {
	Field string // as the file names it
	Text  string // for people
}
