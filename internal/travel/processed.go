package travel

import (
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/money"
)

// ProcessingState says how far a transaction at a processor has come.
type ProcessingState string

// The states. Of all but the last three it is not known yet whether money moved.
const (
	ProcessingCalled     ProcessingState = "called"     // the answer is awaited, or whoever awaited it died
	ProcessingChallenged ProcessingState = "challenged" // the shopper has to pass a challenge
	ProcessingUnknown    ProcessingState = "unknown"    // the answer was lost
	ProcessingAbsent     ProcessingState = "absent"     // the processor has never seen it: failed, unless it shows up after all
	ProcessingConcluded  ProcessingState = "concluded"
	ProcessingReleasing  ProcessingState = "releasing" // settled; what it still holds on the card is being released
)

// Open reports whether the outcome is not known yet.
func (s ProcessingState) Open() bool {
	return s == ProcessingCalled || s == ProcessingChallenged || s == ProcessingUnknown
}

// GatewayCharge is what a processor was asked to do for a transaction, and what is known of that.
type GatewayCharge struct {
	SiteID        int64
	TransactionID int64
	ChannelID     int64
	Operation     TransactionType
	Reference     string // ours
	Processor     string
	Live          bool // in the processor's live environment
	ProcessorID   string
	Original      string // ProcessorID of the charge that is adjusted; "" of a charge
	State         ProcessingState
	Reserved      int64     // what of the original's remaining is kept for it
	AskedForAt    time.Time // when the processor was called, by the real clock
	AskAt         time.Time // when to ask what became of it, by the real clock; zero: nothing to ask
	Asks          int       // in vain, so far
	ReturnKey     string    // in the address to which a shopper comes back; "" without 3DS
	Challenge     Challenge
	Decline       string // why money was refused
	Code          string // the same in the processor's own words
	ThreeDS       ThreeDS
}

// Challenge is what a shopper has to pass before money moves.
type Challenge struct {
	Type  string
	Value string
}

// ThreeDS is what came of an authentication of the shopper; empty where there was none.
type ThreeDS struct {
	Status         string // authenticated, attempted, failed, unavailable or abandoned
	Flow           string // frictionless or challenge
	ECI            string
	Version        string
	DirectoryID    string // transaction id of the directory server
	LiabilityShift bool   // to the issuer
}

// DisputeOutcome says how a chargeback ended.
type DisputeOutcome string

// The outcomes of a chargeback.
const (
	DisputePending DisputeOutcome = "pending"
	DisputeWon     DisputeOutcome = "won"  // the money came back
	DisputeLost    DisputeOutcome = "lost" // it did not
)

// Dispute is a chargeback of a payment and how it stands.
type Dispute struct {
	SiteID        int64
	TransactionID int64 // that is charged back
	ChargebackID  int64 // the transaction that records it
	ReversalID    int64 // the one that records that the money came back; 0: it did not
	ProcessorID   string
	Outcome       DisputeOutcome
	ReasonCode    string
	ChallengeDay  civil.Day // until when it can be answered; civil.NoDay where it was not said
	// Of the transaction ChargebackID.
	Total    int64
	Currency money.Currency
}
