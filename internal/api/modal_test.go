package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/api"
	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/psp/sandbox"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// testCards are the sandbox processor's, as the program hands them in.
var testCards = func() (list []api.TestCard) {
	for _, c := range sandbox.Cards {
		list = append(list, api.TestCard{Number: c.Number, Token: c.Token, Scheme: c.Scheme, What: c.What})
	}
	return list
}()

// vouches makes the auth string that a conversation asks for, and reports whether the words were about one.
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

// keyOf is a request's idempotency key as it is kept: in the modal each session has its own.
func (k *talk) keyOf(t *testing.T, r *http.Request) string {
	t.Helper()
	key := r.Header.Get("Idempotency-Key")
	if !strings.HasPrefix(r.URL.Path, app.ModalPath) {
		return key
	}
	use, err := k.world.app.Modals.Enter(t.Context(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), false)
	must(t, err)
	return use.Key(travel.Once{Key: key}).Key
}

// authString is what an integrator's server makes for the fields, by the clock of the world.
func (w *world) authString(t *testing.T, fields map[string]string) string {
	t.Helper()
	channel, err := strconv.ParseInt(fields["channels"], 10, 64)
	must(t, err)
	var text string
	must(t, w.core.Store.Read(t.Context(), func(tx *store.Tx) error {
		c, err := tx.Channel(1, channel)
		text = auth.ModalString(c.Secret, fields, w.clock.read())
		return err
	}))
	return text
}

// shapesOfTheDocument are the names of section 2.4 and 2.6 and the shape of errors: what the arguments of the modal's
// callbacks have to have.
var shapesOfTheDocument = map[string][]string{
	"booking": {
		"id", "trust_id", "uuid", "internal_id", "author", "status", "title", "content", "firstname", "surname", "email", "date",
		"date_start", "pax", "reference", "total", "total_unpaid", "currencies", "country", "countries", "transaction_ids",
		"channels", "language", "author_id", "authorname", "suppliers", "created", "modified", "_links",
	},
	"transaction": {
		"id", "uuid", "trust_id", "hash", "token", "status", "content", "title", "total", "total_remaining", "currencies",
		"countries", "language", "channels", "author", "authorname", "author_id", "bookings", "payment_ids", "payment_methods",
		"transaction_type", "transaction_types", "card_type", "card_types", "bin_number", "last_four_digits", "auth_code",
		"attempt_3ds", "3ds_redirect_url", "redirect_url", "3ds_response", "adjustments", "allocations", "api_urls", "forex",
		"forex_id", "forex_rate", "linked_id", "psp", "ip_address", "payee_email", "payee_name", "payee_surname",
		"statement_batches", "statement_date", "document", "created", "modified",
	},
	"part":  {"id", "total", "currencies", "reference", "country", "channels"},
	"error": {"code", "message", "data"},
}

// lacks names what of a shape is not there.
func lacks(shape string, body map[string]any) []string {
	return slices.DeleteFunc(slices.Clone(shapesOfTheDocument[shape]), func(name string) bool {
		_, there := body[name]
		return there
	})
}

func named(fields map[string]any) []string { return slices.Sorted(maps.Keys(fields)) }
