package certificates_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/book/certificates"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// said is the part of a certificate that changes with the payments.
type said struct {
	state                  protection.CertificateState
	protected, unprotected int64
	until                  string
}

func wantSaid(t *testing.T, w *apptest.World, key string, want said) {
	t.Helper()
	got, err := w.App.Certificates.Show(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	until := ""
	if got.Until != civil.NoDay {
		until = got.Until.String()
	}
	if now := (said{got.State, got.Protected, got.Unprotected, until}); now != want {
		t.Errorf("it says %+v, not %+v", now, want)
	}
}

// TestACertificateFollowsThePayments: from no payment to the end of the last day of dispute.
func TestACertificateFollowsThePayments(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		channel := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b := w.Booking(channel, 90_000, "2024-09-14")
		key := keyOf(t, w, b.ID)
		wantSaid(t, w, key, said{protection.CertifiedUnprotected, 0, 0, ""})

		paid := w.Must(apptest.Report(payment.Purchase, b, 60_000))
		wantSaid(t, w, key, said{protection.CertifiedProtected, 60_000, 0, "2025-01-12"})
		transfer := apptest.Report(payment.Purchase, b, 10_000)
		transfer.Method, transfer.CardType = payment.BankTransfer, ""
		w.Must(transfer)
		wantSaid(t, w, key, said{protection.CertifiedProtected, 60_000, 10_000, "2025-01-12"})

		w.Must(apptest.Linked(payment.Refund, paid, b, 20_000))
		wantSaid(t, w, key, said{protection.CertifiedPartly, 40_000, 10_000, "2025-01-12"})
		w.Must(apptest.Linked(payment.Chargeback, paid, b, 15_000))
		wantSaid(t, w, key, said{protection.CertifiedChargeback, 25_000, 10_000, "2025-01-12"})
		w.Must(apptest.Linked(payment.ChargebackReversal, paid, b, 15_000))
		wantSaid(t, w, key, said{protection.CertifiedPartly, 40_000, 10_000, "2025-01-12"})

		w.Move(b, civil.Date(2024, time.October, 14))
		wantSaid(t, w, key, said{protection.CertifiedPartly, 40_000, 10_000, "2025-02-11"})
		w.At("2025-02-11")
		wantSaid(t, w, key, said{protection.CertifiedPartly, 40_000, 10_000, "2025-02-11"})
		w.At("2025-02-12")
		wantSaid(t, w, key, said{protection.CertifiedEnded, 0, 0, ""})
	})
}

// TestTheOtherStates: refunded, and not protected for two reasons. A draft channel does not protect.
func TestTheOtherStates(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	refunded := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 5_000, "2024-09-14")
	w.Must(apptest.Linked(payment.Refund, w.Must(apptest.Report(payment.Purchase, refunded, 5_000)), refunded, 5_000))
	wantSaid(t, w, keyOf(t, w, refunded.ID), said{protection.CertifiedRefunded, 0, 0, ""})
	draft := w.Booking(w.Channel(merchant.ModeDraft, "EUR"), 5_000, "2024-09-14")
	w.Must(apptest.Report(payment.Purchase, draft, 5_000))
	wantSaid(t, w, keyOf(t, w, draft.ID), said{protection.CertifiedUnprotected, 0, 5_000, ""})
}

// TestTheFirstDayCounts: with two payments of different schemes it shows the day until which the whole amount is
// protected, also for a booking with more payments than one batch.
func TestTheFirstDayCounts(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	w.App.Certificates.Allocations = 2
	b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 90_000, "2026-08-10")
	for _, card := range []string{"mastercard", "visa", "mastercard", "mastercard"} {
		payment := apptest.Report(payment.Purchase, b, 10_000)
		payment.CardType = card
		w.Must(payment)
	}
	// 540 days after the payment with Visa; 120 after the trip with the others.
	wantSaid(t, w, keyOf(t, w, b.ID), said{protection.CertifiedProtected, 40_000, 0, "2025-11-25"})
}

// TestWhatACertificateShows: the merchant, the reference and the languages. Everything in a sandbox is marked as a
// test.
func TestWhatACertificateShows(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 90_000, "2024-09-14")
	got, err := w.App.Certificates.Of(t.Context(), w.Actor, b.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Merchant != "Demo" || got.Reference != b.TrustID() || got.Language != "enGB" || !got.Test || got.Country != "PT" ||
		!got.At.Equal(apptest.Began) || len(got.Key) != 24 || !strings.HasPrefix(got.Key, "1-") {
		t.Errorf("%+v", got)
	}
}

