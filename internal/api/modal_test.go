package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/book/checkout"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/psp/sandbox"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// testCards are the sandbox processor's test cards, as the program passes them in.
var testCards = func() (list []api.TestCard) {
	for _, c := range sandbox.Cards {
		list = append(list, api.TestCard{Number: c.Number, Token: c.Token, Scheme: c.Scheme, What: c.What})
	}
	return list
}()

// vouches creates the auth string for a directive of a conversation, and reports whether the directive was about one.
func (k *talk) vouches(t *testing.T, words []string) bool {
	t.Helper()
	if len(words) < 5 || words[0] != "@auth" {
		return false
	}
	fields := map[string]string{"channels": words[2], "currencies": words[3], "total": words[4]}
	for _, word := range words[5:] {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			t.Fatalf("%q is no field of an auth string", word)
		}
		fields[name] = strings.ReplaceAll(value, "+", " ")
	}
	k.kept[words[1]] = k.world.authString(t, fields)
	return true
}

// keyOf is a request's idempotency key as stored: in the modal each session has its own.
func (k *talk) keyOf(t *testing.T, r *http.Request) string {
	t.Helper()
	key := r.Header.Get("Idempotency-Key")
	if !strings.HasPrefix(r.URL.Path, checkout.ModalPath) {
		return key
	}
	use, err := k.world.app.Modals.Enter(t.Context(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), false)
	must(t, err)
	return use.Key(access.IdempotencyKey{Key: key}).Key
}

// authString is an integrator's auth string for the fields, by the clock of the world.
func (w *world) authString(t *testing.T, fields map[string]string) string {
	t.Helper()
	channel, err := strconv.ParseInt(fields["channels"], 10, 64)
	must(t, err)
	var text string
	must(t, w.app.DB.Store.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
		c, err := merchants.Channel(tx, 1, channel)
		if err != nil {
			return err
		}
		secret, err := w.app.Channels.Secret(c)
		text = secrets.ModalString(secret, fields, w.clock.read())
		return err
	}))
	return text
}

// shapesOfTheDocument are the fields of sections 2.4 and 2.6 and of errors, which the arguments of the modal's
// callbacks must have.
var shapesOfTheDocument = map[string][]string{
	"booking": {
		"id", "trust_id", "uuid", "internal_id", "author", "status", "title", "content", "firstname", "surname", "email", "date",
		"date_start", "pax", "reference", "total", "total_unpaid", "currencies", "country", "countries", "transaction_ids",
		"channels", "language", "author_id", "authorname", "suppliers", "created", "modified", "_links",
	},
	"transaction": {
		"id", "uuid", "trust_id", "hash", "token", "status", "content", "title", "total", "total_remaining", "currencies",
		"countries", "language", "channels", "author", "authorname", "author_id", "bookings", "payment_ids", "payment_methods",
		"transaction_type", "transaction_types", "card_type", "card_types", "bin_number", "last_four_digits", "auth_code", "processor_reference",
		"attempt_3ds", "3ds_redirect_url", "redirect_url", "3ds_response", "adjustments", "allocations", "api_urls", "forex",
		"forex_id", "forex_rate", "linked_id", "psp", "ip_address", "payee_email", "payee_name", "payee_surname",
		"statement_batches", "statement_date", "document", "created", "modified",
	},
	"part":  {"id", "total", "currencies", "reference", "country", "channels"},
	"error": {"code", "message", "data"},
}

// lacks returns the missing fields of a shape.
func lacks(shape string, body map[string]any) []string {
	return slices.DeleteFunc(slices.Clone(shapesOfTheDocument[shape]), func(name string) bool {
		_, there := body[name]
		return there
	})
}

func named(fields map[string]any) []string { return slices.Sorted(maps.Keys(fields)) }

// openModal opens a modal in the test channel of a world and returns the token of the session.
func openModal(t *testing.T, w *world) string {
	t.Helper()
	urls := []string{"https://shop.example"}
	_, err := w.app.Sites.Change(t.Context(), access.System(1), 1, merchant.SiteFields{PermittedURLs: &urls})
	must(t, err)
	fields := map[string]string{"channels": "1", "currencies": "GBP", "total": "9900"}
	opened, err := w.app.Modals.Open(t.Context(), checkout.ModalOpening{
		Path: "demo", Environment: checkout.ModalTest, Origin: urls[0], Auth: w.authString(t, fields), Fields: fields,
	})
	must(t, err)
	return opened.Token
}

