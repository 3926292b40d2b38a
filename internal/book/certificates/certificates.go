// Package certificates manages the pages where travellers see whether their booking is protected. It owns the
// tables certificates, the keys of these pages, and traveller_notes, the notes that travellers leave there if a merchant fails. A key is
// created when a booking's link is first requested, and can be revoked. Start reading at Certificates.Of and Certificates.Show.
package certificates

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Path is the path prefix of the pages, followed by a key.
const Path = "/certificate/"

// Link is the URL of a certificate, given the service's public URL.
func Link(base, key string) string { return base + Path + key }

// keyBytes is the randomness of a key: 128 bits.
const keyBytes = 16

// keyForm is the format of a key: see secrets.SiteKey.
var keyForm = regexp.MustCompile(`^[1-9][0-9]{0,18}-[A-Za-z0-9_-]{22}$`)

// keptKeys is how many keys are kept per booking. An older key is unknown, and its page returns 404.
const keptKeys = 20

// Certificates are the use cases of certificates.
type Certificates struct {
	*sites.DB
	Vault       *secrets.Vault
	Random      io.Reader // for the secrets of links
	Allocations int       // read per query
}

// sealedKey is the field with the encrypted key (see secrets.PlaceOf).
const sealedKey = "certificate"

// Register registers the use cases' encrypted fields.
func (c *Certificates) Register() *Certificates {
	c.Vault.Register(secrets.SealedColumn{
		Table: "certificates", Column: "sealed_key", Key: []string{"site_id", "booking_id", "number"}, Field: sealedKey,
	})
	return c
}

// Certificate is the content of a certificate at one moment. It has nothing that the traveller does not know, and above all
// no other person's data.
type Certificate struct {
	SiteID    int64
	Key       string // "" for pages, which know their URL
	CreatedAt time.Time
	At        time.Time // the moment it describes
	Revoked   bool      // if set, nothing else is

	BookingID   int64
	Reference   string // the merchant's, or the booking ID
	Start, End  civil.Day
	Country     string
	Language    string // of the booking, or else of the merchant
	Merchant    string // receipt_label, or else the site's name
	Site        string // name of the site
	Issuer      merchant.Party
	Currency    money.Currency
	State       protection.CertificateState
	Protected   int64
	Unprotected int64
	Until       civil.Day // civil.NoDay if nothing is protected
	Test        bool      // of a sandbox or a test merchant: nothing is real
	Insolvency  merchant.Insolvency
	Note        Note // the traveller's last one, while the merchant is insolvent
}

// Of returns the certificate of a booking of the actor's site, with its key. The first call, and the first after a
// revocation, creates a new key.
func (c *Certificates) Of(ctx context.Context, actor access.Actor, bookingID int64) (Certificate, error) {
	shown, err := c.with(ctx, actor, bookingID)
	if !errors.Is(err, errNoKey) {
		return shown, err
	}
	key, err := c.newKey(actor.SiteID)
	if err != nil {
		return Certificate{}, err
	}
	if err := c.WriteAs(ctx, actor, func(tx *store.Tx) error { return c.add(tx, actor.SiteID, bookingID, key) }); err != nil {
		return Certificate{}, err
	}
	// If another caller was first, use their key. A concurrent revocation makes this fail.
	return c.with(ctx, actor, bookingID)
}

// errNoKey is the error for a booking without a valid key.
var errNoKey = &errs.Error{
	Kind: errs.Unavailable, RetryAfter: time.Second, Message: "The certificate's link was revoked at the same time. Try again.",
}

// with returns the certificate of a booking that has a key, or errNoKey.
func (c *Certificates) with(ctx context.Context, actor access.Actor, bookingID int64) (Certificate, error) {
	var row stored
	shown, err := sites.Read(ctx, c.DB, actor, func(tx *store.Tx) (Certificate, error) {
		shown, err := c.certify(tx, actor.SiteID, bookingID)
		if err != nil {
			return shown, unknownBooking(err, bookingID)
		}
		if row, err = lastKey(tx, actor.SiteID, bookingID); errors.Is(err, store.ErrNotFound) || err == nil && row.revoked {
			return shown, errNoKey
		}
		return shown, err
	})
	if err != nil {
		return Certificate{}, err
	}
	shown.CreatedAt = row.createdAt
	shown.Key, err = c.Vault.Open(row.sealed, secrets.PlaceOf(sealedKey, actor.SiteID, bookingID, row.number))
	return shown, err
}

// newKey generates a key.
func (c *Certificates) newKey(siteID int64) (string, error) {
	var b [keyBytes]byte
	if _, err := io.ReadFull(c.Random, b[:]); err != nil {
		return "", err
	}
	return secrets.SiteKey(siteID, base64.RawURLEncoding.EncodeToString(b[:])), nil
}

