package sessions

import (
	"context"
	"errors"
	"fmt"

	"holdfast/internal/account/credentials"
	"holdfast/internal/account/people"
	"holdfast/internal/account/tokens"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// issuer is the name under which an authenticator app shows a second factor.
const issuer = "holdfast"

// Accounts makes and changes users and their access to sites.
type Accounts struct{ *people.Room }

// CreateUser creates a user. A user with the role operator works for the provider. With another role the user becomes a
// member of the actor's site.
func (a *Accounts) CreateUser(ctx context.Context, actor access.Actor, in people.UserFields, role access.Role, mayPayOut bool) (people.User, error) {
	if err := actor.Require(access.ManageUsers); err != nil {
		return people.User{}, err
	}
	problems := in.Problems.Clone()
	in = in.Check(&problems)
	if _, err := access.ParseRole(string(role)); err != nil {
		NoteFault(&problems, err)
	}
	hash, err := a.Cost.HashPassword(in.Password)
	NoteFault(&problems, err)
	var made people.User
	err = a.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		problems := problems.Clone()
		if _, err := people.UserNamed(tx, in.Username); err == nil {
			problems.Wrong("username", "This user name is already taken.")
		} else if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := problems.Err(); err != nil {
			return err
		}
		var err error
		made, err = people.InsertUser(tx, people.User{
			Username: in.Username, Email: in.Email, DisplayName: in.DisplayName, PasswordHash: hash, Operator: role == access.Operator,
			Proven: true,
		})
		by := actor
		if made.Operator {
			by = audit.OfDeployment(actor)
		} else if err == nil {
			err = people.SetMembership(tx, people.Membership{SiteID: actor.SiteID, UserID: made.ID, Role: role, CanSignOffPayout: mayPayOut, Accepted: true})
		}
		if err != nil {
			return err
		}
		return audit.Record(tx, by, "user.create", UserObject(made.ID), nil, AuditedUser{
			Username: made.Username, Email: made.Email, DisplayName: made.DisplayName, Role: string(role), CanSignOffPayout: mayPayOut,
		})
	})
	return made, err
}

// NoteFault adds the fields of err to the problems of an input, if err is a fault.
func NoteFault(p *errs.Problems, err error) {
	if f, ok := errors.AsType[*errs.Error](err); ok {
		for field, message := range f.Params {
			p.Wrong(field, "%s", message)
		}
	}
}

// UserNamed reads a user by name, for the operator's commands.
func (a *Accounts) UserNamed(ctx context.Context, actor access.Actor, username string) (user people.User, err error) {
	if err := actor.Require(access.ManageUsers); err != nil {
		return people.User{}, err
	}
	err = a.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		user, err = people.UserNamed(tx, username)
		return people.UnknownUser(err)
	})
	return user, err
}

// SetPassword changes a user's password and ends all sessions of the user. With endTokens it also deletes the API
// tokens that act as this user, on all sites.
func (a *Accounts) SetPassword(ctx context.Context, actor access.Actor, userID int64, password string, endTokens bool) error {
	if err := a.mayChange(actor, userID); err != nil {
		return err
	}
	hash, err := a.Cost.HashPassword(password)
	if err != nil {
		return err
	}
	return a.audited(ctx, actor, "user.password", userID, func(tx *store.Tx) error {
		if err := ChangePassword(tx, userID, hash); err != nil || !endTokens {
			return err
		}
		ended, err := tokens.DeleteTokensEverywhere(tx, userID)
		for _, token := range ended {
			by := actor
			by.SiteID = token.SiteID
			err = errors.Join(err, tokens.RecordTokenEnd(tx, by, token.ID))
		}
		return err
	})
}

// SetMembership gives a user a role on the actor's site. It replaces the role that the user had there. A member_admin can do so for the
// people of the site alone, and not if that leaves the site without a member_admin (NotPossible): Links.Invite adds people.
func (a *Accounts) SetMembership(ctx context.Context, actor access.Actor, userID int64, role access.Role, mayPayOut bool) error {
	if err := actor.Require(access.ManageMembers); err != nil {
		return err
	}
	if err := MayGive(actor, role); err != nil {
		return err
	}
	if role == access.Operator {
		return errs.WrongField("role", "Operators do not belong to a site. Their role is set when the user is created.")
	}
	return a.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		user, err := people.UserByID(tx, userID)
		if err != nil {
			return people.UnknownUser(err)
		}
		before, err := accessOf(tx, actor.SiteID, user)
		if err == nil {
			err = mayManage(tx, actor, user, before)
		}
		if err != nil {
			return err
		}
		member := people.Membership{
			SiteID: actor.SiteID, UserID: userID, Role: role, CanSignOffPayout: mayPayOut, Accepted: !secrets.NoPassword(user.PasswordHash),
		}
		if err := people.SetMembership(tx, member); err != nil {
			return err
		}
		if err := leavesAdmin(tx, actor); err != nil {
			return err
		}
		return audit.Record(tx, actor, "user.access", UserObject(userID), before,
			AuditedUser{Username: user.Username, Role: string(role), CanSignOffPayout: mayPayOut})
	})
}

