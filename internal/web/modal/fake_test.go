package modal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"holdfast/internal/web/modal"
)

// object is JSON.
type object = map[string]any

// shop is a merchant's page and a scripted service: the frame's own behaviour is tested here. Tests of the whole
// program use the real service.
type shop struct {
	page, service *httptest.Server

	mu           sync.Mutex
	session      object           // what sessions answers; its status where it is an error
	booking      object           // the one booking
	refusal      object           // what bookings answers instead
	transactions map[int64]object // by id
	onPay        func(body object) (status int, answer object)
	data         object // what the page opens the modal with
	options      object
	waits        map[string]chan bool // by path: the answer comes when the channel is closed
	asked        []string             // method and path
	bodies       []object
	keys         []string // under which payments were to be made once
	bearer       string   // of the last payment
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{
		session: object{
			"token": "modal-token", "expires_at": "2099-01-01 00:00:00", "expires_in": 1800, "site": "Sunny Travel",
			"channel":   object{"id": 2, "name": "Web", "currencies": "GBP", "test": true, "language": "enGB"},
			"tokenizer": object{"kind": "sandbox"},
		},
		booking: object{
			"id": 4711, "status": "draft", "total": 124950, "total_unpaid": 124950, "currencies": "GBP", "channels": 2,
			"content": "Seven nights in Lisbon", "firstname": "Ada", "surname": "Lovelace", "email": "ada@mail.example",
			"date": "2027-06-14", "date_start": "2027-06-07", "reference": "ST-2207", "language": "enGB", "transaction_ids": []int64{},
		},
		transactions: map[int64]object{},
		data: object{
			"booking_auth": "0123", "booking_id": "0", "channels": "2", "currencies": "GBP", "total": "124950", "country": "PT",
			"date": "2027-06-14", "date_start": "2027-06-07", "firstname": "Ada", "surname": "Lovelace", "email": "ada@mail.example", "language": "enGB",
			"payee_name": "Ada Lovelace", "payee_email": "ada@mail.example", "description": "Seven nights in Lisbon", "reference": "ST-2207",
		},
		options: object{"path": "sunny", "environment": "test"},
	}
	s.page = httptest.NewServer(http.HandlerFunc(s.servePage))
	t.Cleanup(s.page.Close)
	m, err := modal.New(modal.Config{TestScript: s.page.URL + "/fields.js"})
	if err != nil {
		t.Fatal(err)
	}
	m.Finding(func(_ context.Context, path string) (name string, origins []string, err error) {
		if path != "sunny" {
			return "", nil, nil
		}
		return "Sunny Group", []string{s.page.URL}, nil
	})
	mux := http.NewServeMux()
	mux.Handle(modal.Path, m)
	mux.HandleFunc("POST /modal/v1/sessions", s.serveSession)
	mux.HandleFunc("POST /modal/v1/bookings", s.serveBooking)
	mux.HandleFunc("GET /modal/v1/bookings/{id}", s.serveBooking)
	mux.HandleFunc("POST /modal/v1/transactions", s.servePayment)
	mux.HandleFunc("GET /modal/v1/transactions/{id}", s.serveTransaction)
	mux.HandleFunc("GET /modal/v1/sandbox/cards", s.serveCards)
	mux.HandleFunc("GET /bank", s.serveBank)
	s.service = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		wait := s.waits[strings.TrimPrefix(r.URL.Path, modal.Path)]
		s.mu.Unlock()
		if wait != nil {
			<-wait
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.service.Close)
	return s
}

// set changes the shop's responses, or inspects its requests.
func (s *shop) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// pays sets the response to payments; a status of 0 breaks the connection.
func (s *shop) pays(onPay func(body object) (status int, answer object)) {
	s.set(func() { s.onPay = onPay })
}

// servePage is the merchant's page. It records the arguments of callbacks.
func (s *shop) servePage(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/fields.js" {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, fields)
		return
	}
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	options := object{}
	for name, value := range s.options {
		options[name] = value
	}
	options["data"] = s.data
	text, err := json.Marshal(options)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprintf(w, `<!doctype html><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>Shop</title><h1>Sunny Travel</h1><p>Your trip to Lisbon. <button id="buy">Buy</button></p>
<script>
window.calls = [];
window.tmtPaymentModalReady = () => {
  window.opened = %s;
  window.modal = new window.tmtPaymentModalSdk(window.opened);
  for (const name of ["token_error", "booking_logged", "booking_exists", "booking_error", "transaction_result_available",
    "transaction_logged", "transaction_failed", "transaction_rejected", "transaction_timeout", "transaction_error", "modal_closed",
    "close_window_attempted", "token_expiring"]) window.modal.on(name, (argument) => window.calls.push([name, argument]));
};
</script>
<script src="%s/modal/v1/modal.js"></script>`, text, s.service.URL)
}

