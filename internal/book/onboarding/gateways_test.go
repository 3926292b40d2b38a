package onboarding_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/onboarding"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/psp"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// Keys, of which no trace may be found.
const (
	tokenizerKey = "3q8w-tokenizer-key-9f2c"
	liveKey      = "live_processor-key-51x7"
	testKey      = "test_processor-key-51x7"
)

// choosy is a processor that distinguishes keys of its two environments, and requires a complete tokenizer account or
// none.
type choosy struct{ *apptest.Scripted }

func (choosy) Check(a psp.Account) error {
	if (a.Tokenizer.ID == "") != (a.Tokenizer.Key == "") {
		return &psp.Error{Source: psp.AtProcessor, Kind: psp.Refused, Message: "A tokenizer takes an id and a key."}
	}
	if strings.HasPrefix(a.Key, "live_") != a.Live {
		return &psp.Error{Source: psp.AtProcessor, Kind: psp.Refused, Message: "The key is of the other environment."}
	}
	return nil
}

// keyFile is a key file that a test changes.
type keyFile struct {
	mu    sync.Mutex
	lines []string
}

func (f *keyFile) read() (secrets.SealKeys, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return secrets.ParseSealKeys(strings.Join(f.lines, "\n"))
}

// add puts a new key first.
func (f *keyFile) add(t *testing.T, w *apptest.World) {
	t.Helper()
	line, err := secrets.NewSealKey(w.App.Config.Random)
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append([]string{line}, f.lines...)
}

// newGateways is a world of the server-to-server profile with a processor that is choosy about keys.
func newGateways(t *testing.T, w *apptest.World) *keyFile {
	t.Helper()
	w.With(func(cfg *app.Config) { cfg.Profile = merchant.ServerToServerProfile })
	w.With(func(cfg *app.Config) { cfg.Gateways = map[string]psp.Gateway{"choosy": choosy{apptest.NewScripted()}} })
	keys := &keyFile{lines: []string{apptest.KeyLine}}
	keys.add(t, w)
	w.With(func(cfg *app.Config) { cfg.Keys = keys.read })
	return keys
}

func fine(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wrongField expects an error about one field, and returns its message.
func wrongField(t *testing.T, err error, field string) string {
	t.Helper()
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Kind != errs.Invalid || f.Params[field] == "" {
		t.Fatalf("%v, want %s to be wrong", err, field)
	}
	return f.Params[field]
}

func TestSecretsOfChannelsAreSealedAtRest(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		newGateways(t, w)
		var log bytes.Buffer
		w.With(func(cfg *app.Config) {
			cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		c := processingChannel(t, w, "Shop", merchant.ModeLive)
		if err := setGateway(t, w, c.ID, testKey); err != nil { // in a sandbox no channel is live
			t.Fatal(err)
		}
		var said bytes.Buffer
		said.Write(log.Bytes())
		fine(t, w.App.DB.Store.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
			g, err := merchants.ChannelGateway(tx, w.Site.ID, c.ID)
			said.WriteString(g.Credentials + g.TokenizerKey)
			if g.Credentials == "" || g.TokenizerKey == "" {
				t.Errorf("kept: %+v", g)
			}
			if err != nil {
				return err
			}
			records, err := audit.Entries(tx, w.Site.ID, audit.Filter{}, store.Page{Number: 1, Size: 100, Offset: -1})
			for _, r := range records.Items {
				said.WriteString(r.Before + r.After)
			}
			if len(records.Items) == 0 || !strings.Contains(said.String(), "…9f2c") {
				t.Errorf("the audit does not tell of the key's end: %s", said.String())
			}
			return err
		}))
		if files, err := filepath.Glob(strings.TrimPrefix(w.URL, "sqlite:") + "*"); err == nil && strings.HasPrefix(w.URL, "sqlite:") {
			for _, file := range files {
				text, err := os.ReadFile(file)
				fine(t, err)
				said.Write(text)
			}
			if len(files) < 2 || !bytes.Contains(said.Bytes(), []byte("tok-account")) {
				t.Errorf("the files %v of the database do not hold what they should", files)
			}
		}
		for _, secret := range []string{tokenizerKey, testKey, "webhook-secret-of-it"} {
			if bytes.Contains(said.Bytes(), []byte(secret)) {
				t.Errorf("%s lies open", secret)
			}
		}
		view, err := w.App.Channels.Gateway(t.Context(), w.Actor, c.ID)
		fine(t, err)
		if !view.HasKey || !view.HasWebhookSecret || view.Live || view.Channel.Processor != "choosy" || view.Channel.TokenizerKey() != "…9f2c" {
			t.Errorf("shown: %+v", view)
		}
	})
}

