package identity

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/leases"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

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
	askBatch      = 50
	askedUsers    = 3 // with one e-mail address
	askLife       = time.Hour
)

// Link is an open one-time link. Its secret is random; whoever has it may use the link once.
type Link struct {
	UserID  int64
	Kind    LinkKind
	SiteID  int64 // of an invitation; 0: of no site
	MadeAt  time.Time
	EndsAt  time.Time
	hash    string
	sealed  string
	address string // the new one, of the kind Address
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

// Links makes one-time links and lets people use them: invitations and forgotten passwords.
type Links struct {
	*Room
	// mail queues a mail in the same write. The room of mails stands above this one.
	mail func(tx *store.Tx, m LinkMail) error
	// sends says whether mails go out. Where none do, whoever invites is shown the link.
	sends    func() bool
	sessions *Sessions // passwords wait to be hashed with those of logins
}

// NewLinks makes the use cases.
func NewLinks(s *Sessions, mail func(tx *store.Tx, m LinkMail) error, sends func() bool) *Links {
	return &Links{s.Room, mail, sends, s}
}

// make makes a link for a user, ends the older ones like it, and has it mailed if the user has an e-mail address.
func (l *Links) make(tx *store.Tx, user User, link Link, mail LinkMail) (secret string, err error) {
	if secret, err = secrets.NewSecret(l.Random); err != nil {
		return "", err
	}
	life := InvitationLife
	if link.Kind == Reset || link.Kind == Address {
		life = ResetLife
	}
	link.UserID, link.hash, link.MadeAt, link.EndsAt = user.ID, secrets.HashSecret(secret), tx.Now, tx.Now.Add(life)
	if link.sealed, err = l.Vault.Seal(secret, secrets.PlaceOf(sealedLink, link.hash)); err != nil {
		return "", err
	}
	if err = endLinksLike(tx, link); err == nil {
		err = insertLink(tx, link)
	}
	if err != nil || user.Email == "" {
		return secret, err
	}
	mail.Kind, mail.Hash = link.Kind, link.hash
	mail.Address, mail.Name, mail.Username = user.Email, user.DisplayName, user.Username
	return secret, l.mail(tx, mail)
}

// Secret is the secret of an open link with a hash, for the mail that has the link. It is "" where the link has ended.
func (l *Links) Secret(ctx context.Context, hash string) (secret string, err error) {
	var link Link
	err = l.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		link, err = openLink(tx, hash)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	return l.Vault.Open(link.sealed, secrets.PlaceOf(sealedLink, link.hash))
}

// OpenLink is a link as its owner sees it.
type OpenLink struct {
	Link
	User User
	Site merchant.Site // of an invitation to one; else zero
}

// NewAddress is the address that a link of the kind Address proves.
func (l Link) NewAddress() string { return l.address }

// Look reads the open link with a secret. The error is a fault of the kind SettingNotFound if it was used or has ended.
func (l *Links) Look(ctx context.Context, secret string) (found OpenLink, err error) {
	err = l.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		if found.Link, err = openLink(tx, secrets.HashSecret(secret)); err != nil {
			return noLink(err)
		}
		if found.User, err = UserByID(tx, found.UserID); err != nil || found.SiteID == 0 {
			return err
		}
		found.Site, err = merchants.Site(tx, found.SiteID)
		return err
	})
	return found, err
}

// Choose sets the password of the user of a link, and uses it up. It ends all sessions and all other links of the user; the
// second factor stays. The errors are those of Look, Invalid about the field `password`, and those of a login where too many come at once.
func (l *Links) Choose(ctx context.Context, secret, password, address string) error {
	found, err := l.Look(ctx, secret)
	if err != nil {
		return err
	}
	if found.Kind == Access || found.Kind == Address {
		return noLink(store.ErrNotFound)
	}
	user := found.User
	hash, err := l.hash(ctx, secret, password, address)
	if err != nil {
		return err
	}
	by := access.Actor{UserID: user.ID, Username: user.Username, DisplayName: user.DisplayName, Address: address}
	return l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		if err := useLink(tx, found.hash); err != nil {
			return noLink(err)
		}
		// Who has mistyped the old password need not wait with the new one.
		own := attempt{Login: Login{Username: user.Username, Address: address}}.own()
		if err := errors.Join(setPasswordHash(tx, user.ID, hash), ForgetFailedLogins(tx, []string{own})); err != nil {
			return unknownUser(err)
		}
		if found.Kind == Reset { // it is in the mail alone
			user.PasswordHash = hash
			if err := setProven(tx, user, true); err != nil {
				return unknownUser(err)
			}
		}
		shape := auditedUser{Username: user.Username}
		return audit.Record(tx, by, "user.password_by_link", userObject(user.ID), shape, shape)
	})
}

