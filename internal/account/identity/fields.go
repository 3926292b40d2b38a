package identity

import (
	"regexp"
	"strings"
	"time"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
)

var username = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]{1,59}$`)

// UserFields are the fields of a new user. Package auth checks password and role.
type UserFields struct {
	Problems    errs.Problems
	Username    string
	Email       string
	DisplayName string // "" for the user name
	Password    string
}

// Check adds to p what is wrong with the fields, and returns them as they are stored.
func (f UserFields) Check(p *errs.Problems) UserFields {
	f.Username = strings.ToLower(f.Username)
	if !username.MatchString(f.Username) {
		p.Wrong("username", "A user name has 2 to 60 letters, digits and . _ @ + -, and begins with a letter or a digit.")
	}
	check.Email(p, "email", f.Email)
	if f.DisplayName == "" {
		f.DisplayName = f.Username
	}
	check.Line(p, "display_name", f.DisplayName)
	return f
}

// TokenFields are the fields of a request that makes an API token (section 4.1).
type TokenFields struct {
	Problems errs.Problems
	Name     *string
	Expires  *civil.Day // nil or civil.NoDay: it does not expire
	// Abilities are what the token may do at most. Nothing, or "*", is everything that its maker may do.
	Abilities *[]string
	// Addresses are addresses and networks, such as 203.0.113.0/24, from which it may be used. Nothing is anywhere.
	Addresses *[]string
}

// Check adds to p what is wrong with the fields. The day of expiry cannot be in the past.
func (f TokenFields) Check(now time.Time, p *errs.Problems) {
	check.Required(p, "name", f.Name)
	if f.Name != nil {
		check.Line(p, "name", *f.Name)
	}
	if f.Expires != nil && *f.Expires != civil.NoDay && *f.Expires < civil.DayOf(now) {
		p.Wrong("expires_at", "This day has passed.")
	}
}
