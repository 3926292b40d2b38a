package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/account/tokens"
	"holdfast/internal/api/view"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// userCmd groups the user commands.
type userCmd struct {
	Create    userCreateCmd    `cmd:"" help:"Create a user. The password is read from the terminal or standard input."`
	List      userListCmd      `cmd:"" help:"List users and their roles."`
	Password  userPasswordCmd  `cmd:"" help:"Change a user's password and end all their sessions."`
	Address   userAddressCmd   `cmd:"" help:"Change a user's e-mail address and notify the old one."`
	Access    userAccessCmd    `cmd:"" help:"Grant, change or remove a user's access to a site."`
	TwoFactor userTwoFactorCmd `cmd:"" help:"Set up or remove a user's two-factor authentication."`
}

// userCreateCmd creates a user.
type userCreateCmd struct {
	Username         string      `arg:"" help:"Username."`
	Email            string      `required:"" help:"E-mail address."`
	DisplayName      string      `placeholder:"NAME" help:"Display name (default: the username)."`
	Role             access.Role `required:"" enum:"read_only,finance,member_admin,operator" help:"Role: read_only, finance, member_admin or operator. Operators work for the protection provider and have full access to all sites."`
	Site             string      `placeholder:"PATH" help:"Site path. Omit for an operator."`
	CanSignOffPayout bool        `help:"Allow the user to sign off payouts. No effect yet."`
}

// Run creates the user.
func (c userCreateCmd) Run(ctx context.Context, p *program) error {
	actor := access.System(0)
	switch {
	case c.Role == access.Operator && c.Site != "":
		return errs.WrongField("site", "Operators do not belong to a site. Remove --site.")
	case c.Role == access.Operator:
		if err := p.openOrMake(ctx); err != nil {
			return err
		}
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
	user, err := p.app.Accounts.CreateUser(ctx, actor, people.UserFields{
		Username: c.Username, Email: c.Email, DisplayName: c.DisplayName, Password: password,
	}, c.Role, c.CanSignOffPayout)
	if err != nil {
		return err
	}
	p.printf("Created user %s with role %s\n", user.Username, c.Role)
	return nil
}

// userListCmd lists users.
type userListCmd struct {
	formFlags
	orderFlags
	Site string `placeholder:"PATH" help:"Only users of this site (default: all users)."`
}

// userShape is a user as JSON.
type userShape struct {
	ID               int64       `json:"id"`
	Username         string      `json:"username"`
	Email            string      `json:"email"`
	DisplayName      string      `json:"display_name"`
	Role             access.Role `json:"role"`
	Site             *string     `json:"site"` // null for operators and users without a site
	CanSignOffPayout bool        `json:"can_sign_off_payout"`
	TwoFactor        bool        `json:"two_factor"`
	Created          string      `json:"created"`
}

// Run prints a row per user and site, without secrets.
func (c userListCmd) Run(ctx context.Context, p *program) error {
	var site merchant.Site
	list := listing[people.UserRow]{
		read: func(actor access.Actor, page store.Page) (store.List[people.UserRow], error) {
			return p.app.Accounts.List(ctx, actor, people.UserFilter{SiteID: site.ID}, page)
		},
		shape: func(u people.UserRow) any {
			shape := userShape{
				ID: u.ID, Username: u.Username, Email: u.Email, DisplayName: u.DisplayName, Role: u.Role(),
				CanSignOffPayout: u.Membership.CanSignOffPayout, TwoFactor: !u.TwoFactorConfirmedAt.IsZero(),
				Created: civil.FormatInstant(u.CreatedAt),
			}
			if u.SitePath != "" {
				shape.Site = &u.SitePath
			}
			return shape
		},
		columns: columnsOf("id username email display_name role site two_factor created"),
		row: func(u people.UserRow) []cell {
			return []cell{
				ident(u.ID), words(u.Username), words(u.Email), words(u.DisplayName), words(string(u.Role())), words(u.SitePath),
				yesNo(!u.TwoFactorConfirmedAt.IsZero()), instant(u.CreatedAt),
			}
		},
		none: "No users.",
	}
	if err := c.check(list.columns); err != nil {
		return err
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	if c.Site != "" {
		var err error
		if site, err = p.siteAt(ctx, c.Site); err != nil {
			return err
		}
	}
	return list.print(p, access.System(0), c.formFlags, c.orderFlags, p.clock.Now())
}

// userPasswordCmd changes a password.
type userPasswordCmd struct {
	Username  string `arg:"" help:"Username."`
	EndTokens bool   `help:"Also delete the user's API tokens on all sites."`
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
	if err := p.app.Accounts.SetPassword(ctx, access.System(0), user.ID, password, c.EndTokens); err != nil {
		return err
	}
	p.printf("Changed the password of %s\n", user.Username)
	if c.EndTokens {
		p.printf("Deleted the API tokens of %s\n", user.Username)
	}
	return nil
}

// userAddressCmd changes an e-mail address.
type userAddressCmd struct {
	Username string `arg:"" help:"Username."`
	Email    string `arg:"" help:"New e-mail address. Make sure it belongs to the user: it can be used to reset the password."`
}

// Run changes it.
func (c userAddressCmd) Run(ctx context.Context, p *program) error {
	user, err := p.user(ctx, c.Username)
	if err != nil {
		return err
	}
	if err := p.app.Links.SetAddress(ctx, access.System(0), user.ID, c.Email); err != nil {
		return err
	}
	p.printf("Changed the e-mail address of %s to %s\n", user.Username, c.Email)
	if user.Email != c.Email && !p.app.Mails.Sends() {
		p.printf("No mail server is configured: %s was not notified\n", user.Email)
	}
	return nil
}

func (p *program) user(ctx context.Context, name string) (people.User, error) {
	if err := p.open(ctx); err != nil {
		return people.User{}, err
	}
	return p.app.Accounts.UserNamed(ctx, access.System(0), name)
}

// userAccessCmd changes the role of a user on a site.
type userAccessCmd struct {
	siteFlag
	Username         string      `arg:"" help:"Username."`
	Role             access.Role `xor:"what" required:"" enum:"read_only,finance,member_admin," placeholder:"ROLE" help:"New role: read_only, finance or member_admin."`
	Remove           bool        `xor:"what" required:"" help:"Remove all access to the site and delete the user's API tokens there."`
	CanSignOffPayout bool        `help:"Allow the user to sign off payouts. No effect yet."`
}

// Run gives the role or takes it away.
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
		p.printf("user %s no longer has access to %s\n", user.Username, p.site.Path)
		return nil
	}
	if err := p.app.Accounts.SetMembership(ctx, actor, user.ID, c.Role, c.CanSignOffPayout); err != nil {
		return err
	}
	p.printf("user %s is %s on %s\n", user.Username, c.Role, p.site.Path)
	return nil
}