func TestATokenizerIsSetWithTheProcessor(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		newGateways(t, w)
		c := processingChannel(t, w, "One", merchant.ModeTest)
		set := func(id, key *string) error {
			_, err := w.App.Channels.SetGateway(t.Context(), w.Actor, c.ID, onboarding.GatewayFields{
				Processor: "choosy", Credentials: merchants.Credentials{Key: testKey},
				Tokenizer: merchant.ProcessorFields{TokenizerID: id, TokenizerKey: key},
			})
			return err
		}
		fine(t, set(nil, nil)) // the channel has one already
		wrongField(t, set(nil, new("")), "credentials")
		wrongField(t, set(new(""), nil), "credentials")
		fine(t, set(new(""), new("")))
		wrongField(t, set(new("tok-2"), nil), "credentials")
		fine(t, set(new("tok-2"), new("another-key-of-it")))
		view, err := w.App.Channels.Gateway(t.Context(), w.Actor, c.ID)
		fine(t, err)
		if view.Channel.TokenizerID != "tok-2" || view.Channel.TokenizerKey() != "…f-it" {
			t.Errorf("%s, %s", view.Channel.TokenizerID, view.Channel.TokenizerKey())
		}
	})
}

func TestWhatIsSealedForOneChannelIsWorthNothingInAnother(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		newGateways(t, w)
		one, other := processingChannel(t, w, "One", merchant.ModeTest), processingChannel(t, w, "Other", merchant.ModeTest)
		fine(t, setGateway(t, w, one.ID, testKey))
		fine(t, setGateway(t, w, other.ID, testKey))
		fine(t, w.App.DB.Store.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			g, err := merchants.ChannelGateway(tx, w.Site.ID, one.ID)
			if err != nil {
				return err
			}
			return errors.Join(
				merchants.SetGatewayCredentials(tx, w.Site.ID, other.ID, g.Credentials), merchants.SetTokenizerKey(tx, w.Site.ID, other.ID, g.TokenizerKey))
		}))
		if _, err := w.App.Channels.Gateway(t.Context(), w.Actor, one.ID); err != nil {
			t.Error(err)
		}
		_, err := w.App.Channels.Gateway(t.Context(), w.Actor, other.ID)
		if !errs.Is(err, errs.Unavailable) || !strings.Contains(err.Error(), "belongs elsewhere") {
			t.Errorf("the other channel's: %v", err)
		}
	})
}

