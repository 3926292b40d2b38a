package people

import "time"

// LinkKind says what a one-time link is for.
type LinkKind string

// The kinds of links.
const (
	Invitation LinkKind = "invitation" // a new user chooses a password
	Access     LinkKind = "access"     // an existing user gets access to one more site
	Reset      LinkKind = "reset"      // somebody who has forgotten the password chooses another
	Address    LinkKind = "address"    // somebody proves their new e-mail address
	// Moved has no link: it tells the old address that the mails of an account go to another one.
	Moved LinkKind = "address_changed"
)

// How long links live, by the real clock, and how often one may ask for them.
const (
	InvitationLife = 7 * 24 * time.Hour
	ResetLife      = time.Hour
	// AsksOfName is how many mails a forgotten password gets in an hour. Whoever asks more often is not told.
	AsksOfName = 3
	// AsksOfAddress is how often one client may ask before it has to wait for an hour.
	AsksOfAddress = 20
	AskBatch      = 50
	AskedUsers    = 3 // with one e-mail address
	AskLife       = time.Hour
)

// Link is an open one-time link. Its secret is random; whoever has it may use the link once.
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

// LinkMail is a mail that has to go out with a link. It names the link by its hash, so that no secret lies in a mail that waits.
type LinkMail struct {
	Kind     LinkKind
	SiteID   int64 // 0: the user belongs to no site
	Hash     string
	Address  string // of the user
	Name     string
	Username string
	By       string // who invites, or has changed the address; "" for nobody, or the user
}
