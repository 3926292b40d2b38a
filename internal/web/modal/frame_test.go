package modal_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// visit opens the shop's page and waits for the card form.
func visit(t *testing.T, s *shop) *tab {
	t.Helper()
	b := newTab(t)
	b.open(s.page.URL + "/")
	b.shows("form")
	b.until(shopPage, uncovered)
	return b
}

// fired fails unless exactly these callbacks fired, in this order.
func (b *tab) fired(want ...string) {
	b.t.Helper()
	if got := b.calls(len(want)); !slices.Equal(got, want) {
		b.t.Errorf("fired %v, want %v", got, want)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.errors) > 0 {
		b.t.Errorf("errors: %v", b.errors)
	}
}

// count is the number of requests for something.
func (s *shop) count(what string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, asked := range s.asked {
		if asked == what {
			n++
		}
	}
	return n
}

// sent is the body of the last request for something.
func (s *shop) sent(what string) (body object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, asked := range s.asked {
		if asked == what {
			body = s.bodies[i]
		}
	}
	return body
}

func text(b *tab, selector string) string {
	b.t.Helper()
	return fmt.Sprint(b.frame(fmt.Sprintf("document.querySelector(%q).textContent", selector)))
}

func TestAPaymentByKeyboard(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.pays(func(object) (int, object) { return http.StatusCreated, s.made(1, "complete", nil) })
	b := visit(t, s)
	if got := b.frame("document.activeElement.id"); got != "number" {
		t.Errorf("the focus is on %v", got)
	}
	b.press("4242424242424242" + kb.Tab + "1" + "2" + "40" + kb.Tab + "123" + kb.Tab + kb.Enter)
	b.shows("paid")
	b.press(kb.Escape)
	b.fired("booking_logged", "transaction_logged", "modal_closed")
	if b.argument(0)["id"] != 4711.0 || b.argument(1)["status"] != "complete" || b.argument(2)["message"] != "The modal was closed after the payment." {
		t.Errorf("%v %v %v", b.argument(0), b.argument(1), b.argument(2))
	}
	got := s.sent("POST transactions")
	for name, want := range map[string]any{
		"token": "tok_visa", "expiry_month": 12.0, "expiry_year": 2040.0, "payee_name": "Ada Lovelace", "attempt_3ds": true,
		"transaction_types": "purchase", "total": 124950.0,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	s.set(func() {
		if strings.Contains(fmt.Sprint(s.bodies), "4242") {
			t.Error("the number left the browser")
		}
	})
	if got := b.page("document.querySelector('dialog') === null"); got != true {
		t.Error("the dialog is still there")
	}
}

func TestAnUnknownCardNeverLeavesTheBrowser(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := visit(t, s)
	before := 0
	s.set(func() { before = len(s.asked) })
	b.fill("5105105105105100", "1240", "123", "Ada Lovelace")
	b.press(kb.Enter)
	b.until(modalFrame, "document.activeElement.id === 'number' && document.activeElement.getAttribute('aria-invalid') === 'true'")
	if got := text(b, "#number-error"); got != "Only test cards work here. Your card number was not sent anywhere." {
		t.Errorf("it says %q", got)
	}
	s.set(func() {
		if len(s.asked) != before {
			t.Errorf("it was sent: %v", s.asked[before:])
		}
	})
}

func TestFieldsAreJudgedWhenTheyAreLeft(t *testing.T) {
	t.Parallel()
	b := visit(t, newShop(t))
	b.press("42424242")
	if got := text(b, "#number-error"); got != "" {
		t.Errorf("while typing it says %q", got)
	}
	b.press(kb.Tab)
	if got := text(b, "#number-error"); got != "The card number is incomplete." {
		t.Errorf("left too early it says %q", got)
	}
	b.press("13" + "30" + kb.Tab)
	if got := text(b, "#expiry-error"); !strings.HasPrefix(got, "Enter month and year") {
		t.Errorf("month 13: %q", got)
	}
	b.press(kb.Tab + kb.Tab)
	if got := text(b, "#code-error"); got != "" {
		t.Errorf("an empty field that is passed over: %q", got)
	}
	b.frame("document.getElementById('number').focus()")
	b.press(kb.End + "42424242")
	if got := text(b, "#number-error"); got != "" {
		t.Errorf("what is right again: %q", got)
	}
	if got := b.frame("document.getElementById('number').value"); got != "4242 4242 4242 4242" {
		t.Errorf("the number is %q", got)
	}
}

func TestThreeAttempts(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id := int64(0)
	s.pays(func(object) (int, object) {
		id++
		return http.StatusCreated, s.made(id, "failed", object{"decline_reason": "insufficient_funds"})
	})
	b := visit(t, s)
	for i, left := range []string{"You have 2 attempts left.", "You have 1 attempt left."} {
		b.fill("4000000000000002", "1240", "123", "Ada Lovelace")
		b.press(kb.Enter)
		b.until(modalFrame, fmt.Sprintf("document.getElementById('notice-text').textContent === %q", left))
		if got := text(b, "#notice-title"); got != "Insufficient funds." {
			t.Errorf("decline %d says %q", i+1, got)
		}
	}
	b.fill("4000000000000002", "1240", "123", "Ada Lovelace")
	b.press(kb.Enter)
	b.shows("declined")
	if got := b.argument(3); got["id"] != 3.0 {
		t.Errorf("the last is %v", got)
	}
	b.click("#done")
	b.fired("booking_logged", "transaction_failed", "transaction_failed", "transaction_failed", "modal_closed")
	b.open(s.page.URL + "/")
	b.shows("declined") // the same auth string has no more of them
	if n := s.count("POST transactions"); n != 3 {
		t.Errorf("tried %d times", n)
	}
}

func TestAChallenge(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.pays(func(object) (int, object) {
		return http.StatusCreated, s.made(1, "pending", object{
			"attempt_3ds": true, "3ds_redirect_url": "x", "3ds_response": object{"type": "redirect", "value": s.service.URL + "/bank"},
		})
	})
	b := visit(t, s)
	b.fill("4000002760003184", "1240", "123", "Ada Lovelace")
	b.press(kb.Enter)
	b.shows("challenge")
	s.made(1, "complete", nil)
	b.until("/bank", "document.getElementById('approve').click() === undefined")
	b.shows("paid")
	b.fired("booking_logged", "transaction_result_available", "transaction_logged")
	if got := b.argument(1); got["status"] != "pending" || got["attempt_3ds"] != true || got["3ds_redirect_url"] != "x" {
		t.Errorf("the result is available: %v", got)
	}
}

func TestAReloadDuringAChallenge(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.pays(func(object) (int, object) {
		return http.StatusCreated, s.made(1, "pending", object{"3ds_response": object{"type": "redirect", "value": s.service.URL + "/bank"}})
	})
	b := visit(t, s)
	b.fill("4000002760003184", "1240", "123", "Ada Lovelace")
	b.press(kb.Enter)
	b.until("/bank", "document.getElementById('approve') !== null")
	b.do(chromedp.Reload())
	b.shows("challenge")
	s.made(1, "failed", object{"decline_reason": "authentication_failed"})
	b.until("/bank", "document.getElementById('approve').click() === undefined")
	b.until(modalFrame, "document.getElementById('notice-title').textContent === 'The payment was not confirmed with your bank.'")
	b.fired("booking_exists", "transaction_result_available", "transaction_failed")
	if n := s.count("POST transactions"); n != 1 {
		t.Errorf("paid %d times", n)
	}
}

func TestAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.pays(func(object) (int, object) { return http.StatusCreated, s.made(1, "incomplete", nil) })
	b := visit(t, s)
	b.fill("4242424242424242", "1240", "123", "Ada Lovelace")
	b.press(kb.Enter)
	b.shows("unknown")
	if got := text(b, "[data-view=result]"); !strings.Contains(got, "may have succeeded") || !strings.Contains(got, "4711") {
		t.Errorf("it says %q", got)
	}
	b.fired("booking_logged", "transaction_timeout")
	if got := b.argument(1); got["booking_id"] != 4711.0 || got["name"] != "TimeoutError" || got["message"] == "" {
		t.Errorf("the time-out is %v", got)
	}
	// It is not known yet, so there is no event.
	if got := b.frame("document.getElementById('retry').click(), document.documentElement.dataset.state"); got != "checking" {
		t.Errorf("while it checks again it shows %v", got)
	}
	b.shows("unknown")
	b.fired("booking_logged", "transaction_timeout")
	s.made(1, "complete", nil)
	b.click("#retry")
	b.shows("paid")
	b.fired("booking_logged", "transaction_timeout", "transaction_logged")
}

