package tokens

import (
	"net/netip"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
)

// APIToken gives access to one site, as the user who created it (section 2.1). Only a hash of its secret is kept.
type APIToken struct {
	SiteID     int64
	ID         int64
	UserID     int64
	Name       string
	SecretHash string
	Abilities  access.Abilities // the maximum of what it may do
	Networks   []netip.Prefix   // from which it may be used; empty: from anywhere
	LastUsedAt time.Time        // zero: not used yet
	ExpiresAt  time.Time        // zero: it does not expire
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// MaxTokens is the maximum number of API tokens of a site, including expired ones (section 8).
const MaxTokens = 2

// TokenFields are the fields of a request that makes an API token (section 4.1).
type TokenFields struct {
	Problems errs.Problems
	Name     *string
	Expires  *civil.Day // nil or civil.NoDay: it does not expire
	// Abilities limit what the token may do. Empty, or "*", means everything that its creator may do.
	Abilities *[]string
	// Addresses are addresses and networks, such as 203.0.113.0/24, from which it may be used. Nothing is anywhere.
	Addresses *[]string
}

// Check adds the problems of the fields to p. The day of expiry cannot be in the past.
func (f TokenFields) Check(now time.Time, p *errs.Problems) {
	check.Required(p, "name", f.Name)
	if f.Name != nil {
		check.Line(p, "name", *f.Name)
	}
	if f.Expires != nil && *f.Expires != civil.NoDay && *f.Expires < civil.DayOf(now) {
		p.Wrong("expires_at", "Must not be in the past.")
	}
}
