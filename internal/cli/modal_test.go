package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
)

// The sandbox's cards.
const (
	approved     = "4242424242424242"
	declined     = "4000000000000002"
	challenged   = "4000002760003184"
	unanswered   = "4000000000005126"
	answerIsLost = "4000000000007726"
)

// TestModal has shoppers pay in the modal, in a browser, with the real program, and checks every callback of section 6:
// when it fires, that it fires once, and its argument.
func TestModal(t *testing.T) {
	shop := openShop(t, "--payment-timeout", "2s")
	for _, story := range []struct {
		name string
		tell func(t *testing.T, shop *shopMerchant)
	}{
		{"paid", paid}, {"authorized", authorized}, {"tampered", tampered}, {"verified", verified}, {"expired", expired},
		{"booking in error", bookingInError}, {"booking exists", bookingExists}, {"other currency", otherCurrency}, {"declined three times", declinedThreeTimes},
		{"challenge approved", challengeApproved}, {"challenge refused", challengeRefused}, {"challenge left", challengeLeft},
		{"no answer", noAnswer}, {"answer lost", answerLost}, {"not connected", notConnected}, {"no test channel", noTestChannel},
		{"closed by the page", closedByThePage}, {"closed early", closedEarly}, {"closed while paying", closedWhilePaying},
		{"window closed", windowClosed}, {"reload and back", reloadAndBack},
		{"foreign page", foreignPage}, {"form", formVariant}, {"keyboard", keyboardOnly}, {"real card", realCard},
		{"unknown callback", unknownCallback}, {"demo's shop", demosShop},
	} {
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			story.tell(t, shop)
		})
	}
}

func paid(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.openModal()
	booking := v.wait("booking_logged")
	if booking["status"] != "draft" || booking["total_unpaid"] != float64(12000) || booking["surname"] != "Solberg" {
		t.Errorf("the booking is %v", booking)
	}
	v.sameAs(booking, fmt.Sprintf("/bookings/%d", id(t, booking)))
	v.payWith(approved)
	transaction := v.wait("transaction_logged")
	if transaction["status"] != "complete" || transaction["total"] != float64(12000) || transaction["last_four_digits"] != "4242" {
		t.Errorf("the transaction is %v", transaction)
	}
	v.sameAs(transaction, fmt.Sprintf("/transactions/%d", id(t, transaction)))
	v.shows("£120.00")
	says(t, v.leave(), "message")
	v.firedExactly("booking_logged", "transaction_logged", "modal_closed")
}

func authorized(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	// The type is inside the data, and a list is signed as PHP encodes it and passed unchanged.
	v.order["transactionType"], v.order["allocations"] = "authorize", `[{"channels":7,"label":"H\u00f4tel\/Bar"}]`
	shop.sign(v.order, 0, "allocations")
	v.order["allocations"] = []map[string]any{{"channels": 7, "label": "Hôtel/Bar"}}
	v.openWith(map[string]any{"verify": []string{"allocations"}})
	v.payWith(approved)
	transaction := v.wait("transaction_logged")
	if got := fmt.Sprint(transaction["allocations"]); got != "[map[channels:7 label:Hôtel/Bar]]" {
		t.Errorf("the allocations are %s", got)
	}
	if transaction["transaction_types"] != "authorize" || transaction["status"] != "complete" {
		t.Errorf("the transaction is %v", transaction)
	}
	var booking map[string]any
	shop.get(t, fmt.Sprintf("/bookings/%d", id(t, v.wait("booking_logged"))), &booking)
	if booking["status"] != "authorized" {
		t.Errorf("the booking is %v", booking["status"])
	}
}

func tampered(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.order["total"] = 1
	v.openModal()
	isError(t, v.wait("token_error"), "jwt_auth_invalid_request", 403)
	v.leave()
	v.firedExactly("token_error", "modal_closed")

	// A verified field as well, with the verified value.
	v = shop.visit(t)
	shop.sign(v.order, 0, "email", "surname")
	v.order["email"] = "somebody.else@example.org"
	v.openWith(map[string]any{"verify": []string{"email", "surname"}})
	isError(t, v.wait("token_error"), "jwt_auth_invalid_request", 403)
	v.leave()
	v.firedExactly("token_error", "modal_closed")
	v.open(shop.page)
	v.order["email"] = "astrid@example.org"
	v.openWith(map[string]any{"verify": []string{"email", "surname"}})
	v.wait("booking_logged")
}

