package links

import (
	"context"
	"errors"
	"slices"
	"strings"

	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/account/tokens"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// Invite gives a person access to the actor's site (or, with the role operator, to everything) and creates a one-time link for them. The
// link is queued as an e-mail in the same write; secret is its last part (see Links.Choose).
//
// A new user chooses a password with the link. A user of another site is recognised by user name and e-mail address together, if the
// address is verified: they get access at once, and a link that only leads to the sign-in page. If the name is taken, the new user chooses
// another one, and only operators are notified. So inviters learn nothing about other sites, cannot set anyone's password, and cannot let in a
// user whom another site has made up. Password is ignored.
func (l *Links) Invite(
	ctx context.Context, actor access.Actor, in people.UserFields, role access.Role, mayPayOut bool,
) (user people.User, secret string, err error) {
	if err := actor.Require(access.ManageMembers); err != nil {
		return user, "", err
	}
	problems := in.Problems.Clone()
	if in.Email == "" {
		problems.Wrong("email", "is needed")
	}
	in = in.Check(&problems)
	sessions.NoteFault(&problems, sessions.MayGive(actor, role))
	if role != access.Operator && actor.SiteID == 0 {
		problems.Wrong("role", "Without a site, the role must be operator.")
	}
	if err := problems.Err(); err != nil {
		return user, "", err
	}
	err = l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		kind, by := people.Invitation, actor
		if role == access.Operator {
			by = audit.OfDeployment(actor)
		}
		if user, kind, err = l.invitee(tx, by, in, role); err != nil {
			return err
		}
		if role != access.Operator {
			err = people.SetMembership(tx, people.Membership{SiteID: by.SiteID, UserID: user.ID, Role: role, CanSignOffPayout: mayPayOut})
			if err != nil {
				return err
			}
		}
		secret, err = l.make(tx, user, people.Link{Kind: kind, SiteID: by.SiteID}, people.LinkMail{SiteID: by.SiteID, By: nameOf(actor)})
		if err != nil {
			return err
		}
		return audit.Record(tx, by, "user.invite", sessions.UserObject(user.ID), nil, sessions.AuditedUser{
			Username: user.Username, Email: in.Email, Role: string(role), CanSignOffPayout: mayPayOut,
		})
	})
	return user, secret, err
}

// invitee finds or creates the user of an invitation, and returns which kind of link they need.
func (l *Links) invitee(tx *store.Tx, by access.Actor, in people.UserFields, role access.Role) (people.User, people.LinkKind, error) {
	fresh := people.User{
		Username: in.Username, Email: in.Email, DisplayName: in.DisplayName, PasswordHash: l.Cost.Decoy(), Operator: role == access.Operator,
		Proven: l.proves(by),
	}
	user, err := people.UserNamed(tx, in.Username)
	if errors.Is(err, store.ErrNotFound) {
		user, err = people.InsertUser(tx, fresh)
		return user, people.Invitation, err
	} else if err != nil {
		return user, "", err
	}
	members, err := people.MembershipsOf(tx, user.ID)
	if err != nil {
		return user, "", err
	}
	if secrets.NoPassword(user.PasswordHash) && len(members) == 0 && !user.Operator { // they have never signed in, and have no access to any site
		fresh.ID = user.ID
		// A link that was sent to another address must not open this account.
		return fresh, people.Invitation, errors.Join(people.EndPasswordLinks(tx, user.ID), people.ReuseUser(tx, fresh), tokens.ChangedForTokensOf(tx, user.ID))
	}
	here, err := people.IsOpenAt(tx, by.SiteID, in.Username)
	if err != nil {
		return user, "", err
	}
	here = here || slices.ContainsFunc(members, func(m people.Membership) bool { return m.SiteID == by.SiteID })
	if here && role != access.Operator {
		return user, "", errs.WrongField("username", "This user already has access.")
	}
	switch {
	case role != access.Operator && strings.EqualFold(user.Email, in.Email) && user.Proven:
		return user, people.Access, nil
	case by.Can(access.ManageUsers):
		return user, "", errs.WrongField("username", "This user name is already taken.")
	}
	if fresh.Open, err = secrets.NewSecret(l.Random); err != nil {
		return user, "", err
	}
	user, err = people.InsertUser(tx, fresh)
	return user, people.Invitation, err
}

// proves reports whether using the invitation's link verifies the e-mail address: it was sent by e-mail only, and the inviter has not seen
// it. An operator sees the link, and is responsible for passing it on.
func (l *Links) proves(by access.Actor) bool { return l.mails.Sends() || by.Can(access.ManageUsers) }

// InviteAgain creates a new link for a person who was invited to the actor's site and has not accepted yet. Earlier links end. If they
// have accepted, the error is NotPossible.
func (l *Links) InviteAgain(ctx context.Context, actor access.Actor, userID int64) (user people.User, secret string, err error) {
	if err := actor.Require(access.ManageMembers); err != nil {
		return user, "", err
	}
	err = l.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		accepted := true
		user, err = people.UserByID(tx, userID)
		if err != nil {
			return people.UnknownUser(err)
		}
		kind, by := people.Invitation, actor
		if user.Operator {
			by = audit.OfDeployment(actor)
			if err := actor.Require(access.ManageUsers); err != nil {
				return err
			}
		} else if kind, accepted, err = l.kindAgain(tx, actor.SiteID, user); err != nil {
			return err
		}
		if accepted && !secrets.NoPassword(user.PasswordHash) {
			return errs.NotPossibleBecause("has_password", "This person already has a password. They can reset it on the sign-in page.")
		}
		secret, err = l.make(tx, user, people.Link{Kind: kind, SiteID: by.SiteID}, people.LinkMail{SiteID: by.SiteID, By: nameOf(actor)})
		if err == nil && kind == people.Invitation { // earlier links have ended: this one opens the account
			err = people.UnknownUser(people.SetProven(tx, user, l.proves(actor)))
		}
		if err != nil {
			return err
		}
		return audit.Record(tx, by, "user.invite", sessions.UserObject(user.ID), nil, sessions.AuditedUser{Username: user.Username, Email: user.Email})
	})
	return user, secret, err
}

// kindAgain returns which link a user gets who was invited to a site, and whether they have accepted already. If they belong to another
// site too, this link cannot set their password: otherwise one site could take over an account of another.
func (l *Links) kindAgain(tx *store.Tx, siteID int64, user people.User) (kind people.LinkKind, accepted bool, err error) {
	members, err := people.MembershipsOf(tx, user.ID)
	if err != nil {
		return "", false, err
	}
	kind, here := people.Invitation, false
	for _, m := range members {
		if m.SiteID == siteID {
			here, accepted = true, m.Accepted
		}
		if m.SiteID != siteID || !secrets.NoPassword(user.PasswordHash) {
			kind = people.Access
		}
	}
	if !here {
		return "", false, people.UnknownUser(store.ErrNotFound)
	}
	return kind, accepted, nil
}

func nameOf(actor access.Actor) string {
	if actor.DisplayName != "" {
		return actor.DisplayName
	}
	return actor.Username
}
