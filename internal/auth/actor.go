// Package auth answers who is calling and what they may do: actors, roles and permissions, passwords, API tokens, JWTs,
// second factors, the back-off after failed logins, and the auth string of the payment modal. It is pure: what is
// random comes from an io.Reader, what is time from a time.Time, and what is stored is handed in and given back.
package auth

import (
	"slices"
	"time"

	"holdfast/internal/fault"
)

// Role is what a user is at a site; its text is the wire's usertype.
type Role string

// The roles, each holding what the one before it holds.
const (
	ReadOnly    Role = "read_only"
	Finance     Role = "finance"
	MemberAdmin Role = "member_admin"
	Operator    Role = "operator"
	// Modal is what the payment modal acts as in the name of a shopper, whom nobody knows. It stands beside the others:
	// no user has it.
	Modal Role = "modal"
)

// Permission is one thing that not everyone may do. Its text completes "may not …" in the answer to who tries.
type Permission string

// The permissions. Exposure, explanations and events are open to every role: reading them is Read.
const (
	Read           Permission = "read"
	ReadStatements Permission = "read statements"
	// RecordStatementPayments is about what was paid against statements.
	RecordStatementPayments Permission = "record payments of statements"
	ReadPayouts             Permission = "read payouts"
	SignOffPayout           Permission = "sign off payouts"
	Export                  Permission = "export"
	WriteBookings           Permission = "write bookings"
	WriteTransactions       Permission = "write transactions"
	WriteChannels           Permission = "write channels"
	WriteSite               Permission = "change the settings of the site"
	ManageTokens            Permission = "manage API tokens"
	SeeChannelSecret        Permission = "see the channel secret"
	SetChannelMode          Permission = "set a channel to this mode"
	SetChannelTerms         Permission = "set the channel fields that are the operator's"
	WriteSuppliers          Permission = "write suppliers"
	RecordChargebacks       Permission = "record chargebacks"
	WriteRates              Permission = "write exchange rates"
	WritePolicies           Permission = "write policies"
	MoveClock               Permission = "move the clock of the site"
	ReadAudit               Permission = "read the audit"
	DecideProposals         Permission = "decide on proposals"
	IssueStatements         Permission = "issue statements"
	WriteLimits             Permission = "write limits"
	WriteCollateral         Permission = "write collateral"
	ManageSites             Permission = "manage sites"
	ManageUsers             Permission = "manage users"
)

// The permissions of the payment modal: each is a part of one that people have.
const (
	LogBooking Permission = "log a booking" // of WriteBookings
	LogPayment Permission = "log a payment" // of WriteTransactions
)

// ladder is the one table of who may do what. Like the wire's sentence it is read downwards, "that, and …": a role has
// what stands in its own row and in the rows above it.
var ladder = []struct {
	role Role
	adds []Permission
}{
	{ReadOnly, []Permission{Read}},
	{Finance, []Permission{ReadStatements, RecordStatementPayments, ReadPayouts, SignOffPayout, Export}},
	{MemberAdmin, []Permission{WriteBookings, WriteTransactions, WriteChannels, WriteSite, ManageTokens, SeeChannelSecret, ReadAudit}},
	{Operator, []Permission{SetChannelMode, SetChannelTerms, WriteSuppliers, RecordChargebacks, WriteRates, WritePolicies, WriteLimits, WriteCollateral, MoveClock, DecideProposals, IssueStatements, ManageSites, ManageUsers}},
}

// ParseRole reads a role; the fault of an unknown one is about the field `role`.
func ParseRole(s string) (Role, error) {
	for _, step := range ladder {
		if string(step.role) == s {
			return step.role, nil
		}
	}
	return "", fault.WrongField("role", "must be one of %s, %s, %s, %s", ReadOnly, Finance, MemberAdmin, Operator)
}

// Actor is who calls, and on which site. It travels as an argument, so that no use case can forget whose data it is on.
type Actor struct {
	SiteID                int64 // the site acted on: an operator's changes with the path, everyone else's is their own
	UserID                int64 // 0 for the program itself
	Username, DisplayName string
	Role                  Role
	CanSignOffPayout      bool   // a personal right on top of the role
	TokenID               int64  // 0 unless called with an API token
	RequestID             string // ties log, audit and answer together
	Address               string // where the call came from
	// Ahead is how far the site's clock is ahead of the real one: a sandbox's can be moved (R0).
	Ahead time.Duration
}

// System is the program itself: its jobs and its command line act as an operator without being a user.
func System(siteID int64) Actor {
	return Actor{SiteID: siteID, Username: "holdfast", DisplayName: "holdfast", Role: Operator}
}

// Can reports whether the actor may do p. An unknown role may do nothing.
func (a Actor) Can(p Permission) bool {
	// Money leaving the house is entrusted to a person, not to a post; only the operator may do everything.
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

// Permissions lists all that the actor may do.
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

// RequireEither is Require for what the payment modal may do too: p, or the part of it that is enough here.
func (a Actor) RequireEither(p, part Permission) error {
	if a.Role == Modal && (part == LogBooking || part == LogPayment) {
		return nil
	}
	return a.Require(p)
}

// Require returns nil when the actor may do p, else a Forbidden fault that says what was not allowed to whom.
func (a Actor) Require(p Permission) error {
	if a.Can(p) {
		return nil
	}
	return fault.New(fault.Forbidden, "With the role %s you may not %s.", a.Role, p)
}