func TestAnAnswerThatIsLostIsFound(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.pays(func(object) (int, object) {
		s.made(1, "complete", nil)
		return 0, nil
	})
	b := visit(t, s)
	b.fill("4242424242424242", "1240", "123", "Ada Lovelace")
	b.press(kb.Enter)
	b.shows("paid")
	if got := b.calls(2); !slices.Equal(got, []string{"booking_logged", "transaction_logged"}) {
		t.Errorf("fired %v", got)
	}
	// Browsers retry requests on broken connections, so it has to be the same request.
	s.set(func() {
		if len(s.keys) == 0 || len(slices.Compact(s.keys)) != 1 || s.keys[0] == "" {
			t.Errorf("paid under the keys %v", s.keys)
		}
	})
}

func TestAnAttemptThatNeverArrived(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.pays(func(object) (int, object) { return 0, nil })
	b := visit(t, s)
	b.fill("4242424242424242", "1240", "123", "Ada Lovelace")
	b.press(kb.Enter)
	b.until(modalFrame, "document.getElementById('notice-title').textContent === 'The payment could not be made'")
	if got := b.calls(2); !slices.Equal(got, []string{"booking_logged", "transaction_error"}) || b.argument(1)["name"] != "NetworkError" {
		t.Errorf("fired %v", got)
	}
	s.pays(func(object) (int, object) { return http.StatusCreated, s.made(1, "complete", nil) })
	b.fill("4242424242424242", "1240", "123", "Ada Lovelace")
	b.press(kb.Enter)
	b.shows("paid")
	// If the first one arrives after all, the two are one payment.
	s.set(func() {
		if len(s.keys) < 2 || len(slices.Compact(s.keys)) != 1 {
			t.Errorf("tried under the keys %v", s.keys)
		}
	})
}

