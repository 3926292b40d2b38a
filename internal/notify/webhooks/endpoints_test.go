package webhooks_test

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/event"
	"holdfast/internal/errs"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/platform/events"
	"holdfast/internal/store"
)

func TestAddressesThatEndpointsCannotHave(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.Private = false
		w.Lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
			if host == "inside.example" {
				return []netip.Addr{netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("10.0.0.7")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
		}
		for _, url := range []string{
			"", "shop.example", "https://", "https:///path", "ftp://shop.example/", "https:shop.example", "https://u:p@shop.example/",
			"https://shop.example/#a", "https://shop.example:22/", "https://shop.example:70000/", "https://shop.example:0/",
			"https://127.0.0.1/", "https://[::1]/", "https://10.1.2.3/", "https://169.254.169.254/", "https://[::ffff:10.0.0.1]/",
			"https://localhost/", "https://a.localhost./", "https://metadata.google.internal/", "https://printer/", "https://inside.example/",
			"https://inside.example./", "https://[fe80::1%25eth0]/", "https://shop.example/" + strings.Repeat("a", 500),
		} {
			_, err := w.Create(t.Context(), w.Actor, webhooks.EndpointFields{URL: &url})
			if f, ok := err.(*errs.Error); !ok || f.Params["url"] == "" {
				t.Errorf("%q: %v", url, err)
			}
		}
		w.endpoint("https://shop.example/webhooks?a=b")
		w.endpoint("http://shop.example:8080/") // a sandbox takes it
		w.setSandbox(false)
		for _, url := range []string{"http://shop.example/", "https://127.0.0.1:8443/"} {
			w.Private = true // is for sandboxes only
			if _, err := w.Create(t.Context(), w.Actor, webhooks.EndpointFields{URL: &url}); !errs.Is(err, errs.Invalid) {
				t.Errorf("%q: %v", url, err)
			}
		}
	})
}

