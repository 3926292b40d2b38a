package auth_test

import (
	"strings"
	"testing"

	"holdfast/internal/auth"
	"holdfast/internal/fault"
)

// The wire's sentence about roles, written out: one letter per role that may, in the order of the roles.
var whoMay = map[auth.Permission]string{
	auth.Read:                    "rfmo",
	auth.ReadStatements:          ".fmo",
	auth.ReadPayouts:             ".fmo",
	auth.RecordStatementPayments: ".fmo",
	auth.IssueStatements:         "...o",
	auth.SignOffPayout:           "...o", // the others with the personal right only
	auth.Export:                  ".fmo",
	auth.WriteBookings:           "..mo",
	auth.WriteTransactions:       "..mo",
	auth.WriteChannels:           "..mo",
	auth.WriteSite:               "..mo",
	auth.ManageTokens:            "..mo",
	auth.SeeChannelSecret:        "..mo",
	auth.ImportBooks:             "..mo",
	auth.SetChannelMode:          "...o",
	auth.SetChannelTerms:         "...o",
	auth.WriteSuppliers:          "...o",
	auth.RecordChargebacks:       "...o",
	auth.WriteRates:              "...o",
	auth.MoveClock:               "...o",
	auth.DecideProposals:         "...o",
	auth.ReadAudit:               "..mo",
	auth.ManageMembers:           "..mo",
	auth.ManageSites:             "...o",
	auth.ManageUsers:             "...o",
}

var roles = []auth.Role{auth.ReadOnly, auth.Finance, auth.MemberAdmin, auth.Operator}

func TestWhoMayDoWhat(t *testing.T) {
	for p, letters := range whoMay {
		for i, role := range roles {
			want := letters[i] != '.'
			a := auth.Actor{SiteID: 1, Role: role}
			if got := a.Can(p); got != want {
				t.Errorf("%s may %s: %v, want %v", role, p, got, want)
			}
			err := a.Require(p)
			if (err == nil) != want {
				t.Errorf("%s: Require(%s) = %v", role, p, err)
			}
			if err == nil {
				continue
			}
			if !fault.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), string(p)) || !strings.Contains(err.Error(), string(role)) {
				t.Errorf("Require(%s) for %s says %q", p, role, err)
			}
		}
	}
}

func TestSigningOffIsAPersonalRightThatTheRoleMustAllow(t *testing.T) {
	for _, role := range roles {
		a := auth.Actor{Role: role, CanSignOffPayout: true}
		if got, want := a.Can(auth.SignOffPayout), role != auth.ReadOnly; got != want {
			t.Errorf("%s with the right may sign off: %v, want %v", role, got, want)
		}
	}
}

func TestUnknownRoleMayNothing(t *testing.T) {
	for _, role := range []auth.Role{"", "admin", "OPERATOR"} {
		for p := range whoMay {
			if (auth.Actor{Role: role, CanSignOffPayout: true}).Can(p) {
				t.Errorf("role %q may %s", role, p)
			}
		}
		if _, err := auth.ParseRole(string(role)); !fault.Is(err, fault.Invalid) {
			t.Errorf("ParseRole(%q) = %v, want an Invalid fault", role, err)
		}
	}
	for _, role := range roles {
		if got, err := auth.ParseRole(string(role)); got != role || err != nil {
			t.Errorf("ParseRole(%q) = %q, %v", role, got, err)
		}
	}
}

func TestSystemActsAsOperatorOfOneSite(t *testing.T) {
	a := auth.System(7)
	if a.SiteID != 7 || a.UserID != 0 || a.Username != "holdfast" {
		t.Errorf("System(7) = %+v", a)
	}
	for p := range whoMay {
		if !a.Can(p) {
			t.Errorf("the program may not %s", p)
		}
	}
}

func TestTheModalLogsAndDoesNothingElse(t *testing.T) {
	modal := auth.Actor{Role: auth.Modal}
	if granted := modal.Permissions(); len(granted) > 0 {
		t.Errorf("it may %v", granted)
	}
	for whole, part := range map[auth.Permission]auth.Permission{
		auth.WriteBookings: auth.LogBooking, auth.WriteTransactions: auth.LogPayment,
	} {
		if err := modal.RequireEither(whole, part); err != nil {
			t.Errorf("%s: %v", part, err)
		}
		if err := modal.RequireEither(whole, whole); !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v", whole, err)
		}
		if err := (auth.Actor{Role: auth.ReadOnly}).RequireEither(whole, part); !fault.Is(err, fault.Forbidden) {
			t.Errorf("a reader may %s: %v", part, err)
		}
		if err := (auth.Actor{Role: auth.MemberAdmin}).RequireEither(whole, part); err != nil {
			t.Errorf("an admin: %v", err)
		}
	}
	if _, err := auth.ParseRole(string(auth.Modal)); err == nil {
		t.Error("a user can be given the role of the modal")
	}
}
