package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/testkit/browsertest"
)

// heard are the callbacks in the log of the demo's shop, in order.
func (v *visit) heard() (names []string) {
	v.t.Helper()
	v.read(mainFrame, "[...document.querySelectorAll('#callbacks li')].map((item) => item.dataset.callback).reverse()", &names)
	return names
}

func (v *visit) hears(name string) {
	v.t.Helper()
	v.waitFor(mainFrame, fmt.Sprintf("document.querySelector('#callbacks [data-callback=%s] pre')", name))
}

// enterDemosShop opens the shop that comes with the demo.
func enterDemosShop(t *testing.T, base, query string) *visit {
	t.Helper()
	v := &visit{tab: newTab(t)}
	t.Cleanup(v.wholeScripts)
	v.open(base + "/checkout" + query)
	v.waitFor(mainFrame, "!document.getElementById('pay').disabled")
	return v
}

// demosShop pays in the shop that comes with the demo, both ways that the modal can be opened.
func demosShop(t *testing.T, shop *shopMerchant) {
	for _, variant := range []string{"?variant=form&sdk=tmtPaymentModalSdk", "?variant=data&sdk=holdfastPaymentModalSdk"} {
		v := enterDemosShop(t, shop.demo.base, variant)
		v.click(mainFrame, "[data-step='1']")
		v.waitFor(mainFrame, "document.getElementById('pay').textContent === 'Pay £3,720.00' && !document.getElementById('pay').disabled")
		v.click(mainFrame, "#pay")
		v.payWith(approved)
		v.hears("transaction_logged")
		v.shows("£3,720.00")
		v.press("Escape")
		v.hears("modal_closed")
		if got := v.heard(); !slices.Equal(got, []string{"booking_logged", "transaction_logged", "modal_closed"}) {
			t.Errorf("%s: the shop heard %v", variant, got)
		}
		v.waitFor(mainFrame, "document.getElementById('state').textContent.startsWith('Thank you.')")
		// A test card is copied by a click on it, or at least selected.
		v.click(mainFrame, "[data-card='4242424242424242']")
		v.waitFor(mainFrame, "document.getElementById('said').textContent !== ''")
		for _, text := range v.sent() {
			if strings.Contains(text, shop.channels[testChannel].secret) {
				t.Error("the secret was in a request")
			}
		}
	}
}

// TestDemosShopServerToServer pays at the sandbox processor of the demo's test channel, in the profile in which
// channels take payments themselves. Reloading the page during the challenge finds the payment again.
func TestDemosShopServerToServer(t *testing.T) {
	t.Parallel()
	browsertest.Context(t) // before anything else is started
	s := onSQLite(t)
	demo := s.start("demo", "--empty", "--profile", "server-to-server")
	readTheDocs(t, demo.base)
	v := enterDemosShop(t, demo.base, "")
	v.click(mainFrame, "#pay")
	v.payWith(challenged)
	v.waitFor(challengeFrame, "document.querySelector('button[value=approve]')")
	// Shop, modal and bank name one merchant.
	var names [3]string
	v.read(mainFrame, "document.querySelector('.brand span').textContent", &names[0])
	v.read(modalFrame, "document.getElementById('merchant').textContent", &names[1])
	v.read(challengeFrame, "document.querySelector('dd').textContent", &names[2])
	if names[0] != "Fjord & Fell Travel" || names[1] != names[0] || names[2] != names[0] {
		t.Errorf("the merchant has the names %q", names)
	}
	v.hears("booking_logged")
	v.goTo("location.reload()", demo.base+"/checkout", true)
	v.waitFor(mainFrame, "document.getElementById('state').textContent.includes('Checking')")
	v.click(mainFrame, "#pay")
	v.click(challengeFrame, "button[value=approve]")
	v.hears("transaction_logged")
	if got := v.heard(); !slices.Equal(got, []string{"booking_exists", "transaction_result_available", "transaction_logged"}) {
		t.Errorf("the shop heard %v", got)
	}
	v.press("Escape")
	v.hears("modal_closed")
	v.waitFor(mainFrame, "document.getElementById('state').textContent.startsWith('Thank you.')")
	leftOpen(t, v, s)
}

// leftOpen keeps a form open for longer than its session. With a new auth string it continues, and the input is kept.
func leftOpen(t *testing.T, v *visit, s *system) {
	v.do(mainFrame, `window.open = async () => {
		const { booking_auth, channels, currencies, total, country, date, date_start } = await (await fetch("/checkout/quote", {
			method: "POST", body: JSON.stringify({ travellers: 1, currency: "GBP" }),
		})).json();
		return { booking_auth, channels, currencies, total, country, date, date_start, booking_id: "0", firstname: "Ada", surname: "Lovelace", email: "ada@example.org" };
	}`)
	v.do(mainFrame, `open().then((data) => {
		window.fired = [];
		window.modal = new tmtPaymentModalSdk({ path: "demo", verify: ["country", "date"], data });
		for (const name of ["booking_logged", "token_error", "transaction_logged"]) modal.on(name, (argument) => fired.push({ name, argument, count: 1 }));
	})`)
	v.enter(approved)
	v.do(modalFrame, "document.getElementById('name').focus()")
	v.insert("Ada Lovelace")
	s.must("clock", "set", "--profile", "server-to-server", "--site", "demo", "--to", time.Now().UTC().Add(31*time.Minute).Format(time.DateTime))
	v.press("Enter")
	isError(t, v.wait("token_error"), "jwt_auth_invalid_request", 403)
	v.do(mainFrame, "open().then((data) => modal.renew(data.booking_auth))")
	v.waitFor(modalFrame, "document.getElementById('notice').hidden && document.getElementById('code').value === '123'")
	v.click(modalFrame, "#pay")
	v.wait("transaction_logged")
	v.firedExactly("booking_logged", "token_error", "transaction_logged")
}