// hash hashes a password when it is its turn: one link can be sent many times at once.
func (l *Links) hash(ctx context.Context, secret, password, address string) (string, error) {
	if err := secrets.CheckBounds(password); err != nil {
		return "", err
	}
	release, err := await(ctx, l.sessions.hashing.strangers, addressGroup(address))
	if err != nil {
		return "", err
	}
	defer release()
	if _, err := l.Look(ctx, secret); err != nil { // somebody may have used the link meanwhile
		return "", err
	}
	return l.Cost.HashPassword(password)
}

// Accept uses up a link of the kind Access. The errors are those of Look.
func (l *Links) Accept(ctx context.Context, secret string) error {
	return l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		link, err := openLink(tx, secrets.HashSecret(secret))
		if err == nil && link.Kind != Access {
			err = store.ErrNotFound
		}
		if err != nil {
			return noLink(err)
		}
		return noLink(useLink(tx, link.hash))
	})
}

// Ask notes that somebody has forgotten the password of a user name or of an e-mail address. It does not look whether there is
// such an account: a job does that (see Answer). So answer and work are the same for every name. An address that asks too
// often gets errs.TooMany.
func (l *Links) Ask(ctx context.Context, name, address string) error {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" {
		return errs.WrongField("name", "Give your user name or your e-mail address.")
	}
	if !utf8.ValidString(name) || utf8.RuneCountInString(name) > check.MaxText {
		return errs.WrongField("name", "This is no user name and no e-mail address.")
	}
	ofName, ofAddress := "asked:"+name, "asks:"+addressGroup(address)
	return l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		wait, err := countAsk(tx, ofAddress, AsksOfAddress)
		if err != nil {
			return err
		} else if wait > 0 {
			refused := errs.New(errs.TooMany, "There were too many requests from your network. Try again in an hour.")
			refused.RetryAfter = wait
			return refused
		}
		if wait, err = countAsk(tx, ofName, AsksOfName); err != nil || wait > 0 {
			return err
		}
		return noteAsked(tx, name, address)
	})
}

// Answer sends links to those who have forgotten their passwords, a bounded number in each call. A name without an account gets
// nothing. It returns more if there may be some left.
func (l *Links) Answer(ctx context.Context) (more bool, err error) {
	var names []string
	err = l.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		names, err = namesAsked(tx, askBatch)
		return err
	})
	for _, name := range names {
		if err == nil {
			err = l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error { return l.answer(tx, name) })
		}
	}
	return len(names) == askBatch, err
}

func (l *Links) answer(tx *store.Tx, name string) error {
	asked, err := takeAsked(tx, name)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	} else if err != nil || tx.Now.Sub(asked) > askLife { // the job has not run for long: nobody waits any more
		return err
	}
	users, err := usersAsked(tx, name, askedUsers)
	if err != nil {
		return err
	}
	for _, user := range users {
		mail := LinkMail{}
		if !user.Operator {
			memberships, err := membershipsOf(tx, user.ID)
			if err != nil {
				return err
			}
			if len(memberships) == 0 { // there is nothing that the account could be used for
				continue
			}
			mail.SiteID = memberships[0].SiteID
		}
		if user.Email == "" { // nobody knows where to write to
			continue
		}
		if _, err := l.make(tx, user, Link{Kind: Reset}, mail); err != nil {
			return err
		}
	}
	return nil
}

// Forget removes a number of links that have ended. more: there may be some left.
func (l *Links) Forget(ctx context.Context) (more bool, err error) {
	err = l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		n, err := forgetLinks(tx, leases.ForgetAtOnce)
		more = n == leases.ForgetAtOnce
		return err
	})
	return more, err
}

func noLink(err error) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "This link was used already, or its time is over.")
}
