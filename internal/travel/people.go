package travel

import (
	"regexp"
	"strings"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/fault"
)

var username = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]{1,59}$`)

// UserFields is what is said about a new user. What a password and a role may be, package auth knows.
type UserFields struct {
	Problems    fault.Problems
	Username    string
	Email       string
	DisplayName string // the user name where it is empty
	Password    string
}

// Check notes what is wrong with the fields and returns them in the form in which they are kept.
func (f UserFields) Check(p *fault.Problems) UserFields {
	f.Username = strings.ToLower(f.Username)
	if !username.MatchString(f.Username) {
		p.Wrong("username", "A user name has 2 to 60 letters, digits and . _ @ + -, and begins with a letter or a digit.")
	}
	checkEmail(p, "email", f.Email)
	if f.DisplayName == "" {
		f.DisplayName = f.Username
	}
	checkText(p, "display_name", f.DisplayName, MaxText)
	return f
}

// TokenFields is what a caller says about a new API token.
type TokenFields struct {
	Problems fault.Problems
	Name     *string
	Expires  *civil.Day // nil, or civil.NoDay: never
}

// Check notes what is wrong with the fields. A token whose day has passed would be dead from birth.
func (f TokenFields) Check(now time.Time, p *fault.Problems) {
	needText(p, "name", f.Name)
	if f.Name != nil {
		checkText(p, "name", *f.Name, MaxText)
	}
	if f.Expires != nil && *f.Expires != civil.NoDay && *f.Expires < civil.DayOf(now) {
		p.Wrong("expires_at", "This day has passed.")
	}
}
