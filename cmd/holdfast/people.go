package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// userCmd groups what the operator does with users.
type userCmd struct {
	Create    userCreateCmd    `cmd:"" help:"Create a user; the password is read from the terminal or standard input."`
	Password  userPasswordCmd  `cmd:"" help:"Change a user's password, which ends all their sessions."`
	Access    userAccessCmd    `cmd:"" help:"Give a user a role on a site, or take it away."`
	TwoFactor userTwoFactorCmd `cmd:"" help:"Set up a user's second factor, or remove one that was lost."`
}

// userCreateCmd creates a user.
type userCreateCmd struct {
	Username         string    `arg:"" help:"Name to log in with."`
	Email            string    `required:"" help:"E-mail address."`
	DisplayName      string    `placeholder:"NAME" help:"What people call them (default: the user name)."`
	Role             auth.Role `required:"" enum:"read_only,finance,member_admin,operator" help:"read_only, finance, member_admin, or operator: the protection provider's own people, who may do everything on all sites."`
	Site             string    `placeholder:"PATH" help:"Path of the site; an operator needs none."`
	CanSignOffPayout bool      `help:"Let them sign off payouts."`
}

// Run creates the user.
func (c userCreateCmd) Run(ctx context.Context, p *program) error {
	actor := auth.System(0)
	switch {
	case c.Role == auth.Operator && c.Site != "":
		return fault.WrongField("site", "An operator belongs to no site.")
	case c.Role == auth.Operator:
		if err := p.open(ctx); err != nil {
			return err
		}
	case c.Site == "":
		return fault.WrongField("site", "Name the site on which the user is %s.", c.Role)
	default:
		var err error
		if actor, err = p.operatorAt(ctx, c.Site); err != nil {
			return err
		}
	}
	password, err := p.readPassword()
	if err != nil {
		return err
	}
	user, err := p.app.Accounts.CreateUser(ctx, actor, travel.UserFields{
		Username: c.Username, Email: c.Email, DisplayName: c.DisplayName, Password: password,
	}, c.Role, c.CanSignOffPayout)
	if err != nil {
		return err
	}
	p.printf("user %s is created with the role %s\n", user.Username, c.Role)
	return nil
}

// userPasswordCmd changes a password.
type userPasswordCmd struct {
	Username string `arg:"" help:"Whose."`
}

// Run reads the new password and sets it.
func (c userPasswordCmd) Run(ctx context.Context, p *program) error {
	user, err := p.user(ctx, c.Username)
	if err != nil {
		return err
	}
	password, err := p.readPassword()
	if err != nil {
		return err
	}
	if err := p.app.Accounts.SetPassword(ctx, auth.System(0), user.ID, password); err != nil {
		return err
	}
	p.printf("the password of %s is changed\n", user.Username)
	return nil
}

func (p *program) user(ctx context.Context, name string) (auth.User, error) {
	if err := p.open(ctx); err != nil {
		return auth.User{}, err
	}
	return p.app.Accounts.UserNamed(ctx, auth.System(0), name)
}

// userAccessCmd changes what a user may do on a site.
type userAccessCmd struct {
	siteFlag
	Username         string    `arg:"" help:"Whose."`
	Role             auth.Role `xor:"what" required:"" enum:"read_only,finance,member_admin," placeholder:"ROLE" help:"read_only, finance or member_admin, in place of what they had."`
	Remove           bool      `xor:"what" required:"" help:"Take all access to the site away; API tokens that act as them end."`
	CanSignOffPayout bool      `help:"Let them sign off payouts."`
}

// Run gives or takes the role.
func (c userAccessCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	user, err := p.app.Accounts.UserNamed(ctx, actor, c.Username)
	if err != nil {
		return err
	}
	if c.Remove {
		if err := p.app.Accounts.RemoveMembership(ctx, actor, user.ID); err != nil {
			return err
		}
		p.printf("user %s has no access to %s any more\n", user.Username, c.Site)
		return nil
	}
	if err := p.app.Accounts.SetMembership(ctx, actor, user.ID, c.Role, c.CanSignOffPayout); err != nil {
		return err
	}
	p.printf("user %s is %s on %s\n", user.Username, c.Role, c.Site)
	return nil
}

