package payment

import (
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
)

// ChargeState is the state of a request to a processor.
type ChargeState string

// The states. In the first three it is not known whether money has moved.
const (
	ChargeCalled     ChargeState = "called"     // there is no answer yet, or the process that waited for it has died
	ChargeChallenged ChargeState = "challenged" // the shopper has to pass a challenge
	ChargeUnknown    ChargeState = "unknown"    // the answer was lost
	ChargeAbsent     ChargeState = "absent"     // the processor never got it: it has failed, unless it arrives after all
	ChargeConcluded  ChargeState = "concluded"  // the outcome is known
	ChargeReleasing  ChargeState = "releasing"  // the outcome is known, and the amount that is still held gets released
)

// Open reports whether the outcome is still unknown.
func (s ChargeState) Open() bool {
	return s == ChargeCalled || s == ChargeChallenged || s == ChargeUnknown
}

// GatewayCharge is the request to a processor for a transaction, and its outcome if it is known.
type GatewayCharge struct {
	SiteID        int64
	TransactionID int64
	ChannelID     int64
	Operation     TransactionType
	Reference     string // ours
	Processor     string
	Live          bool // in the live environment of the processor
	ProcessorID   string
	Original      string // ProcessorID of the charge that is adjusted; "" for a charge
	State         ChargeState
	Reserved      int64     // minor units of the original's Remaining that are kept for it
	AskedForAt    time.Time // when the request was sent, by the real clock
	AskAt         time.Time // when to ask for the outcome, by the real clock; zero: never
	Asks          int       // number of unsuccessful queries
	ReturnKey     string    // a part of the address to which the shopper comes back; "" without 3DS
	Challenge     Challenge
	Decline       string // why money was refused
	Code          string // the code of the decline at the processor
	ThreeDS       ThreeDS
}

// Challenge is the page of the bank on which the shopper confirms the payment (3DS).
type Challenge struct {
	Type  string // "redirect"
	Value string // the URL of the page
}

// ThreeDS is the result of the shopper's authentication. It is empty when there was none.
type ThreeDS struct {
	Status         string // authenticated, attempted, failed, unavailable or abandoned
	Flow           string // frictionless or challenge
	ECI            string
	Version        string
	DirectoryID    string // transaction id of the directory server
	LiabilityShift bool   // whether the issuer is liable for fraud
}

// DisputeOutcome says how a chargeback ended.
type DisputeOutcome string

// The outcomes of a chargeback.
const (
	DisputePending DisputeOutcome = "pending"
	DisputeWon     DisputeOutcome = "won"  // the money came back
	DisputeLost    DisputeOutcome = "lost" // the money did not come back
)

// Dispute is a chargeback of a payment, with its state. A processor reports everything except our ids.
type Dispute struct {
	SiteID        int64
	TransactionID int64 // the payment that is charged back
	ChargebackID  int64 // the transaction of the chargeback
	ReversalID    int64 // the transaction of the reversal; 0: none
	DisputeID     int64 // the case of the dispute
	ProcessorID   string
	Outcome       DisputeOutcome
	ReasonCode    string
	ChallengeDay  civil.Day // until when it can be answered; civil.NoDay when it is not known
	// Of the transaction ChargebackID.
	Total    int64 // minor units of Currency
	Currency money.Currency
	OpenedAt time.Time // when the money was charged back, according to the processor
}