// modalRequest is a request of the frame.
func modalRequest(t *testing.T, token, method, path, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, checkout.ModalPath+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("X-Request-Id", "modal")
	return r
}

const modalBooking = `{"firstname": "Ada", "surname": "Lovelace", "email": "ada@example.com", "date": "2026-05-01", "country": "PT"}`

// TestTheArgumentsOfTheCallbacks makes the responses that the modal passes to its callbacks, and compares each with the
// specification: section 6 lists the callbacks, 2.4 and 2.6 their fields.
func TestTheArgumentsOfTheCallbacks(t *testing.T) {
	for _, engine := range dbtest.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, engine.Database(t), io.Discard)
			token := openModal(t, w)
			k := &talk{world: w, as: "nobody", kept: map[string]string{}}
			ask := func(method, path, body string) (status int, reply map[string]any) {
				response, answered := k.exchange(t, modalRequest(t, token, method, path, body))
				must(t, json.Unmarshal(answered, &reply))
				return response.StatusCode, reply
			}
			check := func(callback, shape string, status, wantStatus int, reply map[string]any) {
				t.Helper()
				if missing := lacks(shape, reply); status != wantStatus || len(missing) > 0 {
					t.Errorf("%s: %d, without %v: %v", callback, status, missing, reply)
				}
			}
			status, reply := ask(http.MethodPost, "sessions", `{"path": "demo", "environment": "test", "origin": "https://shop.example",
				"booking_auth": "wrong", "channels": 1, "currencies": "GBP", "total": 9900}`)
			check("token_error", "error", status, http.StatusForbidden, reply)
			if reply["code"] != "jwt_auth_invalid_request" || reply["data"].(map[string]any)["status"] != 403.0 {
				t.Errorf("token_error: %v", reply)
			}
			status, reply = ask(http.MethodPost, "bookings", `{"firstname": "Ada", "email": "nobody", "pax": "many"}`)
			check("booking_error", "error", status, http.StatusBadRequest, reply)
			params, keyed := reply["data"].(map[string]any)["params"].(map[string]any)
			if reply["code"] != "rest_invalid_param" || !keyed || !slices.Equal(named(params), []string{"country", "date", "email", "pax", "surname"}) {
				t.Errorf("booking_error: %v", reply)
			}
			status, reply = ask(http.MethodPost, "bookings", modalBooking)
			check("booking_logged", "booking", status, http.StatusCreated, reply)
			if reply["status"] != "draft" || reply["author"] != "modal/1" {
				t.Errorf("booking_logged: %v by %v", reply["status"], reply["author"])
			}
			status, reply = ask(http.MethodGet, "bookings/1", "")
			check("booking_exists", "booking", status, http.StatusOK, reply)
			for _, attempt := range []struct{ callback, token, status string }{
				{"transaction_failed", "tok_declined", "failed"}, {"transaction_result_available", "tok_3ds_challenge", "pending"},
			} {
				status, reply = ask(http.MethodPost, "transactions", `{"token": "`+attempt.token+`"}`)
				check(attempt.callback, "transaction", status, http.StatusCreated, reply)
				check(attempt.callback+", its booking", "part", status, http.StatusCreated, reply["bookings"].([]any)[0].(map[string]any))
				if reply["status"] != attempt.status || reply["attempt_3ds"] != true || reply["3ds_redirect_url"] != baseURL+checkout.ModalReturnPath+"?path=demo" {
					t.Errorf("%s: %v, %v, %v", attempt.callback, reply["status"], reply["attempt_3ds"], reply["3ds_redirect_url"])
				}
			}
			w.answerChallenge(t, reply["3ds_response"].(map[string]any)["value"].(string), "approve")
			w.ask(t)
			w.clock.set(w.clock.read().Add(2 * time.Minute))
			w.ask(t)
			status, reply = ask(http.MethodGet, "transactions/2", "")
			check("transaction_logged", "transaction", status, http.StatusOK, reply)
			if reply["status"] != "complete" || reply["hash"] == "" {
				t.Errorf("transaction_logged: %v", reply)
			}
			status, reply = ask(http.MethodPost, "transactions", `{"token": "tok_visa"}`)
			check("transaction_error", "error", status, http.StatusConflict, reply)
			if reply["message"] == "" {
				t.Error("transaction_error has no message")
			}
		})
	}
}