// userTwoFactorCmd sets up a second factor.
type userTwoFactorCmd struct {
	Username string `arg:"" help:"Whose."`
	Remove   bool   `help:"Take the second factor away, for a user who has lost it and the recovery codes."`
}

// Run shows the secret, waits for a code of it, and shows the recovery codes.
func (c userTwoFactorCmd) Run(ctx context.Context, p *program) error {
	user, err := p.user(ctx, c.Username)
	if err != nil {
		return err
	}
	system := auth.System(0)
	if c.Remove {
		if err := p.app.Accounts.RemoveTwoFactor(ctx, system, user.ID); err != nil {
			return err
		}
		p.printf("user %s logs in without a second factor\n", user.Username)
		return nil
	}
	secret, uri, err := p.app.Accounts.BeginTwoFactor(ctx, system, user.ID)
	if err != nil {
		return err
	}
	p.printf("Add this to an authenticator app:\n\n  secret  %s\n  URI     %s\n\n", secret, uri)
	code, err := p.readLine("The code that it shows: ")
	if err != nil {
		return err
	}
	recovery, err := p.app.Accounts.ConfirmTwoFactor(ctx, system, user.ID, code)
	if err != nil {
		return err
	}
	p.printf("The second factor is set. Each of these codes replaces it once; they are not shown again:\n\n")
	for _, code := range recovery {
		p.printf("  %s\n", code)
	}
	return nil
}

// tokenCmd groups what the operator does with API tokens.
type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Create an API token; it is shown once."`
	List   tokenListCmd   `cmd:"" help:"List the API tokens of a site."`
	Delete tokenDeleteCmd `cmd:"" help:"Delete an API token."`
}

// tokenCreateCmd creates an API token.
type tokenCreateCmd struct {
	siteFlag
	Name    string  `arg:"" help:"What the token is for."`
	User    string  `required:"" placeholder:"NAME" help:"User as whom the token acts."`
	Expires dayFlag `placeholder:"Y-m-d" help:"Last day of the token (default: it does not expire)."`
}

// Run creates the token and prints it alone on standard output, for scripts.
func (c tokenCreateCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	user, err := p.app.Accounts.UserNamed(ctx, actor, c.User)
	if err != nil {
		return err
	}
	actor.UserID = user.ID
	made, text, err := p.app.Tokens.Create(ctx, actor, travel.TokenFields{Name: &c.Name, Expires: c.Expires.day})
	if err != nil {
		return err
	}
	// The token does what its user may do: one of a user without access would be a riddle to whoever gets it.
	if _, err := p.app.Sessions.Authenticate(ctx, c.Site, text); err != nil {
		if err := p.app.Tokens.Delete(ctx, actor, made.ID); err != nil {
			return err
		}
		return fault.WrongField("user", "The user has no access to this site; see `holdfast user access --help`.")
	}
	fmt.Fprintln(p.stderr, "This is the token. It is shown this once:")
	p.printf("%s\n", text)
	return nil
}

// tokenListCmd lists API tokens.
type tokenListCmd struct {
	siteFlag
}

// Run prints them, without what they consist of.
func (c tokenListCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	list, err := p.app.Tokens.List(ctx, actor)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "ID\tNAME\tUSER\tCREATED\tEXPIRES\tLAST USED")
	for _, t := range list {
		expires, used := "never", "never"
		if !t.ExpiresAt.IsZero() {
			expires = civil.FormatInstant(t.ExpiresAt)
		}
		if !t.LastUsedAt.IsZero() {
			used = civil.FormatInstant(t.LastUsedAt)
		}
		fmt.Fprintf(out, "%d\t%s\t%d\t%s\t%s\t%s\n", t.ID, t.Name, t.UserID, civil.FormatInstant(t.CreatedAt), expires, used)
	}
	return out.Flush()
}

// tokenDeleteCmd deletes an API token.
type tokenDeleteCmd struct {
	siteFlag
	ID int64 `arg:"" help:"Id of the token: the number before the bar."`
}

// Run deletes it.
func (c tokenDeleteCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	if err := p.app.Tokens.Delete(ctx, actor, c.ID); err != nil {
		return err
	}
	p.printf("token %d is deleted\n", c.ID)
	return nil
}
