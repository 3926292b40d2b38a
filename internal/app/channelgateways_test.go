package app_test

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
	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/psp"
	"holdfast/internal/store"
	"holdfast/internal/dbtest"
	"holdfast/internal/travel"
)

const (
	tokenizerKey = "3q8w-tokenizer-key-9f2c"
	liveKey      = "live_processor-key-51x7"
	testKey      = "test_processor-key-51x7"
)

// choosy is a processor that tells keys of its two environments apart, and wants all of a tokenizer's account or nothing.
type choosy struct{ *scripted }

func (choosy) Check(a psp.Account) error {
	if (a.Tokenizer.ID == "") != (a.Tokenizer.Key == "") {
		return &psp.Error{Source: psp.AtProcessor, Kind: psp.Refused, Message: "A tokenizer takes an id and a key."}
	}
	if strings.HasPrefix(a.Key, "live_") != a.Live {
		return &psp.Error{Source: psp.AtProcessor, Kind: psp.Refused, Message: "The key is of the other environment."}
	}
	return nil
}

// keyFile is a file of keys that a test changes.
type keyFile struct {
	mu    sync.Mutex
	lines []string
}

func (f *keyFile) read() (auth.SealKeys, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return auth.ParseSealKeys(strings.Join(f.lines, "\n"))
}

// add puts a new key first.
func (f *keyFile) add(t *testing.T, w *world) {
	t.Helper()
	line, err := auth.NewSealKey(w.core.Random)
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append([]string{line}, f.lines...)
}

// newGateways is a world of the server-to-server profile with a processor that is choosy about keys.
func newGateways(t *testing.T, w *world) *keyFile {
	t.Helper()
	w.core.Profile = travel.ServerToServerProfile
	w.core.Gateways = map[string]psp.Gateway{"choosy": choosy{newScripted()}}
	keys := &keyFile{}
	keys.add(t, w)
	w.core.Keys = keys.read
	return keys
}

// processingChannel is a channel that is set up to take payments.
func (w *world) processingChannel(name string, mode travel.AccountMode) travel.Channel {
	w.t.Helper()
	c, err := w.app.Channels.Create(w.t.Context(), w.actor, travel.ChannelFields{
		Name: &name, Currency: &w.site.Policy.Currency, Mode: &mode,
		Processing: travel.ProcessingFields{ServerToServer: new(true), TokenizerID: new("tok-account"), TokenizerKey: new(tokenizerKey)},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) setGateway(id int64, key string) error {
	_, err := w.app.Channels.SetGateway(w.t.Context(), w.actor, id, app.GatewayFields{
		Processor: "choosy", Credentials: app.Credentials{Key: key, WebhookSecret: "webhook-secret-of-it"},
	})
	return err
}

func fine(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wrongField expects a refusal about one field, and gives what it says.
func wrongField(t *testing.T, err error, field string) string {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.Invalid || f.Params[field] == "" {
		t.Fatalf("%v, want %s to be wrong", err, field)
	}
	return f.Params[field]
}

func TestSecretsOfChannelsAreSealedAtRest(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		newGateways(t, w)
		var log bytes.Buffer
		w.core.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c := w.processingChannel("Shop", travel.ModeLive)
		if err := w.setGateway(c.ID, testKey); err != nil { // in a sandbox no channel is live
			t.Fatal(err)
		}
		var said bytes.Buffer
		said.Write(log.Bytes())
		fine(t, w.core.Store.Read(t.Context(), func(tx *store.Tx) error {
			g, err := store.ChannelGateway(tx, w.site.ID, c.ID)
			said.WriteString(g.Credentials + g.TokenizerKey)
			if g.Credentials == "" || g.TokenizerKey == "" {
				t.Errorf("kept: %+v", g)
			}
			if err != nil {
				return err
			}
			records, err := store.AuditRecords(tx, w.site.ID, travel.AuditFilter{}, travel.Page{Number: 1, Size: 100, Offset: -1})
			for _, r := range records.Items {
				said.WriteString(r.Before + r.After)
			}
			if len(records.Items) == 0 || !strings.Contains(said.String(), "…9f2c") {
				t.Errorf("the audit does not tell of the key's end: %s", said.String())
			}
			return err
		}))
		if files, err := filepath.Glob(strings.TrimPrefix(w.url, "sqlite:") + "*"); err == nil && strings.HasPrefix(w.url, "sqlite:") {
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
		view, err := w.app.Channels.Gateway(t.Context(), w.actor, c.ID)
		fine(t, err)
		if !view.HasKey || !view.HasWebhookSecret || view.Live || view.Channel.Processor != "choosy" || view.Channel.TokenizerKey() != "…9f2c" {
			t.Errorf("shown: %+v", view)
		}
	})
}

func TestATokenizerIsSetWithTheProcessor(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		newGateways(t, w)
		c := w.processingChannel("One", travel.ModeTest)
		set := func(id, key *string) error {
			_, err := w.app.Channels.SetGateway(t.Context(), w.actor, c.ID, app.GatewayFields{
				Processor: "choosy", Credentials: app.Credentials{Key: testKey},
				Tokenizer: travel.ProcessingFields{TokenizerID: id, TokenizerKey: key},
			})
			return err
		}
		fine(t, set(nil, nil)) // the channel has one already
		wrongField(t, set(nil, new("")), "credentials")
		wrongField(t, set(new(""), nil), "credentials")
		fine(t, set(new(""), new("")))
		wrongField(t, set(new("tok-2"), nil), "credentials")
		fine(t, set(new("tok-2"), new("another-key-of-it")))
		view, err := w.app.Channels.Gateway(t.Context(), w.actor, c.ID)
		fine(t, err)
		if view.Channel.TokenizerID != "tok-2" || view.Channel.TokenizerKey() != "…f-it" {
			t.Errorf("%s, %s", view.Channel.TokenizerID, view.Channel.TokenizerKey())
		}
	})
}