// While secrets are read all the time, the keys are rotated repeatedly: every read succeeds.
func TestKeysAreRotatedWhileSecretsAreRead(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		keys := newGateways(t, w)
		const channels = 8
		var ids []int64
		for i := range channels {
			c := processingChannel(t, w, "Shop "+string(rune('A'+i)), merchant.ModeTest)
			fine(t, setGateway(t, w, c.ID, testKey))
			ids = append(ids, c.ID)
		}
		var over atomic.Bool
		var readers sync.WaitGroup
		for i := range 4 {
			readers.Go(func() {
				for n := i; !over.Load() || n < i+channels; n++ {
					if view, err := w.App.Channels.Gateway(t.Context(), w.Actor, ids[n%channels]); err != nil || !view.HasKey {
						t.Errorf("read %+v, %v", view, err)
						return
					}
				}
			})
		}
		// One channel also gets new credentials meanwhile.
		readers.Go(func() {
			for !over.Load() {
				if err := setGateway(t, w, ids[0], testKey); err != nil {
					t.Error(err)
					return
				}
			}
		})
		for range 5 {
			keys.add(t, w)
			if _, err := w.App.Secrets.SealAnew(t.Context(), w.Actor); err != nil {
				t.Error(err)
			}
		}
		over.Store(true)
		readers.Wait()
		_, err := w.App.Secrets.SealAnew(t.Context(), w.Actor)
		fine(t, err)
		ring, err := keys.read()
		fine(t, err)
		used, err := w.App.Secrets.SealingKeys(t.Context(), w.Actor)
		fine(t, err)
		if len(used) != 1 || used[ring.IDs()[0]] != 3*channels {
			t.Errorf("sealed with %v, the first key is %s", used, ring.IDs()[0])
		}
		if n, err := w.App.Secrets.SealAnew(t.Context(), w.Actor); n != 0 || err != nil {
			t.Errorf("once more: %d, %v", n, err)
		}
	})
}

func TestAWrongKeyFileIsReported(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		keys := newGateways(t, w)
		c := processingChannel(t, w, "Shop", merchant.ModeTest)
		fine(t, setGateway(t, w, c.ID, testKey))
		fine(t, w.App.Secrets.Check(t.Context()))
		right, err := keys.read()
		fine(t, err)

		keys.lines = nil
		keys.add(t, w)
		_, err = w.App.Channels.Gateway(t.Context(), w.Actor, c.ID)
		if !errs.Is(err, errs.Unavailable) || !errors.Is(err, secrets.ErrUnknownSealKey) || !strings.Contains(err.Error(), "HOLDFAST_KEYS_FILE") {
			t.Errorf("the wrong file: %v", err)
		}
		err = w.App.Secrets.Check(t.Context())
		if err == nil || !strings.Contains(err.Error(), "HOLDFAST_KEYS_FILE") || !strings.Contains(err.Error(), right.IDs()[0]) {
			t.Errorf("at the start: %v", err)
		}
		if _, err := w.App.Secrets.SealAnew(t.Context(), w.Actor); !errors.Is(err, secrets.ErrUnknownSealKey) {
			t.Errorf("sealing anew: %v", err)
		}

		w.With(func(cfg *app.Config) { cfg.Keys = nil })
		_, err = w.App.Channels.Change(t.Context(), w.Actor, c.ID, merchant.ChannelFields{
			ProcessorFields: merchant.ProcessorFields{TokenizerKey: new("another-key-of-it")},
		})
		if said := wrongField(t, err, "tokenizer_api_key"); !strings.Contains(said, "HOLDFAST_KEYS_FILE") {
			t.Errorf("without a file: %s", said)
		}
		if said := wrongField(t, setGateway(t, w, c.ID, testKey), "credentials"); !strings.Contains(said, "HOLDFAST_KEYS_FILE") {
			t.Errorf("without a file: %s", said)
		}
		if err := w.App.Secrets.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "HOLDFAST_KEYS_FILE") {
			t.Errorf("at the start without a file: %v", err)
		}
	})
}

