package access_test

import (
	"strings"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
)

// The permissions of the roles in the specification: one letter per role, in the order of the roles.
var whoMay = map[access.Permission]string{
	access.Read:                    "rfmo",
	access.ReadStatements:          ".fmo",
	access.ReadPayouts:             ".fmo",
	access.RecordStatementPayments: ".fmo",
	access.IssueStatements:         "...o",
	access.SignOffPayout:           "...o", // the others with the personal right only
	access.Export:                  ".fmo",
	access.WriteBookings:           "..mo",
	access.WriteTransactions:       "..mo",
	access.WriteChannels:           "..mo",
	access.WriteSite:               "..mo",
	access.ManageTokens:            "..mo",
	access.SeeChannelSecret:        "..mo",
	access.ImportBooks:             "..mo",
	access.SetChannelMode:          "...o",
	access.SetChannelTerms:         "...o",
	access.WriteSuppliers:          "...o",
	access.RecordChargebacks:       "...o",
	access.WriteRates:              "...o",
	access.MoveClock:               "...o",
	access.DecideProposals:         "...o",
	access.ReadAudit:               "rfmo",
	access.ReadFailures:            ".fmo",
	access.ReportFailures:          "..mo",
	access.DecideFailures:          "...o",
	access.ManageMembers:           "..mo",
	access.ManageSites:             "...o",
	access.ManageUsers:             "...o",
}

var roles = []access.Role{access.ReadOnly, access.Finance, access.MemberAdmin, access.Operator}

func TestWhoMayDoWhat(t *testing.T) {
	for p, letters := range whoMay {
		for i, role := range roles {
			want := letters[i] != '.'
			a := access.Actor{SiteID: 1, Role: role}
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
			if !errs.Is(err, errs.Forbidden) || !strings.Contains(err.Error(), string(p)) || !strings.Contains(err.Error(), string(role)) {
				t.Errorf("Require(%s) for %s says %q", p, role, err)
			}
		}
	}
}

func TestSigningOffIsAPersonalRightThatTheRoleMustAllow(t *testing.T) {
	for _, role := range roles {
		a := access.Actor{Role: role, CanSignOffPayout: true}
		if got, want := a.Can(access.SignOffPayout), role != access.ReadOnly; got != want {
			t.Errorf("%s with the right may sign off: %v, want %v", role, got, want)
		}
	}
}

func TestUnknownRoleMayNothing(t *testing.T) {
	for _, role := range []access.Role{"", "admin", "OPERATOR"} {
		for p := range whoMay {
			if (access.Actor{Role: role, CanSignOffPayout: true}).Can(p) {
				t.Errorf("role %q may %s", role, p)
			}
		}
		if _, err := access.ParseRole(string(role)); !errs.Is(err, errs.Invalid) {
			t.Errorf("ParseRole(%q) = %v, want an Invalid fault", role, err)
		}
	}
	for _, role := range roles {
		if got, err := access.ParseRole(string(role)); got != role || err != nil {
			t.Errorf("ParseRole(%q) = %q, %v", role, got, err)
		}
	}
}

func TestSystemActsAsOperatorOfOneSite(t *testing.T) {
	a := access.System(7)
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
	modal := access.Actor{Role: access.Modal}
	if granted := modal.Permissions(); len(granted) > 0 {
		t.Errorf("it may %v", granted)
	}
	for whole, part := range map[access.Permission]access.Permission{
		access.WriteBookings: access.LogBooking, access.WriteTransactions: access.LogPayment,
	} {
		if err := modal.RequireEither(whole, part); err != nil {
			t.Errorf("%s: %v", part, err)
		}
		if err := modal.RequireEither(whole, whole); !errs.Is(err, errs.Forbidden) {
			t.Errorf("%s: %v", whole, err)
		}
		if err := (access.Actor{Role: access.ReadOnly}).RequireEither(whole, part); !errs.Is(err, errs.Forbidden) {
			t.Errorf("a reader may %s: %v", part, err)
		}
		if err := (access.Actor{Role: access.MemberAdmin}).RequireEither(whole, part); err != nil {
			t.Errorf("an admin: %v", err)
		}
	}
	if _, err := access.ParseRole(string(access.Modal)); err == nil {
		t.Error("a user can be given the role of the modal")
	}
}
