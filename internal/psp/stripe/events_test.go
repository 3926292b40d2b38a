package stripe_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"holdfast/internal/psp"

	library "github.com/stripe/stripe-go/v85"
)

const eventsCall = "GET /v1/events"

// event is an event about an object of the processor.
func event(t *testing.T, id, kind string, about map[string]any) map[string]any {
	t.Helper()
	return recorded(t, "event", change{"id": id, "type": kind, "data.object": about})
}

// signed is an event as the processor sends it.
func (w *world) signed(body map[string]any, secret string, at time.Time) psp.Event {
	w.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	w.spec.validate(w.t, text)
	it := library.GenerateTestSignedPayload(&library.UnsignedPayload{Payload: text, Secret: secret, Timestamp: at})
	return psp.Event{Signature: it.Header, Body: text}
}

func TestReadEvent(t *testing.T) {
	w := newWorld(t)
	refund := recorded(t, "refund", nil)
	for name, tt := range map[string]struct {
		event map[string]any
		want  psp.Notice
	}{
		"a dispute":        {event(t, "evt_1", "charge.dispute.created", recorded(t, "dispute", nil)), psp.Notice{EventID: "evt_1", ProcessorID: "pi_1"}},
		"a dispute's end":  {event(t, "evt_2", "charge.dispute.closed", recorded(t, "dispute", change{"status": "lost"})), psp.Notice{EventID: "evt_2", ProcessorID: "pi_1"}},
		"a payment":        {event(t, "evt_3", "payment_intent.succeeded", recorded(t, "payment_intent", nil)), psp.Notice{EventID: "evt_3", ProcessorID: "pi_1", Reference: "ref-1"}},
		"a refund":         {event(t, "evt_4", "refund.failed", refund), psp.Notice{EventID: "evt_4", ProcessorID: "pi_1", Reference: "ref-2"}},
		"a charge":         {event(t, "evt_5", "charge.refunded", recorded(t, "charge", nil)), psp.Notice{EventID: "evt_5", ProcessorID: "pi_1", Reference: "ref-1"}},
		"something else":   {event(t, "evt_6", "customer.created", map[string]any{"id": "cus_1", "payment_intent": "pi_9"}), psp.Notice{EventID: "evt_6"}},
		"of no payment":    {event(t, "evt_7", "charge.refunded", recorded(t, "charge", change{"payment_intent": nil, "metadata": map[string]any{}})), psp.Notice{EventID: "evt_7"}},
		"of an older API":  {recorded(t, "event", change{"api_version": "2019-02-19", "data.object": recorded(t, "dispute", nil)}), psp.Notice{EventID: "evt_1", ProcessorID: "pi_1"}},
		"of strange shape": {event(t, "evt_8", "charge.refunded", map[string]any{"id": 7}), psp.Notice{EventID: "evt_8"}},
	} {
		notice, err := w.gateway.ReadEvent(w.account, w.signed(tt.event, "whsec_test", time.Now()))
		if err != nil || notice != tt.want {
			t.Errorf("%s: %+v, %v", name, notice, err)
		}
	}
}

func TestForgedEvents(t *testing.T) {
	w := newWorld(t)
	body := event(t, "evt_1", "charge.dispute.created", recorded(t, "dispute", nil))
	good := w.signed(body, "whsec_test", time.Now())
	live := w.signed(recorded(t, "event", change{"livemode": true}), "whsec_test", time.Now())
	for name, e := range map[string]psp.Event{
		"of another secret":         w.signed(body, "whsec_other", time.Now()),
		"of long ago":               w.signed(body, "whsec_test", time.Now().Add(-time.Hour)),
		"without a signature":       {Body: good.Body},
		"with a signature of words": {Body: good.Body, Signature: "t=now,v1=trust me"},
		"with another body":         {Body: append([]byte(" "), good.Body...), Signature: good.Signature},
		"empty":                     {},
		"of the other environment":  live,
	} {
		if notice, err := w.gateway.ReadEvent(w.account, e); psp.KindOf(err) != psp.Forged || notice != (psp.Notice{}) {
			t.Errorf("%s: %+v, %v", name, notice, err)
		}
	}
	w.account.WebhookSecret = ""
	if _, err := w.gateway.ReadEvent(w.account, w.signed(body, "", time.Now())); psp.KindOf(err) != psp.Forged {
		t.Errorf("a channel without a secret: %v", err)
	}
}

