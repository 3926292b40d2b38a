package events

import (
	"encoding/json"

	"holdfast/internal/domain/event"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// recorded is what a write has recorded already.
type recorded struct {
	siteID   int64
	kind     event.Type
	objectID int64
	details  event.Details
}

var inWrite = store.NewLocal[map[recorded]bool]()

// Record adds an event to the write that makes the change. It is stored with it or not at all. The same event twice in a
// write is stored once.
func Record(tx *store.Tx, siteID int64, kind event.Type, objectID int64, details event.Details) {
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
	kind := event.ProposalDecided
	if p.State == proposal.Open {
		kind = event.ProposalOpened
	}
	Record(tx, p.SiteID, kind, p.ID, event.Details{Kind: string(p.Kind), Status: string(p.State)})
}
