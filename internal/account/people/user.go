// Package people stores users, their access to sites, and their one-time links. It owns the tables users,
// memberships, recovery_codes and password_*. Start at User.
package people

import (
	"time"

	"holdfast/internal/domain/access"
)

// User is a person or a machine of a customer or of the operator. A user belongs to no site. A Membership says what
// the user may do on one site.
type User struct {
	ID       int64
	Username string // in lower case, because user names are case-insensitive
	// Open is set if someone else already had the user name. The inviter is not notified, and the user chooses another
	// name. These letters make the stored name unique.
	Open                 string
	Email                string
	DisplayName          string
	PasswordHash         string
	Operator             bool      // all rights on all sites
	Proven               bool      // the operator made the account, or only who reads the mails of its address could open it
	SealedTOTP           string    // the secret of the second factor, as stored in the database; "" without one
	TwoFactorConfirmedAt time.Time // when the user first sent a right code; zero: not yet
	TwoFactorLastStep    int64     // only codes of later steps are accepted
	RefreshGeneration    int64     // refresh tokens and access tokens of an older generation are invalid
	RefreshBeganAt       time.Time // when the generation began; it is part of the token
	CreatedAt            time.Time
	ModifiedAt           time.Time
}

// Membership is a user's role on one site. Operators need none.
type Membership struct {
	SiteID           int64
	UserID           int64
	Role             access.Role // "" when the user may not act on the site
	CanSignOffPayout bool
	Accepted         bool // false until the user accepts the invitation; SetMembership keeps it
}

// ActorAt makes the actor for the user on the site of the membership. ok is false when the user may not act there.
func (u User) ActorAt(m Membership) (actor access.Actor, ok bool) {
	a := access.Actor{
		SiteID: m.SiteID, UserID: u.ID, Username: u.Username, DisplayName: u.DisplayName,
		Role: m.Role, CanSignOffPayout: m.CanSignOffPayout,
	}
	if u.Operator {
		a.Role = access.Operator
	}
	return a, a.Role != ""
}
