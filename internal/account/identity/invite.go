package identity

import (
	"context"
	"errors"
	"strings"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// Invite gives somebody access to the actor's site, or with the role operator to everything, and makes a one-time link for them.
// The link is mailed in the same write; secret is what it ends with (see Links.Choose).
//
// A new user chooses a password with it. A user of another site is known by user name and e-mail address together, if the address is
// proven: they get access at once, and a link that only leads to signing in. So whoever invites learns nothing about them, can set
// nobody's password, and lets in nobody whom another site has made up. Of the fields, Password is ignored.
func (l *Links) Invite(
	ctx context.Context, actor access.Actor, in UserFields, role access.Role, mayPayOut bool,
) (user User, secret string, err error) {
	if err := actor.Require(access.ManageMembers); err != nil {
		return user, "", err
	}
	problems := in.Problems.Clone()
	if in.Email == "" {
		problems.Wrong("email", "is needed")
	}
	in = in.Check(&problems)
	noteFault(&problems, mayGive(actor, role))
	if role != access.Operator && actor.SiteID == 0 {
		problems.Wrong("role", "On no site there are operators alone.")
	}
	if err := problems.Err(); err != nil {
		return user, "", err
	}
	err = l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		kind, by := Invitation, actor
		if role == access.Operator {
			by = audit.OfDeployment(actor)
		}
		if user, kind, err = l.invitee(tx, by, in, role); err != nil {
			return err
		}
		if role != access.Operator {
			err = SetMembership(tx, Membership{SiteID: by.SiteID, UserID: user.ID, Role: role, CanSignOffPayout: mayPayOut})
			if err != nil {
				return err
			}
		}
		secret, err = l.make(tx, user, Link{Kind: kind, SiteID: by.SiteID}, LinkMail{SiteID: by.SiteID, By: nameOf(actor)})
		if err != nil {
			return err
		}
		return audit.Record(tx, by, "user.invite", userObject(user.ID), nil, auditedUser{
			Username: user.Username, Email: in.Email, Role: string(role), CanSignOffPayout: mayPayOut,
		})
	})
	return user, secret, err
}

// invitee finds or makes the user of an invitation, and says which kind of link they need.
func (l *Links) invitee(tx *store.Tx, by access.Actor, in UserFields, role access.Role) (User, LinkKind, error) {
	fresh := User{
		Username: in.Username, Email: in.Email, DisplayName: in.DisplayName, PasswordHash: l.Cost.Decoy(), Operator: role == access.Operator,
		Proven: l.proves(by),
	}
	user, err := UserNamed(tx, in.Username)
	if errors.Is(err, store.ErrNotFound) {
		user, err = InsertUser(tx, fresh)
		return user, Invitation, err
	} else if err != nil {
		return user, "", err
	}
	members, err := membershipsOf(tx, user.ID)
	if err != nil {
		return user, "", err
	}
	if secrets.NoPassword(user.PasswordHash) && len(members) == 0 && !user.Operator { // they never came, and are expected nowhere
		fresh.ID = user.ID
		// What went to another address must not open the account of this one.
		return fresh, Invitation, errors.Join(endPasswordLinks(tx, user.ID), reuseUser(tx, fresh))
	}
	for _, m := range members {
		if m.SiteID == by.SiteID && role != access.Operator {
			return user, "", errs.WrongField("username", "This user has access already.")
		}
	}
	if role == access.Operator || !strings.EqualFold(user.Email, in.Email) || !user.Proven {
		return user, "", errs.WrongField("username", "This user name is taken.")
	}
	return user, Access, nil
}

// proves says whether the link of an invitation opens an account for the right person alone: it is mailed, and whoever invites does not
// see it. The operator sees it, and answers for whom they give it to.
func (l *Links) proves(by access.Actor) bool { return l.sends() || by.Can(access.ManageUsers) }

// InviteAgain makes a new link for somebody who was invited to the actor's site and has no password yet. The links before it end.
// The error is NotPossible for whoever has a password.
func (l *Links) InviteAgain(ctx context.Context, actor access.Actor, userID int64) (user User, secret string, err error) {
	if err := actor.Require(access.ManageMembers); err != nil {
		return user, "", err
	}
	err = l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		user, err = UserByID(tx, userID)
		if err != nil {
			return unknownUser(err)
		}
		kind, by := Invitation, actor
		if user.Operator {
			by = audit.OfDeployment(actor)
			if err := actor.Require(access.ManageUsers); err != nil {
				return err
			}
		} else if kind, err = l.kindAgain(tx, actor.SiteID, user); err != nil {
			return err
		}
		if !secrets.NoPassword(user.PasswordHash) {
			return errs.NotPossibleBecause("has_password", "This person already has a password. They can reset it on the sign-in page.")
		}
		secret, err = l.make(tx, user, Link{Kind: kind, SiteID: by.SiteID}, LinkMail{SiteID: by.SiteID, By: nameOf(actor)})
		if err == nil && kind == Invitation { // the links before this one have ended: this one opens the account
			err = unknownUser(setProven(tx, user, l.proves(actor)))
		}
		if err != nil {
			return err
		}
		return audit.Record(tx, by, "user.invite", userObject(user.ID), nil, auditedUser{Username: user.Username, Email: user.Email})
	})
	return user, secret, err
}

// kindAgain says which link a user gets who was invited to a site. Who was invited to another site, too, chooses the password
// with the link of that one: otherwise the people of one site could take over an account of another.
func (l *Links) kindAgain(tx *store.Tx, siteID int64, user User) (LinkKind, error) {
	members, err := membershipsOf(tx, user.ID)
	if err != nil {
		return "", err
	}
	kind, here := Invitation, false
	for _, m := range members {
		if m.SiteID != siteID {
			kind = Access
		}
		here = here || m.SiteID == siteID
	}
	if !here {
		return "", unknownUser(store.ErrNotFound)
	}
	return kind, nil
}

func nameOf(actor access.Actor) string {
	if actor.DisplayName != "" {
		return actor.DisplayName
	}
	return actor.Username
}

// mayGive says whether an actor may give somebody a role. Operators are made by operators alone.
func mayGive(actor access.Actor, role access.Role) error {
	if _, err := access.ParseRole(string(role)); err != nil {
		return err
	}
	if role == access.Operator && !actor.Can(access.ManageUsers) {
		return errs.WrongField("role", "must be one of %s, %s, %s", access.ReadOnly, access.Finance, access.MemberAdmin)
	}
	return nil
}

// mayManage guards the access of a user to the actor's site: the operator may give and take any. A member_admin may change that of the
// site's own people, and never that of the operator's.
func mayManage(tx *store.Tx, actor access.Actor, user User, before any) error {
	if actor.Can(access.ManageUsers) {
		return nil
	}
	if before == nil {
		return unknownUser(store.ErrNotFound)
	}
	if user.Operator {
		return errs.New(errs.Forbidden, "This person works for the operator of the service, who alone can change that.")
	}
	return lockAdmins(tx, actor.SiteID)
}

// leavesAdmin refuses a change by a site's own people after which nobody could manage the site. mayManage comes before the change.
func leavesAdmin(tx *store.Tx, actor access.Actor) error {
	if actor.Can(access.ManageUsers) {
		return nil
	}
	n, err := countAdmins(tx, actor.SiteID)
	if err == nil && n == 0 {
		return errs.NotPossibleBecause("last_admin", "This is the last person who manages the site. Give this role to somebody else first.")
	}
	return err
}