func TestWhatIsSealedForOneChannelIsWorthNothingInAnother(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		newGateways(t, w)
		one, other := w.processingChannel("One", travel.ModeTest), w.processingChannel("Other", travel.ModeTest)
		fine(t, w.setGateway(one.ID, testKey))
		fine(t, w.setGateway(other.ID, testKey))
		fine(t, w.core.Store.Write(t.Context(), func(tx *store.Tx) error {
			g, err := store.ChannelGateway(tx, w.site.ID, one.ID)
			if err != nil {
				return err
			}
			return errors.Join(
				store.SetGatewayCredentials(tx, w.site.ID, other.ID, g.Credentials), store.SetTokenizerKey(tx, w.site.ID, other.ID, g.TokenizerKey))
		}))
		if _, err := w.app.Channels.Gateway(t.Context(), w.actor, one.ID); err != nil {
			t.Error(err)
		}
		_, err := w.app.Channels.Gateway(t.Context(), w.actor, other.ID)
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "belongs elsewhere") {
			t.Errorf("the other channel's: %v", err)
		}
	})
}

// While secrets are read all the time, the keys are rotated again and again: everybody reads them, at every moment.
func TestKeysAreRotatedWhileSecretsAreRead(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		keys := newGateways(t, w)
		const channels = 8
		var ids []int64
		for i := range channels {
			c := w.processingChannel("Shop "+string(rune('A'+i)), travel.ModeTest)
			fine(t, w.setGateway(c.ID, testKey))
			ids = append(ids, c.ID)
		}
		var over atomic.Bool
		var readers sync.WaitGroup
		for i := range 4 {
			readers.Go(func() {
				for n := i; !over.Load() || n < i+channels; n++ {
					if view, err := w.app.Channels.Gateway(t.Context(), w.actor, ids[n%channels]); err != nil || !view.HasKey {
						t.Errorf("read %+v, %v", view, err)
						return
					}
				}
			})
		}
		// One channel gets new credentials meanwhile, too.
		readers.Go(func() {
			for !over.Load() {
				if err := w.setGateway(ids[0], testKey); err != nil {
					t.Error(err)
					return
				}
			}
		})
		for range 5 {
			keys.add(t, w)
			if _, err := w.app.Secrets.SealAnew(t.Context(), w.actor); err != nil {
				t.Error(err)
			}
		}
		over.Store(true)
		readers.Wait()
		_, err := w.app.Secrets.SealAnew(t.Context(), w.actor)
		fine(t, err)
		ring, err := keys.read()
		fine(t, err)
		used, err := w.app.Secrets.SealingKeys(t.Context(), w.actor)
		fine(t, err)
		if len(used) != 1 || used[ring.IDs()[0]] != 2*channels {
			t.Errorf("sealed with %v, the first key is %s", used, ring.IDs()[0])
		}
		if n, err := w.app.Secrets.SealAnew(t.Context(), w.actor); n != 0 || err != nil {
			t.Errorf("once more: %d, %v", n, err)
		}
	})
}