// add stores a booking's key, unless it has a valid one.
func (c *Certificates) add(tx *store.Tx, siteID, bookingID int64, key string) error {
	last, err := lastKey(tx, siteID, bookingID)
	if err == nil && !last.revoked {
		return nil
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	row := stored{siteID: siteID, bookingID: bookingID, number: last.number + 1, hash: secrets.HashSecret(key), createdAt: tx.Now}
	if row.sealed, err = c.Vault.Seal(key, secrets.PlaceOf(sealedKey, siteID, bookingID, row.number)); err != nil {
		return err
	}
	if err := insertKey(tx, row); err != nil {
		return err
	}
	return forgetKeys(tx, siteID, bookingID, row.number-keptKeys)
}

// Revoke revokes the link of a booking's certificate: from then on, its page says that it is not valid. Without a valid
// link, nothing changes.
func (c *Certificates) Revoke(ctx context.Context, actor access.Actor, bookingID int64) error {
	if err := actor.Require(access.WriteBookings); err != nil {
		return err
	}
	err := idempotency.OnceGone(ctx, c.DB, actor, bookingID, func(tx *store.Tx) error {
		if _, err := bookings.Alone(tx, actor.SiteID, bookingID); err != nil {
			return err
		}
		revoked, err := revokeKeys(tx, actor.SiteID, bookingID)
		if err != nil || !revoked {
			return err
		}
		return audit.Record(tx, actor, "certificate.revoke", fmt.Sprintf("booking %d", bookingID), nil, struct{}{})
	})
	return unknownBooking(err, bookingID)
}

func unknownBooking(err error, id int64) error {
	return store.NotFoundAs(errs.RecordNotFound, err, "Booking %d not found.", id)
}

// Show returns the certificate with a key, to anyone with the key. For a revoked key, the Certificate says so. An unknown
// key costs one index lookup and returns RecordNotFound.
func (c *Certificates) Show(ctx context.Context, key string) (Certificate, error) {
	row, err := c.find(ctx, key)
	switch {
	case err != nil:
		return Certificate{}, err
	case row.revoked:
		return Certificate{Revoked: true}, nil
	}
	var shown Certificate
	err = c.ReadBy(ctx, sites.Clock{SiteID: row.siteID, Ahead: row.ahead}, func(tx *store.Tx) (err error) {
		shown, err = c.certify(tx, row.siteID, row.bookingID)
		return err
	})
	if errors.Is(err, store.ErrNotFound) { // the booking was deleted
		return Certificate{Revoked: true}, nil
	}
	shown.CreatedAt = row.createdAt
	return shown, err
}

// certify computes a certificate's content at the transaction's time.
func (c *Certificates) certify(tx *store.Tx, siteID, bookingID int64) (Certificate, error) {
	booking, err := bookings.Alone(tx, siteID, bookingID)
	if err != nil {
		return Certificate{}, err
	}
	site, err := merchants.Site(tx, siteID)
	if err != nil {
		return Certificate{}, err
	}
	channel, err := merchants.Channel(tx, siteID, booking.ChannelID)
	if err != nil {
		return Certificate{}, err
	}
	sums := protection.NewCertified(civil.DayOf(tx.Now))
	for after := int64(0); ; {
		ids, err := ledger.AllocationIDsOfBooking(tx, siteID, bookingID, after, tx.Now, c.Allocations)
		if err != nil {
			return Certificate{}, err
		}
		if len(ids) == 0 {
			break
		}
		list, err := ledger.HistoriesWithIDs(tx, siteID, ids, nil)
		if err != nil {
			return Certificate{}, err
		}
		for _, h := range list {
			sums.Add(h)
		}
		if after = ids[len(ids)-1]; len(ids) < c.Allocations {
			break
		}
	}
	var note Note
	if channel.Insolvency.InForce() {
		if note, err = lastNote(tx, siteID, bookingID); err != nil {
			return Certificate{}, err
		}
	}
	return Certificate{
		SiteID: siteID, At: tx.Now, BookingID: bookingID, Reference: cmp.Or(booking.Reference, booking.TrustID()),
		Start: booking.Start, End: booking.End, Country: booking.Country, Language: cmp.Or(booking.Language, channel.Language),
		Merchant: cmp.Or(channel.ReceiptLabel, site.Name), Site: site.Name, Issuer: site.Issuer, Currency: booking.Currency,
		State: sums.State(), Protected: sums.Protected, Unprotected: sums.Unprotected, Until: sums.Until,
		Test: site.Sandbox || channel.WasTest || sums.Simulated, Insolvency: channel.Insolvency, Note: note,
	}, nil
}