// RemoveMembership takes a user's access to the actor's site away. The API tokens that act as this user there are
// deleted with it: they do not come back when the user gets access again. An operator keeps them, because an operator has
// access without a membership.
func (a *Accounts) RemoveMembership(ctx context.Context, actor access.Actor, userID int64) error {
	if err := actor.Require(access.ManageMembers); err != nil {
		return err
	}
	return a.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		user, err := people.UserByID(tx, userID)
		if err != nil {
			return people.UnknownUser(err)
		}
		before, err := accessOf(tx, actor.SiteID, user)
		if err == nil {
			err = mayManage(tx, actor, user, before)
		}
		if err != nil {
			return err
		}
		if err := people.RemoveMembership(tx, actor.SiteID, userID); err != nil {
			return people.UnknownUser(err)
		}
		if err := errors.Join(people.EndLinksToSite(tx, actor.SiteID, userID), leavesAdmin(tx, actor)); err != nil {
			return err
		}
		// Without the membership, no further token can be created for the user (see keepAccess).
		var ended []int64
		if !user.Operator {
			if ended, err = tokens.DeleteTokensOfUser(tx, actor.SiteID, userID); err != nil {
				return err
			}
		}
		err = audit.Record(tx, actor, "user.access_removed", UserObject(userID), before, nil)
		for _, id := range ended {
			err = errors.Join(err, tokens.RecordTokenEnd(tx, actor, id))
		}
		return err
	})
}

// BeginTwoFactor makes the secret of a second factor for a user, and the URI with which an authenticator app reads it.
// Logins ask for the second factor after ConfirmTwoFactor, not before.
func (a *Accounts) BeginTwoFactor(ctx context.Context, actor access.Actor, userID int64) (secret, uri string, err error) {
	if err := a.mayChange(actor, userID); err != nil {
		return "", "", err
	}
	var user people.User
	err = a.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		user, err = people.UserByID(tx, userID)
		return people.UnknownUser(err)
	})
	if err != nil {
		return "", "", err
	}
	if secret, uri, err = credentials.NewTOTP(issuer, user.Username, a.Random); err != nil {
		return "", "", err
	}
	err = a.audited(ctx, actor, "user.two_factor_begin", userID, func(tx *store.Tx) error {
		sealed, err := a.Vault.Seal(secret, secrets.PlaceOf(sealedTOTP, userID))
		if err != nil {
			return err
		}
		return confirmedAlready(people.BeginTwoFactor(tx, userID, sealed))
	})
	return secret, uri, err
}

// PendingTwoFactor is the secret of a second factor that a user has begun to set up and not confirmed, and its URI. Without one it is "".
func (a *Accounts) PendingTwoFactor(ctx context.Context, actor access.Actor, userID int64) (secret, uri string, err error) {
	if err := a.mayChange(actor, userID); err != nil {
		return "", "", err
	}
	var user people.User
	err = a.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		user, err = people.UserByID(tx, userID)
		return people.UnknownUser(err)
	})
	if err != nil || !user.TwoFactorConfirmedAt.IsZero() {
		return "", "", err
	}
	if secret, err = secretOf(a.Room, user); err != nil || secret == "" {
		return "", "", err
	}
	uri, err = credentials.TOTPAddress(issuer, user.Username, secret)
	return secret, uri, err
}