func TestAReloadWhileAPaymentIsOnItsWay(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	arrived, release := make(chan bool), make(chan bool)
	s.pays(func(object) (int, object) {
		transaction := s.made(1, "pending", nil)
		close(arrived)
		<-release
		return http.StatusCreated, transaction
	})
	defer close(release)
	b := visit(t, s)
	b.fill("4242424242424242", "1240", "123", "Ada Lovelace")
	b.press(kb.Enter)
	<-arrived
	again := newTabIn(t, b)
	again.open(s.page.URL + "/")
	again.shows("form") // another tab knows nothing of it
	b.do(chromedp.Reload())
	b.shows("checking")
	s.made(1, "complete", nil)
	b.shows("paid")
	b.fired("booking_exists", "transaction_logged")
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Equal(b.asked, []string{"beforeunload"}) {
		t.Errorf("before the page was left the browser asked %v", b.asked)
	}
	if n := s.count("POST transactions"); n != 1 {
		t.Errorf("paid %d times", n)
	}
}

func TestWhatWasPaidIsNotPaidAgain(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.pays(func(object) (int, object) { return http.StatusCreated, s.made(1, "complete", nil) })
	b := visit(t, s)
	b.fill("4242424242424242", "1240", "123", "Ada Lovelace")
	b.press(kb.Enter)
	b.shows("paid")
	// The page is loaded again, perhaps with another auth string, and the modal was not closed.
	s.set(func() { s.data["booking_auth"] = "4567" })
	b.do(chromedp.Reload())
	b.shows("paid")
	b.click("#done")
	b.fired("booking_exists", "transaction_logged", "modal_closed")
	// It was closed, and the page comes from the browser's history, as it was.
	s.set(func() { s.data["booking_auth"] = "0123" })
	b.open(s.page.URL + "/")
	b.shows("paid")
	b.click("#done")
	b.calls(3)
	// The same again is ordered.
	s.set(func() { s.data["booking_auth"] = "8901" })
	b.open(s.page.URL + "/")
	b.shows("form")
	b.fired("booking_logged")
}

