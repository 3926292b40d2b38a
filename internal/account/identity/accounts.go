package identity

import (
	"context"
	"errors"
	"fmt"

	"holdfast/internal/account/credentials"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// issuer is the name under which an authenticator app shows a second factor.
const issuer = "holdfast"

// Accounts makes and changes users and their access to sites.
type Accounts struct{ *Room }

// CreateUser makes a user. With the role operator the user is one of the provider's own people. With another role the
// user becomes a member of the actor's site.
func (a *Accounts) CreateUser(ctx context.Context, actor access.Actor, in UserFields, role access.Role, mayPayOut bool) (User, error) {
	if err := actor.Require(access.ManageUsers); err != nil {
		return User{}, err
	}
	problems := in.Problems.Clone()
	in = in.Check(&problems)
	if _, err := access.ParseRole(string(role)); err != nil {
		noteFault(&problems, err)
	}
	hash, err := a.Cost.HashPassword(in.Password)
	noteFault(&problems, err)
	var made User
	err = a.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		problems := problems.Clone()
		if _, err := UserNamed(tx, in.Username); err == nil {
			problems.Wrong("username", "This user name is taken.")
		} else if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := problems.Err(); err != nil {
			return err
		}
		var err error
		made, err = InsertUser(tx, User{
			Username: in.Username, Email: in.Email, DisplayName: in.DisplayName, PasswordHash: hash, Operator: role == access.Operator,
			Proven: true,
		})
		by := actor
		if made.Operator {
			by = audit.OfDeployment(actor)
		} else if err == nil {
			err = SetMembership(tx, Membership{SiteID: actor.SiteID, UserID: made.ID, Role: role, CanSignOffPayout: mayPayOut})
		}
		if err != nil {
			return err
		}
		return audit.Record(tx, by, "user.create", userObject(made.ID), nil, auditedUser{
			Username: made.Username, Email: made.Email, DisplayName: made.DisplayName, Role: string(role), CanSignOffPayout: mayPayOut,
		})
	})
	return made, err
}

// noteFault adds the fields of err to the problems of an input, if err is a fault.
func noteFault(p *errs.Problems, err error) {
	if f, ok := errors.AsType[*errs.Error](err); ok {
		for field, message := range f.Params {
			p.Wrong(field, "%s", message)
		}
	}
}

// UserNamed reads a user by name, for the operator's commands.
func (a *Accounts) UserNamed(ctx context.Context, actor access.Actor, username string) (user User, err error) {
	if err := actor.Require(access.ManageUsers); err != nil {
		return User{}, err
	}
	err = a.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		user, err = UserNamed(tx, username)
		return unknownUser(err)
	})
	return user, err
}

