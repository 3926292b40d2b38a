package links

import (
	"context"

	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/account/tokens"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// Profile has the fields of their own account that people may change.
type Profile struct{ Name, Email string }

// ChangeProfile changes the user's name immediately. A new e-mail address gets a link, and takes effect once the link is opened
// (Confirm), so that a mistyped address never receives the account's e-mails. mailed: such a link was sent.
// Errors: Invalid for display_name and email, TooMany, and NotPossible with the reason no_server without a mail server.
func (l *Links) ChangeProfile(ctx context.Context, v sessions.Visit, in Profile) (mailed bool, err error) {
	var problems errs.Problems
	checked := people.UserFields{Username: v.User.Username, Email: in.Email, DisplayName: in.Name}.Check(&problems)
	if in.Name = checked.DisplayName; in.Email == "" && in.Email != v.User.Email {
		problems.Missing("email")
	}
	if err := problems.Err(); err != nil {
		return false, err
	}
	err = l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		mailed = false
		user, err := people.UserByID(tx, v.User.ID)
		if err != nil {
			return people.UnknownUser(err)
		}
		if in.Name != user.DisplayName {
			err := people.Rename(tx, user.ID, in.Name)
			if err == nil {
				err = tokens.ChangedForTokensOf(tx, user.ID)
			}
			if err != nil {
				return people.UnknownUser(err)
			}
		}
		was := sessions.AuditedUser{Username: user.Username, DisplayName: user.DisplayName}
		user.DisplayName = in.Name
		if in.Email != user.Email {
			if err := l.proveAddress(tx, user, in.Email); err != nil {
				return err
			}
			mailed = true
		}
		if was.DisplayName == in.Name {
			return nil
		}
		return audit.Record(tx, audit.OfDeployment(v.Actor), "user.change", sessions.UserObject(user.ID), was,
			sessions.AuditedUser{Username: user.Username, DisplayName: in.Name})
	})
	return mailed, err
}

// proveAddress sends a link to the new address of a user.
func (l *Links) proveAddress(tx *store.Tx, user people.User, address string) error {
	if !l.mails.Sends() {
		return errs.NotPossibleBecause("no_server", "No mail server is configured, so a new address cannot be verified. Ask the operator.")
	}
	wait, err := sessions.CountAsk(tx, "proves:"+user.Username, asksOfName)
	if err == nil && wait > 0 {
		refused := errs.New(errs.TooMany, "Too many reset links requested. Try again in an hour.")
		refused.RetryAfter, err = wait, refused
	}
	if err != nil {
		return err
	}
	mail := people.LinkMail{}
	if mail.SiteID, err = siteOfMails(tx, user); err != nil {
		return err
	}
	user.Email = address
	_, err = l.make(tx, user, people.Link{Kind: people.Address, NewAddress: address}, mail)
	return err
}

// siteOfMails is the site that a user's e-mails are sent for; 0 for none.
func siteOfMails(tx *store.Tx, user people.User) (int64, error) {
	if user.Operator {
		return 0, nil
	}
	memberships, err := people.MembershipsOf(tx, user.ID)
	if err != nil || len(memberships) == 0 {
		return 0, err
	}
	return memberships[0].SiteID, nil
}

// SetAddress changes a user's e-mail address without a link, for users who have lost access to the old one. Only the command line does
// this: an operator could otherwise take over another operator's account, and approve their own changes. Links that were sent to the
// old address end, and it is notified. Errors: Forbidden, Invalid and Missing for email, and SettingNotFound.
func (l *Links) SetAddress(ctx context.Context, actor access.Actor, userID int64, address string) error {
	if err := actor.Require(access.ManageUsers); err != nil {
		return err
	}
	if actor.UserID != 0 {
		return errs.New(errs.Forbidden, "Only the command line can set the address of another person.")
	}
	return l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		user, err := people.UserByID(tx, userID)
		if err != nil {
			return people.UnknownUser(err)
		}
		var problems errs.Problems
		people.UserFields{Username: user.Username, Email: address}.Check(&problems)
		if address == "" {
			problems.Missing("email")
		}
		if err := problems.Err(); err != nil {
			return err
		}
		if address == user.Email {
			return nil
		}
		if err := l.move(tx, user, address, "The operator"); err != nil {
			return err
		}
		return audit.Record(tx, audit.OfDeployment(actor), "user.address", sessions.UserObject(user.ID), sessions.AuditedUser{Username: user.Username, Email: user.Email},
			sessions.AuditedUser{Username: user.Username, Email: address})
	})
}

// move changes a user's address, ends all links that were sent to the old one, and notifies the old one, in case the change was not
// theirs. by is who changed it, "" for the user.
func (l *Links) move(tx *store.Tx, user people.User, address, by string) error {
	err := people.SetAddress(tx, user.ID, address)
	if err == nil {
		err = people.EndPasswordLinks(tx, user.ID)
	}
	if err != nil || user.Email == "" || user.Email == address {
		return people.UnknownUser(err)
	}
	siteID, err := siteOfMails(tx, user)
	if err != nil {
		return err
	}
	return l.mails.WriteTo(tx, people.LinkMail{Kind: people.Moved, SiteID: siteID, Address: user.Email, Name: user.DisplayName, Username: user.Username, By: by})
}

// Confirm uses up a link of the kind Address: its address becomes the user's and is verified. All other links of the user end, because
// they were sent to the old address, which is notified. The errors are those of Look.
func (l *Links) Confirm(ctx context.Context, secret, client string) error {
	return l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		link, err := people.OpenLink(tx, secrets.HashSecret(secret))
		if err == nil && link.Kind != people.Address {
			err = store.ErrNotFound
		}
		if err == nil {
			err = people.UseLink(tx, link.Hash)
		}
		if err != nil {
			return noLink(err)
		}
		user, err := people.UserByID(tx, link.UserID)
		if err != nil {
			return people.UnknownUser(err)
		}
		if err := l.move(tx, user, link.NewAddress, ""); err != nil {
			return err
		}
		by := access.Actor{UserID: user.ID, Username: user.Username, DisplayName: user.DisplayName, Address: client}
		return audit.Record(tx, by, "user.address_by_link", sessions.UserObject(user.ID), sessions.AuditedUser{Username: user.Username, Email: user.Email},
			sessions.AuditedUser{Username: user.Username, Email: link.NewAddress})
	})
}