// TestTheSameAgainIsAnotherOrder if the shop has redirected the shopper as soon as the payment was made, without
// closing the modal: by a link, and on the same page.
func TestTheSameAgainIsAnotherOrder(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.pays(func(object) (int, object) { return http.StatusCreated, s.made(1, "complete", nil) })
	b := visit(t, s)
	pay := func() {
		b.fill("4242424242424242", "1240", "123", "Ada Lovelace")
		b.press(kb.Enter)
		b.shows("paid")
	}
	pay()
	s.set(func() { s.data["booking_auth"] = "4567" })
	b.open(s.page.URL + "/")
	b.shows("form")
	b.fired("booking_logged")
	pay()
	b.page(`(() => {
		window.modal.closeModal();
		window.calls = [];
		new window.tmtPaymentModalSdk({ ...window.opened, data: { ...window.opened.data, booking_auth: "8901" } })
			.on("booking_logged", (argument) => window.calls.push(["booking_logged", argument]));
		return true;
	})()`)
	b.shows("form")
	b.fired("booking_logged")
}

func TestABookingThatIsPaidIsNotPaidAgain(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(func() { s.booking["status"], s.data["booking_id"] = "paid", "700" })
	b := newTab(t)
	b.open(s.page.URL + "/")
	b.shows("paid")
	b.fired("booking_exists")
	if text := b.frame("document.getElementById('result-title').textContent"); text != "This booking is already paid" {
		t.Errorf("it says %q", text)
	}
	// While the form is open here, it is paid in another tab.
	s.set(func() { s.booking["status"] = "unpaid" })
	s.pays(func(object) (int, object) {
		s.set(func() { s.booking["status"] = "paid" })
		return http.StatusBadRequest, object{
			"code": "rest_invalid_param", "message": "Invalid parameter(s): bookings", "data": object{"status": 400, "params": object{"bookings": "Nothing is open."}},
		}
	})
	b.open(s.page.URL + "/")
	b.shows("form")
	b.fill("4242424242424242", "1240", "123", "Ada Lovelace")
	b.press(kb.Enter)
	b.shows("paid")
	b.fired("booking_exists", "transaction_error")
}

func TestWhatIsNoBookingIsRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := newTab(t)
	for _, id := range []any{"12abc", "0x1", "1e0", "-1", "1.5", []int{1, 2}, true} {
		s.set(func() { s.data["booking_id"] = id })
		b.open(s.page.URL + "/")
		b.shows("invalid")
		b.fired("booking_error")
		said := fmt.Sprint(b.argument(0))
		if said != "map[code:rest_invalid_param data:map[params:map[booking_id:Invalid booking ID.] status:400] message:Invalid parameter(s): booking_id]" {
			t.Errorf("%v: %s", id, said)
		}
	}
	if n := s.count("POST bookings"); n != 0 {
		t.Errorf("%d bookings were made", n)
	}
}

func TestClosingBeforeItOpens(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	b := visit(t, s)
	b.shows("form")
	b.page(`(() => {
		window.modal.closeModal();
		new window.tmtPaymentModalSdk(window.opened).closeModal();
		setTimeout(() => (window.dialogs = document.querySelectorAll("dialog").length)); // after all that was due at once
		return true;
	})()`)
	b.until(shopPage, "window.dialogs !== undefined")
	if n := b.page("window.dialogs"); n != 0.0 {
		t.Errorf("%v dialogs are open", n)
	}
}