func keyOf(t *testing.T, w *apptest.World, booking int64) string {
	t.Helper()
	found, err := w.App.Certificates.Of(t.Context(), w.Actor, booking)
	if err != nil {
		t.Fatal(err)
	}
	return found.Key
}

// TestALinkIsTheSameUntilItIsRevoked, for every caller, also concurrently. Only its hash and its encrypted text are
// stored.
func TestALinkIsTheSameUntilItIsRevoked(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 90_000, "2024-09-14")
		var keys [8]string
		var together sync.WaitGroup
		for i := range keys {
			together.Go(func() { keys[i] = keyOf(t, w, b.ID) })
		}
		together.Wait()
		for _, key := range keys {
			if key != keys[0] || key == "" {
				t.Fatalf("the keys %q", keys)
			}
		}
		reader := access.Actor{SiteID: w.Site.ID, UserID: 1, Role: access.ReadOnly}
		if err := w.App.Certificates.Revoke(t.Context(), reader, b.ID); !errs.Is(err, errs.Forbidden) {
			t.Errorf("a reader revokes: %v", err)
		}
		for range 2 {
			if err := w.App.Certificates.Revoke(t.Context(), w.Actor, b.ID); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := w.App.Certificates.Show(t.Context(), keys[0]); err != nil || got != (certificates.Certificate{Revoked: true}) {
			t.Errorf("a revoked link shows %+v, %v", got, err)
		}
		next := keyOf(t, w, b.ID)
		if next == keys[0] {
			t.Error("the new link is the old one")
		}
		wantSaid(t, w, next, said{protection.CertifiedUnprotected, 0, 0, ""})
		rows := dump(t, w)
		if strings.Contains(rows, next) || strings.Contains(rows, keys[0]) || strings.Count(rows, "|") != 2 {
			t.Errorf("the table has %s", rows)
		}
	})
}

// dump returns all texts of the table.
func dump(t *testing.T, w *apptest.World) (all string) {
	t.Helper()
	dbtest.Read(t, w.App.DB.Store, func(tx *store.Tx) error {
		return tx.Query(`SELECT key_hash, sealed_key FROM certificates`, nil, func(scan func(dest ...any) error) error {
			var hash, sealed string
			err := scan(&hash, &sealed)
			all += hash + " " + sealed + "|"
			return err
		})
	})
	return all
}

// TestKeysOfABookingAreBounded: however often a link is revoked.
func TestKeysOfABookingAreBounded(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 90_000, "2024-09-14")
	first := keyOf(t, w, b.ID)
	for range 21 {
		if err := w.App.Certificates.Revoke(t.Context(), w.Actor, b.ID); err != nil {
			t.Fatal(err)
		}
		keyOf(t, w, b.ID)
	}
	if rows := dump(t, w); strings.Count(rows, "|") != 20 {
		t.Errorf("%d keys are kept", strings.Count(rows, "|"))
	}
	if _, err := w.App.Certificates.Show(t.Context(), first); !errs.Is(err, errs.RecordNotFound) {
		t.Errorf("the first key: %v", err)
	}
}

// TestNoOthersCertificate: a booking of another site, an unknown booking, a deleted one, and made-up keys.
func TestNoOthersCertificate(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 90_000, "2024-09-14")
	key := keyOf(t, w, b.ID)
	for _, try := range []struct {
		actor   access.Actor
		booking int64
	}{{w.Actor, b.ID + 1}, {access.System(w.Site.ID + 1), b.ID}} {
		if _, err := w.App.Certificates.Of(t.Context(), try.actor, try.booking); !errs.Is(err, errs.RecordNotFound) {
			t.Errorf("booking %d for site %d: %v", try.booking, try.actor.SiteID, err)
		}
		if err := w.App.Certificates.Revoke(t.Context(), try.actor, try.booking); !errs.Is(err, errs.RecordNotFound) {
			t.Errorf("booking %d for site %d is revoked: %v", try.booking, try.actor.SiteID, err)
		}
	}
	if _, err := w.App.Certificates.Of(t.Context(), access.Actor{SiteID: w.Site.ID, Role: access.Modal}, b.ID); !errs.Is(err, errs.Forbidden) {
		t.Errorf("a session of the modal: %v", err)
	}
	for _, wrong := range []string{"", key[1:], key + "A", strings.Repeat("A", 22), strings.ToUpper(key), "'; --", strings.Repeat("x", 100_000)} {
		if _, err := w.App.Certificates.Show(t.Context(), wrong); !errs.Is(err, errs.RecordNotFound) {
			t.Errorf("the key %.40q: %v", wrong, err)
		}
	}
	if err := w.App.Bookings.Delete(t.Context(), w.Actor, b.ID, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := w.App.Certificates.Show(t.Context(), key); err != nil || !got.Revoked {
		t.Errorf("of a deleted booking: %+v, %v", got, err)
	}
}