func TestCredentialsAreOfTheChannelsEnvironment(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		newGateways(t, w)
		sandboxed := processingChannel(t, w, "Made up", merchant.ModeLive)
		w.Site = realSite(t, w)
		w.Actor.SiteID = w.Site.ID
		live, draft, test := processingChannel(t, w, "Live", merchant.ModeLive), processingChannel(t, w, "Draft", merchant.ModeDraft), processingChannel(t, w, "Test", merchant.ModeTest)
		for _, c := range []struct {
			id         int64
			right, not string
		}{{live.ID, liveKey, testKey}, {draft.ID, liveKey, testKey}, {test.ID, testKey, liveKey}} {
			if said := wrongField(t, setGateway(t, w, c.id, c.not), "credentials"); said != "The key is of the other environment." {
				t.Errorf("channel %d says %s", c.id, said)
			}
			if err := setGateway(t, w, c.id, c.right); err != nil {
				t.Errorf("channel %d: %v", c.id, err)
			}
		}
		w.Actor.SiteID = sandboxed.SiteID
		wrongField(t, setGateway(t, w, sandboxed.ID, liveKey), "credentials") // nothing is live in a sandbox
		fine(t, setGateway(t, w, sandboxed.ID, testKey))

		_, err := w.App.Channels.SetGateway(t.Context(), w.Actor, sandboxed.ID, onboarding.GatewayFields{Processor: "nobody"})
		wrongField(t, err, "processor")
		admin := w.Actor
		admin.Role = access.MemberAdmin
		for _, try := range []func() error{
			func() error {
				_, err := w.App.Channels.SetGateway(t.Context(), admin, sandboxed.ID, onboarding.GatewayFields{})
				return err
			},
			func() error { _, err := w.App.Channels.Gateway(t.Context(), admin, sandboxed.ID); return err },
			func() error { _, err := w.App.Channels.RotateSecret(t.Context(), admin, sandboxed.ID, 0); return err },
			func() error { _, err := w.App.Secrets.SealAnew(t.Context(), admin); return err },
			func() error { _, err := w.App.Secrets.SealingKeys(t.Context(), admin); return err },
		} {
			if err := try(); !errs.Is(err, errs.Forbidden) {
				t.Errorf("a customer: %v", err)
			}
		}
		_, err = w.App.Channels.SetGateway(t.Context(), w.Actor, 4711, onboarding.GatewayFields{})
		if !errs.Is(err, errs.SettingNotFound) {
			t.Errorf("an unknown channel: %v", err)
		}
		w.With(func(cfg *app.Config) { cfg.Profile = merchant.ProtectionOnlyProfile })
		wrongField(t, setGateway(t, w, sandboxed.ID, testKey), "processor")
	})
}

func TestAProcessorStaysWhileItOwesAnAnswer(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 10000, "2024-09-14")
		w.Gateway.Set(psp.Purchase, apptest.LostAfter)
		p := w.Must(apptest.Pay(payment.Purchase, b, 6000))
		if p.Status != payment.StatusIncomplete {
			t.Fatalf("a payment whose answer was lost is %s", p.Status)
		}
		_, err := w.App.Channels.SetGateway(t.Context(), w.Actor, w.Channel.ID, onboarding.GatewayFields{})
		if f, ok := errors.AsType[*errs.Error](err); !ok || f.Reason != "payments_open" {
			t.Errorf("taken away: %v", err)
		}
		w.Minute()
		if got := w.ReadTransaction(p.ID).Status; got != payment.StatusComplete {
			t.Fatalf("a minute later it is %s", got)
		}
		view, err := w.App.Channels.SetGateway(t.Context(), w.Actor, w.Channel.ID, onboarding.GatewayFields{})
		if err != nil || view.HasKey || view.Channel.Processor != "" {
			t.Errorf("then taken away: %+v, %v", view, err)
		}
	})
}

