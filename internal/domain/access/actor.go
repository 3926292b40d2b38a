// Package access says who the caller is and what they may do: actors, roles, permissions, and the abilities and
// networks of API tokens (section 5). It does no input or output. Start at Actor.
package access

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/errs"
)

// Role is the role of a user at a site. Its text is the usertype of section 2.2.
type Role string

// The roles. Each of the first four has all permissions of the one before it.
const (
	ReadOnly    Role = "read_only"
	Finance     Role = "finance"
	MemberAdmin Role = "member_admin"
	Operator    Role = "operator"
	// Modal is the role of the payment modal, which acts for a shopper without a login. No user has it.
	Modal Role = "modal"
)

// Permission is something that only some roles may do. Its text completes "you may not …" in the error message.
type Permission string

// The permissions. Read also covers exposure, explanations and events: every role can read them.
const (
	Read           Permission = "read"
	ReadStatements Permission = "read statements"
	// RecordStatementPayments is recording payments against statements (R11).
	RecordStatementPayments Permission = "record statement payments"
	ReadPayouts             Permission = "read payouts"
	SignOffPayout           Permission = "sign off payouts"
	Export                  Permission = "export"
	WriteBookings           Permission = "write bookings"
	WriteTransactions       Permission = "write transactions"
	WriteChannels           Permission = "write channels"
	WriteSite               Permission = "change site settings"
	ManageTokens            Permission = "manage API tokens"
	SeeChannelSecret        Permission = "read the channel secret"
	SetChannelMode          Permission = "set a channel to this mode"
	SetChannelTerms         Permission = "set the channel fields reserved for operators"
	WriteSuppliers          Permission = "write suppliers"
	RecordChargebacks       Permission = "record chargebacks"
	WriteRates              Permission = "write exchange rates"
	WritePolicies           Permission = "write policies"
	MoveClock               Permission = "move the site's clock"
	ReadAudit               Permission = "read the audit log"
	DecideProposals         Permission = "decide on proposals"
	IssueStatements         Permission = "issue statements"
	WriteLimits             Permission = "write limits"
	WriteCollateral         Permission = "write collateral"
	ManageSites             Permission = "manage sites"
	ManageUsers             Permission = "manage users"
	// ManageMembers is inviting people to the site, and changing and removing their access to it: a part of
	// ManageUsers.
	ManageMembers Permission = "manage the people on this site"
	SendMails     Permission = "resend e-mails"
	ImportBooks   Permission = "import bookings and payments"
	// ReadFailures is to read the failures of merchants. ReportFailures is to report one, and to withdraw it. DecideFailures is to
	// confirm it, to close it and to reinstate the merchant (R13).
	ReadFailures   Permission = "read the failures of merchants"
	ReportFailures Permission = "report the failure of a merchant"
	DecideFailures Permission = "decide on the failure of a merchant"
	ReadDisputes   Permission = "read disputes"
	WorkDisputes   Permission = "work on disputes"
	// AssessClaims is to assess and withdraw claims, DecideClaims to approve, reject, release and reopen them (R13).
	AssessClaims Permission = "assess claims"
	DecideClaims Permission = "decide on claims"
	// RecordRecoveries is to record and cancel recoveries after an insolvency (R13).
	RecordRecoveries Permission = "record recoveries"
)

// The permissions of the payment modal. Each is a part of a permission that people have.
const (
	LogBooking Permission = "log a booking" // of WriteBookings
	LogPayment Permission = "log a payment" // of WriteTransactions
)

// ladder says which role may do what. A role has the permissions of its own row and of all rows above it.
var ladder = []struct {
	role Role
	adds []Permission
}{
	{ReadOnly, []Permission{Read, ReadAudit}},
	{Finance, []Permission{ReadStatements, RecordStatementPayments, ReadPayouts, SignOffPayout, Export, ReadFailures, ReadDisputes}},
	{MemberAdmin, []Permission{
		WriteBookings, WriteTransactions, WriteChannels, WriteSite, ManageTokens, SeeChannelSecret, SendMails,
		ImportBooks, ManageMembers, ReportFailures, WorkDisputes, AssessClaims, RecordRecoveries,
	}},
	{Operator, []Permission{
		SetChannelMode, SetChannelTerms, WriteSuppliers, RecordChargebacks, WriteRates, WritePolicies, WriteLimits,
		WriteCollateral, MoveClock, DecideProposals, DecideFailures, DecideClaims, IssueStatements, ManageSites, ManageUsers,
	}},
}