func TestAWrongFileOfKeysIsToldFromAll(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		keys := newGateways(t, w)
		c := w.processingChannel("Shop", travel.ModeTest)
		fine(t, w.setGateway(c.ID, testKey))
		fine(t, app.CheckKeys(t.Context(), w.core))
		right, err := keys.read()
		fine(t, err)

		keys.lines = nil
		keys.add(t, w)
		_, err = w.app.Channels.Gateway(t.Context(), w.actor, c.ID)
		if !fault.Is(err, fault.Unavailable) || !errors.Is(err, auth.ErrUnknownSealKey) || !strings.Contains(err.Error(), "HOLDFAST_KEYS_FILE") {
			t.Errorf("the wrong file: %v", err)
		}
		err = app.CheckKeys(t.Context(), w.core)
		if err == nil || !strings.Contains(err.Error(), "HOLDFAST_KEYS_FILE") || !strings.Contains(err.Error(), right.IDs()[0]) {
			t.Errorf("at the start: %v", err)
		}
		if _, err := w.app.Secrets.SealAnew(t.Context(), w.actor); !errors.Is(err, auth.ErrUnknownSealKey) {
			t.Errorf("sealing anew: %v", err)
		}

		w.core.Keys = nil
		_, err = w.app.Channels.Change(t.Context(), w.actor, c.ID, travel.ChannelFields{
			Processing: travel.ProcessingFields{TokenizerKey: new("another-key-of-it")},
		})
		if said := wrongField(t, err, "tokenizer_api_key"); !strings.Contains(said, "HOLDFAST_KEYS_FILE") {
			t.Errorf("without a file: %s", said)
		}
		if said := wrongField(t, w.setGateway(c.ID, testKey), "credentials"); !strings.Contains(said, "HOLDFAST_KEYS_FILE") {
			t.Errorf("without a file: %s", said)
		}
		if err := app.CheckKeys(t.Context(), w.core); err == nil || !strings.Contains(err.Error(), "HOLDFAST_KEYS_FILE") {
			t.Errorf("at the start without a file: %v", err)
		}
	})
}

func TestCredentialsAreOfTheChannelsEnvironment(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		newGateways(t, w)
		sandboxed := w.processingChannel("Made up", travel.ModeLive)
		w.site = w.realSite()
		w.actor.SiteID = w.site.ID
		live, draft, test := w.processingChannel("Live", travel.ModeLive), w.processingChannel("Draft", travel.ModeDraft), w.processingChannel("Test", travel.ModeTest)
		for _, c := range []struct {
			id         int64
			right, not string
		}{{live.ID, liveKey, testKey}, {draft.ID, liveKey, testKey}, {test.ID, testKey, liveKey}} {
			if said := wrongField(t, w.setGateway(c.id, c.not), "credentials"); said != "The key is of the other environment." {
				t.Errorf("channel %d says %s", c.id, said)
			}
			if err := w.setGateway(c.id, c.right); err != nil {
				t.Errorf("channel %d: %v", c.id, err)
			}
		}
		w.actor.SiteID = sandboxed.SiteID
		wrongField(t, w.setGateway(sandboxed.ID, liveKey), "credentials") // nothing is live in a sandbox
		fine(t, w.setGateway(sandboxed.ID, testKey))

		_, err := w.app.Channels.SetGateway(t.Context(), w.actor, sandboxed.ID, app.GatewayFields{Processor: "nobody"})
		wrongField(t, err, "processor")
		admin := w.actor
		admin.Role = auth.MemberAdmin
		for _, try := range []func() error{
			func() error {
				_, err := w.app.Channels.SetGateway(t.Context(), admin, sandboxed.ID, app.GatewayFields{})
				return err
			},
			func() error { _, err := w.app.Channels.Gateway(t.Context(), admin, sandboxed.ID); return err },
			func() error { _, err := w.app.Channels.RotateSecret(t.Context(), admin, sandboxed.ID, 0); return err },
			func() error { _, err := w.app.Secrets.SealAnew(t.Context(), admin); return err },
			func() error { _, err := w.app.Secrets.SealingKeys(t.Context(), admin); return err },
		} {
			if err := try(); !fault.Is(err, fault.Forbidden) {
				t.Errorf("a customer: %v", err)
			}
		}
		_, err = w.app.Channels.SetGateway(t.Context(), w.actor, 4711, app.GatewayFields{})
		if !fault.Is(err, fault.UnknownTerm) {
			t.Errorf("an unknown channel: %v", err)
		}
		w.core.Profile = travel.ProtectionOnlyProfile
		wrongField(t, w.setGateway(sandboxed.ID, testKey), "processor")
	})
}