// verified: a field is verified in the data and in the form, whether or not verify names it, and in every form of a list. If the two
// values differ, the modal does not open.
func verified(t *testing.T, shop *shopMerchant) {
	list := []map[string]any{{"channels": 7, "label": "Hôtel/Bar", "currencies": "GBP"}}
	escaped := `[{"channels":7,"currencies":"GBP","label":"H\u00f4tel\/Bar"}]`
	spaced := `[{"channels": 7, "currencies": "GBP", "label": "Hôtel/Bar"}]`
	v := shop.visit(t)
	for _, c := range []struct {
		verify         []string
		signed, passed any // the allocations
		form           bool
	}{
		{verify: []string{"currencies"}},
		{verify: []string{"total", "currencies", "channels", "email"}},
		{verify: []string{"country", "date", "email", "firstname", "reference", "surname"}, form: true},
		{verify: []string{"currencies", "charge_channel", "allocations"}, signed: escaped, passed: list},
		{verify: []string{"allocations", "charge_channel"}, signed: spaced, passed: escaped},
		{verify: []string{"allocations", "currencies"}, signed: escaped, passed: spaced, form: true},
	} {
		for _, wrong := range []string{"", c.verify[0], "currencies"} {
			order := shop.order()
			order["charge_channel"], order["allocations"] = 7, c.signed
			shop.sign(order, 0, slices.DeleteFunc(slices.Clone(c.verify), func(name string) bool {
				return slices.Contains([]string{"channels", "currencies", "total"}, name)
			})...)
			want := "booking_logged"
			if order["allocations"] = c.passed; c.signed == nil {
				delete(order, "allocations")
				delete(order, "charge_channel")
			}
			if wrong != "" {
				want = "token_error"
				order[wrong] = map[string]any{"currencies": "EUR", "total": 1, "channels": 2, "charge_channel": 8, "allocations": "[]", "date": "2031-02-16"}[wrong]
				if order[wrong] == nil {
					order[wrong] = "XY"
				}
			}
			options := map[string]any{"verify": c.verify, "data": order}
			v.open(shop.page)
			if v.order = order; c.form {
				v.open(shop.page + "?" + formOf(order))
				options = map[string]any{"verify": c.verify, "formId": "order", "data": nil}
			}
			v.waitFor(mainFrame, "ready.length > 0")
			v.openWith(options)
			if c.form {
				v.do(mainFrame, "document.getElementById('submit').click()")
			}
			v.wait(want)
		}
	}
}

func expired(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	shop.sign(v.order, 16*time.Minute)
	v.openModal()
	argument := v.wait("token_error")
	isError(t, argument, "jwt_auth_invalid_request", 403)
	if !strings.Contains(fmt.Sprint(argument["message"]), "expired") {
		t.Errorf("the message is %v", argument["message"])
	}
	v.inState("refused")
	v.leave()
	v.firedExactly("token_error", "modal_closed")
}

func bookingInError(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.order["email"], v.order["date"], v.order["country"] = "nobody", "2031-02-30", "XX"
	v.openModal()
	argument := v.wait("booking_error")
	// The page hears its own names of the fields, the shopper sees words.
	params, _ := isError(t, argument, "rest_invalid_param", 400)["params"].(map[string]any)
	labels := map[string]string{"country": "Country of the trip", "date": "Last day of the trip", "email": "E-mail address"}
	for field, label := range labels {
		message, _ := params[field].(string)
		if message == "" || len(params) != len(labels) || argument["message"] != "Invalid parameter(s): country, date, email" {
			t.Errorf("of %s the page hears %v", field, argument)
		}
		v.shows(label + " " + message)
	}
	v.leave()
	v.firedExactly("booking_error", "modal_closed")

	// The example in the specification: the currency is not the channel's.
	v = shop.visit(t)
	v.order["currencies"] = "EUR"
	shop.sign(v.order, 0)
	v.openModal()
	params, _ = isError(t, v.wait("booking_error"), "rest_invalid_param", 400)["params"].(map[string]any)
	if _, ok := params["channels"].(string); !ok {
		t.Errorf("params are %v", params)
	}
}