func TestAnotherSecretOfAChannel(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeTest, "GBP")
		paid := w.Must(apptest.Report(payment.Purchase, w.Booking(c, 1000, "2024-09-14"), 1000))
		w.Advance(time.Minute)
		if _, err := w.App.Channels.RotateSecret(t.Context(), w.Actor, c.ID, c.Version+1); !errs.Is(err, errs.Precondition) {
			t.Errorf("of another version: %v", err)
		}
		changed, err := w.App.Channels.RotateSecret(t.Context(), w.Actor, c.ID, c.Version)
		fine(t, err)
		read, err := w.App.Channels.Get(t.Context(), w.Actor, c.ID)
		fine(t, err)
		secretOf := func(c merchant.Channel) string {
			secret, err := w.App.Channels.Secret(c)
			fine(t, err)
			return secret
		}
		if secretOf(changed) == secretOf(c) || secretOf(changed) == "" || secretOf(read) != secretOf(changed) || read.Version != c.Version+1 || !read.ModifiedAt.After(c.ModifiedAt) {
			t.Errorf("it was %+v, is %+v, and reads %+v", c, changed, read)
		}
		// A payment made now uses the cached channel.
		for _, now := range []payment.Transaction{w.ReadTransaction(paid.ID), w.Must(apptest.Report(payment.Purchase, w.Booking(c, 1000, "2024-09-14"), 1000))} {
			hash, err := w.App.Channels.HashOf(now)
			if want := secrets.TransactionHash(now.ID, string(now.Status), now.Total, secretOf(changed)); hash != want || err != nil {
				t.Errorf("a transaction is hashed with the secret before: %v", err)
			}
		}
		reader := w.Actor
		reader.Role = access.Finance
		if seen, err := w.App.Channels.Get(t.Context(), reader, c.ID); err != nil || secretOf(seen) != "" {
			t.Errorf("finance sees %q, %v", seen.SealedSecret, err)
		}
	})
}

// Outside a sandbox, opening cover takes two people, in this profile too, and the proposal has no secret.
func TestAProposalToOpenCoverKeepsTheFieldsOfTheProfile(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		newGateways(t, w)
		w.Site = realSite(t, w)
		w.Actor.SiteID = w.Site.ID
		c := processingChannel(t, w, "Shop", merchant.ModeLive)
		w.Actor.UserID, w.Actor.Username = 76, "first"
		protected := merchant.TypeProtected
		_, err := w.App.Channels.Change(t.Context(), w.Actor, c.ID, merchant.ChannelFields{
			AccountType: &protected, ProcessorFields: merchant.ProcessorFields{TokenizerKey: new("another-key-of-it")},
		})
		wrongField(t, err, "tokenizer_api_key")
		fields := merchant.ProcessorFields{
			MailFailures: new(true), ChargebackMail: new("d@shop.example"), TokenizerID: new("tok-2"), CardholderPresent: new(true),
			BeneficiaryID: new("BEN"), SettlementCurrency: new("USD"), PayoutMinimum: new(int64(7)), Descriptor: new("SHOP"),
			TokenizerKey: new("…9f2c"), // as an answer shows it
		}
		asked, err := w.App.Channels.Change(t.Context(), w.Actor, c.ID, merchant.ChannelFields{AccountType: &protected, ProcessorFields: fields})
		fine(t, err)
		if asked.Proposal == nil || asked.Proposal.State != proposal.Open || asked.AccountType != merchant.TypeTrust {
			t.Fatalf("asked for: %+v", asked)
		}
		second := w.Actor
		second.UserID, second.Username = 77, "second"
		_, err = w.App.Approvals.Approve(t.Context(), second, asked.Proposal.ID, "")
		fine(t, err)
		got, err := w.App.Channels.Get(t.Context(), w.Actor, c.ID)
		fine(t, err)
		want := merchant.ProcessorConfig{
			CardholderPresent: true, MailFailures: true, ServerToServer: true, TokenizerID: "tok-2", TokenizerKeyEnd: "9f2c",
			BeneficiaryID: "BEN", SettlementCurrency: "USD", ChargebackMail: "d@shop.example", PayoutMinimum: 7, Descriptor: "SHOP",
		}
		if got.AccountType != protected || got.ProcessorConfig != want || !got.Covered() {
			t.Errorf("approved: %+v", got)
		}
		// A trusted channel goes live without an approval.
		if live := processingChannel(t, w, "Trusted", merchant.ModeLive); live.Proposal != nil || live.Mode != merchant.ModeLive {
			t.Errorf("a trusted channel: %+v", live)
		}
	})
}

