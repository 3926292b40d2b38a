package travel

import "time"

// ProposalKind is one sort of change that two people make together (R0).
type ProposalKind string

// The kinds of proposals.
const (
	ProposeOpenCover  ProposalKind = "open_cover"  // a channel whose payments are protected from now on
	ProposeManualRate ProposalKind = "manual_rate" // a quote where no provider has a rate
	ProposePolicy     ProposalKind = "policy"      // terms of a site
	ProposeLimits     ProposalKind = "limits"      // limits of a site, a channel, a booking, a transaction
	ProposeTakeover   ProposalKind = "takeover"    // a book that is covered from when its payments were taken
)

// ProposalKinds lists the kinds.
var ProposalKinds = []ProposalKind{ProposeOpenCover, ProposeManualRate, ProposePolicy, ProposeLimits, ProposeTakeover}

// ProposalState says what became of a proposal.
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

// Proposal is a change that one person asked for and another decides on. In a sandbox it may be the same one.
type Proposal struct {
	SiteID         int64
	ID             int64
	Kind           ProposalKind
	Subject        string // what it is about
	Payload        string // JSON: what approval carries out
	Reason         string
	State          ProposalState
	Alone          bool // approved by who proposed it
	ProposedByID   int64
	ProposedBy     string
	ProposedAt     time.Time
	DecidedByID    int64
	DecidedBy      string
	DecidedAt      time.Time // zero while open
	DecisionReason string
	Result         string // JSON; "" where nothing was carried out
}

// ProposalFilter chooses proposals of a list; empty fields choose all.
type ProposalFilter struct {
	Include, Exclude []int64
	States           []ProposalState
	Kinds            []ProposalKind
}

// ProposalOrders lists the attributes by which proposals can be sorted.
var ProposalOrders = []string{"id", "include"}