func bookingExists(t *testing.T, shop *shopMerchant) {
	first := shop.visit(t)
	first.openModal()
	made := id(t, first.wait("booking_logged"))
	first.inState("form")
	first.leave()

	v := shop.visit(t)
	v.order = first.order
	v.order["booking_id"] = fmt.Sprint(made)
	v.openModal()
	argument := v.wait("booking_exists")
	v.sameAs(argument, fmt.Sprintf("/bookings/%d", made))
	v.payWith(approved)
	transaction := v.wait("transaction_logged")
	bookings, _ := transaction["bookings"].([]any)
	if len(bookings) != 1 || bookings[0].(map[string]any)["id"] != float64(made) {
		t.Errorf("the transaction pays %v, not the booking %d", bookings, made)
	}
	v.leave()
	v.firedExactly("booking_exists", "transaction_logged", "modal_closed")
}

// otherCurrency pays a booking in pounds by a card in euros: the shop has made the booking, and converted.
func otherCurrency(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	made := shop.book(t, v.order)
	v.order["booking_id"], v.order["currencies"], v.order["total"] = fmt.Sprint(made), "EUR", 13873
	shop.sign(v.order, 0)
	v.openModal()
	v.wait("booking_exists")
	v.shows("€138.73")
	v.shows("£120.00")
	v.payWith(approved)
	transaction := v.wait("transaction_logged")
	if transaction["currencies"] != "EUR" || transaction["total"] != float64(13873) || transaction["forex_rate"] != "1.15608333" {
		t.Errorf("the transaction is %v", transaction)
	}
	var booking map[string]any
	if shop.get(t, fmt.Sprintf("/bookings/%d", made), &booking); booking["status"] != "paid" {
		t.Errorf("the booking is %v", booking)
	}
}

// declinedThreeTimes: after a decline there are two more attempts.
func declinedThreeTimes(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.openModal()
	booking := id(t, v.wait("booking_logged"))
	for n := 1; n <= 3; n++ {
		v.payWith(declined)
		v.waitFor(mainFrame, fmt.Sprintf("fired.filter((callback) => callback.name === 'transaction_failed').length === %d", n))
	}
	v.inState("declined")
	v.leave()
	v.firedExactly("booking_logged", "transaction_failed", "transaction_failed", "transaction_failed", "modal_closed")
	seen := map[int64]bool{}
	for _, c := range v.fired()[1:4] {
		if c.Argument["status"] != "failed" || c.Argument["content"] == "" {
			t.Errorf("the transaction is %v", c.Argument)
		}
		seen[id(t, c.Argument)] = true
		v.sameAs(c.Argument, fmt.Sprintf("/transactions/%d", id(t, c.Argument)))
	}
	if len(seen) != 3 {
		t.Errorf("the transactions are %v", seen)
	}
	var now map[string]any
	if shop.get(t, fmt.Sprintf("/bookings/%d", booking), &now); len(now["transaction_ids"].([]any)) != 3 {
		t.Errorf("the booking's transactions are %v", now["transaction_ids"])
	}

	// Opening the modal again does not give a fourth attempt.
	v.open(shop.page)
	v.openModal()
	v.inState("declined")
}

func challengeApproved(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.openModal()
	v.payWith(challenged)
	v.waitFor(challengeFrame, "document.querySelector('button[value=approve]')")
	open := v.lastTransaction(id(t, v.wait("booking_logged"))) // as the original request was answered
	v.click(challengeFrame, "button[value=approve]")
	result := v.wait("transaction_result_available")
	logged := v.wait("transaction_logged")
	v.leave()
	v.firedExactly("booking_logged", "transaction_result_available", "transaction_logged", "modal_closed")
	redirect, _ := result["3ds_redirect_url"].(string)
	if result["status"] != "pending" || result["attempt_3ds"] != true || !strings.HasPrefix(redirect, shop.demo.base) {
		t.Errorf("the result is %v", result)
	}
	if !reflect.DeepEqual(result, open) {
		t.Errorf("the result is\n%v\nwhile the challenge was open the transaction was\n%v", result, open)
	}
	if id(t, logged) != id(t, result) || logged["status"] != "complete" {
		t.Errorf("the transaction is %v", logged)
	}
}

