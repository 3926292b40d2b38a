// Package dispute defines disputes of card payments (R14): what a processor reports about a case, the three axes of a case (stage, status,
// money), and how a case is matched with a payment. Start at Report: one line of a file, event or message about one case.
package dispute

import (
	"cmp"
	"slices"
	"time"

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

// Status is the status of a dispute within its stage (R14).
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

// Kind is the kind of a movement of money (R14).
type Kind string

// The kinds. Only Debit, Credit and Prevention change the ledger.
const (
	NoMoney    Kind = ""          // a notification, or a change of the status only
	Debit      Kind = "debit"     // the money was taken: a chargeback of R1
	Credit     Kind = "credit"    // the money came back: a reversal of R1 that names its chargeback
	Fee        Kind = "fee"       // shown with the case, never part of the loss
	Prevention Kind = "prevented" // the issuer was paid without a chargeback
)

// The kinds of events that record what people and the program do with a case. They move no money and occur in no report.
const (
	NoteKind    Kind = "note"
	MatchKind   Kind = "match"
	UnmatchKind Kind = "unmatch"
	AssignKind  Kind = "assign"
	AlertKind   Kind = "alert" // its deadline was announced
	ClueKind    Kind = "clues" // a report added clues to the payment, and nothing else
)

// Moves reports whether an event of this kind changes the ledger once its case is matched.
func (k Kind) Moves() bool { return k == Debit || k == Credit || k == Prevention }

// Report is one line, event or message of a processor about a case. All fields but Source and CaseID may be empty.
type Report struct {
	Source   string // the processor, the same for all its files: adyen, stripe, …
	CaseID   string // the processor's id of the case
	Stage    Stage  // "" if unknown
	Status   Status // "" if unknown
	Kind     Kind
	Number   int            // counts the movements of this kind of the case, from 1; 0 if unknown
	Day      civil.Day      // of the event, in GMT; civil.NoDay if unknown
	At       time.Time      // the time on Day; zero if unknown, then the event counts from the start of the day
	Amount   int64          // minor units of Currency, never negative; 0 if unknown
	Currency money.Currency // "" if unknown
	// Whole says that the whole payment is disputed. The amount may be in any currency.
	Whole      bool
	DueOn      civil.Day // last day to answer; civil.NoDay if unknown
	ReasonCode string    // the scheme's or the processor's
	Reason     string    // in the processor's words
	Merchant   string    // the file's name for the merchant; "" if it has none
	Clues      Clues
	// RefersTo is the file's reference of the case or movement that a credit or a fee belongs to; "" if it has none.
	RefersTo string
	Notes    []Note // fields that were not used
}

// Clues identify the disputed payment. Each may be empty.
type Clues struct {
	TransactionID      int64  // the chargeback's own transaction or the payment, if the report has one of our ids
	AcquirerReference  string // 23 digits
	ProcessorReference string // the processor's id of the payment
	ProcessorAlias     string // another of the processor's ids of the same payment, such as Stripe's payment intent beside its charge
	PaymentReference   string // the merchant's
	AuthCode           string
	LastFour           string // four digits
	BIN                string // six or eight digits
	Scheme             string // as in R5
	PaidOn             civil.Day
	PaidAmount         int64 // minor units of PaidCurrency
	PaidCurrency       money.Currency
}

// Note says why a field was not used, such as a reference that a spreadsheet has shortened.
type Note struct {
	Field string // as the file names it
	Text  string // for people
}

// Manual is the source of a case that a person recorded.
const Manual = "manual"

// sourceTexts are the names of the processors for people. Other sources come from mapping files.
var sourceTexts = map[string]string{
	Manual: "Recorded by hand", Adyen: "Adyen", Braintree: "Braintree", CheckoutCom: "Checkout.com", CyberSource: "CyberSource", JPMorgan: "J.P. Morgan",
	PayPal: "PayPal", Stripe: "Stripe", Worldpay: "Worldpay",
}

// SourceText names the source of a case for people.
func SourceText(source string) string { return cmp.Or(sourceTexts[source], source) }

// CaseText names a case with its source for people.
func CaseText(source, caseID string) string {
	if source == Manual {
		return caseID + ", recorded by hand"
	}
	return SourceText(source) + " " + caseID
}