func TestEvents(t *testing.T) {
	w := newWorld(t)
	notices, cursor, err := w.gateway.Events(deadline(t), w.account, "")
	began := w.now.Add(-10 * time.Second).Unix()
	if err != nil || notices != nil || cursor != "@"+strconv.FormatInt(began, 10) || len(w.asked) != 0 {
		t.Fatalf("%v, %s, %v", notices, cursor, err)
	}
	w.on(eventsCall, list())
	if notices, next, err := w.gateway.Events(deadline(t), w.account, cursor); err != nil || notices != nil || next != cursor {
		t.Errorf("%v, %s, %v", notices, next, err)
	}
	// The processor returns the newest first.
	about := func(id, intent string) map[string]any {
		return event(t, id, "charge.dispute.created", recorded(t, "dispute", change{"payment_intent": intent}))
	}
	orphan := event(t, "evt_3", "charge.refunded", recorded(t, "charge", change{"payment_intent": nil}))
	w.on(eventsCall, list(orphan, about("evt_2", "pi_2"), about("evt_1", "pi_1")))
	notices, cursor, err = w.gateway.Events(deadline(t), w.account, cursor)
	if err != nil || cursor != "evt_3" || len(notices) != 2 || notices[0].EventID != "evt_1" || notices[1].ProcessorID != "pi_2" {
		t.Errorf("%+v, %s, %v", notices, cursor, err)
	}
	if f := w.last(eventsCall).form; f.Get("created[gte]") != strconv.FormatInt(began, 10) || f.Get("types[0]") == "" {
		t.Errorf("%v", f)
	}
	w.on(eventsCall, list(about("evt_5", "pi_5"), about("evt_4", "pi_4")))
	notices, cursor, err = w.gateway.Events(deadline(t), w.account, cursor)
	if err != nil || cursor != "evt_5" || len(notices) != 2 || notices[0].EventID != "evt_4" || notices[1].EventID != "evt_5" {
		t.Errorf("%+v, %s, %v", notices, cursor, err)
	}
	if f := w.last(eventsCall).form; f.Get("ending_before") != "evt_3" || f.Get("limit") != "100" {
		t.Errorf("%v", f)
	}
	w.on(eventsCall, list())
	if notices, next, err := w.gateway.Events(deadline(t), w.account, cursor); err != nil || notices != nil || next != "evt_5" {
		t.Errorf("%v, %s, %v", notices, next, err)
	}
}

func TestEventsOfACursorThatTheProcessorHasForgotten(t *testing.T) {
	w := newWorld(t)
	gone := fails(404, map[string]any{"type": "invalid_request_error", "code": "resource_missing", "param": "ending_before", "message": "No such event: 'evt_0'"})
	found := event(t, "evt_1", "charge.dispute.created", recorded(t, "dispute", nil))
	w.on(eventsCall, gone, list(found))
	notices, cursor, err := w.gateway.Events(deadline(t), w.account, "evt_0")
	if err != nil || len(notices) != 1 || cursor != "evt_1" {
		t.Errorf("%+v, %s, %v", notices, cursor, err)
	}
	if f := w.last(eventsCall).form; f.Get("created[gte]") != strconv.FormatInt(w.now.Add(-30*24*time.Hour).Unix(), 10) {
		t.Errorf("%v", f)
	}
}

func TestEventsThatCannotBeHad(t *testing.T) {
	w := newWorld(t)
	for _, cursor := range []string{"evt_1", "@1772446830"} {
		w.on(eventsCall, answer{hangUp: true})
		if notices, next, err := w.gateway.Events(deadline(t), w.account, cursor); psp.KindOf(err) != psp.Unreachable || notices != nil || next != "" {
			t.Errorf("%v, %s, %v", notices, next, err)
		}
		w.on(eventsCall, fails(403, map[string]any{"type": "invalid_request_error", "message": "…"}))
		if _, _, err := w.gateway.Events(deadline(t), w.account, cursor); psp.KindOf(err) != psp.Refused {
			t.Errorf("%v", err)
		}
	}
	if _, _, err := w.gateway.Events(deadline(t), w.account, "@yesterday"); psp.KindOf(err) != psp.Invalid {
		t.Errorf("%v", err)
	}
}
