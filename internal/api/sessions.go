package api

import (
	"net/http"
	"strconv"
	"strings"

	"holdfast/internal/account/credentials"
	"holdfast/internal/account/sessions"
	"holdfast/internal/api/view"
	"holdfast/internal/domain/access"
)

// sessionShape is the result of a login.
type sessionShape struct {
	ID                   int64        `json:"id"`
	Name                 string       `json:"name"`
	Username             string       `json:"username"`
	UserEmail            string       `json:"user_email"`
	UserNicename         string       `json:"user_nicename"`
	UserDisplayName      string       `json:"user_display_name"`
	UserType             access.Role  `json:"usertype"`
	Type                 access.Role  `json:"type"`
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
	ID           int64       `json:"id"`
	Name         string      `json:"name"`
	Path         string      `json:"path"`
	Permissions  []string    `json:"permissions"`
	ChannelCount int64       `json:"channel_count"`
	UserType     access.Role `json:"usertype"`
}

type siteName struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func showSession(s sessions.Session) sessionShape {
	u, role := s.User, s.Actor.Role
	shape := sessionShape{
		ID: u.ID, Name: u.DisplayName, Username: u.Username, UserEmail: u.Email, UserNicename: nicename(u.Username),
		UserDisplayName: u.DisplayName, UserType: role, Type: role, ReadOnly: role == access.ReadOnly,
		CanSignOffPayout: s.Actor.Can(access.SignOffPayout), SiteCount: s.SiteCount,
		TwoFactorConfirmedAt: view.MaybeISO(u.TwoFactorConfirmedAt), Sites: []siteName{},
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
var permissionNames = map[access.Permission]string{
	access.Read:                    "read",
	access.ReadStatements:          "read_statements",
	access.ReadPayouts:             "read_payouts",
	access.RecordStatementPayments: "record_statement_payments",
	access.IssueStatements:         "issue_statements",
	access.SignOffPayout:           "sign_off_payout",
	access.Export:                  "export",
	access.WriteBookings:           "write_bookings",
	access.WriteTransactions:       "write_transactions",
	access.WriteChannels:           "write_channels",
	access.WriteSite:               "write_site",
	access.ManageTokens:            "manage_api_tokens",
	access.SeeChannelSecret:        "see_channel_secret",
	access.SetChannelMode:          "set_channel_mode",
	access.SetChannelTerms:         "set_channel_terms",
	access.WriteSuppliers:          "write_suppliers",
	access.RecordChargebacks:       "record_chargebacks",
	access.WriteRates:              "write_rates",
	access.WritePolicies:           "write_policies",
	access.WriteLimits:             "write_limits",
	access.WriteCollateral:         "write_collateral",
	access.MoveClock:               "move_clock",
	access.ReadAudit:               "read_audit",
	access.DecideProposals:         "decide_proposals",
	access.ManageSites:             "manage_sites",
	access.ManageUsers:             "manage_users",
	access.ManageMembers:           "manage_members",
	access.SendMails:               "send_mails",
	access.ImportBooks:             "import_books",
	access.ReadFailures:            "read_failures",
	access.ReportFailures:          "report_failures",
	access.DecideFailures:          "decide_failures",
	access.ReadDisputes:            "read_disputes",
	access.WorkDisputes:            "work_disputes",
	access.AssessClaims:            "assess_claims",
	access.DecideClaims:            "decide_claims",
	access.RecordRecoveries:        "record_recoveries",
}

func permissions(a access.Actor) []string {
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
	session, err := s.app.Sessions.Login(c.ctx, sessions.Login{
		Username: *name, Password: *password, Code: code, Path: c.r.PathValue("site"), Address: c.address,
		Devices: devicesOf(c.r), Rotate: rotate != nil && *rotate,
	})
	if err != nil {
		return err
	}
	http.SetCookie(c, &http.Cookie{
		Name: deviceCookie + strconv.FormatInt(session.User.ID, 10), Value: session.Device, Path: "/",
		MaxAge: int(credentials.DeviceLifetime.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode,
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
