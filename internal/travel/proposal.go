package travel

import "time"

// ProposalKind is a kind of change that needs two people (R0).
type ProposalKind string

// The kinds of proposals.
const (
	ProposeOpenCover  ProposalKind = "open_cover"  // the payments of a channel get protected from now on
	ProposeManualRate ProposalKind = "manual_rate" // a quote for a currency without a published rate
	ProposePolicy     ProposalKind = "policy"      // a new policy of a site
	ProposeLimits     ProposalKind = "limits"      // a limit for the site, a channel, a booking or a transaction
	ProposeTakeover   ProposalKind = "takeover"    // an import whose payments are covered since they were taken
)

// ProposalKinds lists the kinds.
var ProposalKinds = []ProposalKind{ProposeOpenCover, ProposeManualRate, ProposePolicy, ProposeLimits, ProposeTakeover}

// ProposalState is the state of a proposal.
type ProposalState string

// The states of a proposal. Only an open one can be decided.
const (
	ProposalOpen      ProposalState = "open"
	ProposalApproved  ProposalState = "approved"
	ProposalRejected  ProposalState = "rejected"
	ProposalWithdrawn ProposalState = "withdrawn"
)

// ProposalStates lists the states.
var ProposalStates = []ProposalState{ProposalOpen, ProposalApproved, ProposalRejected, ProposalWithdrawn}

// Proposal is a change that one person proposes and another person approves (R0). In a sandbox one person may do
// both.
type Proposal struct {
	SiteID         int64
	ID             int64
	Kind           ProposalKind
	Subject        string // what it is about
	Payload        string // JSON: the change
	Effect         string // JSON: what it would change, see Effect; "" when nobody knows
	Reason         string
	State          ProposalState
	Alone          bool // whether the same person proposed and approved it
	ProposedByID   int64
	ProposedBy     string
	ProposedAt     time.Time
	DecidedByID    int64
	DecidedBy      string
	DecidedAt      time.Time // zero while open
	DecisionReason string
	Result         string // JSON: what the change has made; "" when nothing was changed
}

// ProposalFilter picks proposals from a list. An empty field picks all.
type ProposalFilter struct {
	Include, Exclude []int64
	States           []ProposalState
	Kinds            []ProposalKind
}

// ProposalOrders lists the values of orderby for proposals.
var ProposalOrders = []string{"id", "include"}