// realSite makes a site that is no sandbox.
func (w *world) realSite() (site travel.Site) {
	w.t.Helper()
	err := w.core.Store.Write(w.t.Context(), func(tx *store.Tx) (err error) {
		site, err = dbtest.InsertSite(tx, travel.Site{Path: "real", Name: "Real", Policy: travel.DefaultPolicy("GBP")})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return site
}

func TestAProcessorStaysWhileItOwesAnAnswer(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 10000, "2024-09-14")
		w.gateway.set(psp.Purchase, lostAfter)
		p := w.must(pay(travel.Purchase, b, 6000))
		if p.Status != travel.StatusIncomplete {
			t.Fatalf("a payment whose answer was lost is %s", p.Status)
		}
		_, err := w.app.Channels.SetGateway(t.Context(), w.actor, w.channel.ID, app.GatewayFields{})
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Reason != "payments_open" {
			t.Errorf("taken away: %v", err)
		}
		w.minute()
		if got := w.readTransaction(p.ID).Status; got != travel.StatusComplete {
			t.Fatalf("a minute later it is %s", got)
		}
		view, err := w.app.Channels.SetGateway(t.Context(), w.actor, w.channel.ID, app.GatewayFields{})
		if err != nil || view.HasKey || view.Channel.Processor != "" {
			t.Errorf("then taken away: %+v, %v", view, err)
		}
	})
}

func TestAnotherSecretOfAChannel(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		c := w.channel(travel.ModeTest, "GBP")
		paid := w.must(report(travel.Purchase, w.booking(c, 1000, "2024-09-14"), 1000))
		w.advance(time.Minute)
		if _, err := w.app.Channels.RotateSecret(t.Context(), w.actor, c.ID, c.Version+1); !fault.Is(err, fault.Precondition) {
			t.Errorf("of another version: %v", err)
		}
		changed, err := w.app.Channels.RotateSecret(t.Context(), w.actor, c.ID, c.Version)
		fine(t, err)
		read, err := w.app.Channels.Get(t.Context(), w.actor, c.ID)
		fine(t, err)
		if changed.Secret == c.Secret || changed.Secret == "" || read.Secret != changed.Secret || read.Version != c.Version+1 || !read.ModifiedAt.After(c.ModifiedAt) {
			t.Errorf("it was %+v, is %+v, and reads %+v", c, changed, read)
		}
		if now := w.readTransaction(paid.ID); now.ChannelSecret != changed.Secret {
			t.Error("a transaction is hashed with the secret before")
		}
		reader := w.actor
		reader.Role = auth.Finance
		if seen, err := w.app.Channels.Get(t.Context(), reader, c.ID); err != nil || seen.Secret != "" {
			t.Errorf("finance sees %q, %v", seen.Secret, err)
		}
	})
}

