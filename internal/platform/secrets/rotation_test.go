package secrets_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"holdfast/internal/app"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
	"holdfast/internal/testkit/pgtest"
)

// notSealed are columns whose names look like secrets, and why they are not.
var notSealed = map[string]string{
	"api_tokens.secret_hash":     "a hash of a long random secret",
	"channels.tokenizer_key_end": "four characters, which everybody may see who sees the channel",
	"bookings.import_key":        "the number of an imported booking",
	"transactions.import_key":    "the number of an imported payment",
	"idempotency_keys.key":       "a name that a client gives its request",
	"exposure_cells.first_key":   "a value of a dimension",
	"exposure_cells.second_key":  "a value of a dimension",
	"certificates.key_hash":      "a hash of 128 random bits",
	"gateway_charges.return_key": "part of an address that shoppers come back to, for one payment",
}

// TestNoColumnOfSecretsIsForgotten: a column whose name looks like a secret is encrypted, or has a reason here.
func TestNoColumnOfSecretsIsForgotten(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	sealed, left := map[string]bool{}, maps.Clone(notSealed)
	for _, column := range w.App.Vault.Columns() {
		sealed[column.Name()] = true
	}
	if len(sealed) < 5 {
		t.Errorf("only %v are sealed", sealed)
	}
	sounds := regexp.MustCompile(`secret|seed|credential|password$|(^|_)keys?($|_)|private`)
	dbtest.Read(t, w.App.DB.Store, func(tx *store.Tx) error {
		return tx.Query(`SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'`, nil,
			func(scan func(dest ...any) error) error {
				var table, column string
				err := scan(&table, &column)
				name := table + "." + column
				if sounds.MatchString(column) && !sealed[name] && notSealed[name] == "" {
					t.Errorf("%s sounds like a secret: seal it (secrets.SealedColumn), or say in this test why it is none", name)
				}
				delete(sealed, name)
				delete(left, name)
				return err
			})
	})
	if len(sealed)+len(left) > 0 {
		t.Errorf("there are no columns %v, %v", sealed, left)
	}
}

// plainKeys is how many keys an earlier version has left in plain text: more than one write encrypts.
const plainKeys = 230

