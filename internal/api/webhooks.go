package api

import (
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/webhooks"
)

// webhookShape is an endpoint of webhooks on the wire. The secret is there where it was made just now, and nowhere else.
type webhookShape struct {
	ID           int64          `json:"id"`
	URL          string         `json:"url"`
	Types        []string       `json:"types"` // empty: all
	State        webhooks.State `json:"state"`
	Reason       string         `json:"reason"`
	FailingSince *string        `json:"failing_since"`
	CreatedBy    string         `json:"created_by"`
	Created      string         `json:"created"`
	Modified     string         `json:"modified"`
	Secret       string         `json:"secret,omitempty"`
}

// ShowWebhook gives the shape of an endpoint, to be encoded as JSON.
func ShowWebhook(e webhooks.Endpoint) any { return showWebhook(e) }

func showWebhook(e webhooks.Endpoint) webhookShape {
	return webhookShape{
		ID: e.ID, URL: e.URL, Types: append([]string{}, e.Types...), State: e.State, Reason: e.Reason,
		FailingSince: maybeInstant(e.FailingSince), CreatedBy: e.CreatedBy, Created: civil.FormatInstant(e.CreatedAt),
		Modified: civil.FormatInstant(e.ModifiedAt), Secret: e.Secret,
	}
}

// maybeInstant writes an instant. The zero time becomes null.
func maybeInstant(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := civil.FormatInstant(t)
	return &text
}