// ConfirmTwoFactor turns the second factor on, after its owner has shown a code of it. All tokens and sign-ins that began
// without it end. It returns the recovery codes,
// which are not shown again.
func (a *Accounts) ConfirmTwoFactor(ctx context.Context, actor access.Actor, userID int64, code string) ([]string, error) {
	if err := a.mayChange(actor, userID); err != nil {
		return nil, err
	}
	codes, hashes, err := credentials.NewRecoveryCodes(a.Random)
	if err != nil {
		return nil, err
	}
	err = a.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		user, err := people.UserByID(tx, userID)
		if err != nil {
			return people.UnknownUser(err)
		}
		secret, err := secretOf(a.Room, user)
		if err != nil {
			return err
		}
		step, ok := credentials.CheckTOTP(secret, code, tx.Now, user.TwoFactorLastStep)
		if secret == "" || !ok {
			return errs.New(errs.TwoFactorInvalid, "The two-factor code is wrong.")
		}
		if err := people.ConfirmTwoFactor(tx, userID, step, hashes); err != nil {
			return confirmedAlready(err)
		}
		if err := errors.Join(endFamilies(tx, userID), endSignIns(tx, userID)); err != nil {
			return err
		}
		return audit.Record(tx, actor, "user.two_factor_confirm", UserObject(userID), nil, AuditedUser{Username: user.Username})
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

// RemoveTwoFactor removes the second factor of a user who has lost it, and the recovery codes too.
func (a *Accounts) RemoveTwoFactor(ctx context.Context, actor access.Actor, userID int64) error {
	if err := actor.Require(access.ManageUsers); err != nil {
		return err
	}
	return a.audited(ctx, actor, "user.two_factor_remove", userID, func(tx *store.Tx) error { return people.RemoveTwoFactor(tx, userID) })
}

// audited runs a change of a user's secrets. The audit log records that they were changed, but never their values.
func (a *Accounts) audited(
	ctx context.Context, actor access.Actor, action string, userID int64, change func(tx *store.Tx) error,
) error {
	return a.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		user, err := people.UserByID(tx, userID)
		if err != nil {
			return people.UnknownUser(err)
		}
		if err := change(tx); err != nil {
			return people.UnknownUser(err)
		}
		shape := AuditedUser{Username: user.Username}
		return audit.Record(tx, actor, action, UserObject(userID), shape, shape)
	})
}

// accessOf reads the role of a user on a site, for the audit. It is nil if the user has none.
func accessOf(tx *store.Tx, siteID int64, user people.User) (any, error) {
	memberships, err := people.MembershipsOf(tx, user.ID)
	for _, m := range memberships {
		if m.SiteID == siteID {
			return AuditedUser{Username: user.Username, Role: string(m.Role), CanSignOffPayout: m.CanSignOffPayout}, err
		}
	}
	return nil, err
}

// UserObject names a user in the audit.
func UserObject(id int64) string { return fmt.Sprintf("user %d", id) }

// mayChange lets users change their own account, and operators every account. An API token may not change the account
// of its user: otherwise a leaked token would allow an account takeover.
func (a *Accounts) mayChange(actor access.Actor, userID int64) error {
	if actor.UserID == userID && actor.TokenID == 0 {
		return nil
	}
	return actor.Require(access.ManageUsers)
}

// confirmedAlready says what ErrNotFound means for a change that only an unconfirmed second factor allows.
func confirmedAlready(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return errs.NotPossibleBecause("two_factor_confirmed", "The account already has a second factor.")
	}
	return err
}

// AuditedUser is the shape of a user in the audit.
type AuditedUser struct {
	Username         string `json:"username"`
	Email            string `json:"email,omitempty"`
	DisplayName      string `json:"display_name,omitempty"`
	Role             string `json:"role,omitempty"`
	CanSignOffPayout bool   `json:"can_sign_off_payout"`
}

// MayGive returns an error if the actor may not assign a role. Only operators can create operators.
func MayGive(actor access.Actor, role access.Role) error {
	if _, err := access.ParseRole(string(role)); err != nil {
		return err
	}
	if role == access.Operator && !actor.Can(access.ManageUsers) {
		return errs.WrongField("role", "Must be one of: %s, %s, %s.", access.ReadOnly, access.Finance, access.MemberAdmin)
	}
	return nil
}

// mayManage guards the access of a user to the actor's site: the operator may give and take any. A member_admin may change that of the
// site's own people, and never that of the operator's.
func mayManage(tx *store.Tx, actor access.Actor, user people.User, before any) error {
	if actor.Can(access.ManageUsers) {
		return nil
	}
	if before == nil {
		return people.UnknownUser(store.ErrNotFound)
	}
	if user.Operator {
		return errs.New(errs.Forbidden, "This person works for the operator of the service. Only the operator can change that.")
	}
	return people.LockAdmins(tx, actor.SiteID)
}

// leavesAdmin rejects a change by a site's own users that would leave the site without an administrator. mayManage is
// called before the change.
func leavesAdmin(tx *store.Tx, actor access.Actor) error {
	if actor.Can(access.ManageUsers) {
		return nil
	}
	// Managing the site accepts the invitation to it.
	if err := people.AcceptInvitations(tx, actor.UserID, actor.SiteID); err != nil {
		return err
	}
	n, err := people.CountAdmins(tx, actor.SiteID)
	if err == nil && n == 0 {
		return errs.NotPossibleBecause("last_admin", "This is the only person who can manage the site. Give this role to someone else first.")
	}
	return err
}
