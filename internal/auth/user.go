package auth

import "time"

// User is a person or a machine of a customer, or of the protection provider. Users stand outside sites: what one may
// do on a site its Membership says.
type User struct {
	ID                   int64
	Username             string // in lower case: names are compared without letter case
	Email                string
	DisplayName          string
	PasswordHash         string
	Operator             bool      // all rights on all sites
	TwoFactorSecret      string    // "" where no second factor was begun
	TwoFactorConfirmedAt time.Time // zero until a code was shown once
	TwoFactorLastStep    int64     // codes of later steps only are taken
	RefreshGeneration    int64     // a refresh token of an older generation is dead
	RefreshBeganAt       time.Time // when the generation began: the token's text depends on it
	PasswordEpoch        int64     // an access token of an older password is dead
	CreatedAt            time.Time
	ModifiedAt           time.Time
}

// Membership is what a user may do on one site. Operators need none.
type Membership struct {
	SiteID           int64
	UserID           int64
	Role             Role // "" where the user has nothing to do with the site
	CanSignOffPayout bool
}

// ActorAt is the user acting on the site of the membership; false where the user may not act there.
func (u User) ActorAt(m Membership) (Actor, bool) {
	a := Actor{
		SiteID: m.SiteID, UserID: u.ID, Username: u.Username, DisplayName: u.DisplayName,
		Role: m.Role, CanSignOffPayout: m.CanSignOffPayout,
	}
	if u.Operator {
		a.Role = Operator
	}
	return a, a.Role != ""
}

// APIToken is a key to one site that acts as the user who created it. Of its secret only a hash is kept.
type APIToken struct {
	SiteID     int64
	ID         int64
	UserID     int64
	Name       string
	SecretHash string
	LastUsedAt time.Time // zero: never
	ExpiresAt  time.Time // zero: never
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// MaxTokens is how many API tokens a site may have, expired ones included (section 8).
const MaxTokens = 2
