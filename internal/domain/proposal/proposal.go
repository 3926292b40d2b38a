// Package proposal defines proposals: changes that one person proposes and another approves, and their effects. Start
// at Proposal.
package proposal

import "time"

// Kind is a kind of change that needs two people (R0).
type Kind string

// The kinds of proposals.
const (
	OpenCover  Kind = "open_cover"  // the payments of a channel get protected from now on
	ManualRate Kind = "manual_rate" // a quote for a currency without a published rate
	Policy     Kind = "policy"      // a new policy of a site
	Limits     Kind = "limits"      // a limit for the site, a channel, a booking or a transaction
	Takeover   Kind = "takeover"    // an import whose payments are covered since they were taken
)

// The kinds of proposals about a merchant that has failed (R13).
const (
	Reinstate           Kind = "reinstate"            // what is logged for the channel can be protected again
	InsolventProcessing Kind = "insolvent_processing" // its processor carries out refunds again
)

// Kinds lists the kinds.
var Kinds = []Kind{OpenCover, ManualRate, Policy, Limits, Takeover, Reinstate, InsolventProcessing}

// State is the state of a proposal.
type State string

// The states of a proposal. Only an open one can be decided.
const (
	Open      State = "open"
	Approved  State = "approved"
	Rejected  State = "rejected"
	Withdrawn State = "withdrawn"
)

// States lists the states.
var States = []State{Open, Approved, Rejected, Withdrawn}

// Proposal is a change that one person proposes and another person approves (R0). In a sandbox one person may do
// both.
type Proposal struct {
	SiteID         int64
	ID             int64
	Kind           Kind
	Subject        string // what it is about
	Payload        string // JSON: the change
	Effect         string // JSON: what it would change, see Effect; "" if unknown
	Reason         string
	State          State
	Alone          bool // whether the same person proposed and approved it
	ProposedByID   int64
	ProposedBy     string
	ProposedAt     time.Time
	DecidedByID    int64
	DecidedBy      string
	DecidedAt      time.Time // zero while open
	DecisionReason string
	Result         string // JSON: the result of the change; "" if nothing was changed
}