// SetPassword changes a user's password and ends all sessions of the user. With endTokens it deletes the API tokens that act
// as this user, too, on all sites.
func (a *Accounts) SetPassword(ctx context.Context, actor access.Actor, userID int64, password string, endTokens bool) error {
	if err := a.mayChange(actor, userID); err != nil {
		return err
	}
	hash, err := a.Cost.HashPassword(password)
	if err != nil {
		return err
	}
	return a.audited(ctx, actor, "user.password", userID, func(tx *store.Tx) error {
		if err := setPasswordHash(tx, userID, hash); err != nil || !endTokens {
			return err
		}
		ended, err := deleteTokensEverywhere(tx, userID)
		for _, token := range ended {
			by := actor
			by.SiteID = token.SiteID
			err = errors.Join(err, recordTokenEnd(tx, by, token.ID))
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
	if err := mayGive(actor, role); err != nil {
		return err
	}
	if role == access.Operator {
		return errs.WrongField("role", "An operator belongs to no site: the role is given when the user is created.")
	}
	return a.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		user, err := UserByID(tx, userID)
		if err != nil {
			return unknownUser(err)
		}
		before, err := accessOf(tx, actor.SiteID, user)
		if err == nil {
			err = mayManage(tx, actor, user, before)
		}
		if err != nil {
			return err
		}
		member := Membership{SiteID: actor.SiteID, UserID: userID, Role: role, CanSignOffPayout: mayPayOut}
		if err := SetMembership(tx, member); err != nil {
			return err
		}
		if err := leavesAdmin(tx, actor); err != nil {
			return err
		}
		return audit.Record(tx, actor, "user.access", userObject(userID), before,
			auditedUser{Username: user.Username, Role: string(role), CanSignOffPayout: mayPayOut})
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
		user, err := UserByID(tx, userID)
		if err != nil {
			return unknownUser(err)
		}
		before, err := accessOf(tx, actor.SiteID, user)
		if err == nil {
			err = mayManage(tx, actor, user, before)
		}
		if err != nil {
			return err
		}
		if err := RemoveMembership(tx, actor.SiteID, userID); err != nil {
			return unknownUser(err)
		}
		if err := errors.Join(endLinksToSite(tx, actor.SiteID, userID), leavesAdmin(tx, actor)); err != nil {
			return err
		}
		// With the membership gone, nobody makes another token for the user (see keepAccess).
		var ended []int64
		if !user.Operator {
			if ended, err = deleteTokensOfUser(tx, actor.SiteID, userID); err != nil {
				return err
			}
		}
		err = audit.Record(tx, actor, "user.access_removed", userObject(userID), before, nil)
		for _, id := range ended {
			err = errors.Join(err, recordTokenEnd(tx, actor, id))
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
	var user User
	err = a.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		user, err = UserByID(tx, userID)
		return unknownUser(err)
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
		return confirmedAlready(BeginTwoFactor(tx, userID, sealed))
	})
	return secret, uri, err
}

// PendingTwoFactor is the secret of a second factor that a user has begun to set up and not confirmed, and its URI. Without one it is "".
func (a *Accounts) PendingTwoFactor(ctx context.Context, actor access.Actor, userID int64) (secret, uri string, err error) {
	if err := a.mayChange(actor, userID); err != nil {
		return "", "", err
	}
	var user User
	err = a.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		user, err = UserByID(tx, userID)
		return unknownUser(err)
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

// ConfirmTwoFactor turns the second factor on, after its owner has shown a code of it. It returns the recovery codes,
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
		user, err := UserByID(tx, userID)
		if err != nil {
			return unknownUser(err)
		}
		secret, err := secretOf(a.Room, user)
		if err != nil {
			return err
		}
		step, ok := credentials.CheckTOTP(secret, code, tx.Now, user.TwoFactorLastStep)
		if secret == "" || !ok {
			return errs.New(errs.TwoFactorInvalid, "The code of the second factor is wrong.")
		}
		if err := ConfirmTwoFactor(tx, userID, step, hashes); err != nil {
			return confirmedAlready(err)
		}
		return audit.Record(tx, actor, "user.two_factor_confirm", userObject(userID), nil, auditedUser{Username: user.Username})
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
	return a.audited(ctx, actor, "user.two_factor_remove", userID, func(tx *store.Tx) error { return RemoveTwoFactor(tx, userID) })
}

// audited runs a change of a user's secrets. The audit says that they were changed, and never what they are.
func (a *Accounts) audited(
	ctx context.Context, actor access.Actor, action string, userID int64, change func(tx *store.Tx) error,
) error {
	return a.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		user, err := UserByID(tx, userID)
		if err != nil {
			return unknownUser(err)
		}
		if err := change(tx); err != nil {
			return unknownUser(err)
		}
		shape := auditedUser{Username: user.Username}
		return audit.Record(tx, actor, action, userObject(userID), shape, shape)
	})
}

// accessOf reads the role of a user on a site, for the audit. It is nil if the user has none.
func accessOf(tx *store.Tx, siteID int64, user User) (any, error) {
	memberships, err := membershipsOf(tx, user.ID)
	for _, m := range memberships {
		if m.SiteID == siteID {
			return auditedUser{Username: user.Username, Role: string(m.Role), CanSignOffPayout: m.CanSignOffPayout}, err
		}
	}
	return nil, err
}

func userObject(id int64) string { return fmt.Sprintf("user %d", id) }

// mayChange lets users change their own account, and operators every account. An API token may not change the account
// of its user: otherwise somebody with a leaked token could take the account over.
func (a *Accounts) mayChange(actor access.Actor, userID int64) error {
	if actor.UserID == userID && actor.TokenID == 0 {
		return nil
	}
	return actor.Require(access.ManageUsers)
}

// confirmedAlready says what ErrNotFound means for a change that only an unconfirmed second factor allows.
func confirmedAlready(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return errs.NotPossibleBecause("two_factor_confirmed", "The account has a second factor already.")
	}
	return err
}

func unknownUser(err error) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "There is no such user.")
}

type auditedUser struct {
	Username         string `json:"username"`
	Email            string `json:"email,omitempty"`
	DisplayName      string `json:"display_name,omitempty"`
	Role             string `json:"role,omitempty"`
	CanSignOffPayout bool   `json:"can_sign_off_payout"`
}

type auditedToken struct {
	ID        int64  `json:"id"`
	Name      string `json:"name"`
	UserID    int64  `json:"user_id"`
	ExpiresAt string `json:"expires_at,omitempty"`

	Abilities []string `json:"abilities,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
}

func auditToken(t APIToken) any {
	shape := auditedToken{ID: t.ID, Name: t.Name, UserID: t.UserID, Abilities: t.Abilities.Names(), Addresses: t.NetworkTexts()}
	if !t.ExpiresAt.IsZero() {
		shape.ExpiresAt = civil.FormatInstant(t.ExpiresAt)
	}
	return shape
}
