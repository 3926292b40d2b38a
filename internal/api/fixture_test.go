package api_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"holdfast/internal/account/credentials"
	"holdfast/internal/account/people"
	"holdfast/internal/account/tokens"
	"holdfast/internal/api"
	"holdfast/internal/app"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/psp"
	"holdfast/internal/psp/sandbox"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"

	"github.com/pquerna/otp/totp"
)

// The parts of the fixture. Conversations refer to these users with @as.
const (
	password    = "correct horse battery"
	tokenSecret = "fixturesecretofthesitedemo"       // of API token 1, whose creator is admin
	otherSecret = "fixturesecretofthesiteother"      // of API token 2, on the site other
	totpSecret  = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP" // of the user careful
	recovery    = "aaaa-bbbb-cccc-dddd"              // a recovery code of the same
	baseURL     = "https://holdfast.example"
	sealKey     = "Zml4dHVyZSBrZXkgZml4dHVyZSBrZXkgZml4dHVyZSE=" // that encrypts channel secrets
)

var users = []struct {
	name string
	role access.Role
	site int64 // 0: of none
}{
	{"operator", access.Operator, 1},
	{"admin", access.MemberAdmin, 1},
	{"finance", access.Finance, 1},
	{"reader", access.ReadOnly, 1},
	{"careful", access.MemberAdmin, 1}, // with a second factor
	{"stranger", access.MemberAdmin, 2},
	{"leaver", access.MemberAdmin, 0}, // whose access was removed
	{"second", access.Operator, 1},    // approves requests of the other operator
}

// world is one deployment with clock, randomness and ids fixed.
type world struct {
	app     *app.App
	handler http.Handler
	clock   *clock
	chance  *chance
	uuids   int
	bank    *sandbox.Gateway     // the processor in the server-to-server profile
	watch   func(request func()) // runs each request; if nil, requests run directly
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// chance is a deterministic stream of bytes.
type chance struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

func (c *chance) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.source.Read(p)
}

func (c *chance) restart(seed uint64) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.source = rand.NewChaCha8(key)
}

// newWorld creates a deployment on an empty database and fills it with the fixture.
func newWorld(t testing.TB, address string, log io.Writer) *world {
	t.Helper()
	return newWorldOf(t, merchant.ProtectionOnlyProfile, address, log)
}

// newWorldOf is newWorld in a profile.
func newWorldOf(t testing.TB, profile merchant.Profile, address string, log io.Writer) *world {
	t.Helper()
	w := &world{clock: &clock{now: time.Date(2026, 3, 2, 10, 20, 30, 0, time.UTC)}, chance: &chance{}}
	w.chance.restart(1)
	db := dbtest.Open(t, address, w.clock.read)
	cfg := app.Config{
		Store: db, Clock: w.clock.read, Random: w.chance, Log: slog.New(slog.NewTextHandler(log, nil)),
		NewUUID: func() string {
			w.uuids++
			return fmt.Sprintf("00000000-0000-4000-8000-%012d", w.uuids)
		},
		// As cheap as possible: the hash is not tested here.
		Cost:          secrets.PasswordCost{MemoryKiB: 8, Iterations: 1, Parallelism: 1},
		ReservedPaths: []string{"auth"},
		Profile:       profile,
		Keys:          func() (secrets.SealKeys, error) { return secrets.ParseSealKeys(sealKey) },
		Processing:    payments.Settings{BaseURL: baseURL},
	}
	w.bank = sandbox.New(db, baseURL)
	cfg.Gateways = map[string]psp.Gateway{sandbox.Name: w.bank}
	w.app = app.New(cfg)
	t.Cleanup(w.app.Close)
	w.handler = api.New(w.app, api.Config{BaseURL: baseURL, FontDir: t.TempDir(), TestCards: testCards[:2]})
	w.fill(t)
	// From here on, random values do not depend on how many the fixture drew.
	w.chance.restart(2)
	w.uuids = 1000
	return w
}

// fill creates two sites with their people, tokens, channels and suppliers. Ids follow from the order.
func (w *world) fill(t testing.TB) {
	t.Helper()
	ctx := t.Context()
	for _, site := range []struct{ path, name string }{{"demo", "Demo Travel"}, {"other", "Other Travel"}} {
		currency := money.Currency("GBP")
		_, err := w.app.Sites.Create(ctx, access.System(0), merchant.SiteFields{
			Path: &site.path, Name: &site.name, Currency: &currency, Sandbox: site.path == "demo",
		})
		must(t, err)
	}
	for _, u := range users {
		actor := access.System(max(1, u.site))
		made, err := w.app.Accounts.CreateUser(ctx, actor, people.UserFields{
			Username: u.name, Email: u.name + "@demo.example", DisplayName: "The " + u.name, Password: password,
		}, u.role, false)
		must(t, err)
		if u.site == 0 {
			must(t, w.app.Accounts.RemoveMembership(ctx, actor, made.ID))
		}
	}
	must(t, w.app.DB.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		for _, fill := range []func(testing.TB, *store.Tx) error{fillTokens, w.fillTwoFactor, w.fillChannels, fillSuppliers} {
			if err := fill(t, tx); err != nil {
				return err
			}
		}
		return nil
	}))
	w.fillRates(t)
}

