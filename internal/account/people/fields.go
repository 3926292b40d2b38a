package people

import (
	"regexp"
	"strings"

	"holdfast/internal/domain/check"
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

// Check adds the problems of the fields to p, and returns the fields as they are stored.
func (f UserFields) Check(p *errs.Problems) UserFields {
	f.Username = usernameOf(p, f.Username)
	check.Email(p, "email", f.Email)
	if f.DisplayName == "" {
		f.DisplayName = f.Username
	}
	check.Line(p, "display_name", f.DisplayName)
	return f
}

// usernameOf returns a user name in its stored form. It adds any problems to p.
func usernameOf(p *errs.Problems, name string) string {
	name = strings.ToLower(name)
	if !username.MatchString(name) {
		p.Wrong("username", "Must be 2 to 60 letters, digits and . _ @ + -, starting with a letter or digit.")
	}
	return name
}
