// Package links creates one-time links and lets people use them: invitations, password resets and new e-mail addresses. Links
// are sent by e-mail; without a mail server, the person who sends an invitation sees its link. The tables belong to people.
// Start reading at Links.
package links

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/notify/mail"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/leases"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// Rate limits for links.
const (
	// asksOfName is how many reset e-mails an account gets in an hour. Further requests are ignored silently.
	asksOfName = 3
	// asksOfAddress is how many requests a client may send in an hour.
	asksOfAddress = 20
	askBatch      = 50
	askedUsers    = 3 // with one e-mail address
)

// Links makes one-time links and lets people use them: invitations and forgotten passwords.
type Links struct {
	*people.Room
	mails    *mail.Mails
	sessions *sessions.Sessions // hashes passwords, in one queue with logins
}

// NewLinks makes the use cases.
func NewLinks(s *sessions.Sessions, mails *mail.Mails) *Links {
	return &Links{s.Room, mails, s}
}

// make creates a link for a user, ends older links of the same kind, and queues its e-mail if the user has an address.
func (l *Links) make(tx *store.Tx, user people.User, link people.Link, mail people.LinkMail) (secret string, err error) {
	if secret, err = secrets.NewSecret(l.Random); err != nil {
		return "", err
	}
	life := people.InvitationLife
	if link.Kind == people.Reset || link.Kind == people.Address {
		life = people.ResetLife
	}
	link.UserID, link.Hash, link.MadeAt, link.EndsAt = user.ID, secrets.HashSecret(secret), tx.Now, tx.Now.Add(life)
	if link.Sealed, err = l.Vault.Seal(secret, people.PlaceOfLink(link.Hash)); err != nil {
		return "", err
	}
	if err = people.EndLinksLike(tx, link); err == nil {
		err = people.InsertLink(tx, link)
	}
	if err != nil || user.Email == "" {
		return secret, err
	}
	mail.Kind, mail.Hash = link.Kind, link.Hash
	mail.Address, mail.Name, mail.Username = user.Email, user.DisplayName, user.Username
	return secret, l.mails.WriteTo(tx, mail)
}

// OpenLink is a link as shown to its owner.
type OpenLink struct {
	people.Link
	User people.User
	Site merchant.Site // of an invitation to one; else zero
}

// Names reports whether the user can choose a user name with the link.
func (l OpenLink) Names() bool { return l.Kind == people.Invitation || l.User.Open != "" }

// Chosen is the name that the user has after choosing one with the link; "" keeps it.
func (l OpenLink) Chosen(username string) string {
	if l.Names() && username != "" {
		return strings.ToLower(username)
	}
	return l.User.Username
}

// Look reads the open link with a secret. The error is SettingNotFound if it was used or has expired.
func (l *Links) Look(ctx context.Context, secret string) (found OpenLink, err error) {
	err = l.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		if found.Link, err = people.OpenLink(tx, secrets.HashSecret(secret)); err != nil {
			return noLink(err)
		}
		if found.User, err = people.UserByID(tx, found.UserID); err != nil || found.SiteID == 0 {
			return err
		}
		found.Site, err = merchants.Site(tx, found.SiteID)
		return err
	})
	return found, err
}

// Choose sets the password of the user of a link, and uses the link up. It ends all sessions and all other links of the user; the second
// factor stays. An invited user may choose another user name, and must if the name is taken; "" keeps it. Errors: those of Look, Invalid
// for the fields `username` and `password`, and those of a login if there are too many at once.
func (l *Links) Choose(ctx context.Context, secret, username, password, address string) error {
	found, err := l.Look(ctx, secret)
	if err != nil {
		return err
	}
	if found.Kind == people.Access || found.Kind == people.Address {
		return noLink(store.ErrNotFound)
	}
	user := found.User
	hash, err := l.hash(ctx, secret, password, address)
	if err != nil {
		return err
	}
	user.Username = found.Chosen(username)
	by := access.Actor{UserID: user.ID, Username: user.Username, DisplayName: user.DisplayName, Address: address}
	return l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		if err := people.UseLink(tx, found.Hash); err != nil {
			return noLink(err)
		}
		if found.Names() {
			if err := people.ChooseUsername(tx, user.ID, user.Username); err != nil {
				return err
			}
		}
		// Failed attempts with the old password must not delay the new one.
		if err := errors.Join(sessions.ChangePassword(tx, user.ID, hash), sessions.ForgetFailures(tx, user.Username, address)); err != nil {
			return people.UnknownUser(err)
		}
		if found.Kind == people.Reset { // only the e-mail contains it
			user.PasswordHash = hash
			if err := people.SetProven(tx, user, true); err != nil {
				return people.UnknownUser(err)
			}
		}
		shape := sessions.AuditedUser{Username: user.Username}
		return audit.Record(tx, by, "user.password_by_link", sessions.UserObject(user.ID), shape, shape)
	})
}