func (w *world) setSandbox(sandbox bool) {
	w.t.Helper()
	if err := w.World.App.DB.Store.Write(w.t.Context(), store.Deployment, func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE sites SET sandbox = $1`, sandbox)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
}

func TestTheDiallerRefusesWhatWasSavedBefore(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, nil)
		e := w.endpoint(r.URL)
		named := w.endpoint(strings.Replace(r.URL, "127.0.0.1", "localhost", 1)) // a name that leads inside
		w.Private = false
		w.happens(1, "a")
		w.send()
		w.Private = true
		w.setSandbox(false)
		w.Advance(time.Minute)
		w.send()
		if n := len(r.lines()); n != 0 {
			t.Fatalf("%d calls to a private address", n)
		}
		for _, id := range []int64{e.ID, named.ID} {
			tries := w.attempts(id)
			if len(tries) != 2 || tries[0].Error != "The host does not resolve to a public address." {
				t.Errorf("attempts: %+v", tries)
			}
		}
	})
}

func TestWhoMayManageEndpoints(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		url := "https://8.8.8.8/"
		e := w.endpoint(url)
		reader := access.Actor{SiteID: w.Site.ID, Role: access.Finance}
		_, create := w.Create(t.Context(), reader, webhooks.EndpointFields{URL: &url})
		_, change := w.Change(t.Context(), reader, e.ID, webhooks.EndpointFields{URL: &url})
		_, rotate := w.Rotate(t.Context(), reader, e.ID, 0, true)
		_, test := w.Test(t.Context(), reader, e.ID)
		_, replay := w.Replay(t.Context(), reader, e.ID, webhooks.ReplayFields{})
		for i, err := range []error{create, change, rotate, test, replay, w.Delete(t.Context(), reader, e.ID, 0)} {
			if !errs.Is(err, errs.Forbidden) {
				t.Errorf("%d: %v", i, err)
			}
		}
		if list, err := w.List(t.Context(), reader); err != nil || len(list) != 1 || list[0].Secret != "" {
			t.Errorf("a reader sees %+v, %v", list, err)
		}
		other := access.System(w.Site.ID + 1)
		if _, err := w.Get(t.Context(), other, e.ID); !errs.Is(err, errs.SettingNotFound) {
			t.Errorf("another site: %v", err)
		}
		types := []string{"booking.*", "booking.lost"}
		if _, err := w.Create(t.Context(), w.Actor, webhooks.EndpointFields{URL: &url, Types: &types}); !errs.Is(err, errs.Invalid) {
			t.Errorf("an unknown type: %v", err)
		}
		for range webhooks.MaxEndpoints - 1 {
			w.endpoint(url)
		}
		_, err := w.Create(t.Context(), w.Actor, webhooks.EndpointFields{URL: &url})
		notPossible(t, err, "webhook_limit")
	})
}

// The log is about events, so it shows each reader no more than the feed.
func TestTheLogShowsWhatItsReaderMayRead(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		e := w.endpoint("https://8.8.8.8/")
		if err := w.World.App.DB.WriteAs(t.Context(), w.Actor, func(tx *store.Tx) error {
			events.Record(tx, w.Site.ID, event.StatementIssued, 1, event.Details{})
			events.Record(tx, w.Site.ID, event.BookingUpdated, 1, event.Details{})
			_, err := tx.Exec(`UPDATE webhook_endpoints SET retry_at = $1`, store.Micros(w.Now().Add(time.Hour))) // nothing is sent
			return err
		}); err != nil {
			t.Fatal(err)
		}
		w.send()
		all := w.deliveries(e.ID)
		reader := access.Actor{SiteID: w.Site.ID, Role: access.ReadOnly}
		page := store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true}
		list, err := w.Deliveries(t.Context(), reader, e.ID, webhooks.DeliveryFilter{}, page)
		if err != nil || len(all) != 2 || len(list.Items) != 1 || list.Total != 1 || list.Items[0].Type != event.BookingUpdated {
			t.Errorf("%+v of %+v, %v", list, all, err)
		}
		for _, d := range all {
			_, _, err := w.Delivery(t.Context(), reader, e.ID, d.ID)
			if hidden := d.Type == event.StatementIssued; errs.Is(err, errs.SettingNotFound) != hidden || err != nil != hidden {
				t.Errorf("%s: %v", d.Type, err)
			}
		}
	})
}

// A failing endpoint changes: the version that its owner has read must still be valid.
func TestAFailureIsNoOtherVersion(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusInternalServerError) })
		e := w.endpoint(r.URL)
		w.happens(1, "a")
		w.send()
		failing := w.get(e.ID)
		if failing.FailingSince.IsZero() || failing.Version != e.Version || !failing.ModifiedAt.Equal(e.ModifiedAt) {
			t.Errorf("%+v, and before %+v", failing, e)
		}
		off := false
		changed, err := w.Change(t.Context(), w.Actor, e.ID, webhooks.EndpointFields{IfVersion: e.Version, Enabled: &off})
		if err != nil || changed.Version != e.Version+1 {
			t.Errorf("%+v, %v", changed, err)
		}
		if _, err := w.Rotate(t.Context(), w.Actor, e.ID, e.Version, false); !errs.Is(err, errs.Precondition) {
			t.Errorf("a rotation of what has changed: %v", err)
		}
	})
}

func TestARepeatedRequestShowsTheSecretAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		url := "https://8.8.8.8/"
		actor := w.Actor
		actor.Key = access.IdempotencyKey{Key: "k1", Hash: "h"}
		first, err := w.Create(t.Context(), actor, webhooks.EndpointFields{URL: &url})
		if err != nil {
			t.Fatal(err)
		}
		again, err := w.Create(t.Context(), actor, webhooks.EndpointFields{URL: &url})
		if err != nil || again.ID != first.ID || again.Secret != first.Secret || first.Secret == "" {
			t.Errorf("%+v, then %+v, %v", first, again, err)
		}
	})
}

func TestEventsAreSentAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := newReceiver(t, nil)
		e := w.endpoint(r.URL, "booking.*")
		for i := range int64(5) {
			w.happens(i+1, "a")
			w.Advance(time.Hour)
		}
		w.send()
		begun := w.Now().Add(-5 * time.Hour)
		from, to := begun.Add(time.Hour), begun.Add(3*time.Hour) // the second and the third
		n, err := w.Replay(t.Context(), w.Actor, e.ID, webhooks.ReplayFields{From: &from, To: &to})
		if err != nil || n != 2 {
			t.Fatalf("%d events, %v", n, err)
		}
		w.send()
		got := r.lines()[5:]
		if len(got) != 2 || !strings.HasPrefix(got[0], "2") && !strings.HasPrefix(got[1], "2") {
			t.Errorf("sent again: %q", got)
		}
		event := w.deliveries(e.ID)[4].EventID
		if n, err := w.Replay(t.Context(), w.Actor, e.ID, webhooks.ReplayFields{Event: &event}); err != nil || n != 1 {
			t.Fatalf("%d events, %v", n, err)
		}
		w.send()
		same(t, r.lines()[7:], "5 a")
		before := r.headers[slices.Index(r.lines(), "5 a")].Get("webhook-id")
		if before == "" || r.headers[7].Get("webhook-id") != before {
			t.Error("the same event has another webhook-id")
		}
		later := to.Add(100 * time.Hour)
		none := webhooks.ReplayFields{From: &later, To: ptr(later.Add(time.Hour))}
		_, err = w.Replay(t.Context(), w.Actor, e.ID, none)
		notPossible(t, err, "nothing_to_replay")
		for _, wrong := range []webhooks.ReplayFields{{}, {From: &from}, {To: &to}, {From: &to, To: &from}, {Event: &event, To: &to}} {
			if _, err := w.Replay(t.Context(), w.Actor, e.ID, wrong); !errs.Is(err, errs.Invalid) && !errs.Is(err, errs.Missing) {
				t.Errorf("%+v: %v", wrong, err)
			}
		}
		if _, err := w.Replay(t.Context(), w.Actor, e.ID, webhooks.ReplayFields{Event: ptr(int64(999))}); !errs.Is(err, errs.RecordNotFound) {
			t.Errorf("an event that is not there: %v", err)
		}
	})
}

func TestATestGoesToItsEndpointAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r, other := newReceiver(t, nil), newReceiver(t, nil)
		e := w.endpoint(r.URL, "transaction.completed")
		w.endpoint(other.URL)
		if _, err := w.Test(t.Context(), w.Actor, e.ID); err != nil {
			t.Fatal(err)
		}
		w.send()
		same(t, r.lines(), "webhook.test")
		same(t, other.lines())
	})
}

func ptr[T any](v T) *T { return &v }