// TestNoCardNumberGetsIntoTheModal sends every test card's number in every field of every request of the modal, as a
// text, as a number and inside a list, and looks for it everywhere afterwards.
func TestNoCardNumberGetsIntoTheModal(t *testing.T) {
	folder := t.TempDir()
	var left bytes.Buffer
	w := newWorld(t, "sqlite:"+filepath.Join(folder, "holdfast.db"), &left)
	token := openModal(t, w)
	ask := func(method, path, body string) (code any) {
		answer := httptest.NewRecorder()
		w.handler.ServeHTTP(answer, modalRequest(t, token, method, path, body))
		var reply map[string]any
		must(t, json.Unmarshal(answer.Body.Bytes(), &reply))
		left.Write(answer.Body.Bytes())
		return reply["code"]
	}
	for _, request := range []struct {
		path   string
		fields []string
	}{
		{"sessions", []string{
			"path", "environment", "origin", "verify", "channels", "currencies", "total", "allocations", "charge_channel", "country", "date",
			"email", "firstname", "reference", "surname", "unknown",
		}},
		{"bookings", []string{
			"firstname", "surname", "email", "date", "country", "countries", "content", "description", "reference", "language", "pax",
			"suppliers", "unknown",
		}},
		{"transactions", []string{
			"token", "payee_name", "payee_surname", "payee_email", "payee_address", "payee_city", "payee_postcode", "payee_country",
			"expiry_month", "expiry_year", "transaction_types", "booking_id", "bin_number", "last_four_digits", "card_types", "reference",
			"ip_address", "content", "allocations", "charge_channel", "unknown",
		}},
	} {
		if request.path == "transactions" {
			if code := ask(http.MethodPost, "bookings", modalBooking); code != nil {
				t.Fatal(code)
			}
		}
		for i, card := range sandbox.Cards {
			spaced := card.Number[:4] + " " + card.Number[4:]
			forms := []string{`"` + card.Number + `"`, `"` + spaced + `"`, `["` + card.Number + `"]`}
			for j, name := range request.fields {
				// Every card in every field, in each of the forms in turn.
				value := forms[(i+j)%len(forms)]
				if code := ask(http.MethodPost, request.path, `{"`+name+`": `+value+`}`); code != "pan_detected" {
					t.Errorf("%s in %s of %s: %v", value, name, request.path, code)
				}
				// Other types are stored as empty, or rejected as well.
				if i == 0 || len(card.Number) < 16 {
					ask(http.MethodPost, request.path, `{"`+name+`": `+card.Number+`, "verify": ["`+name+`"]}`)
				}
			}
			ask(http.MethodPost, "sessions", `{"path": "demo", "environment": "test", "origin": "https://shop.example",
				"booking_auth": "`+card.Number+`", "channels": 1, "currencies": "GBP", "total": 9900}`)
			// Digits hidden in escapes inside the text of a list.
			hidden := strings.Replace(card.Number, card.Number[1:2], `\\u003`+card.Number[1:2], 1)
			if code := ask(http.MethodPost, "sessions", `{"verify": ["allocations"], "allocations": "[{\"a\":\"`+hidden+`\"}]"}`); code != "pan_detected" {
				t.Errorf("%s in a list: %v", hidden, code)
			}
			ask(http.MethodGet, "bookings/"+card.Number, "")
			ask(http.MethodGet, "transactions/"+card.Number, "")
		}
	}
	must(t, w.app.DB.Store.Close())
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	must(t, err)
	found := false
	for _, file := range files {
		kept, err := os.ReadFile(file)
		must(t, err)
		if len(kept) == 0 { // a lock of imports that take turns
			continue
		}
		found = found || bytes.Contains(kept, []byte("Lovelace"))
		lookForCardData(t, filepath.Base(file), kept)
	}
	if !found || !bytes.Contains(left.Bytes(), []byte("msg=request")) {
		t.Error("what was looked at is not what was kept")
	}
	lookForCardData(t, "log and answers", logTime.ReplaceAll(left.Bytes(), nil))
}
