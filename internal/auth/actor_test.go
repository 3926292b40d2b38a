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
	auth.SetChannelMode:          "...o",
	auth.SetChannelTerms:         "...o",
	auth.WriteSuppliers:          "...o",
	auth.RecordChargebacks:       "...o",
	auth.WriteRates:              "...o",
	auth.MoveClock:               "...o",
	auth.DecideProposals:         "...o",
	auth.ReadAudit:               "..mo",
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
