package view

import (
	"encoding/json"

	"holdfast/internal/domain/event"
)

// Happening is an event on the wire.
type Happening struct {
	ID         int64           `json:"id"`
	Type       event.Type      `json:"type"`
	APIVersion string          `json:"api_version"`
	Created    string          `json:"created"`
	ObjectType event.Kind      `json:"object_type"`
	ObjectID   int64           `json:"object_id"`
	Details    json.RawMessage `json:"details"` // the data of the event itself
	Object     any             `json:"object"`  // its current state; null if it was deleted
}

// Feed is a piece of the feed.
type Feed struct {
	Events  []Happening `json:"events"`
	Next    string      `json:"next"`
	HasMore bool        `json:"has_more"`
}
