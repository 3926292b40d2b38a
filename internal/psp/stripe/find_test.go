package stripe_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/psp"
)

const (
	listCall     = "GET /v1/payment_intents"
	refundsCall  = "GET /v1/refunds"
	disputesCall = "GET /v1/disputes"
)

// other is an intent of another payment.
func other(t *testing.T, id string) map[string]any {
	t.Helper()
	return recorded(t, "payment_intent", change{"id": id, "metadata": map[string]any{"holdfast_reference": "ref-of-" + id}})
}

// endless is a full page of other things, after which more follow.
func endless(kind string) answer {
	var items []string
	for i := range 100 {
		items = append(items, fmt.Sprintf(`{"id": "x_%d", "object": "%s", "metadata": {}}`, i, kind))
	}
	return answer{status: 200, body: `{"object": "list", "has_more": true, "data": [` + strings.Join(items, ",") + `]}`}
}

func TestFindByReference(t *testing.T) {
	w := newWorld(t)
	w.on(listCall, list(other(t, "pi_7"), recorded(t, "payment_intent", nil), other(t, "pi_8")))
	w.on(lookCall, ok(succeeded(t, nil)))
	r, err := w.gateway.Find(deadline(t), w.query(psp.Purchase))
	if err != nil || r.Outcome != psp.Approved || r.Amount != 12345 || r.ProcessorID != "pi_1" || r.Disputes != nil {
		t.Errorf("%+v, %v", r, err)
	}
	since := w.now.Add(-time.Minute)
	f := w.last(listCall).form
	if f.Get("created[gte]") != strconv.FormatInt(since.Add(-10*time.Minute).Unix(), 10) ||
		f.Get("created[lte]") != strconv.FormatInt(since.Add(10*time.Minute).Unix(), 10) || f.Get("limit") != "100" {
		t.Errorf("%v", f)
	}
	// By the processor's name nothing is searched.
	w.asked = nil
	q := w.query(psp.Authorize)
	q.ProcessorID = "pi_1"
	if r, err := w.gateway.Find(deadline(t), q); err != nil || r.Outcome != psp.Approved || w.sequence() != lookCall {
		t.Errorf("%+v, %v after %s", r, err, w.sequence())
	}
}

func TestFindGoesThroughThePages(t *testing.T) {
	w := newWorld(t)
	page := func(id string) answer {
		a := list(other(t, id))
		a.body.(map[string]any)["has_more"] = true
		return a
	}
	w.on(listCall, page("pi_7"), page("pi_8"), list(recorded(t, "payment_intent", nil)))
	w.on(lookCall, ok(succeeded(t, nil)))
	if r, err := w.gateway.Find(deadline(t), w.query(psp.Purchase)); err != nil || r.Outcome != psp.Approved {
		t.Errorf("%+v, %v", r, err)
	}
	if after := w.last(listCall).form.Get("starting_after"); after != "pi_8" {
		t.Errorf("the last page was asked for after %s", after)
	}
	// Objects on a page that cannot be read are not absent.
	w.on(listCall, page("pi_7"), answer{hangUp: true})
	if r, err := w.gateway.Find(deadline(t), w.query(psp.Purchase)); err != nil || r.Outcome != psp.Unknown {
		t.Errorf("%+v, %v", r, err)
	}
	// Neither are objects beyond the pages that are read.
	w.asked = nil
	w.on(listCall, endless("payment_intent"))
	if r, err := w.gateway.Find(deadline(t), w.query(psp.Purchase)); err != nil || r.Outcome != psp.Unknown || len(w.asked) != 50 {
		t.Errorf("%+v, %v after %d pages", r, err, len(w.asked))
	}
}

