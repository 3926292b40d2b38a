package api

import (
	"net/http"
	"strconv"
	"strings"

	"holdfast/internal/api/wire"
	"holdfast/internal/auth"
	"holdfast/internal/identity"
)

// sessionShape is the result of a login.
type sessionShape struct {
	ID                   int64        `json:"id"`
	Name                 string       `json:"name"`
	Username             string       `json:"username"`
	UserEmail            string       `json:"user_email"`
	UserNicename         string       `json:"user_nicename"`
	UserDisplayName      string       `json:"user_display_name"`
	UserType             auth.Role    `json:"usertype"`
	Type                 auth.Role    `json:"type"`
	ReadOnly             bool         `json:"read_only"`
	CanSignOffPayout     bool         `json:"can_sign_off_payout"`
	DefaultSite          *defaultSite `json:"default_site"` // null for an operator if there are no sites
	SiteCount            int64        `json:"site_count"`
	TwoFactorConfirmedAt *string      `json:"two_factor_confirmed_at"`
	Sites                []siteName   `json:"sites"`
	Token                string       `json:"token"`
	RefreshToken         string       `json:"refresh_token"`
}

type defaultSite struct {
	ID           int64     `json:"id"`
	Name         string    `json:"name"`
	Path         string    `json:"path"`
	Permissions  []string  `json:"permissions"`
	ChannelCount int64     `json:"channel_count"`
	UserType     auth.Role `json:"usertype"`
}

type siteName struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func showSession(s identity.Session) sessionShape {
	u, role := s.User, s.Actor.Role
	shape := sessionShape{
		ID: u.ID, Name: u.DisplayName, Username: u.Username, UserEmail: u.Email, UserNicename: nicename(u.Username),
		UserDisplayName: u.DisplayName, UserType: role, Type: role, ReadOnly: role == auth.ReadOnly,
		CanSignOffPayout: s.Actor.Can(auth.SignOffPayout), SiteCount: s.SiteCount,
		TwoFactorConfirmedAt: wire.MaybeISO(u.TwoFactorConfirmedAt), Sites: []siteName{},
		Token: s.Token, RefreshToken: s.RefreshToken,
	}
	if site := s.Default; site != nil {
		shape.DefaultSite = &defaultSite{
			ID: site.ID, Name: site.Name, Path: site.Path, Permissions: permissions(s.Actor),
			ChannelCount: site.ChannelCount, UserType: role,
		}
	}
	for _, site := range s.Sites {
		shape.Sites = append(shape.Sites, siteName{site.ID, site.Name})
	}
	return shape
}

// permissionNames are the names of permissions on the wire. (Package auth has texts for sentences.)
var permissionNames = map[auth.Permission]string{
	auth.Read:                    "read",
	auth.ReadStatements:          "read_statements",
	auth.ReadPayouts:             "read_payouts",
	auth.RecordStatementPayments: "record_statement_payments",
	auth.IssueStatements:         "issue_statements",
	auth.SignOffPayout:           "sign_off_payout",
	auth.Export:                  "export",
	auth.WriteBookings:           "write_bookings",
	auth.WriteTransactions:       "write_transactions",
	auth.WriteChannels:           "write_channels",
	auth.WriteSite:               "write_site",
	auth.ManageTokens:            "manage_api_tokens",
	auth.SeeChannelSecret:        "see_channel_secret",
	auth.SetChannelMode:          "set_channel_mode",
	auth.SetChannelTerms:         "set_channel_terms",
	auth.WriteSuppliers:          "write_suppliers",
	auth.RecordChargebacks:       "record_chargebacks",
	auth.WriteRates:              "write_rates",
	auth.WritePolicies:           "write_policies",
	auth.WriteLimits:             "write_limits",
	auth.WriteCollateral:         "write_collateral",
	auth.MoveClock:               "move_clock",
	auth.ReadAudit:               "read_audit",
	auth.DecideProposals:         "decide_proposals",
	auth.ManageSites:             "manage_sites",
	auth.ManageUsers:             "manage_users",
	auth.ManageMembers:           "manage_members",
	auth.SendMails:               "send_mails",
	auth.ImportBooks:             "import_books",
}

func permissions(a auth.Actor) []string {
	names := []string{}
	for _, p := range a.Permissions() {
		names = append(names, permissionNames[p])
	}
	return names
}

// nicename is the form of a user name that can be a part of an address.
func nicename(username string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, username), "-")
}

// deviceCookie begins the name of the cookie that says that a user has logged in on a device before. The user's id ends it,
// so that several users of one browser have one each. It is no credential.
const deviceCookie = "holdfast_device_"

func devicesOf(r *http.Request) (devices []string) {
	for _, cookie := range r.Cookies() {
		if strings.HasPrefix(cookie.Name, deviceCookie) {
			devices = append(devices, cookie.Value)
		}
	}
	return devices
}

func (s *server) login(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	name, password := in.Text("username"), in.Text("password")
	if name == nil && !in.Problems.Has("username") {
		in.Problems.Missing("username")
	}
	if password == nil && !in.Problems.Has("password") {
		in.Problems.Missing("password")
	}
	code, rotate := in.TextOr("two_factor_code"), in.Boolean("rotate_refresh_token")
	if err := in.Problems.Err(); err != nil {
		return err
	}
	session, err := s.app.Sessions.Login(c.ctx, identity.Login{
		Username: *name, Password: *password, Code: code, Path: c.r.PathValue("site"), Address: c.address,
		Devices: devicesOf(c.r), Rotate: rotate != nil && *rotate,
	})
	if err != nil {
		return err
	}
	http.SetCookie(c, &http.Cookie{
		Name: deviceCookie + strconv.FormatInt(session.User.ID, 10), Value: session.Device, Path: "/",
		MaxAge: int(auth.DeviceLifetime.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: strings.HasPrefix(s.cfg.BaseURL, "https:"),
	})
	c.site = c.r.PathValue("site")
	c.json(http.StatusOK, showSession(session))
	return nil
}

func (s *server) refreshLogin(c *call) error {
	session, err := s.app.Sessions.Refresh(c.ctx, c.r.PathValue("site"), bearer(c.r))
	if err != nil {
		return err
	}
	c.site = c.r.PathValue("site")
	c.json(http.StatusOK, showSession(session))
	return nil
}

// refreshEnded is the answer to the removal of a refresh token.
type refreshEnded struct {
	Deleted bool   `json:"deleted"`
	Code    string `json:"code"`
}

func (s *server) deleteRefresh(c *call) error {
	if err := s.app.Sessions.EndRefresh(c.ctx, c.r.PathValue("site"), bearer(c.r)); err != nil {
		return err
	}
	c.site = c.r.PathValue("site")
	c.json(http.StatusOK, refreshEnded{Deleted: true, Code: "jwt_auth_refresh_token_removed"})
	return nil
}
