// Package webhooks sends a site's events to the URLs that the site has configured. It owns the tables webhook_*.
// Start at Webhooks.Send, which follows the event feed and sends what is due. Endpoints are created in endpoints.go.
package webhooks

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"holdfast/internal/domain/event"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
)

// Webhooks are the use cases of webhooks. Show, Private and Lookup are set before the first use.
type Webhooks struct {
	*sites.DB
	Vault     *secrets.Vault
	Events    *events.Events // the feeds that are followed
	Random    io.Reader      // for secrets
	Log       *slog.Logger
	Followed  int // positions of the feed in one write for an endpoint
	Followers int // endpoints that one look at the feed takes further
	// Show gives events as the feed shows them. It is nil in a program that sends nothing.
	Show func(ctx context.Context, siteID int64, list []event.Event) ([]json.RawMessage, error)
	// Private: sandboxes may have endpoints on private addresses.
	Private bool
	// Lookup finds the addresses of a host when an endpoint is saved; nil: only the dialler looks at them.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

	clients [2]*http.Client // for public addresses only, and for all
	taking  sync.Mutex      // held by the run that sends
	last    endpointKey     // the endpoint that was served last

	followed turn // the endpoint that was last taken further in the feed
}

// Register registers what the use cases keep sealed, and makes the clients that send.
func (w *Webhooks) Register() *Webhooks {
	w.Vault.Register(sealedColumns...)
	w.clients = [2]*http.Client{newClient(false), newClient(true)}
	return w
}

// State says whether an endpoint gets events.
type State string

// The states of an endpoint.
const (
	Enabled  State = "enabled"
	Disabled State = "disabled" // by a user, or after three days of failures
	deleted  State = "deleted"  // its rows are deleted in batches; it is no longer visible
)

// Endpoint is an address to which events of a site are sent.
type Endpoint struct {
	SiteID, ID, Version   int64
	URL                   string
	Types                 []string // such as booking.*; empty for all
	State                 State
	Reason                string    // why it was disabled
	FailingSince          time.Time // zero after a success
	CreatedBy             string
	CreatedAt, ModifiedAt time.Time // by the real clock
	Secret                string    // of a new endpoint, and after a rotation; else ""

	position, failures int64
	retryAt            time.Time
	enabledAt          time.Time // zero if it was never enabled again
	slow               bool
	sandbox            bool // of its site
}

type endpointKey struct{ site, id int64 }

func (e Endpoint) key() endpointKey { return endpointKey{e.SiteID, e.ID} }

// DeliveryState is the state of a delivery.
type DeliveryState string

// The states of a delivery.
const (
	Waiting   DeliveryState = "waiting"
	Delivered DeliveryState = "delivered" // answered with a status 2xx
	GivenUp   DeliveryState = "given_up"  // after three days, or because its event was removed
)

// DeliveryStates are all states of a delivery.
var DeliveryStates = []DeliveryState{Waiting, Delivered, GivenUp}

// Delivery is an event that is, or will be, sent to an endpoint.
type Delivery struct {
	SiteID, ID, EndpointID, EventID int64
	Type                            event.Type
	Kind                            event.Kind // of the object of the event
	ObjectID                        int64
	State                           DeliveryState
	NextAt                          time.Time // of the next attempt, while it waits
	Attempts                        int64
	MadeAt, DoneAt                  time.Time // by the real clock; DoneAt is zero while it waits
}

// Attempt is one try to send a delivery.
type Attempt struct {
	ID     int64
	At     time.Time // by the real clock
	Took   time.Duration
	Status int    // of the answer; 0 without one
	Answer string // the beginning of its body
	Error  string // why there was no answer
}