// userTwoFactorCmd sets up a second factor.
type userTwoFactorCmd struct {
	Username string `arg:"" help:"Username."`
	Remove   bool   `help:"Remove the second factor of a user who has lost it and the recovery codes."`
}

// Run shows the secret, asks for a code made with it, and shows the recovery codes.
func (c userTwoFactorCmd) Run(ctx context.Context, p *program) error {
	user, err := p.user(ctx, c.Username)
	if err != nil {
		return err
	}
	system := access.System(0)
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
	code, err := p.readLine("Code that the app shows: ", "the code that the app shows")
	if err != nil {
		return err
	}
	recovery, err := p.app.Accounts.ConfirmTwoFactor(ctx, system, user.ID, code)
	if err != nil {
		return err
	}
	p.printf("The second factor is set. Without the app, each of these recovery codes works once. They are not shown again:\n\n")
	for _, code := range recovery {
		p.printf("  %s\n", code)
	}
	return nil
}

// tokenCmd groups the commands about API tokens.
type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Create an API token. It is shown only once."`
	List   tokenListCmd   `cmd:"" help:"List a site's API tokens."`
	Delete tokenDeleteCmd `cmd:"" help:"Delete an API token."`
}

// tokenCreateCmd creates an API token.
type tokenCreateCmd struct {
	siteFlag
	Name      string   `arg:"" help:"What the token is for."`
	User      string   `required:"" placeholder:"NAME" help:"User whose permissions the token has, on this site only."`
	Expires   dayFlag  `field:"expires_at" placeholder:"YYYY-MM-DD" help:"Last day the token is valid (default: no expiry)."`
	Abilities []string `placeholder:"ABILITY" help:"Restrict the token to these abilities: read, log_bookings, log_payments, reports (default: no restriction)."`
	Addresses []string `placeholder:"NETWORK" help:"Only accept the token from these IP addresses or networks, such as 203.0.113.0/24 (default: any)."`
}

// Run creates the token and prints only the token on standard output, for scripts.
func (c tokenCreateCmd) Run(ctx context.Context, p *program) error {
	var problems errs.Problems
	access.TokenLimits(&c.Abilities, &c.Addresses, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	user, err := p.app.Accounts.UserNamed(ctx, actor, c.User)
	if errs.Is(err, errs.SettingNotFound) {
		err = errs.WrongField("user", "User %q not found.", c.User)
	}
	if err != nil {
		return err
	}
	actor.UserID = user.ID
	_, text, err := p.app.Tokens.Create(ctx, actor, tokens.TokenFields{
		Name: &c.Name, Expires: c.Expires.day, Abilities: &c.Abilities, Addresses: &c.Addresses,
	})
	if errs.Is(err, errs.Forbidden) { // the system can create tokens for every user with access
		return errs.WrongField("user", "The user has no access to this site. See `holdfast user access --help`.")
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stderr, "API token (shown only once):")
	p.printf("%s\n", text)
	return nil
}

// tokenListCmd lists API tokens.
type tokenListCmd struct{ listFlags }

// Run prints them without the secret part, which is not stored.
func (c tokenListCmd) Run(ctx context.Context, p *program) error {
	return printList(ctx, p, c.listFlags, listing[tokens.APIToken]{
		read: func(actor access.Actor, page store.Page) (list store.List[tokens.APIToken], err error) {
			all, err := p.app.Tokens.List(ctx, actor)
			return store.PageOf(all, page, nil), err
		},
		shape:   func(t tokens.APIToken) any { return view.ShowToken(t) },
		columns: columnsOf("id name user created expires last_used abilities addresses"),
		row: func(t tokens.APIToken) []cell {
			return []cell{
				ident(t.ID), words(t.Name), ident(t.UserID), instant(t.CreatedAt), never(t.ExpiresAt), never(t.LastUsedAt),
				words(strings.Join(t.Abilities.Names(), " ")), words(strings.Join(t.NetworkTexts(), " ")),
			}
		},
		none: "No API tokens.",
	})
}

// never formats a time that may not be set.
func never(at time.Time) cell {
	if at.IsZero() {
		return cell{text: "never"}
	}
	return instant(at)
}

// tokenDeleteCmd deletes an API token.
type tokenDeleteCmd struct {
	siteFlag
	ID int64 `arg:"" help:"Token id: the number before the | in the token."`
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
	p.printf("Deleted token %d\n", c.ID)
	return nil
}