// What opens cover takes two people outside a sandbox, in this profile too, and no secret waits with it.
func TestAProposalToOpenCoverKeepsTheFieldsOfTheProfile(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		newGateways(t, w)
		w.site = w.realSite()
		w.actor.SiteID = w.site.ID
		c := w.processingChannel("Shop", travel.ModeLive)
		protected := travel.TypeProtected
		_, err := w.app.Channels.Change(t.Context(), w.actor, c.ID, travel.ChannelFields{
			AccountType: &protected, Processing: travel.ProcessingFields{TokenizerKey: new("another-key-of-it")},
		})
		wrongField(t, err, "tokenizer_api_key")
		fields := travel.ProcessingFields{
			MailFailures: new(true), ChargebackMail: new("d@shop.example"), TokenizerID: new("tok-2"), CardholderPresent: new(true),
			BeneficiaryID: new("BEN"), SettlementCurrency: new("USD"), PayoutMinimum: new(int64(7)), Descriptor: new("SHOP"),
			TokenizerKey: new("…9f2c"), // as an answer shows it
		}
		asked, err := w.app.Channels.Change(t.Context(), w.actor, c.ID, travel.ChannelFields{AccountType: &protected, Processing: fields})
		fine(t, err)
		if asked.Proposal == nil || asked.Proposal.State != travel.ProposalOpen || asked.AccountType != travel.TypeTrust {
			t.Fatalf("asked for: %+v", asked)
		}
		second := w.actor
		second.UserID, second.Username = 77, "second"
		_, err = w.app.Approvals.Approve(t.Context(), second, asked.Proposal.ID, "")
		fine(t, err)
		got, err := w.app.Channels.Get(t.Context(), w.actor, c.ID)
		fine(t, err)
		want := travel.Processing{
			CardholderPresent: true, MailFailures: true, ServerToServer: true, TokenizerID: "tok-2", TokenizerKeyEnd: "9f2c",
			BeneficiaryID: "BEN", SettlementCurrency: "USD", ChargebackMail: "d@shop.example", PayoutMinimum: 7, Descriptor: "SHOP",
		}
		if got.AccountType != protected || got.Processing != want || !got.Covered() {
			t.Errorf("approved: %+v", got)
		}
		// A channel that is trusted goes live without anybody's approval.
		if live := w.processingChannel("Trusted", travel.ModeLive); live.Proposal != nil || live.Mode != travel.ModeLive {
			t.Errorf("a trusted channel: %+v", live)
		}
	})
}

func TestADatabaseIsOfOneProfile(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.channel(travel.ModeDraft, "GBP")
		for _, profile := range []travel.Profile{travel.ProtectionOnlyProfile, travel.ServerToServerProfile} {
			w.core.Profile = profile
			fine(t, app.CheckProfile(t.Context(), w.core)) // no channel is of either yet
		}
		name, mode := "Live", travel.ModeLive
		_, err := w.app.Channels.Create(t.Context(), w.actor, travel.ChannelFields{Name: &name, Currency: &w.site.Policy.Currency, Mode: &mode})
		fine(t, err)
		fine(t, app.CheckProfile(t.Context(), w.core))
		w.core.Profile = travel.ProtectionOnlyProfile
		if err := app.CheckProfile(t.Context(), w.core); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "1 channels in mode live") {
			t.Errorf("in the other profile: %v", err)
		}
	})
}

func TestFeedsHaveTheMarginAndTheSitesFixings(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		margin, err := fx.ParseMargin("2.5")
		fine(t, err)
		w.core.ForexMargin = margin
		w.fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365", "USD": "1.0852"})
		w.fix("2024-05-20", map[money.Currency]string{"JPY": "169.78"}) // too old
		feeds, err := w.app.Rates.Feeds(t.Context(), w.actor, []money.Currency{"GBP", "EUR", "GBP", "JPY"})
		fine(t, err)
		if len(feeds) != 3 || len(feeds["GBP"]) != 2 || len(feeds["EUR"]) != 2 || len(feeds["JPY"]) != 0 {
			t.Fatalf("feeds: %+v", feeds)
		}
		// 1.0852 / 0.85365 · 1.025 = 1.30302817…
		if r := feeds["GBP"][1]; r.Currency != "USD" || r.Rate != "1.30302817" || r.Provider != fx.ECB || r.FixingID == 0 {
			t.Errorf("pounds in dollars: %+v", r)
		}
		if none, err := w.app.Rates.Feeds(t.Context(), w.actor, nil); err != nil || len(none) != 0 {
			t.Errorf("of nothing: %+v, %v", none, err)
		}
	})
}