func TestTheTokenizersFieldsTakeTheCard(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.pays(func(object) (int, object) { return http.StatusCreated, s.made(1, "complete", nil) })
	s.set(func() {
		s.session["tokenizer"] = object{
			"kind": "hosted", "environment": "test", "script": s.page.URL + "/fields.js", "id": "42", "origin": "x", "timestamp": "20270101000000",
			"scheme": "PCI", "authentication_key": "key",
		}
	})
	b := visit(t, s)
	b.click("#pay")
	b.until(modalFrame, "document.getElementById('number-error').textContent === 'Enter the card number.'")
	b.frame("document.querySelector('#number-host input').focus()")
	b.press("5555555555554444" + kb.Tab)
	b.until(modalFrame, "document.getElementById('mark').textContent === 'Mastercard'")
	b.press("1240" + kb.Tab + "12" + kb.Tab)
	b.until(modalFrame, "document.getElementById('code-error').textContent === 'The security code has 3 digits.'")
	// The fields have expired, and no longer validate. With a new auth string there are new ones.
	b.frame("window.before = shown; shown.validate = () => {}; shown.listeners.expired()")
	b.frame("document.querySelector('#code-host input').focus()")
	b.press(kb.End + "3" + kb.Tab)
	b.click("#pay")
	b.until(modalFrame, "document.getElementById('notice-title').textContent === 'This payment has timed out'")
	b.page("window.modal.renew('4567')")
	b.until(modalFrame, "document.getElementById('notice').hidden && document.querySelectorAll('#number-host input').length === 1")
	// The card data is gone, and the old fields have no listeners.
	b.frame("before.listeners.validate({ isValid: false, validator: 'format', isCvvValid: false, cvvValidator: 'format' })")
	if got := text(b, "#mark") + text(b, "#number-error") + text(b, "#code-error"); got != "" {
		t.Errorf("at the new fields it says %q", got)
	}
	b.frame("document.querySelector('#number-host input').focus()")
	b.press("4242424242424424" + kb.Tab)
	b.frame("document.querySelector('#code-host input').focus()")
	b.press("123" + kb.Tab)
	b.click("#pay")
	b.shows("paid")
	b.fired("booking_logged", "token_error", "transaction_logged")
	if got := s.sent("POST transactions"); got["token"] != "tok_hosted_424" || got["expiry_month"] != 12.0 {
		t.Errorf("paid with %v", got)
	}
}

func TestAnotherCurrencyShowsBothAmounts(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(func() {
		s.data["booking_id"], s.data["currencies"], s.data["total"] = "4711", "JPY", "250000"
		s.booking["currencies"], s.booking["total_unpaid"] = "KWD", 500125 // no decimals, and three
	})
	s.pays(func(object) (int, object) { return http.StatusCreated, s.made(1, "complete", nil) })
	b := visit(t, s)
	if got := strings.ReplaceAll(text(b, "main"), "\u00a0", " "); !strings.Contains(got, "JP¥250,000") || !strings.Contains(got, "KWD 500.125") ||
		!strings.Contains(got, "1 KWD = 499.875 JPY") {
		t.Errorf("it says %q", got)
	}
	b.fill("4242424242424242", "1240", "123", "Ada Lovelace")
	b.press(kb.Enter)
	b.fired("booking_exists", "transaction_logged")
	got := s.sent("POST transactions")
	if part := got["bookings"].([]any)[0].(object); got["total"] != 250000.0 || part["total"] != 500125.0 || part["currencies"] != "KWD" {
		t.Errorf("paid with %v", got)
	}
}

func TestTheServiceIsDown(t *testing.T) {
	t.Parallel()
	s, b := newShop(t), newTab(t)
	s.set(func() {
		s.session = object{"code": "service_unavailable", "message": "The database cannot be reached.", "data": object{"status": 503}}
	})
	b.open(s.page.URL + "/")
	b.shows("failed")
	if got := b.calls(1); !slices.Equal(got, []string{"transaction_error"}) || b.argument(0)["name"] != "service_unavailable" {
		t.Errorf("fired %v", got)
	}
}

func TestClosingAsksWhileAPaymentIsOnItsWay(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	release := make(chan bool)
	s.pays(func(object) (int, object) {
		<-release
		return http.StatusCreated, s.made(1, "complete", nil)
	})
	defer close(release)
	b := visit(t, s)
	b.fill("4242424242424242", "1240", "123", "Ada Lovelace")
	b.press(kb.Enter)
	b.shows("paying")
	b.press(kb.Escape)
	b.until(modalFrame, "document.activeElement.id === 'stay'")
	b.press(kb.Enter)
	b.until(modalFrame, "document.getElementById('ask').hidden")
	b.press(kb.Escape)
	b.press(kb.Tab + kb.Enter)
	b.fired("booking_logged", "modal_closed")
	if got := fmt.Sprint(b.argument(1)["message"]); !strings.Contains(got, "in progress") || !strings.Contains(got, "4711") {
		t.Errorf("it says %q", got)
	}
}

