package events

import (
	"encoding/json"
	"fmt"
	"time"

	"holdfast/internal/core"
	"holdfast/internal/db"
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
	Status string `json:"status,omitempty"` // of the object after the change
}

// held is an event that waits for the end of its write.
type held struct {
	siteID   int64
	kind     Type
	objectID int64
	details  Details
}

var (
	inEvents = db.NewLocal[[]held]()
	// Other rooms record events while they write their own rows at the end of a write. So events go in last, and one
	// statement takes all of them.
	waitingEvents = db.NewLastDeferral(flush, "events")
)

// Record adds an event to the write that makes the change. It is stored with it or not at all. The same event twice in a
// write is stored once.
func Record(tx *db.Tx, siteID int64, kind Type, objectID int64, details Details) {
	waiting := inEvents.Of(tx)
	event := held{siteID, kind, objectID, details}
	for _, other := range *waiting {
		if other == event {
			return
		}
	}
	*waiting = append(*waiting, event)
	tx.Defer(waitingEvents)
}

func flush(tx *db.Tx) error {
	waiting := inEvents.Of(tx)
	list := *waiting
	*waiting = nil
	rows := make([][]any, len(list))
	for i, e := range list {
		details, err := json.Marshal(e.details)
		if err != nil {
			return fmt.Errorf("details of %s: %w", e.kind, err)
		}
		rows[i] = []any{e.siteID, string(e.kind), e.objectID, db.Micros(tx.Now), db.Micros(core.RealNow(tx)), string(details)}
	}
	return tx.InsertRows("events", "site_id, type, object_id, at, recorded_at, details", rows)
}