// earlier creates the database of an earlier version: its secrets are plain text.
func earlier(t *testing.T, h *apptest.House, user int64) (plain map[string]string) {
	t.Helper()
	plain = map[string]string{
		"channels.secret": "plainsecretofthetestchannel", "users.two_factor_secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
		"jwt_keys.secret": hex.EncodeToString([]byte("0123456789abcdef0123456789abcdef")),
	}
	dbtest.Write(t, h.DB, func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE channels SET secret = $1 WHERE id = 1`, plain["channels.secret"])
		_, err2 := tx.Exec(`UPDATE users SET two_factor_secret = $1 WHERE id = $2`, plain["users.two_factor_secret"], user)
		_, err3 := tx.Exec(`DELETE FROM sealed_columns`)
		for i := range plainKeys {
			_, err := tx.Exec(`INSERT INTO jwt_keys (id, secret, created_at) VALUES ($1, $2, $3)`, fmt.Sprint("key", i), plain["jwt_keys.secret"], i)
			err2 = errors.Join(err2, err)
		}
		return errors.Join(err, err2, err3)
	})
	return plain
}

// textsOf reads all texts of the sealed columns that are not empty.
func textsOf(t *testing.T, h *apptest.House) (texts map[string][]string) {
	t.Helper()
	texts = map[string][]string{}
	dbtest.Read(t, h.DB, func(tx *store.Tx) (err error) {
		for _, c := range h.Vault.Columns() {
			err = errors.Join(err, tx.Query(fmt.Sprintf("SELECT %s FROM %s WHERE %[1]s <> ''", c.Column, c.Table), nil,
				func(scan func(dest ...any) error) error {
					var text string
					err := scan(&text)
					texts[c.Name()] = append(texts[c.Name()], text)
					return err
				}))
		}
		return err
	})
	return texts
}

// TestPlainSecretsAreSealedAtTheFirstStart: secrets that an earlier version has left in plain text are encrypted in
// batches, and a copy of the database alone can no longer sign anything.
func TestPlainSecretsAreSealedAtTheFirstStart(t *testing.T) {
	t.Parallel()
	pgtest.NotOverNodes(t)
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		user := h.User(t, "admin", access.MemberAdmin)
		plain := earlier(t, h, user.ID)
		h.Vault.Keys = nil
		if err := h.Secrets.SealPlain(t.Context()); err == nil || !strings.Contains(err.Error(), "HOLDFAST_KEYS_FILE") {
			t.Errorf("without keys: %v", err)
		}
		for column, texts := range textsOf(t, h) {
			if texts[0] != plain[column] {
				t.Errorf("without keys %s has become %q", column, texts[0])
			}
		}
		h.Vault.Keys = apptest.Keys
		for range 2 { // the second time there is nothing to do
			if err := h.Secrets.SealPlain(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		ran := dbtest.Statements(h.DB, func() { err = h.Secrets.SealPlain(t.Context()) })
		if err != nil || len(ran) != 1 {
			t.Errorf("a later start runs %d statements, %v", len(ran), err)
		}
		sealed := 0
		for column, texts := range textsOf(t, h) {
			for _, text := range texts {
				if sealed++; !secrets.IsSealed(text) || strings.Contains(text, plain[column]) {
					t.Errorf("%s is %q", column, text)
				}
			}
		}
		if sealed != plainKeys+2 {
			t.Errorf("%d secrets are sealed", sealed)
		}
		channel, err := h.Channels.Get(t.Context(), access.System(1), 1)
		apptest.WantKind(t, err, errs.Internal, "the channel")
		if secret, err := h.Channels.Secret(channel); secret != plain["channels.secret"] || err != nil {
			t.Errorf("the secret of the channel is %q, %v", secret, err)
		}
		if key := h.LoginKey(t); hex.EncodeToString(key.Secret) != plain["jwt_keys.secret"] {
			t.Errorf("the key of logins is %x", key.Secret)
		}
	})
}

// TestAllSecretsAreReencrypted: a new key encrypts every column, and a wrong key file loses nothing.
func TestAllSecretsAreReencrypted(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		user := h.User(t, "admin", access.MemberAdmin)
		if _, _, err := h.Accounts.BeginTwoFactor(t.Context(), apptest.ActorOf(user, access.MemberAdmin), user.ID); err != nil {
			t.Fatal(err)
		}
		session, err := h.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.Internal, "login")
		other, err := secrets.NewSealKey(h.App.Config.Random)
		if err != nil {
			t.Fatal(err)
		}
		use := func(lines ...string) secrets.SealKeys {
			ring, err := secrets.ParseSealKeys(strings.Join(lines, "\n"))
			if err != nil {
				t.Fatal(err)
			}
			h.Vault.Keys = func() (secrets.SealKeys, error) { return ring, nil }
			return ring
		}
		use(other)
		if err := h.Secrets.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "HOLDFAST_KEYS_FILE") {
			t.Errorf("a start with the wrong keys: %v", err)
		}
		if _, err := h.Secrets.SealAnew(t.Context(), access.System(0)); !errors.Is(err, secrets.ErrUnknownSealKey) {
			t.Errorf("re-encrypting with the wrong keys: %v", err)
		}
		second := apptest.Process(t, h.DB, h.Now)
		second.Vault.Keys = h.Vault.Keys
		_, err = second.Login(t, "admin", apptest.GoodPassword)
		apptest.WantKind(t, err, errs.Unavailable, "a login with the wrong keys")

		ring := use(other, apptest.KeyLine)
		if n, err := h.Secrets.SealAnew(t.Context(), access.System(0)); n != 3 || err != nil { // channel, second factor, key of logins
			t.Errorf("%d were re-encrypted, %v", n, err)
		}
		used, err := h.Secrets.SealingKeys(t.Context(), access.System(0))
		if !maps.Equal(used, map[string]int{ring.IDs()[0]: 3}) || err != nil {
			t.Errorf("sealed with %v, %v", used, err)
		}
		use(other) // the old key can go
		fresh := apptest.Process(t, h.DB, h.Now)
		fresh.Vault.Keys = h.Vault.Keys
		apptest.WantKind(t, fresh.Secrets.Check(t.Context()), errs.Internal, "a start")
		_, err = fresh.Sessions.Authenticate(t.Context(), "demo", session.Token, "")
		apptest.WantKind(t, err, errs.Internal, "the session of before")
	})
}

// TestAPaymentDoesNotOpenTheSecretAgain: the secret of a channel is decrypted once in the life of a process.
func TestAPaymentDoesNotOpenTheSecretAgain(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	c := w.Channel(merchant.ModeTest, "GBP")
	opened := 0
	w.With(func(cfg *app.Config) { cfg.Keys = func() (secrets.SealKeys, error) { opened++; return apptest.Keys() } })
	for range 3 {
		paid := w.Must(apptest.Report(payment.Purchase, w.Booking(c, 1000, "2024-09-14"), 1000))
		if _, err := w.App.Channels.HashOf(paid); err != nil {
			t.Fatal(err)
		}
	}
	if opened != 1 {
		t.Errorf("the keys were read %d times", opened)
	}
}

// TestASealedSecretIsWorthNothingElsewhere: an attacker with write access gives a channel a known secret of another
// one.
func TestASealedSecretIsWorthNothingElsewhere(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	own, other := w.Channel(merchant.ModeTest, "GBP"), w.Channel(merchant.ModeTest, "EUR")
	dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE channels SET secret = $1 WHERE id = $2`, own.SealedSecret, other.ID)
		return err
	})
	for _, sealed := range []string{own.SealedSecret, "plainsecret"} {
		if secret, err := merchants.OpenSecret(w.App.Vault, other.SiteID, other.ID, sealed); secret != "" || !errs.Is(err, errs.Unavailable) {
			t.Errorf("%q, %v", secret, err)
		}
	}
	if place := secrets.PlaceOf("field", int64(1), int64(4)); place != "1/4/field" { // as encrypted in existing databases
		t.Errorf("the place is %q", place)
	}
}
