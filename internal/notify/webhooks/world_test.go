package webhooks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"holdfast/internal/domain/event"
	"holdfast/internal/errs"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/platform/events"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// world is a service that may send webhooks to receivers on this machine.
type world struct {
	*apptest.World
	t *testing.T
	*webhooks.Webhooks
}

func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.App.Webhooks.Private, w.App.Webhooks.Show = true, show
		test(t, &world{w, t, w.App.Webhooks})
	})
}

// show returns events without their objects.
func show(_ context.Context, _ int64, list []event.Event) (texts []json.RawMessage, err error) {
	for _, e := range list {
		texts = append(texts, fmt.Appendf(nil, `{"type":%q,"object_id":%d,"details":%s}`, e.Type, e.ObjectID, e.Details))
	}
	return texts, nil
}

// happens records an event about a booking.
func (w *world) happens(booking int64, status string) {
	w.t.Helper()
	err := w.World.App.DB.WriteAs(w.t.Context(), w.Actor, func(tx *store.Tx) error {
		events.Record(tx, w.Site.ID, event.BookingUpdated, booking, event.Details{Status: status})
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// endpoint creates an endpoint for all events.
func (w *world) endpoint(url string, types ...string) webhooks.Endpoint {
	w.t.Helper()
	made, err := w.Create(w.t.Context(), w.Actor, webhooks.EndpointFields{URL: &url, Types: &types})
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

func (w *world) send() {
	w.t.Helper()
	if _, err := w.Send(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// log reads the deliveries of an endpoint, each as "state attempts", the oldest first.
func (w *world) log(id int64) (lines []string) {
	w.t.Helper()
	for _, d := range w.deliveries(id) {
		lines = append(lines, fmt.Sprint(d.State, " ", d.Attempts))
	}
	return lines
}

func (w *world) deliveries(id int64) []webhooks.Delivery {
	w.t.Helper()
	page := store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
	list, err := w.Deliveries(w.t.Context(), w.Actor, id, webhooks.DeliveryFilter{}, page)
	if err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

// attempts reads the attempts of the first delivery of an endpoint.
func (w *world) attempts(id int64) []webhooks.Attempt {
	w.t.Helper()
	_, list, err := w.Delivery(w.t.Context(), w.Actor, id, w.deliveries(id)[0].ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

func (w *world) get(id int64) webhooks.Endpoint {
	w.t.Helper()
	found, err := w.Get(w.t.Context(), w.Actor, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// receiver accepts webhooks, and records each as "object status".
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	got     []string
	headers []http.Header
	bodies  [][]byte
	answer  func(w http.ResponseWriter, line string) // nil: 200
}

func newReceiver(t *testing.T, answer func(w http.ResponseWriter, line string)) *receiver {
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	var event struct {
		ObjectID int64 `json:"object_id"`
		Details  event.Details
		Type     string
	}
	_ = json.Unmarshal(body, &event)
	line := fmt.Sprint(event.ObjectID, " ", event.Details.Status)
	if event.Details.Status == "" {
		line = event.Type
	}
	r.mu.Lock()
	r.got, r.headers, r.bodies = append(r.got, line), append(r.headers, request.Header), append(r.bodies, body)
	answer := r.answer
	r.mu.Unlock()
	if answer != nil {
		answer(w, line)
	}
}

// lines are the received webhooks, in order.
func (r *receiver) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func (r *receiver) answers(answer func(w http.ResponseWriter, line string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func status(code int) func(w http.ResponseWriter, line string) {
	return func(w http.ResponseWriter, _ string) { w.WriteHeader(code) }
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// notPossible expects an error with a reason.
func notPossible(t *testing.T, err error, reason string) {
	t.Helper()
	if f, ok := err.(*errs.Error); !ok || f.Kind != errs.NotPossible || f.Reason != reason {
		t.Errorf("error %v, want %s", err, reason)
	}
}