func TestADatabaseIsOfOneProfile(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Channel(merchant.ModeDraft, "GBP")
		for _, profile := range []merchant.Profile{merchant.ProtectionOnlyProfile, merchant.ServerToServerProfile} {
			w.With(func(cfg *app.Config) { cfg.Profile = profile })
			fine(t, merchants.CheckProfile(t.Context(), w.App.DB, w.App.Config.Profile)) // no channel is of either yet
		}
		name, mode := "Live", merchant.ModeLive
		_, err := w.App.Channels.Create(t.Context(), w.Actor, merchant.ChannelFields{Name: &name, Currency: &w.Site.Policy.Currency, Mode: &mode})
		fine(t, err)
		fine(t, merchants.CheckProfile(t.Context(), w.App.DB, w.App.Config.Profile))
		w.With(func(cfg *app.Config) { cfg.Profile = merchant.ProtectionOnlyProfile })
		if err := merchants.CheckProfile(t.Context(), w.App.DB, w.App.Config.Profile); !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), "merchants in mode live (1)") {
			t.Errorf("in the other profile: %v", err)
		}
	})
}

func TestFeedsHaveTheMarginAndTheSitesFixings(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		margin, err := fx.ParseMargin("2.5")
		fine(t, err)
		w.With(func(cfg *app.Config) { cfg.ForexMargin = margin })
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365", "USD": "1.0852"})
		w.Fix("2024-05-20", map[money.Currency]string{"JPY": "169.78"}) // too old
		feeds, err := w.App.Rates.Feeds(t.Context(), w.Actor, []money.Currency{"GBP", "EUR", "GBP", "JPY"})
		fine(t, err)
		if len(feeds) != 3 || len(feeds["GBP"]) != 2 || len(feeds["EUR"]) != 2 || len(feeds["JPY"]) != 0 {
			t.Fatalf("feeds: %+v", feeds)
		}
		// 1.0852 / 0.85365 · 1.025 = 1.30302817…
		if r := feeds["GBP"][1]; r.Currency != "USD" || r.Rate != "1.30302817" || r.Provider != fx.ECB || r.FixingID == 0 {
			t.Errorf("pounds in dollars: %+v", r)
		}
		if none, err := w.App.Rates.Feeds(t.Context(), w.Actor, nil); err != nil || len(none) != 0 {
			t.Errorf("of nothing: %+v, %v", none, err)
		}
	})
}

// processingChannel is a channel configured to take payments.
func processingChannel(t *testing.T, w *apptest.World, name string, mode merchant.AccountMode) merchant.Channel {
	t.Helper()
	c, err := w.App.Channels.Create(t.Context(), w.Actor, merchant.ChannelFields{
		Name: &name, Currency: &w.Site.Policy.Currency, Mode: &mode,
		ProcessorFields: merchant.ProcessorFields{ServerToServer: new(true), TokenizerID: new("tok-account"), TokenizerKey: new(tokenizerKey)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func setGateway(t *testing.T, w *apptest.World, id int64, key string) error {
	_, err := w.App.Channels.SetGateway(t.Context(), w.Actor, id, onboarding.GatewayFields{
		Processor: "choosy", Credentials: merchants.Credentials{Key: key, WebhookSecret: "webhook-secret-of-it"},
	})
	return err
}

// realSite creates a site that is not a sandbox.
func realSite(t *testing.T, w *apptest.World) (site merchant.Site) {
	t.Helper()
	err := w.App.DB.Store.Write(t.Context(), store.Deployment, func(tx *store.Tx) (err error) {
		site, err = dbtest.InsertSite(tx, merchant.Site{Path: "real", Name: "Real", Policy: terms.DefaultPolicy("GBP")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return site
}