func challengeRefused(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.openModal()
	v.payWith(challenged)
	v.click(challengeFrame, "button[value=refuse]")
	failed := v.wait("transaction_failed")
	v.inState("form")
	v.leave()
	v.firedExactly("booking_logged", "transaction_result_available", "transaction_failed", "modal_closed")
	if failed["status"] != "failed" || failed["attempt_3ds"] != true {
		t.Errorf("the transaction is %v", failed)
	}
}

// challengeLeft: a shopper who leaves the bank's page finds it again.
func challengeLeft(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.openModal()
	v.payWith(challenged)
	v.waitFor(challengeFrame, "document.querySelector('button[value=approve]')")
	v.do(modalFrame, "document.getElementById('close').focus()")
	v.press("Escape")
	v.click(modalFrame, "#leave")
	says(t, v.wait("modal_closed"), "message")
	v.firedExactly("booking_logged", "modal_closed")

	v.open(shop.page)
	v.openModal()
	v.click(challengeFrame, "button[value=approve]")
	v.wait("transaction_logged")
	v.leave()
	v.firedExactly("booking_exists", "transaction_result_available", "transaction_logged", "modal_closed")
}

// lastTransaction finds the outcome of a payment as specified: the last transaction of the booking.
func (v *visit) lastTransaction(booking int64) (transaction map[string]any) {
	v.t.Helper()
	var b struct {
		TransactionIDs []int64 `json:"transaction_ids"`
	}
	v.shop.get(v.t, fmt.Sprintf("/bookings/%d", booking), &b)
	if len(b.TransactionIDs) == 0 {
		v.t.Fatalf("the booking %d has no transaction", booking)
	}
	v.shop.get(v.t, fmt.Sprintf("/transactions/%d", b.TransactionIDs[len(b.TransactionIDs)-1]), &transaction)
	return transaction
}

// recovered polls the last transaction of a booking until its outcome is known.
func (v *visit) recovered(booking int64) map[string]any {
	v.t.Helper()
	ticks := time.NewTicker(200 * time.Millisecond)
	defer ticks.Stop()
	for {
		transaction := v.lastTransaction(booking)
		if status := transaction["status"]; status != "incomplete" && status != "pending" {
			return transaction
		}
		select {
		case <-ticks.C:
		case <-v.ctx.Done():
			v.t.Fatalf("nobody knows what became of %v", transaction)
		}
	}
}

func (v *visit) timedOut() (booking int64) {
	v.t.Helper()
	argument := v.wait("transaction_timeout")
	says(v.t, argument, "booking_id", "message", "name")
	booking = id(v.t, v.wait("booking_logged"))
	if argument["name"] != "TimeoutError" || argument["booking_id"] != float64(booking) {
		v.t.Errorf("the time-out says %v", argument)
	}
	v.shows("may have")
	v.shows(fmt.Sprint(booking))
	return booking
}

func noAnswer(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.openModal()
	v.payWith(unanswered)
	booking := v.timedOut()
	v.leave()
	v.firedExactly("booking_logged", "transaction_timeout", "modal_closed")
	if got := v.recovered(booking); got["status"] != "failed" {
		t.Errorf("the transaction is %v", got)
	}
}

func answerLost(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.openModal()
	v.payWith(answerIsLost)
	booking := v.timedOut()
	v.leave()
	v.firedExactly("booking_logged", "transaction_timeout", "modal_closed")
	if got := v.recovered(booking); got["status"] != "complete" || got["total"] != float64(12000) {
		t.Errorf("the transaction is %v", got)
	}
}

// notConnected drops the connection when the payment is sent.
func notConnected(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.hold("*/modal/v1/transactions", fetch.RequestStageRequest)
	v.openModal()
	v.payWith(approved)
	call(v.tab, fetch.FailRequest, fetch.FailRequestParams{RequestID: v.held(), ErrorReason: network.ErrorReasonConnectionRefused})
	says(t, v.wait("transaction_error"), "message", "name")
	v.inState("form")
	call(v.tab, fetch.Disable, cdp.Empty{})
	v.payWith(approved)
	v.wait("transaction_logged")
	v.leave()
	v.firedExactly("booking_logged", "transaction_error", "transaction_logged", "modal_closed")
}

