package events

import (
	"encoding/json"
	"time"

	"holdfast/internal/domain/proposal"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Event is one thing that happened on a site. It names its object; whoever shows it reads the object anew.
type Event struct {
	SiteID   int64
	ID       int64
	Position int64 // in the feed of the site, from 1
	Type     Type
	ObjectID int64
	At       time.Time // by the clock of the site
	Details  json.RawMessage
}

// Details is what an event itself says. Each type fills in its own fields.
type Details struct {
	Status      string `json:"status,omitempty"`              // of the object after the change
	Before      string `json:"before,omitempty"`              // what Status or Mode was before
	Mode        string `json:"mode,omitempty"`                // of a channel after the change
	Kind        string `json:"kind,omitempty"`                // of a proposal
	Outcome     string `json:"outcome,omitempty"`             // of a dispute
	Protected   *bool  `json:"protected,omitempty"`           // whether a payment is protected: Yes or No
	Reason      string `json:"reason,omitempty"`              // why a payment is protected, or why not; of a dispute its code
	Cause       string `json:"cause,omitempty"`               // of a change of protection: the type of the adjustment, or terms
	Transaction int64  `json:"transaction,omitempty"`         // the adjustment, or the chargeback of a dispute
	Amount      int64  `json:"amount,omitempty"`              // in minor units of Currency
	Currency    string `json:"currency,omitempty"`            //
	Percent     int64  `json:"percent,omitempty"`             // of a limit
	LastDay     string `json:"last_day_of_dispute,omitempty"` // YYYY-MM-DD
}

var yes, no = true, false

// YesOrNo is for fields that are there in either case. The same answer is the same pointer, so that Details compare.
func YesOrNo(b bool) *bool {
	if b {
		return &yes
	}
	return &no
}

// recorded is what a write has recorded already.
type recorded struct {
	siteID   int64
	kind     Type
	objectID int64
	details  Details
}

var inWrite = store.NewLocal[map[recorded]bool]()

// Record adds an event to the write that makes the change. It is stored with it or not at all. The same event twice in a
// write is stored once.
func Record(tx *store.Tx, siteID int64, kind Type, objectID int64, details Details) {
	known, event := inWrite.Of(tx), recorded{siteID, kind, objectID, details}
	if (*known)[event] {
		return
	}
	if *known == nil {
		*known = map[recorded]bool{}
	}
	(*known)[event] = true
	text, _ := json.Marshal(details) // texts and numbers alone: it cannot fail
	tx.NotifySite(siteID)
	tx.Insert("events", "site_id, type, object_id, at, recorded_at, details",
		[]any{siteID, string(kind), objectID, store.Micros(tx.Now), store.Micros(sites.RealNow(tx)), string(text)})
}

// RecordProposal records a proposal that was opened in this write, or decided on.
func RecordProposal(tx *store.Tx, p proposal.Proposal) {
	kind := ProposalDecided
	if p.State == proposal.Open {
		kind = ProposalOpened
	}
	Record(tx, p.SiteID, kind, p.ID, Details{Kind: string(p.Kind), Status: string(p.State)})
}
