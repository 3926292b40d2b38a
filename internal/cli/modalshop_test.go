package cli

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/demo"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/testkit/browsertest"
)

// events are the callbacks of section 6.
var events = []string{
	"token_error", "booking_logged", "booking_exists", "booking_error", "transaction_result_available", "transaction_logged",
	"transaction_failed", "transaction_rejected", "transaction_timeout", "transaction_error", "modal_closed",
	"close_window_attempted",
}

// merchant is a shop: a page on a separate origin with the modal's script, and a demo that serves the modal. The page
// records the callbacks.
type shopMerchant struct {
	demo     *process
	api      string // {api_base} of the demo's site
	token    string
	channels map[string]account
	page     string // URL of the shop's page

	mu     sync.Mutex
	orders int
}

const testChannel = demo.TestChannel

// scriptTag is the line that merchants add according to the documentation.
const scriptTag = `<script src="%s" crossorigin="anonymous"></script>`

const shopPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>A shop</title>
<script>
window.fired = []; window.ready = [];
window.tmtPaymentModalReady = () => ready.push("tmt");
window.openModal = (sdk, options) => {
  window.modal = new window[sdk](options);
  for (const name of %s) modal.on(name, (...all) => fired.push({ name, argument: all[0], count: all.length }));
};
</script>` + scriptTag + `
<button id="before">Pay</button>
<form id="order">%s<button id="submit">Pay</button></form>`

// openShop starts the demo with a shop that may open the modal.
func openShop(t *testing.T, args ...string) *shopMerchant {
	t.Helper()
	browsertest.Context(t) // before anything else is started
	s := onSQLite(t)
	m := &shopMerchant{demo: s.start(append([]string{"demo", "--empty"}, args...)...)}
	m.api = m.demo.base + "/demo/rest/svc/v2"
	m.token = demoToken.FindStringSubmatch(m.demo.said)[1]
	server := httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(server.Close)
	m.page = server.URL
	var sites []struct {
		ID            int64    `json:"id"`
		PermittedURLs []string `json:"permitted_urls"`
	}
	m.get(t, "/sites", &sites)
	status, said := request(t, "PUT", m.api+"/sites/"+strconv.FormatInt(sites[0].ID, 10), m.token, map[string]any{
		"permitted_urls": append(sites[0].PermittedURLs, m.page),
	})
	if status != http.StatusOK {
		t.Fatalf("permitting the shop: %d %s", status, said)
	}
	m.channels = s.accounts(m)
	return m
}

// account is a channel of the demo with its credentials.
type account struct {
	id     int64
	secret string
}

// accounts finds the demo's channels by their names, and their secrets as the operator hands them out.
func (s *system) accounts(m *shopMerchant) map[string]account {
	s.t.Helper()
	var channels []struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	}
	m.get(s.t, "/channels", &channels)
	found := map[string]account{}
	for _, c := range channels {
		secret := s.must("merchant", "secret", strconv.FormatInt(c.ID, 10), "--site", "demo")
		found[c.Name] = account{c.ID, strings.TrimSpace(secret)}
	}
	return found
}

// get asks the API.
func (m *shopMerchant) get(t *testing.T, path string, target any) {
	t.Helper()
	status, said := request(t, "GET", m.api+path, m.token, nil)
	if status != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, status, said)
	}
	if err := json.Unmarshal([]byte(said), target); err != nil {
		t.Fatal(err)
	}
}

// serve returns the page. The query may have the values of the form's inputs.
func (m *shopMerchant) serve(w http.ResponseWriter, r *http.Request) {
	var inputs strings.Builder
	for name, values := range r.URL.Query() {
		fmt.Fprintf(&inputs, `<input type=hidden class="%s" value="%s">`, html.EscapeString(name), html.EscapeString(values[0]))
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, shopPage, asScript(events), m.demo.base+"/modal/v1/modal.js", inputs.String())
}

// order is the payment of one test: GBP 120.00, for a separate traveller.
func (m *shopMerchant) order() map[string]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.orders++
	return map[string]any{
		"booking_id": "0", "channels": m.channels[testChannel].id, "currencies": "GBP", "total": 12000, "country": "NO", "date": "2031-02-15",
		"date_start": "2031-02-08", "firstname": "Astrid", "surname": "Solberg", "email": "astrid@example.org",
		"payee_name": "Astrid Solberg", "payee_email": "astrid@example.org", "payee_address": "12 Harbour Row",
		"payee_city": "Edinburgh", "payee_postcode": "EH6 6QQ", "payee_country": "GB", "description": "Lofoten in seven nights",
		"reference": fmt.Sprintf("ORDER-%d", m.orders), "language": "enGB",
	}
}

// sign makes the auth string of an order, as of some time ago.
func (m *shopMerchant) sign(order map[string]any, ago time.Duration, verify ...string) {
	m.signFor(testChannel, order, ago, verify...)
}

func (m *shopMerchant) signFor(channel string, order map[string]any, ago time.Duration, verify ...string) {
	order["channels"] = m.channels[channel].id
	fields := map[string]string{}
	for _, name := range append([]string{"channels", "currencies", "total"}, verify...) {
		fields[name] = fmt.Sprint(order[name])
	}
	order["booking_auth"] = secrets.ModalString(m.channels[channel].secret, fields, time.Now().Add(-ago))
}

// book creates the booking of an order through the API, like a shop that does not leave it to the modal.
func (m *shopMerchant) book(t *testing.T, order map[string]any) (id int64) {
	t.Helper()
	fields := map[string]any{"content": order["description"], "countries": order["country"]}
	for _, name := range []string{"channels", "currencies", "total", "date", "date_start", "firstname", "surname", "email", "reference"} {
		fields[name] = order[name]
	}
	status, said := request(t, "POST", m.api+"/bookings", m.token, fields)
	var made struct {
		ID int64 `json:"id"`
	}
	if err := json.Unmarshal([]byte(said), &made); err != nil || status != http.StatusCreated {
		t.Fatalf("booking: %d %s", status, said)
	}
	return made.ID
}

// formOf is an order as a form of the shop: inputs by class.
func formOf(order map[string]any) string {
	values := url.Values{}
	for name, value := range order {
		values.Set("tmt_"+name, fmt.Sprint(value))
	}
	return values.Encode()
}

// callback is one that fired.
type callback struct {
	Name     string         `json:"name"`
	Argument map[string]any `json:"argument"`
	Count    int            `json:"count"` // of the arguments
}

// visit is one shopper in the shop.
type visit struct {
	*tab
	shop  *shopMerchant
	order map[string]any
}

// visit opens the shop's page in a new tab, with an order.
func (m *shopMerchant) visit(t *testing.T) *visit {
	t.Helper()
	v := &visit{tab: newTab(t), shop: m, order: m.order()}
	m.sign(v.order, 0)
	v.open(m.page)
	t.Cleanup(v.wholeScripts)
	return v
}

// openModal opens the modal with the order.
func (v *visit) openModal() {
	v.t.Helper()
	v.openWith(map[string]any{})
}

func (v *visit) openWith(options map[string]any) {
	v.t.Helper()
	all := map[string]any{"path": "demo", "environment": "test", "data": v.order}
	maps.Copy(all, options)
	v.do(mainFrame, fmt.Sprintf("openModal('tmtPaymentModalSdk', %s)", asScript(all)))
}

// inState waits until the modal is in a state.
func (v *visit) inState(state string) {
	v.t.Helper()
	v.waitFor(modalFrame, fmt.Sprintf("document.documentElement.dataset.state === %q", state))
}

// enter fills in the card form, like a fast typist.
func (v *visit) enter(number string) {
	v.t.Helper()
	v.inState("form")
	v.waitFor(mainFrame, "document.querySelector('dialog').ariaBusy === 'false'") // the frame accepts no keys before
	for _, field := range [][2]string{{"number", number}, {"expiry", "1231"}, {"code", "123"}} {
		v.do(modalFrame, fmt.Sprintf("document.getElementById(%q).focus(), document.getElementById(%[1]q).select()", field[0]))
		v.insert(field[1])
	}
}

// payWith fills in the card form and sends it.
func (v *visit) payWith(number string) {
	v.t.Helper()
	v.enter(number)
	v.press("Enter")
}

// click clicks an element of a frame.
func (v *visit) click(part, selector string) {
	v.t.Helper()
	v.waitFor(part, fmt.Sprintf("document.querySelector(%q)?.checkVisibility()", selector))
	v.do(part, fmt.Sprintf("document.querySelector(%q).click()", selector))
}

// wait waits until a callback has fired, and returns its argument.
func (v *visit) wait(name string) map[string]any {
	v.t.Helper()
	v.waitFor(mainFrame, fmt.Sprintf("fired.some((callback) => callback.name === %q)", name))
	for _, c := range v.fired() {
		if c.Name == name {
			return c.Argument
		}
	}
	return nil
}

func (v *visit) fired() (all []callback) {
	v.t.Helper()
	v.read(mainFrame, "fired", &all)
	return all
}

// firedExactly expects just these callbacks, in this order, each with one argument.
func (v *visit) firedExactly(names ...string) {
	v.t.Helper()
	var got []string
	for _, c := range v.fired() {
		got = append(got, c.Name)
		if c.Count != 1 {
			v.t.Errorf("%s has %d arguments", c.Name, c.Count)
		}
	}
	if !slices.Equal(got, names) {
		v.t.Errorf("these callbacks fired:\n%s\nexpected:\n%s", strings.Join(got, "\n"), strings.Join(names, "\n"))
	}
}

// leave closes the modal with the keyboard, and waits until it is closed.
func (v *visit) leave() map[string]any {
	v.t.Helper()
	v.press("Escape")
	return v.wait("modal_closed")
}

// shows expects a text in the modal.
func (v *visit) shows(text string) {
	v.t.Helper()
	v.waitFor(modalFrame, fmt.Sprintf("document.querySelector('main').innerText.replace(/\\s+/g, ' ').includes(%q)", text))
}

// id is the id of a booking or a transaction in a callback.
func id(t *testing.T, argument map[string]any) int64 {
	t.Helper()
	number, ok := argument["id"].(float64)
	if !ok || number <= 0 {
		t.Fatalf("there is no id in %v", argument)
	}
	return int64(number)
}

// sameAs expects an argument to equal the API's response at a path.
func (v *visit) sameAs(argument map[string]any, address string) {
	v.t.Helper()
	var found map[string]any
	v.shop.get(v.t, address, &found)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if got, ok := argument[name]; !ok || !reflect.DeepEqual(got, found[name]) {
			v.t.Errorf("the argument's %s is %v, at %s %v", name, got, address, found[name])
		}
		delete(argument, name)
	}
	if len(argument) > 0 {
		v.t.Errorf("the argument has besides what %s has: %v", address, argument)
	}
}

// isError expects an argument to be an error of the service, and returns its data.
func isError(t *testing.T, argument map[string]any, code string, status int) map[string]any {
	t.Helper()
	data, _ := argument["data"].(map[string]any)
	message, _ := argument["message"].(string)
	if len(argument) != 3 || argument["code"] != code || data["status"] != float64(status) || message == "" {
		t.Errorf("%v is no error %s with the status %d", argument, code, status)
	}
	return data
}

// says expects an argument to have exactly these texts, and returns the message.
func says(t *testing.T, argument map[string]any, names ...string) string {
	t.Helper()
	if got := slices.Sorted(maps.Keys(argument)); !slices.Equal(got, names) {
		t.Errorf("%v has not just %v", argument, names)
	}
	message, _ := argument["message"].(string)
	if message == "" {
		t.Errorf("%v has no message", argument)
	}
	return message
}
