package stripe_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"holdfast/internal/psp"
)

func (w *world) adjustment(reference string, amount int64) psp.Adjustment {
	return psp.Adjustment{Account: w.account, Reference: reference, Original: "pi_1", Amount: amount, Currency: "EUR"}
}

// unexpected is the processor's answer where an intent is in another state than the request needs.
func unexpected() answer {
	return fails(400, map[string]any{"type": "invalid_request_error", "code": "payment_intent_unexpected_state", "message": "This PaymentIntent could not be changed."})
}

func TestCaptureTakesAPart(t *testing.T) {
	w := newWorld(t)
	w.on(captureCall, ok(succeeded(t, nil)))
	captured := succeeded(t, change{"amount_captured": 10000, "amount_refunded": 2345})
	captured["amount_received"] = 10000
	captured["metadata"] = map[string]any{"holdfast_reference": "ref-1", "holdfast_capture": "ref-2"}
	w.on(captureCall, ok(captured))
	r, err := w.gateway.Capture(deadline(t), w.adjustment("ref-2", 10000))
	if err != nil || r.Outcome != psp.Approved || r.Amount != 10000 || r.ProcessorID != "pi_1" || r.LastFour != "4242" {
		t.Errorf("%+v, %v", r, err)
	}
	last := w.last(captureCall)
	if f := last.form; f.Get("amount_to_capture") != "10000" || f.Get("metadata[holdfast_capture]") != "ref-2" ||
		last.header.Get("Idempotency-Key") != "ref-2" {
		t.Errorf("%v", f)
	}
	// The same again, after the processor's key has expired: it returns the earlier result.
	w.on(captureCall, unexpected())
	w.on(lookCall, ok(captured))
	if r, err := w.gateway.Capture(deadline(t), w.adjustment("ref-2", 10000)); err != nil || r.Outcome != psp.Approved || r.Amount != 10000 {
		t.Errorf("%+v, %v", r, err)
	}
	// Another capture of the same authorisation is not possible.
	if _, err := w.gateway.Capture(deadline(t), w.adjustment("ref-3", 2345)); psp.KindOf(err) != psp.Invalid {
		t.Errorf("%v", err)
	}
	w.on(lookCall, answer{hangUp: true})
	if r, err := w.gateway.Capture(deadline(t), w.adjustment("ref-3", 2345)); err != nil || r.Outcome != psp.Unknown {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestVoidReleases(t *testing.T) {
	w := newWorld(t)
	cancelled := recorded(t, "payment_intent", change{"status": "canceled", "cancellation_reason": "requested_by_customer", "canceled_at": 1772446900})
	w.on(cancelCall, ok(cancelled))
	r, err := w.gateway.Void(deadline(t), w.adjustment("ref-2", 12345))
	if err != nil || r.Outcome != psp.Approved || r.Amount != 12345 || r.ProcessorID != "pi_1" {
		t.Errorf("%+v, %v", r, err)
	}
	last := w.last(cancelCall)
	if last.form.Get("cancellation_reason") != "requested_by_customer" || last.header.Get("Idempotency-Key") != "ref-2" {
		t.Errorf("%v", last)
	}
	part := succeeded(t, nil)
	part["amount_received"] = 10000
	for name, tt := range map[string]struct {
		now    map[string]any
		amount int64
	}{
		"cancelled already":                     {cancelled, 12345},
		"a capture of less has released it":     {part, 2345},
		"all of it was captured":                {succeeded(t, nil), 0},
		"it was declined: nothing is held":      {recorded(t, "payment_intent", change{"last_payment_error": recorded(t, "card_error", nil)}), 0},
		"the processor is still working at it ": {recorded(t, "payment_intent", change{"status": "processing"}), -1},
	} {
		w.on(cancelCall, unexpected())
		w.on(lookCall, ok(tt.now))
		r, err := w.gateway.Void(deadline(t), w.adjustment("ref-3", 2345))
		switch {
		case tt.amount > 0 && (err != nil || r.Outcome != psp.Approved || r.Amount != tt.amount),
			tt.amount == 0 && (err != nil || r.Outcome != psp.Declined || r.Message == ""),
			tt.amount < 0 && (err != nil || r.Outcome != psp.Unknown):
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestAPartOfAnAuthorisationIsNotReleased(t *testing.T) {
	w := newWorld(t)
	held := succeeded(t, change{"captured": false, "amount_captured": 0})
	held["status"], held["amount_received"], held["amount_capturable"] = "requires_capture", 0, 12345
	w.on(lookCall, ok(held))
	if _, err := w.gateway.Void(deadline(t), w.adjustment("ref-2", 2345)); psp.KindOf(err) != psp.Invalid {
		t.Errorf("%v", err)
	}
	w.on(lookCall, answer{hangUp: true})
	if _, err := w.gateway.Void(deadline(t), w.adjustment("ref-2", 12345)); psp.KindOf(err) != psp.Unreachable {
		t.Errorf("%v", err)
	}
	if strings.Contains(w.sequence(), cancelCall) {
		t.Errorf("all of it was released: %s", w.sequence())
	}
}

func TestRefund(t *testing.T) {
	w := newWorld(t)
	for status, want := range map[string]psp.Result{
		"succeeded":       {Outcome: psp.Approved, Amount: 2345},
		"pending":         {Outcome: psp.Unknown},
		"requires_action": {Outcome: psp.Unknown},
		"canceled":        {Outcome: psp.Declined, Decline: psp.DeclineOther, Code: "canceled"},
		"of_next_year":    {Outcome: psp.Unknown},
	} {
		w.on(refundCall, ok(recorded(t, "refund", change{"status": status})))
		r, err := w.gateway.Refund(deadline(t), w.adjustment("ref-2", 2345))
		if err != nil || r.Outcome != want.Outcome || r.Amount != want.Amount || r.Decline != want.Decline || r.Code != want.Code || r.ProcessorID != "re_1" {
			t.Errorf("%s: %+v, %v", status, r, err)
		}
	}
	last := w.last(refundCall)
	if f := last.form; f.Get("payment_intent") != "pi_1" || f.Get("amount") != "2345" || f.Get("metadata[holdfast_reference]") != "ref-2" ||
		last.header.Get("Idempotency-Key") != "ref-2" {
		t.Errorf("%v", f)
	}
	for reason, want := range map[string]psp.Decline{
		"lost_or_stolen_card": psp.DeclineLost, "expired_or_canceled_card": psp.DeclineExpired, "declined": psp.DeclineGeneric,
		"insufficient_funds": psp.DeclineProcessor, "unknown": psp.DeclineProcessor, "merchant_request": psp.DeclineOther,
		"charge_for_pending_refund_disputed": psp.DeclineOther,
	} {
		w.on(refundCall, ok(recorded(t, "refund", change{"status": "failed", "failure_reason": reason})))
		if r, err := w.gateway.Refund(deadline(t), w.adjustment("ref-2", 2345)); err != nil || r.Outcome != psp.Declined || r.Decline != want || r.Code != reason {
			t.Errorf("%s: %+v, %v", reason, r, err)
		}
	}
	// The same reference with other content: it returns the result of the first one.
	w.on(refundCall, fails(400, map[string]any{"type": "idempotency_error", "message": "…"}))
	w.on("GET /v1/refunds", list(recorded(t, "refund", change{"id": "re_0", "metadata": map[string]any{}}), recorded(t, "refund", nil)))
	if r, err := w.gateway.Refund(deadline(t), w.adjustment("ref-2", 2345)); err != nil || r.Outcome != psp.Approved || r.ProcessorID != "re_1" {
		t.Errorf("%+v, %v", r, err)
	}
	w.on("GET /v1/refunds", list())
	if r, err := w.gateway.Refund(deadline(t), w.adjustment("ref-2", 2345)); err != nil || r.Outcome != psp.Unknown {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAdjustmentsThatFail(t *testing.T) {
	w := newWorld(t)
	calls := map[string]func(context.Context, psp.Adjustment) (psp.Result, error){
		captureCall: w.gateway.Capture, cancelCall: w.gateway.Void, refundCall: w.gateway.Refund,
	}
	for call, adjust := range maps.All(calls) {
		w.on(call, answer{hangUp: true})
		if r, err := adjust(deadline(t), w.adjustment("ref-2", 100)); err != nil || r.Outcome != psp.Unknown {
			t.Errorf("%s: %+v, %v", call, r, err)
		}
		w.on(call, fails(500, map[string]any{"type": "api_error", "message": "…"}))
		if r, err := adjust(deadline(t), w.adjustment("ref-2", 100)); err != nil || r.Outcome != psp.Unknown {
			t.Errorf("%s: %+v, %v", call, r, err)
		}
		w.on(call, fails(400, map[string]any{"type": "invalid_request_error", "code": "charge_disputed", "message": "Charge ch_1 has been charged back."}))
		_, err := adjust(deadline(t), w.adjustment("ref-2", 100))
		if e, ok := errors.AsType[*psp.Error](err); !ok || e.Kind != psp.Invalid || e.Code != "charge_disputed" || e.Source != psp.AtProcessor {
			t.Errorf("%s: %#v", call, err)
		}
		w.on(call, fails(402, recorded(t, "card_error", change{"decline_code": "insufficient_funds"})))
		if r, err := adjust(deadline(t), w.adjustment("ref-2", 100)); err != nil || r.Outcome != psp.Declined || r.Decline != psp.DeclineFunds {
			t.Errorf("%s: %+v, %v", call, r, err)
		}
		asked := len(w.asked)
		for _, change := range []func(*psp.Adjustment){
			func(a *psp.Adjustment) { a.Original = "sandbox-1" }, func(a *psp.Adjustment) { a.Amount = 0 },
			func(a *psp.Adjustment) { a.Currency = "UGX" },
		} {
			a := w.adjustment("ref-2", 100)
			change(&a)
			if _, err := adjust(deadline(t), a); psp.KindOf(err) != psp.Invalid || len(w.asked) != asked {
				t.Errorf("%s: %v", call, err)
			}
		}
	}
}