// TestACertificateNeedsItsKeys: without the deployment's keys it cannot be shown again, and says so.
func TestACertificateNeedsItsKeys(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 90_000, "2024-09-14")
	key := keyOf(t, w, b.ID)
	w.With(func(cfg *app.Config) {
		cfg.Keys = func() (secrets.SealKeys, error) { return secrets.SealKeys{}, errors.New("gone") }
	})
	if _, err := w.App.Certificates.Of(t.Context(), w.Actor, b.ID); !errs.Is(err, errs.Unavailable) {
		t.Errorf("without keys: %v", err)
	}
	wantSaid(t, w, key, said{protection.CertifiedUnprotected, 0, 0, ""}) // a page needs none
}

// TestATravellersNote: it is taken while the merchant is insolvent, the last one counts, and those of others stay unknown.
func TestATravellersNote(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		channel := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b := w.Booking(channel, 90_000, "2024-09-14")
		w.Must(apptest.Report(payment.Purchase, b, 60_000))
		key := keyOf(t, w, b.ID)
		take := func(asked certificates.Asked, paidBack int64) error {
			return w.App.Certificates.TakeNote(t.Context(), key, certificates.Note{Asked: asked, PaidBack: paidBack})
		}
		if err := take(certificates.AskedBank, 0); !errs.Is(err, errs.ActionNotPossible) {
			t.Errorf("while the merchant is solvent: %v", err)
		}
		kind, trigger := insolvencies.Kinds[0], w.Now()
		made, err := w.App.Insolvencies.Report(t.Context(), w.Actor, insolvencies.NewReport{
			ChannelID: &channel.ID, Kind: &kind, TriggerAt: &trigger, Evidence: "Notice",
		})
		if err == nil {
			_, err = w.App.Insolvencies.Confirm(t.Context(), w.Actor, made.ID, "")
		}
		if err != nil {
			t.Fatal(err)
		}
		for range 25 {
			w.Advance(time.Minute)
			if err := errors.Join(take(certificates.AskedBank, 0), take(certificates.AskedInsurer, 12_000)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := w.App.Certificates.Show(t.Context(), key)
		if err != nil || got.Note != (certificates.Note{At: got.At, Asked: certificates.AskedInsurer, PaidBack: 12_000}) || !got.TakesNotes() {
			t.Errorf("the note is %+v at %s, %v", got.Note, got.At, err)
		}
		w.Advance(time.Minute)
		if err := take(certificates.AskedInsurer, 12_000); err != nil { // again: it stays that of the minute before
			t.Fatal(err)
		}
		if again, err := w.App.Certificates.Show(t.Context(), key); err != nil || again.Note != got.Note {
			t.Errorf("sent again: %+v, %v", again.Note, err)
		}
		var kept, last int64
		err = w.App.DB.Store.Read(t.Context(), w.Site.ID, func(tx *store.Tx) error {
			return tx.QueryRow(`SELECT COUNT(*), MAX(number) FROM traveller_notes WHERE site_id = $1`, []any{w.Site.ID}, &kept, &last)
		})
		if err != nil || kept != 20 || last != 50 {
			t.Errorf("%d of %d notes kept, %v", kept, last, err)
		}
		for _, wrong := range []error{take("a friend", 0), take(certificates.AskedBank, -1)} {
			if !errs.Is(wrong, errs.Invalid) {
				t.Errorf("a wrong note: %v", wrong)
			}
		}
		stranger := w.App.Certificates.TakeNote(t.Context(), key[:len(key)-1]+"x", certificates.Note{Asked: certificates.AskedBank})
		revoked := w.App.Certificates.Revoke(t.Context(), w.Actor, b.ID)
		if err := take(certificates.AskedNobody, 0); !errs.Is(stranger, errs.RecordNotFound) || revoked != nil || !errs.Is(err, errs.RecordNotFound) {
			t.Errorf("with an unknown key: %v; with a revoked one: %v, %v", stranger, revoked, err)
		}
	})
}