// noTestChannel: in the protection-only profile only test channels take cards.
func noTestChannel(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	shop.signFor("Northern Trails", v.order, 0)
	v.openWith(map[string]any{"environment": "production"}) // there is none: it is the channel's
	v.wait("booking_logged")
	says(t, v.wait("transaction_error"), "message", "name")
	v.leave()
	v.firedExactly("booking_logged", "transaction_error", "modal_closed")

	v.open(shop.page)
	v.openWith(map[string]any{"environment": "test"})
	argument := v.wait("token_error")
	if isError(t, argument, "jwt_auth_invalid_request", 403); !strings.Contains(fmt.Sprint(argument["message"]), "live") {
		t.Errorf("the message is %v", argument["message"])
	}
}

func closedByThePage(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.openModal()
	v.inState("form")
	v.do(mainFrame, "modal.closeModal(), modal.closeModal()")
	says(t, v.wait("modal_closed"), "message")
	v.firedExactly("booking_logged", "modal_closed")
}

// closedEarly closes the modal before it is ready.
func closedEarly(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.hold("*/modal/v1/sessions", fetch.RequestStageRequest)
	v.openModal()
	v.held()
	v.inState("loading")
	says(t, v.leave(), "message")
	v.firedExactly("modal_closed")
}

// closedWhilePaying: the browser asks first. The outcome of the payment is found as after a timeout.
func closedWhilePaying(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.hold("*/modal/v1/transactions", fetch.RequestStageResponse)
	v.openModal()
	booking := id(t, v.wait("booking_logged"))
	v.payWith(approved)
	v.held()
	v.press("Escape")
	v.waitFor(modalFrame, "document.activeElement.id === 'stay'")
	v.press("Escape")
	v.waitFor(modalFrame, "document.getElementById('ask').hidden")
	v.firedExactly("booking_logged")
	v.press("Escape")
	v.click(modalFrame, "#leave")
	if message := says(t, v.wait("modal_closed"), "message"); !strings.Contains(message, fmt.Sprint(booking)) {
		t.Errorf("the message does not name the booking %d: %s", booking, message)
	}
	v.firedExactly("booking_logged", "modal_closed")
	if got := v.recovered(booking); got["status"] != "complete" {
		t.Errorf("the transaction is %v", got)
	}
}

// windowClosed tries to close the window during a payment, and stays.
func windowClosed(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.hold("*/modal/v1/transactions", fetch.RequestStageRequest)
	v.openModal()
	v.payWith(approved)
	request := v.held()
	v.do(mainFrame, "setTimeout(() => location.reload())")
	v.asked(false)
	says(t, v.wait("close_window_attempted"), "message")
	call(v.tab, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: request})
	v.wait("transaction_logged")
	v.leave()
	v.firedExactly("booking_logged", "close_window_attempted", "transaction_logged", "modal_closed")

	// There is no question without a payment in progress.
	v.open(shop.page)
	v.waitFor(mainFrame, "fired.length === 0")
	v.until("no more questions", func() bool { return len(v.dialogs) == 0 })
}

// reloadAndBack: a reload during a payment loses nothing, and pays nothing twice.
func reloadAndBack(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.openModal()
	booking := id(t, v.wait("booking_logged"))
	v.enter(approved)
	v.press("Enter")
	v.wait("transaction_logged")
	v.open(shop.page)
	v.openModal()
	v.inState("paid")
	if got := id(t, v.wait("booking_exists")); got != booking {
		t.Errorf("after the reload the booking is %d, before it was %d", got, booking)
	}

	// In the middle: the bank has responded, but the page does not know yet.
	v = shop.visit(t)
	v.hold("*/modal/v1/transactions", fetch.RequestStageResponse)
	v.openModal()
	booking = id(t, v.wait("booking_logged"))
	v.payWith(approved)
	v.held()
	v.goTo("location.assign('about:blank')", "about:blank", true)
	call(v.tab, fetch.Disable, cdp.Empty{})
	v.goTo("history.back()", shop.page+"/", false)
	v.waitFor(mainFrame, "window.openModal && document.readyState === 'complete'")
	v.openModal()
	v.inState("paid")
	if got := id(t, v.wait("booking_exists")); got != booking {
		t.Errorf("after the way back the booking is %d, before it was %d", got, booking)
	}
	var now map[string]any
	shop.get(t, fmt.Sprintf("/bookings/%d", booking), &now)
	if ids := now["transaction_ids"].([]any); len(ids) != 1 || now["status"] != "paid" {
		t.Errorf("the booking is %v", now)
	}
}

