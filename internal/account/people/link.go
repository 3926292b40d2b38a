package people

import (
	"errors"
	"time"

	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// LinkKind is the purpose of a one-time link.
type LinkKind string

// The kinds of links.
const (
	Invitation LinkKind = "invitation" // a new user chooses a password
	Access     LinkKind = "access"     // an existing user gets access to one more site
	Reset      LinkKind = "reset"      // replaces a forgotten password
	Address    LinkKind = "address"    // verification of a new e-mail address
	// Moved has no link: it notifies the old address that an account's e-mails now go to another one.
	Moved LinkKind = "address_changed"
)

// How long links live, by the real clock, and how often one may ask for them.
const (
	InvitationLife = 7 * 24 * time.Hour
	ResetLife      = time.Hour
	AskLife        = time.Hour
)

// Link is an open one-time link. Its secret is random and can be used once.
type Link struct {
	UserID     int64
	Kind       LinkKind
	SiteID     int64 // of an invitation; 0: of no site
	MadeAt     time.Time
	EndsAt     time.Time
	Hash       string // of the secret
	Sealed     string // the secret
	NewAddress string // of the kind Address
}

// LinkMail is an e-mail that is due, with a link. It refers to the link by its hash, so that queued e-mails contain no
// secret.
type LinkMail struct {
	Kind     LinkKind
	SiteID   int64 // 0: the user belongs to no site
	Hash     string
	Address  string // of the user
	Name     string
	Username string
	By       string // the inviter, or the person who changed the address; "" for none, or the user
}

// SealedLink is the field of the secret of a link (see secrets.PlaceOf).
const SealedLink = "password_link"

// PlaceOfLink is the place for which the secret of a link with a hash is sealed.
func PlaceOfLink(hash string) string { return secrets.PlaceOf(SealedLink, hash) }

// SecretOfLink is the secret of an open link with a hash. It is "" where the link has ended.
func SecretOfLink(tx *store.Tx, vault *secrets.Vault, hash string) (string, error) {
	link, err := OpenLink(tx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return vault.Open(link.Sealed, PlaceOfLink(hash))
}