func TestAbsentIsCertain(t *testing.T) {
	w := newWorld(t)
	w.on(listCall, list(other(t, "pi_7")))
	w.on(refundsCall, list(recorded(t, "refund", change{"metadata": map[string]any{}})))
	w.on(lookCall, ok(recorded(t, "payment_intent", change{"status": "requires_capture", "amount_capturable": 12345})))
	for _, o := range []psp.Operation{psp.Authorize, psp.Purchase, psp.Capture, psp.Void, psp.Refund} {
		q := w.query(o)
		q.Original = "pi_1"
		if r, err := w.gateway.Find(deadline(t), q); err != nil || r.Outcome != psp.Absent {
			t.Errorf("%s: %+v, %v", o, r, err)
		}
		// A recent request may still be in transit.
		q.Since = w.now.Add(-29 * time.Second)
		if r, err := w.gateway.Find(deadline(t), q); err != nil || r.Outcome != psp.Unknown {
			t.Errorf("%s, a moment ago: %+v, %v", o, r, err)
		}
	}
	for _, call := range []string{listCall, refundsCall, lookCall} {
		w.on(call, fails(403, map[string]any{"type": "invalid_request_error", "message": "…"}))
	}
	for _, o := range []psp.Operation{psp.Authorize, psp.Purchase, psp.Capture, psp.Void, psp.Refund} {
		q := w.query(o)
		q.Original = "pi_1"
		if r, err := w.gateway.Find(deadline(t), q); err != nil || r.Outcome != psp.Unknown || r.Message == "" {
			t.Errorf("%s without the right to look: %+v, %v", o, r, err)
		}
	}
	if _, err := w.gateway.Find(deadline(t), w.query("dance")); psp.KindOf(err) != psp.Invalid {
		t.Errorf("%v", err)
	}
}

