package certificates

import (
	"context"
	"errors"
	"slices"
	"time"

	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Asked is where a traveller has claimed the money back after the merchant failed.
type Asked string

// The answers on the page.
const (
	AskedBank       Asked = "bank"
	AskedInsurer    Asked = "insurer"
	AskedProtection Asked = "protection" // a guarantee fund, a bond or another scheme
	AskedNobody     Asked = "nobody"
)

// Answers lists them in the order of the page.
var Answers = []Asked{AskedBank, AskedInsurer, AskedProtection, AskedNobody}

// keptNotes is how many notes are kept per booking.
const keptNotes = 20

// Note is a traveller's statement on the page of a booking whose merchant has failed. It is not verified: nothing is paid or rejected because
// of it alone.
type Note struct {
	At       time.Time // zero: none
	Asked    Asked
	PaidBack int64 // already returned to the traveller, in minor units of the booking's currency
}

// TakesNotes reports whether the traveller is asked: the merchant is insolvent, and money of the booking is or was protected.
func (c Certificate) TakesNotes() bool {
	return c.Insolvency.InForce() && (c.Protected > 0 || c.State == protection.CertifiedChargeback)
}

// TakeNote stores a traveller's note. Anyone with the key can leave one; the last one counts, and one that changes nothing is not
// stored again. An unknown or revoked key is RecordNotFound, a booking that TakesNotes denies ActionNotPossible.
func (c *Certificates) TakeNote(ctx context.Context, key string, n Note) error {
	var problems errs.Problems
	if !slices.Contains(Answers, n.Asked) {
		problems.Wrong("asked", "Choose one of the answers.")
	}
	if n.PaidBack < 0 {
		problems.Wrong("paid_back", "The amount must not be negative.")
	}
	if err := problems.Err(); err != nil {
		return err
	}
	row, err := c.find(ctx, key)
	if err != nil {
		return err
	}
	if row.revoked {
		return errs.New(errs.RecordNotFound, "Certificate not found.")
	}
	return c.WriteBy(ctx, sites.Clock{SiteID: row.siteID, Ahead: row.ahead}, func(tx *store.Tx) error {
		shown, err := c.certify(tx, row.siteID, row.bookingID)
		if err != nil {
			return unknownBooking(err, row.bookingID)
		}
		if !shown.TakesNotes() {
			return &errs.Error{
				Kind: errs.ActionNotPossible, State: string(shown.State), Reason: "merchant_not_insolvent",
				Message: "Notes are taken while the merchant is insolvent and money of the booking is protected.",
			}
		}
		if shown.Note.Asked == n.Asked && shown.Note.PaidBack == n.PaidBack && !shown.Note.At.IsZero() {
			return nil
		}
		number, err := insertNote(tx, row.siteID, row.bookingID, n)
		if err != nil {
			return err
		}
		return forgetNotes(tx, row.siteID, row.bookingID, number-keptNotes)
	})
}

// Elsewhere reports whether someone other than the bank may refund the traveller, or has paid back more than the refunds of the booking
// on record, in minor units of the booking's currency.
func (n Note) Elsewhere(refunded int64) bool {
	return n.PaidBack > refunded || n.Asked == AskedInsurer || n.Asked == AskedProtection
}

// find finds the booking of a key.
func (c *Certificates) find(ctx context.Context, key string) (row stored, err error) {
	unknown := errs.New(errs.RecordNotFound, "Certificate not found.")
	if !keyForm.MatchString(key) {
		return row, unknown
	}
	err = c.Store.Read(ctx, secrets.SiteOfKey(key), func(tx *store.Tx) (err error) {
		row, err = withKey(tx, secrets.SiteOfKey(key), secrets.HashSecret(key))
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return row, unknown
	}
	return row, err
}