// fields replaces a tokenizer's script. It has the used parts of the interface, with plain inputs.
const fields = `window.TokenEx = { Iframe: class {
  constructor(id, config) {
    Object.assign(this, { id, config, on: (name, listener) => (this.listeners[name] = listener), listeners: {} });
    window.shown = this;
  }
  input(id) {
    const input = document.createElement("input");
    input.addEventListener("blur", () => this.validate());
    document.getElementById(id).append(input);
    return input;
  }
  load() {
    if (this.config.tokenExID !== "42" || this.config.tokenScheme !== "PCI" || this.config.authenticationKey !== "key") return;
    this.number = this.input(this.id);
    this.code = this.input(this.config.cvvContainerID);
    this.number.addEventListener("input", () => this.listeners.cardTypeChange({ possibleCardType: this.number.value[0] === "5" ? "masterCard" : "unknown" }));
    setTimeout(() => this.listeners.load());
  }
  validate() {
    setTimeout(() => {
      const [number, code] = [this.number.value, this.code.value];
      this.listeners.validate({
        isValid: number.length === 16, validator: number ? "format" : "required", isCvvValid: code.length === 3, cvvValidator: code ? "format" : "required",
      });
    });
  }
  tokenize() { setTimeout(() => this.listeners.tokenize({ token: "tok_hosted_" + this.number.value.slice(-3) })); }
  focus() { this.number.focus(); }
  cvvFocus() { this.code.focus(); }
} };`

// note records a request and reads its body.
func (s *shop) note(r *http.Request) object {
	what := r.Method + " " + strings.TrimPrefix(r.URL.Path, modal.Path)
	s.asked = append(s.asked, what)
	var body object
	if text, err := io.ReadAll(r.Body); err == nil && len(text) > 0 {
		_ = json.Unmarshal(text, &body) // what is no JSON stays nil, and fails the test that looks at it
	}
	s.bodies = append(s.bodies, body)
	return body
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func statusOf(body object, other int) int {
	if data, ok := body["data"].(object); ok {
		return data["status"].(int)
	}
	return other
}

func (s *shop) serveSession(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(r)
	answer(w, statusOf(s.session, http.StatusCreated), s.session)
}

func (s *shop) serveBooking(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(r)
	switch {
	case s.refusal != nil:
		answer(w, statusOf(s.refusal, 0), s.refusal)
	case r.Method == http.MethodPost:
		answer(w, http.StatusCreated, s.booking)
	default:
		answer(w, http.StatusOK, s.booking)
	}
}

func (s *shop) servePayment(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	body := s.note(r)
	s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
	s.bearer = r.Header.Get("Authorization")
	onPay := s.onPay
	s.mu.Unlock()
	status, transaction := onPay(body)
	if status == 0 { // the connection breaks
		panic(http.ErrAbortHandler)
	}
	answer(w, status, transaction)
}

// made stores a transaction like the service, and returns it.
func (s *shop) made(id int64, status string, more object) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	transaction := object{"id": id, "status": status, "content": "", "total": 124950, "currencies": "GBP", "channels": 2}
	for name, value := range more {
		transaction[name] = value
	}
	if _, known := s.transactions[id]; !known {
		s.booking["transaction_ids"] = append(s.booking["transaction_ids"].([]int64), id)
	}
	s.transactions[id] = transaction
	return transaction
}

func (s *shop) serveTransaction(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(r)
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if transaction, ok := s.transactions[id]; ok {
		answer(w, http.StatusOK, transaction)
		return
	}
	answer(w, http.StatusNotFound, object{"code": "rest_post_invalid_id", "message": "Unknown.", "data": object{"status": 404}})
}

func (s *shop) serveCards(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(r)
	answer(w, http.StatusOK, []object{
		{"number": "4242424242424242", "token": "tok_visa", "scheme": "visa", "what": "is approved"},
		{"number": "378282246310005", "token": "tok_amex", "scheme": "amex", "what": "is approved"},
		{"number": "4000000000000002", "token": "tok_declined", "scheme": "visa", "what": "is declined without a reason"},
		{"number": "4000002760003184", "token": "tok_3ds_challenge", "scheme": "visa", "what": "is challenged"},
	})
}

// serveBank is a bank's page with one button, which returns to the shop.
func (s *shop) serveBank(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<!doctype html><title>Bank</title><h1>Bank</h1><a id="approve" href="%sreturn?path=sunny&transaction_id=1">Approve</a>`,
		s.service.URL+modal.Path)
}