// foreignPage opens the modal on an origin that is not permitted: the browser shows no frame.
func foreignPage(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.open(strings.Replace(shop.page, "127.0.0.1", "localhost", 1))
	v.openModal()
	isError(t, v.wait("token_error"), "jwt_auth_invalid_request", 403)
	v.wait("modal_closed")
	v.firedExactly("token_error", "modal_closed")
	v.until("the browser's refusal", func() bool {
		if len(v.problems) != 1 || !strings.Contains(v.problems[0], "frame-ancestors") {
			return false
		}
		v.problems = nil // it is expected
		return true
	})
	if slices.ContainsFunc(v.sent(), func(r string) bool { return strings.Contains(r, "/modal/v1/sessions") }) {
		t.Error("the frame has sent the order")
	}
}

// formVariant opens the modal with a form, under the other name of the constructor.
func formVariant(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.open(shop.page + "?" + formOf(v.order))
	var ready []string
	v.waitFor(mainFrame, "ready.length > 0")
	if v.read(mainFrame, "ready", &ready); !slices.Equal(ready, []string{"tmt"}) {
		t.Errorf("the ready callback was called for %v", ready)
	}
	v.do(mainFrame, "openModal('holdfastPaymentModalSdk', {path: 'demo', environment: 'test', formId: 'order'})")
	v.firedExactly()
	v.do(mainFrame, "document.getElementById('submit').click()")
	booking := v.wait("booking_logged")
	if booking["firstname"] != "Astrid" || booking["countries"] != "NO" || booking["reference"] != v.order["reference"] {
		t.Errorf("the booking is %v", booking)
	}
	v.payWith(approved)
	v.wait("transaction_logged")
	v.leave()
	v.firedExactly("booking_logged", "transaction_logged", "modal_closed")
}

// keyboardOnly pays without a mouse, and checks the focus.
func keyboardOnly(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.do(mainFrame, "document.getElementById('before').focus()")
	v.openModal()
	v.inState("form")
	for range 14 { // once round
		v.press("Tab")
		v.waitFor(mainFrame, "document.activeElement.tagName === 'IFRAME'")
	}
	v.do(modalFrame, "document.getElementById('number').focus()")
	v.press("Shift+Tab")
	v.press("Tab")
	v.waitFor(modalFrame, "document.activeElement.id === 'number'")
	v.typeText(approved)
	v.press("Tab")
	v.typeText("1231")
	v.press("Tab")
	v.typeText("123")
	v.press("Tab")
	v.waitFor(modalFrame, "document.activeElement.id === 'name'")
	v.press("Tab")
	v.waitFor(modalFrame, "document.activeElement.id === 'pay'")
	v.press("Space")
	v.wait("transaction_logged")
	v.press("Escape")
	v.wait("modal_closed")
	v.waitFor(mainFrame, "document.activeElement.id === 'before'")
	v.firedExactly("booking_logged", "transaction_logged", "modal_closed")
}

// realCard: no card number leaves the browser, neither a real nor a test card's.
func realCard(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.openModal()
	v.payWith("5105105105105100")
	v.waitFor(modalFrame, "!document.getElementById('number-error').hidden")
	v.do(modalFrame, "document.getElementById('number').focus()")
	v.payWith(approved)
	v.wait("transaction_logged")
	v.leave()
	v.firedExactly("booking_logged", "transaction_logged", "modal_closed")
	all, sent := v.sent(), 0
	for _, text := range all {
		bare := strings.NewReplacer(" ", "", "-", "", "%20", "", "+", "").Replace(text)
		if strings.Contains(bare, "5105105105105100") || strings.Contains(bare, approved) {
			t.Errorf("a card number left the browser: %s", text)
		}
		if strings.Contains(text, "tok_visa") {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("%d requests hold the card's token, of\n%s", sent, strings.Join(all, "\n"))
	}
}

func unknownCallback(t *testing.T, shop *shopMerchant) {
	v := shop.visit(t)
	v.openModal()
	var said string
	v.read(mainFrame, `(() => {
		modal.on("transaction_rejected", () => {});
		try { modal.on("paid", () => {}); } catch (error) { return error.message; }
	})()`, &said)
	if !strings.Contains(said, "transaction_rejected") {
		t.Errorf("an unknown callback is answered with %q", said)
	}
}