// ParseRole reads the role of a user. An unknown role is an Invalid error about the field `role`.
func ParseRole(s string) (Role, error) {
	for _, step := range ladder {
		if string(step.role) == s {
			return step.role, nil
		}
	}
	return "", errs.WrongField("role", "Must be one of: %s, %s, %s, %s.", ReadOnly, Finance, MemberAdmin, Operator)
}

// Actor is the caller and the site of the call. It is an argument of each use case, so that none can forget whose data
// it works on.
type Actor struct {
	SiteID                int64 // the site of the call: operators name it in the path, everyone else has one
	UserID                int64 // 0 for the program itself
	Username, DisplayName string
	Role                  Role
	CanSignOffPayout      bool      // a right that a person has besides the role
	TokenID               int64     // 0 for a call without an API token
	Abilities             Abilities // the limit of this token
	RequestID             string    // the same in the log, the audit and the answer
	Address               string    // the IP address of the caller
	// Key is the idempotency key of the request that the actor sends. idempotency.Once looks at it, and nothing else does.
	Key IdempotencyKey
	// Ahead is how far the site's clock is ahead of the real one: the clock of a sandbox can be moved (R0).
	Ahead time.Duration
}

// IdempotencyKey is the idempotency key of a request and a hash of its content. On a site, a request with the same key and
// hash is carried out once. The zero value means that the caller gave no key.
type IdempotencyKey struct {
	Key  string
	Hash string
	// Replayed is set to true when the request repeats an earlier one, and its answer is read and not made. It may be nil.
	Replayed *bool
}

// System is the actor of the program itself, for jobs and the command line: an operator who is not a user.
func System(siteID int64) Actor {
	return Actor{SiteID: siteID, Username: "holdfast", DisplayName: "holdfast", Role: Operator}
}

// Caller identifies callers where their concurrent requests are counted: the API token, or else the user. It is ""
// for the program itself.
func (a Actor) Caller() string {
	switch {
	case a.TokenID != 0:
		return "token " + strconv.FormatInt(a.TokenID, 10)
	case a.UserID != 0:
		return "user " + strconv.FormatInt(a.UserID, 10)
	}
	return ""
}

// Everywhere reports whether the actor may act on other sites than the one of the call. Operators may, but an API token is
// for one site, regardless of who created it.
func (a Actor) Everywhere() bool { return a.Role == Operator && a.TokenID == 0 }

// ErrAbilities is the answer to a token that is limited to other abilities.
func ErrAbilities(s Abilities) error {
	return errs.New(errs.Forbidden, "This API token lacks the required ability. It has: %s.", strings.Join(s.Names(), ", "))
}

// Can reports whether the actor has a permission. An unknown role has none.
func (a Actor) Can(p Permission) bool {
	if !a.Abilities.may(p) {
		return false
	}
	// A payout is signed off by a person with this right, regardless of role. Only the operator may do everything.
	if p == SignOffPayout && !a.CanSignOffPayout && a.Role != Operator {
		return false
	}
	granted := false
	for _, step := range ladder {
		granted = granted || slices.Contains(step.adds, p)
		if step.role == a.Role {
			return granted
		}
	}
	return false
}

// Permissions lists the permissions of the actor, in the order of the roles.
func (a Actor) Permissions() []Permission {
	granted := []Permission{}
	for _, step := range ladder {
		for _, p := range step.adds {
			if a.Can(p) {
				granted = append(granted, p)
			}
		}
	}
	return granted
}

// RequireEither is like Require, but the payment modal passes with part, its part of the permission p.
func (a Actor) RequireEither(p, part Permission) error {
	if a.Role == Modal && (part == LogBooking || part == LogPayment) {
		return nil
	}
	return a.Require(p)
}

// Require returns nil when the actor has the permission. Otherwise it returns a Forbidden error that names the role
// and the permission.
func (a Actor) Require(p Permission) error {
	if a.Can(p) {
		return nil
	}
	if !a.Abilities.may(p) {
		return ErrAbilities(a.Abilities)
	}
	return errs.New(errs.Forbidden, "The role %s is not allowed to %s.", a.Role, p)
}

// ErrOtherSite is the error of a caller whose credentials are for another site.
func ErrOtherSite() error {
	return errs.New(errs.Forbidden, "Your account does not have access to this site.")
}