func fillTokens(_ testing.TB, tx *store.Tx) error {
	_, err := tokens.InsertToken(tx, tokens.APIToken{SiteID: 1, UserID: userID("admin"), Name: "Server", SecretHash: secrets.HashSecret(tokenSecret)})
	if err != nil {
		return err
	}
	_, err = tokens.InsertToken(tx, tokens.APIToken{SiteID: 2, UserID: userID("stranger"), Name: "Server", SecretHash: secrets.HashSecret(otherSecret)})
	return err
}

func (w *world) fillTwoFactor(_ testing.TB, tx *store.Tx) error {
	sealed, err := w.app.Vault.Seal(totpSecret, secrets.PlaceOf("two_factor", userID("careful")))
	if err != nil {
		return err
	}
	if err := people.BeginTwoFactor(tx, userID("careful"), sealed); err != nil {
		return err
	}
	return people.ConfirmTwoFactor(tx, userID("careful"), 1, []string{credentials.HashRecoveryCode(recovery)})
}

// fillChannels creates channels in addition to the test channels 1 and 2 that the sites have from the start. Open ones
// are protected in both profiles.
func (w *world) fillChannels(_ testing.TB, tx *store.Tx) error {
	open := merchant.ModeProtectionOnly
	if w.app.Config.Profile.Processes() {
		open = merchant.ModeLive
	}
	for i, c := range []merchant.Channel{
		{SiteID: 1, Name: "Draft", Mode: merchant.ModeDraft, Currency: "EUR"}, // 3
		{SiteID: 1, Name: "Europe", Mode: open, Currency: "EUR"},              // 4
		{SiteID: 1, Name: "Britain", Mode: open, Currency: "GBP"},             // 5
		{SiteID: 2, Name: "Elsewhere", Mode: open, Currency: "EUR"},           // 6
	} {
		c.UUID = fmt.Sprintf("00000000-0000-4000-8000-%012d", 100+i)
		c.Slug, c.ReceiptLabel = fmt.Sprintf("channel-%d", i+3), c.Name
		c.AccountType, c.ProtectionType = merchant.TypeProtected, merchant.ProtectionTypes[0]
		c.Language, c.StatementPeriod = check.DefaultLanguage, terms.StatementPeriods[0]
		if _, err := merchants.MakeChannel(w.app.Vault, tx, c, fmt.Sprintf("secretofchannel%d", i+3)); err != nil {
			return err
		}
	}
	return nil
}

func fillSuppliers(_ testing.TB, tx *store.Tx) error {
	for _, s := range []merchant.Supplier{
		{SiteID: 1, Name: "Aer Example", URL: "https://air.example", Category: "AIR", Country: "IE"},       // 1
		{SiteID: 1, Name: "Hotel Example", URL: "https://hotel.example", Category: "HOT", Country: "ES"},   // 2
		{SiteID: 1, Name: "Example Cruises", URL: "https://cruise.example", Category: "CRU", Country: ""},  // 3
		{SiteID: 2, Name: "Elsewhere Hotel", URL: "https://other.example", Category: "HOT", Country: "FR"}, // 4
	} {
		if _, err := merchants.InsertSupplier(tx, s); err != nil {
			return err
		}
	}
	return nil
}

// fillRates puts the fixings of the Friday before on file.
func (w *world) fillRates(t testing.TB) {
	t.Helper()
	var fixings []fx.Fixing
	for _, of := range []struct { // in this order, from which their ids follow
		currency money.Currency
		text     string
	}{{"GBP", "0.86"}, {"USD", "1.08"}, {"JPY", "170"}, {"KWD", "0.33"}} {
		rate, err := money.ParseRate(of.text)
		must(t, err)
		fixings = append(fixings, fx.Fixing{Provider: fx.ECB, Currency: of.currency, Day: civil.Date(2026, 2, 27), Rate: rate})
	}
	_, err := w.app.Rates.Add(t.Context(), access.System(0), fixings)
	must(t, err)
}

// userID is the id of a user of the fixture, or 0 if there is none with that name.
func userID(name string) int64 {
	for i, u := range users {
		if u.name == name {
			return int64(i + 1)
		}
	}
	return 0
}

// totp is the current second-factor code of the user careful.
func (w *world) totp(t *testing.T) string {
	t.Helper()
	code, err := totp.GenerateCode(totpSecret, w.clock.read())
	must(t, err)
	return code
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