// hash hashes a password when its turn comes: one link can be submitted many times concurrently.
func (l *Links) hash(ctx context.Context, secret, password, address string) (string, error) {
	if err := secrets.CheckBounds(password); err != nil {
		return "", err
	}
	release, err := l.sessions.AwaitStranger(ctx, address)
	if err != nil {
		return "", err
	}
	defer release()
	if _, err := l.Look(ctx, secret); err != nil { // the link may have been used meanwhile
		return "", err
	}
	return l.Cost.HashPassword(password)
}

// Accept uses up a link of the kind Access. The errors are those of Look.
func (l *Links) Accept(ctx context.Context, secret string) error {
	return l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		link, err := people.OpenLink(tx, secrets.HashSecret(secret))
		if err == nil && link.Kind != people.Access {
			err = store.ErrNotFound
		}
		if err != nil {
			return noLink(err)
		}
		if err := people.UseLink(tx, link.Hash); err != nil {
			return noLink(err)
		}
		return people.AcceptInvitations(tx, link.UserID, link.SiteID)
	})
}

// Ask stores a request to reset the password of a user name or an e-mail address. It does not check whether the account
// exists: a job does (see Answer). So response and response time are the same for every name. A client that asks too
// often gets errs.TooMany.
func (l *Links) Ask(ctx context.Context, name, address string) error {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" {
		return errs.WrongField("name", "Enter your user name or e-mail address.")
	}
	if !utf8.ValidString(name) || utf8.RuneCountInString(name) > check.MaxText {
		return errs.WrongField("name", "Must be a user name or an e-mail address.")
	}
	ofName, ofAddress := "asked:"+name, "asks:"+sessions.AddressGroup(address)
	return l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		wait, err := sessions.CountAsk(tx, ofAddress, asksOfAddress)
		if err != nil {
			return err
		} else if wait > 0 {
			refused := errs.New(errs.TooMany, "Too many requests from your network. Try again in an hour.")
			refused.RetryAfter = wait
			return refused
		}
		if wait, err = sessions.CountAsk(tx, ofName, asksOfName); err != nil || wait > 0 {
			return err
		}
		return people.NoteAsked(tx, name, address)
	})
}

// Answer sends the requested password links, a bounded number in each call. A name without an account gets
// nothing. It returns more if there may be some left.
func (l *Links) Answer(ctx context.Context) (more bool, err error) {
	var names []string
	err = l.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		names, err = people.NamesAsked(tx, askBatch)
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
	asked, err := people.TakeAsked(tx, name)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	} else if err != nil || tx.Now.Sub(asked) > people.AskLife { // the job has not run for a long time: the request has expired
		return err
	}
	users, err := people.UsersAsked(tx, name, askedUsers)
	if err != nil {
		return err
	}
	for _, user := range users {
		mail := people.LinkMail{}
		if !user.Operator {
			memberships, err := people.MembershipsOf(tx, user.ID)
			if err != nil {
				return err
			}
			if len(memberships) == 0 { // the account has no access to anything
				continue
			}
			mail.SiteID = memberships[0].SiteID
		}
		if user.Email == "" { // there is no address to send it to
			continue
		}
		if _, err := l.make(tx, user, people.Link{Kind: people.Reset}, mail); err != nil {
			return err
		}
	}
	return nil
}

// Forget removes a bounded number of expired links. It returns more if there may be some left.
func (l *Links) Forget(ctx context.Context) (more bool, err error) {
	err = l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		n, err := people.ForgetLinks(tx, leases.ForgetAtOnce)
		more = n == leases.ForgetAtOnce
		return err
	})
	return more, err
}

func noLink(err error) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "This link has already been used or has expired.")
}
