package mail

import (
	"context"
	"slices"
	"strings"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// operatorName is the sender of mails to people who belong to no site.
const operatorName = "holdfast"

// Sends reports whether e-mails are sent at all: whether a server is configured.
func (m *Mails) Sends() bool { return m.Transport != nil }

// WriteTo queues an e-mail with a one-time link, in the write that creates the link. Without a server it does nothing: the
// link is then shown to the person who invites. E-mails to people without a site, such as operators, are stored with the
// first site.
func (m *Mails) WriteTo(tx *store.Tx, in people.LinkMail) error {
	if !m.Sends() || checkAddress(in.Address) != "" {
		return nil
	}
	letter := Letter{
		Language: check.DefaultLanguage, Sender: operatorName, To: in.Address, Name: in.Name, On: day(civil.NoDay), Start: day(civil.NoDay),
		End: day(civil.NoDay), Until: day(civil.NoDay), Username: in.Username, By: in.By, Link: in.Hash,
	}
	place, err := placeOf(tx, in.SiteID)
	if err != nil || place == 0 {
		return err
	}
	if in.SiteID != 0 {
		site, err := siteOf(tx, in.SiteID)
		if err != nil {
			return err
		}
		letter.Sender = site.Name
	}
	_, err = insertMail(tx, Mail{
		SiteID: place, Number: 1, Kind: kindsOfLinks[in.Kind], Recipient: in.Address, State: Waiting, NextAt: sites.RealNow(tx), Letter: letter,
	})
	return err
}

var kindsOfLinks = map[people.LinkKind]Kind{people.Invitation: Invitation, people.Access: Access, people.Reset: Password,
	people.Address: AddressKind, people.Moved: AddressChanged}

// private are the kinds that only operators see in lists, because their recipients must not be visible to others on the
// site.
var private = []Kind{Invitation, Access, Password, AddressKind, AddressChanged, ReportKind, ProtectionAsked, InsolvencyReported}

// visible returns a filter that hides e-mails the actor may not see.
func visible(actor access.Actor) func(m Mail, err error) (Mail, error) {
	return func(m Mail, err error) (Mail, error) {
		if err == nil && slices.Contains(private, m.Kind) && !actor.Can(access.ManageUsers) {
			return Mail{}, store.ErrNotFound
		}
		return m, err
	}
}

// linkGone is the note on an e-mail whose link was used or expired before it could be sent.
const linkGone = "The link in this e-mail has already been used or has expired."

// secretText renders an e-mail as sent: with the one-time link, which is shown nowhere else. problem is why it can no
// longer be sent.
func (m *Mails) secretText(ctx context.Context, mail Mail) (made Message, problem string, err error) {
	if mail.Letter.Link == "" {
		if made, err = m.text(ctx, mail); err == nil && mail.FileID != 0 {
			err = m.Store.Read(ctx, mail.SiteID, func(tx *store.Tx) (err error) {
				made.File, err = fileOf(tx, mail.SiteID, mail.FileID)
				return err
			})
		}
		return made, "", err
	}
	if m.Addresses.Link == "" {
		return made, linkGone, nil
	}
	var secret string // looked up now, so that queued e-mails do not contain it
	err = m.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		secret, err = people.SecretOfLink(tx, m.Vault, mail.Letter.Link)
		return err
	})
	if err != nil || secret == "" {
		return made, linkGone, err
	}
	made, err = mail.Letter.write(mail.Kind, m.Addresses.Link+secret)
	return made, "", err
}

// act is an e-mail's call to action. Link is "" if the e-mail is only shown: a one-time link is only for its recipient.
type act struct{ Text, Link string }

// toPerson renders e-mails to users. They are in English, like the dashboard.
func (w *writer) toPerson(v *view, link string) {
	name, site := clean(w.Name, maxName), w.merchant()
	v.Greeting = "Hello " + name + ","
	switch w.kind {
	case Invitation:
		v.Subject = "You are invited to " + site
		v.Preheader = "Choose a user name and a password, and sign in."
		v.Paragraphs = []string{
			inviter(w.By) + " has given you access to the dashboard of " + site + ".",
			"Choose a user name, such as " + w.Username + ", and a password with this link. It works once, for 7 days.",
		}
		v.Act = &act{"Choose a password", link}
		v.After = []string{"If you did not expect this e-mail, ignore it. Nobody can use the access without the link."}
	case Access:
		v.Subject = "You have access to " + site
		v.Preheader = "Sign in with your existing account."
		v.Paragraphs = []string{
			inviter(w.By) + " has given you access to the dashboard of " + site + ".",
			"You already have an account. Sign in with the user name " + w.Username + " and your password.",
		}
		v.Act = &act{"Sign in", link}
	case AddressKind:
		v.Subject = "Confirm the e-mail address of " + w.Username
		v.Preheader = "The link works once, for one hour."
		v.Paragraphs = []string{
			"Somebody signed in as " + w.Username + " wants to receive e-mails at this address.",
			"If this was you, open this link. It works once, for one hour.",
		}
		v.Act = &act{"Confirm address", link}
		v.After = []string{"If it was not you, ignore this e-mail. Nothing will change."}
	case AddressChanged:
		v.Subject = "E-mail address changed for " + w.Username
		v.Preheader = "If it was not you, contact us immediately."
		v.Paragraphs = []string{
			"The e-mail address of your account " + w.Username + " was changed. E-mails for the account no longer come here.",
		}
		v.After = []string{"If it was not you, contact the person who gave you access immediately: someone else is using your account."}
		if w.By != "" {
			v.Preheader = "If you did not request this, contact us immediately."
			v.Paragraphs[0] = clean(w.By, maxName) + " has changed the e-mail address of your account " + w.Username + ". E-mails for the account no longer come here."
			v.After = []string{"If you did not request this, contact the person who gave you access immediately: someone else may be trying to use your account."}
		}
	default:
		v.Subject = "Reset the password of " + w.Username
		v.Preheader = "The link works once, for one hour."
		v.Paragraphs = []string{
			"Someone requested a new password for your account " + w.Username + ".",
			"If this was you, choose one with this link. It works once, for one hour.",
		}
		v.Act = &act{"Choose a new password", link}
		v.After = []string{"If it was not you, ignore this e-mail. Your password does not change."}
	}
	v.Title, v.Footer = v.Subject, site
}

func inviter(name string) string {
	if name = clean(name, maxName); strings.TrimSpace(name) == "" {
		return "Someone"
	}
	return name
}
