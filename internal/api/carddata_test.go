package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/psp/sandbox"
	"holdfast/internal/testkit/dbtest"
)

// printable matches texts inside binary data; logTime matches the time of a log line, whose digits are arbitrary.
var (
	printable = regexp.MustCompile(`[\x20-\x7e]{3,}`)
	logTime   = regexp.MustCompile(`time=\S+`)
)

// securityCode is the security code of a card. It is longer than real ones, so that it cannot be confused with another
// number.
const securityCode = "8471093"

// TestNoCardDataIsKept pays with every test card, by its token and by its number, in every text field, and then looks
// for card numbers and security codes in everything that remains: the database files, the log, the responses.
func TestNoCardDataIsKept(t *testing.T) {
	t.Parallel()
	address := dbtest.SQLite(t)
	var left bytes.Buffer // log and responses
	w := newWorldOf(t, merchant.ServerToServerProfile, address, &left)
	yes := true
	_, err := w.app.Channels.Change(t.Context(), access.System(1), 1, merchant.ChannelFields{
		ProcessorFields: merchant.ProcessorFields{ServerToServer: &yes},
	})
	must(t, err)
	w.takePayments(t, 1)
	k := &talk{world: w, as: "token", kept: map[string]string{}}
	post := func(path, body string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+k.credentials(t))
		response, answered := k.exchange(t, r)
		left.Write(answered)
		return response.StatusCode
	}
	if code := post("/demo/rest/svc/v2/bookings", `{"channels": 1, "firstname": "Ada", "surname": "Lovelace", "email": "ada@example.com",
		"date": "2026-05-01", "total": 20000000, "currencies": "GBP", "countries": "PT"}`); code != http.StatusCreated {
		t.Fatalf("the booking is answered %d", code)
	}
	const payment = `{"channels": 1, "currencies": "GBP", "total": 6000, "transaction_types": "purchase",
		"bookings": [{"id": 1, "currencies": "GBP", "total": 6000}], %s,
		"cvv": "` + securityCode + `", "security_code": "` + securityCode + `", "attempt_3ds": true, "3ds_redirect_url": "http://localhost:3000/done"}`
	for _, card := range sandbox.Cards {
		w.app.Payments.Settings.CallTimeout = 20 * time.Second
		if card.Token == "tok_timeout" || card.Token == "tok_answer_lost" { // these wait for its end
			w.app.Payments.Settings.CallTimeout = 10 * time.Millisecond
		}
		if code := post("/demo/rest/svc/v2/transactions", fmt.Sprintf(payment, `"token": "`+card.Token+`"`)); code != http.StatusCreated {
			t.Errorf("%s is answered %d", card.Token, code)
		}
		spaced := card.Number[:4] + " " + card.Number[4:]
		for _, field := range []string{"token", "content", "payee_name", "payee_surname", "reference", "bin_number", "auth_code", "card_types", "psp", "unknown"} {
			if code := post("/demo/rest/svc/v2/transactions", fmt.Sprintf(payment, `"`+field+`": "`+spaced+`"`)); code != http.StatusBadRequest {
				t.Errorf("%s in %s is answered %d", card.Token, field, code)
			}
			if more := spaced + " 12/27 123"; field != "token" {
				if code := post("/demo/rest/svc/v2/transactions", fmt.Sprintf(payment, `"`+field+`": "`+more+`"`)); code != http.StatusBadRequest {
					t.Errorf("%s with its expiry in %s is answered %d", card.Token, field, code)
				}
			}
		}
		post("/events/sandbox/1/1", card.Number)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/3ds/return/"+card.Number+"?payment="+card.Number, nil)
		_, answered := k.exchange(t, r)
		left.Write(answered)
	}
	w.ask(t)
	must(t, w.app.DB.Store.Close())
	files, err := filepath.Glob(filepath.Join(filepath.Dir(strings.TrimPrefix(address, "sqlite:")), "*"))
	must(t, err)
	found := false
	for _, file := range files {
		kept, err := os.ReadFile(file)
		must(t, err)
		if len(kept) == 0 { // a lock of imports that take turns
			continue
		}
		found = found || bytes.Contains(kept, []byte("tok_visa"))
		lookForCardData(t, filepath.Base(file), kept)
	}
	if !found || !bytes.Contains(left.Bytes(), []byte("tok_visa")) || !bytes.Contains(left.Bytes(), []byte("msg=request")) {
		t.Error("what was looked at is not what was kept")
	}
	lookForCardData(t, "log and answers", logTime.ReplaceAll(left.Bytes(), nil))
}

func lookForCardData(t *testing.T, where string, in []byte) {
	t.Helper()
	if len(in) == 0 {
		t.Fatalf("%s is empty", where)
	}
	for _, card := range sandbox.Cards {
		if bytes.Contains(in, []byte(card.Number)) {
			t.Errorf("%s holds the number of %s", where, card.Token)
		}
	}
	if bytes.Contains(in, []byte(securityCode)) {
		t.Errorf("%s holds a security code", where)
	}
	for _, text := range printable.FindAll(in, -1) {
		for word := range strings.FieldsSeq(string(text)) {
			if card.HoldsCardNumber(word) {
				t.Errorf("%s holds %q", where, word)
			}
		}
	}
}