func TestWhatKeepsTheFormFromOpening(t *testing.T) {
	t.Parallel()
	refusal := object{"code": "rest_invalid_param", "message": "Invalid parameter(s): date", "data": object{
		"status": 400, "params": object{"date": "The end of travel lies before its start."},
	}}
	auth := object{"code": "jwt_auth_invalid_request", "message": "The auth string has expired.", "data": object{"status": 403}}
	for _, c := range []struct {
		name, state, callback, says string
		prepare                     func(s *shop)
	}{
		{"auth string", "refused", "token_error", "The payment request is not valid or has expired.", func(s *shop) { s.session = auth }},
		{"booking", "invalid", "booking_error", "Last day of the tripThe end of travel lies before its start.", func(s *shop) { s.refusal = refusal }},
		{"other booking", "refused", "token_error", "The payment request is not valid or has expired.", func(s *shop) { s.refusal = auth }},
		{"no cards", "failed", "transaction_error", "This shop cannot accept cards here.", func(s *shop) { s.session["tokenizer"] = object{"kind": "none"} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, b := newShop(t), newTab(t)
			s.set(func() { c.prepare(s) })
			b.open(s.page.URL + "/")
			b.shows(c.state)
			if got := text(b, "[data-view=result]"); !strings.Contains(got, c.says) {
				t.Errorf("it says %q", got)
			}
			// Without a session only the site is known.
			if got := text(b, "#merchant"); got != "Sunny Travel" && (c.name != "auth string" || got != "Sunny Group") {
				t.Errorf("it is not said who is paid: %q", got)
			}
			b.click("#close")
			names := b.calls(2)
			if n := len(names); names[n-2] != c.callback || names[n-1] != "modal_closed" {
				t.Errorf("fired %v", names)
			}
		})
	}
}

func TestTheFocusGoesRoundInside(t *testing.T) {
	t.Parallel()
	b := visit(t, newShop(t))
	seen := map[string]bool{}
	for range 16 {
		b.press(kb.Tab)
		seen[fmt.Sprint(b.frame("document.hasFocus() + ' ' + document.activeElement.tagName + ' ' + document.activeElement.id"))] = true
	}
	for place := range seen {
		if !strings.HasPrefix(place, "true ") || strings.HasPrefix(place, "true SPAN") || strings.HasPrefix(place, "true BODY") {
			t.Errorf("the focus was on %q", place)
		}
	}
	for _, id := range []string{"BUTTON close", "INPUT number", "INPUT expiry", "INPUT code", "INPUT name", "BUTTON pay", "SUMMARY "} {
		if !seen["true "+id] {
			t.Errorf("the keyboard never reached %q, but %v", id, seen)
		}
	}
}

func TestEveryLanguageFits(t *testing.T) {
	t.Parallel()
	s, b := newShop(t), newTab(t)
	b.resize(320, 640)
	// Of two languages some browsers have no forms.
	forms := map[string][2]string{
		"deDE": {"1.249,50 £", "07.–14.06.2027"}, "enGB": {"£1,249.50", "14 Jun 2027"},
		"kkKK": {"1 249,50 £", "2027 ж. 7–14 мау."}, "uzUZ": {"1 249,50 £", "7 – 14-iyn, 2027"},
	}
	for name, lang := range map[string]string{
		"deDE": "de", "enGB": "en", "esES": "es", "frFR": "fr", "itIT": "it", "jaJA": "ja", "kkKK": "kk", "koKO": "ko", "lvLV": "lv",
		"ptBR": "pt", "roRO": "ro", "ruRU": "ru", "ukUK": "uk", "uzUZ": "uz", "zhZH": "zh",
	} {
		s.set(func() { s.data["language"], s.booking["language"] = name, name })
		b.open(s.page.URL + "/")
		b.shows("form")
		if want, ok := forms[name]; ok {
			if got := strings.ReplaceAll(text(b, "#amount")+" "+text(b, "#facts"), "\u00a0", " "); !strings.Contains(got, want[0]) || !strings.Contains(got, want[1]) {
				t.Errorf("%s writes %q", name, got)
			}
		}
		if got := b.frame("document.documentElement.lang"); got != lang {
			t.Errorf("%s has the language %v", name, got)
		}
		b.click("#pay")
		wide := b.frame(`[...document.querySelectorAll("main, main :not(.unseen)")].filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1 && getComputedStyle(e).display !== "inline").map((e) => e.id || e.className || e.tagName)`)
		if list := wide.([]any); len(list) > 0 {
			t.Errorf("%s: %v are too wide for 320 pixels", name, list)
		}
	}
	b.fired("booking_logged")
}
