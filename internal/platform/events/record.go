package events

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/domain/proposal"
	"holdfast/internal/platform/core"
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

// held is an event that waits for the end of its write.
type held struct {
	siteID   int64
	kind     Type
	objectID int64
	details  Details
}

// heldEvents are the events of a write, in order. Most have a few; a write of an import has some thousand.
type heldEvents struct {
	list    []held
	written int           // how many of them are stored already
	seen    map[held]bool // finds them, where there are more than fewEvents
}

const fewEvents = 8

// add adds an event, unless it is there.
func (h *heldEvents) add(event held) {
	if h.seen[event] || h.seen == nil && slices.Contains(h.list, event) {
		return
	}
	if h.list == nil {
		h.list = make([]held, 0, fewEvents/2)
	}
	h.list = append(h.list, event)
	switch {
	case h.seen != nil:
		h.seen[event] = true
	case len(h.list) > fewEvents:
		h.seen = map[held]bool{}
		for _, e := range h.list {
			h.seen[e] = true
		}
	}
}

var (
	inEvents = store.NewLocal[heldEvents]()
	// Other rooms record events while they write their own rows at the end of a write. So events go in last, and one
	// statement takes all of them.
	waitingEvents = store.NewLastDeferral(flush, "events")
)

// Record adds an event to the write that makes the change. It is stored with it or not at all. The same event twice in a
// write is stored once.
func Record(tx *store.Tx, siteID int64, kind Type, objectID int64, details Details) {
	inEvents.Of(tx).add(held{siteID, kind, objectID, details})
	tx.Defer(waitingEvents)
}

// RecordProposal records a proposal that was opened in this write, or decided on. It is for core, which knows no events.
func RecordProposal(tx *store.Tx, p proposal.Proposal) {
	kind := ProposalDecided
	if p.State == proposal.Open {
		kind = ProposalOpened
	}
	Record(tx, p.SiteID, kind, p.ID, Details{Kind: string(p.Kind), Status: string(p.State)})
}

func flush(tx *store.Tx) error {
	waiting := inEvents.Of(tx)
	list := waiting.list[waiting.written:]
	waiting.written = len(waiting.list)
	rows := make([][]any, len(list))
	for i, e := range list {
		details, err := json.Marshal(e.details)
		if err != nil {
			return fmt.Errorf("details of %s: %w", e.kind, err)
		}
		tx.Tell(e.siteID)
		rows[i] = []any{e.siteID, string(e.kind), e.objectID, store.Micros(tx.Now), store.Micros(core.RealNow(tx)), string(details)}
	}
	return tx.InsertRows("events", "site_id, type, object_id, at, recorded_at, details", rows)
}
