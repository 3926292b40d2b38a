package identity

import (
	"context"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// Profile is what people may change of their own account.
type Profile struct{ Name, Email string }

// ChangeProfile sets the name of the user of a visit at once. Another e-mail address gets a link; it is that of the account when the link
// is opened (Confirm), so that nobody gets mails of the service whose address somebody has only typed. mailed: such a link was sent.
// Errors: Invalid about display_name and email, TooMany, and NotPossible with the reason no_server where no mails go out.
func (l *Links) ChangeProfile(ctx context.Context, v Visit, in Profile) (mailed bool, err error) {
	var problems errs.Problems
	checked := UserFields{Username: v.User.Username, Email: in.Email, DisplayName: in.Name}.Check(&problems)
	if in.Name = checked.DisplayName; in.Email == "" && in.Email != v.User.Email {
		problems.Missing("email")
	}
	if err := problems.Err(); err != nil {
		return false, err
	}
	err = l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		mailed = false
		user, err := UserByID(tx, v.User.ID)
		if err != nil {
			return unknownUser(err)
		}
		if in.Name != user.DisplayName {
			err := changeUser(tx, `UPDATE users SET display_name = $2, modified_at = $3 WHERE id = $1`, user.ID, in.Name, store.Micros(tx.Now))
			if err == nil {
				err = changedForTokensOf(tx, user.ID)
			}
			if err != nil {
				return unknownUser(err)
			}
		}
		was := auditedUser{Username: user.Username, DisplayName: user.DisplayName}
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
		return audit.Record(tx, audit.OfDeployment(v.Actor), "user.change", userObject(user.ID), was,
			auditedUser{Username: user.Username, DisplayName: in.Name})
	})
	return mailed, err
}

// proveAddress sends a link to the new address of a user.
func (l *Links) proveAddress(tx *store.Tx, user User, address string) error {
	if !l.sends() {
		return errs.NotPossibleBecause("no_server", "No mail server is set, so a new address cannot be proven. Ask the operator.")
	}
	wait, err := countAsk(tx, "proves:"+user.Username, AsksOfName)
	if err == nil && wait > 0 {
		refused := errs.New(errs.TooMany, "Too many reset links requested. Try again in an hour.")
		refused.RetryAfter, err = wait, refused
	}
	if err != nil {
		return err
	}
	mail := LinkMail{}
	if mail.SiteID, err = siteOfMails(tx, user); err != nil {
		return err
	}
	user.Email = address
	_, err = l.make(tx, user, Link{Kind: Address, address: address}, mail)
	return err
}

// siteOfMails is the site in whose name a user gets mails; 0 for none.
func siteOfMails(tx *store.Tx, user User) (int64, error) {
	if user.Operator {
		return 0, nil
	}
	memberships, err := membershipsOf(tx, user.ID)
	if err != nil || len(memberships) == 0 {
		return 0, err
	}
	return memberships[0].SiteID, nil
}

// SetAddress gives a user another e-mail address without a link, for one who no longer reads the old one. Only the program itself does:
// an operator could otherwise take over the account of another, and be two people. Links that went to the old address end, and it is
// told. Errors: Forbidden, Invalid and Missing about email, and SettingNotFound.
func (l *Links) SetAddress(ctx context.Context, actor access.Actor, userID int64, address string) error {
	if err := actor.Require(access.ManageUsers); err != nil {
		return err
	}
	if actor.UserID != 0 {
		return errs.New(errs.Forbidden, "Only the command line sets the address of somebody else.")
	}
	return l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		user, err := UserByID(tx, userID)
		if err != nil {
			return unknownUser(err)
		}
		var problems errs.Problems
		UserFields{Username: user.Username, Email: address}.Check(&problems)
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
		return audit.Record(tx, audit.OfDeployment(actor), "user.address", userObject(user.ID), auditedUser{Username: user.Username, Email: user.Email},
			auditedUser{Username: user.Username, Email: address})
	})
}

// move gives a user another address, ends all links that went to the old one, and tells the old one of it: who did not do it learns of
// it there. by is who did it, "" for the user.
func (l *Links) move(tx *store.Tx, user User, address, by string) error {
	err := changeUser(tx, `UPDATE users SET email = $2, proven = TRUE, modified_at = $3 WHERE id = $1`, user.ID, address, store.Micros(tx.Now))
	if err == nil {
		err = endPasswordLinks(tx, user.ID)
	}
	if err != nil || user.Email == "" || user.Email == address {
		return unknownUser(err)
	}
	siteID, err := siteOfMails(tx, user)
	if err != nil {
		return err
	}
	return l.mail(tx, LinkMail{Kind: Moved, SiteID: siteID, Address: user.Email, Name: user.DisplayName, Username: user.Username, By: by})
}

// Confirm uses up a link of the kind Address: its address is now that of the user, and proven. All other links of the user end, because
// they went to the old one, which is told. The errors are those of Look.
func (l *Links) Confirm(ctx context.Context, secret, client string) error {
	return l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		link, err := openLink(tx, secrets.HashSecret(secret))
		if err == nil && link.Kind != Address {
			err = store.ErrNotFound
		}
		if err == nil {
			err = useLink(tx, link.hash)
		}
		if err != nil {
			return noLink(err)
		}
		user, err := UserByID(tx, link.UserID)
		if err != nil {
			return unknownUser(err)
		}
		if err := l.move(tx, user, link.address, ""); err != nil {
			return err
		}
		by := access.Actor{UserID: user.ID, Username: user.Username, DisplayName: user.DisplayName, Address: client}
		return audit.Record(tx, by, "user.address_by_link", userObject(user.ID), auditedUser{Username: user.Username, Email: user.Email},
			auditedUser{Username: user.Username, Email: link.address})
	})
}