// An intent that was opened but never confirmed is cancelled: a confirmation in transit can then no longer take money.
func TestWhatWasNeverConfirmedIsClosed(t *testing.T) {
	w := newWorld(t)
	closed := recorded(t, "payment_intent", change{"status": "canceled", "cancellation_reason": "abandoned", "canceled_at": 1772446890})
	w.on(listCall, list(recorded(t, "payment_intent", nil)))
	w.on(lookCall, ok(recorded(t, "payment_intent", nil)))
	w.on(cancelCall, ok(closed))
	q := w.query(psp.Purchase)
	q.Since = w.now.Add(-29 * time.Second)
	if r, err := w.gateway.Find(deadline(t), q); err != nil || r.Outcome != psp.Unknown || strings.Contains(w.sequence(), cancelCall) {
		t.Errorf("a moment ago: %+v, %v after %s", r, err, w.sequence())
	}
	if r, err := w.gateway.Find(deadline(t), w.query(psp.Purchase)); err != nil || r.Outcome != psp.Absent {
		t.Errorf("%+v, %v", r, err)
	}
	if f := w.last(cancelCall).form; f.Get("cancellation_reason") != "abandoned" {
		t.Errorf("%v", f)
	}
	// Asked again, it is as absent.
	w.on(lookCall, ok(closed))
	if r, err := w.gateway.Find(deadline(t), w.query(psp.Purchase)); err != nil || r.Outcome != psp.Absent {
		t.Errorf("%+v, %v", r, err)
	}
	// It was confirmed in the last moment.
	w.on(lookCall, ok(recorded(t, "payment_intent", nil)))
	w.on(cancelCall, unexpected())
	if r, err := w.gateway.Find(deadline(t), w.query(psp.Purchase)); err != nil || r.Outcome != psp.Unknown {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestFindAfterAChallenge(t *testing.T) {
	w := newWorld(t)
	q := w.query(psp.Authorize)
	q.ProcessorID = "pi_1"
	refusal := recorded(t, "card_error", change{"code": "payment_intent_authentication_failure", "message": "We are unable to authenticate your payment method."})
	delete(refusal, "decline_code")
	delete(refusal, "charge")
	for name, tt := range map[string]struct {
		now     map[string]any
		outcome psp.Outcome
		decline psp.Decline
		status  string
	}{
		"still open":              {recorded(t, "payment_intent", change{"status": "requires_action", "next_action": recorded(t, "redirect", nil)}), psp.Pending, "", ""},
		"passed":                  {succeeded(t, change{"payment_method_details.card.three_d_secure": recorded(t, "three_d_secure", nil)}), psp.Approved, "", "authenticated"},
		"refused":                 {recorded(t, "payment_intent", change{"last_payment_error": refusal}), psp.Declined, psp.DeclineNotAuthenticated, "failed"},
		"walked away":             {recorded(t, "payment_intent", change{"status": "canceled", "cancellation_reason": "requested_by_customer", "canceled_at": 1772446890}), psp.Declined, psp.DeclineAbandoned, "abandoned"},
		"refused, then cancelled": {recorded(t, "payment_intent", change{"status": "canceled", "canceled_at": 1772446890, "last_payment_error": refusal}), psp.Declined, psp.DeclineNotAuthenticated, "failed"},
	} {
		w.on(lookCall, ok(tt.now))
		r, err := w.gateway.Find(deadline(t), q)
		if err != nil || r.Outcome != tt.outcome || r.Decline != tt.decline || r.ThreeDS.Status != tt.status {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	// A released authorisation was approved: the release is a separate operation.
	w.on(lookCall, ok(recorded(t, "payment_intent", change{
		"status": "canceled", "canceled_at": 1772446890, "cancellation_reason": "automatic",
		"latest_charge": recorded(t, "charge", change{"captured": false, "amount_captured": 0, "refunded": true, "amount_refunded": 12345}),
	})))
	if r, err := w.gateway.Find(deadline(t), q); err != nil || r.Outcome != psp.Approved || r.Amount != 12345 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestFindAdjustments(t *testing.T) {
	w := newWorld(t)
	captured := succeeded(t, nil)
	captured["amount_received"], captured["metadata"] = 10000, map[string]any{"holdfast_reference": "ref-0", "holdfast_capture": "ref-1"}
	another := succeeded(t, nil)
	another["metadata"] = map[string]any{"holdfast_capture": "ref-9"}
	cancelled := recorded(t, "payment_intent", change{"status": "canceled", "cancellation_reason": "requested_by_customer", "canceled_at": 1772446890})
	held := recorded(t, "payment_intent", change{"status": "requires_action", "next_action": recorded(t, "redirect", nil)})
	for name, tt := range map[string]struct {
		operation psp.Operation
		now       map[string]any
		outcome   psp.Outcome
		amount    int64
	}{
		"captured":                   {psp.Capture, captured, psp.Approved, 10000},
		"captured by another":        {psp.Capture, another, psp.Absent, 0},
		"voided, so never captured":  {psp.Capture, cancelled, psp.Absent, 0},
		"voided":                     {psp.Void, cancelled, psp.Approved, 12345},
		"the rest released":          {psp.Void, captured, psp.Approved, 2345},
		"all captured, so not void":  {psp.Void, another, psp.Absent, 0},
		"a challenge that is open":   {psp.Void, held, psp.Absent, 0},
		"processing, as to captures": {psp.Capture, recorded(t, "payment_intent", change{"status": "processing"}), psp.Unknown, 0},
	} {
		w.on(lookCall, ok(tt.now))
		q := w.query(tt.operation)
		q.Original = "pi_1"
		if r, err := w.gateway.Find(deadline(t), q); err != nil || r.Outcome != tt.outcome || r.Amount != tt.amount {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestFindRefunds(t *testing.T) {
	w := newWorld(t)
	q := w.query(psp.Refund)
	q.Original, q.Reference = "pi_1", "ref-2"
	w.on(refundsCall, list(recorded(t, "refund", change{"id": "re_9", "metadata": map[string]any{}}), recorded(t, "refund", nil)))
	if r, err := w.gateway.Find(deadline(t), q); err != nil || r.Outcome != psp.Approved || r.ProcessorID != "re_1" || r.Amount != 2345 {
		t.Errorf("%+v, %v", r, err)
	}
	if f := w.last(refundsCall).form; f.Get("payment_intent") != "pi_1" {
		t.Errorf("%v", f)
	}
	q.ProcessorID = "re_1"
	w.on("GET /v1/refunds/re_1", ok(recorded(t, "refund", change{"status": "failed", "failure_reason": "unknown"})))
	if r, err := w.gateway.Find(deadline(t), q); err != nil || r.Outcome != psp.Declined || r.Decline != psp.DeclineProcessor {
		t.Errorf("%+v, %v", r, err)
	}
	w.on("GET /v1/refunds/re_1", answer{hangUp: true})
	if r, err := w.gateway.Find(deadline(t), q); err != nil || r.Outcome != psp.Unknown {
		t.Errorf("%+v, %v", r, err)
	}
	q.ProcessorID = ""
	w.on(refundsCall, endless("refund"))
	if r, err := w.gateway.Find(deadline(t), q); err != nil || r.Outcome != psp.Unknown {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestDisputes(t *testing.T) {
	w := newWorld(t)
	q := w.query(psp.Purchase)
	q.ProcessorID = "pi_1"
	w.on(lookCall, ok(succeeded(t, change{"disputed": true})))
	bare := recorded(t, "dispute", change{"id": "du_2", "status": "won", "amount": 500, "currency": "jpy", "evidence_details.due_by": nil})
	delete(bare, "payment_method_details")
	w.on(disputesCall, list(
		recorded(t, "dispute", nil), bare, recorded(t, "dispute", change{"id": "du_3", "status": "lost"}),
		recorded(t, "dispute", change{"id": "du_4", "status": "under_review"}),
		recorded(t, "dispute", change{"id": "du_5", "status": "warning_needs_response"}),
		recorded(t, "dispute", change{"id": "du_6", "status": "warning_closed"}),
		recorded(t, "dispute", change{"id": "du_7", "status": "prevented"}),
	))
	r, err := w.gateway.Find(deadline(t), q)
	if err != nil || r.Outcome != psp.Approved || len(r.Disputes) != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	opened := time.Date(2026, 3, 3, 10, 20, 30, 0, time.UTC)
	euro := func(id string, state payment.DisputeOutcome) payment.Dispute {
		return payment.Dispute{
			ProcessorID: id, Outcome: state, Total: 12345, Currency: "EUR", ReasonCode: "13.1",
			OpenedAt: opened, ChallengeDay: civil.DayOf(opened.Add(10 * 24 * time.Hour)),
		}
	}
	for i, want := range []payment.Dispute{
		euro("du_1", payment.DisputePending),
		{ProcessorID: "du_2", Outcome: payment.DisputeWon, Total: 500, Currency: money.Currency("JPY"), ReasonCode: "product_not_received", OpenedAt: opened, ChallengeDay: civil.NoDay},
		euro("du_3", payment.DisputeLost), euro("du_4", payment.DisputePending),
	} {
		if r.Disputes[i] != want {
			t.Errorf("%+v, want %+v", r.Disputes[i], want)
		}
	}
	// A charge whose disputes cannot be read is not reported as undisputed.
	for _, lost := range []answer{
		{hangUp: true}, {status: 200, body: `{"object": "list", "data": [{"id": "du_1", "status": "lost", "currency": "xxx"}]}`},
	} {
		w.on(disputesCall, lost)
		if r, err := w.gateway.Find(deadline(t), q); err != nil || r.Outcome != psp.Unknown {
			t.Errorf("%+v, %v", r, err)
		}
	}
	// An unknown future state counts as money taken.
	w.on(disputesCall, answer{status: 200, body: `{"object": "list", "data": [{"id": "du_1", "status": "in_orbit", "amount": 1, "currency": "eur"}]}`})
	if r, err := w.gateway.Find(deadline(t), q); err != nil || len(r.Disputes) != 1 || r.Disputes[0].Outcome != payment.DisputePending {
		t.Errorf("%+v, %v", r, err)
	}
}
