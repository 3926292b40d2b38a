package merchant

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

// wrongFields returns the names of invalid fields, and of missing ones with a question mark.
func wrongFields(t *testing.T, p *errs.Problems) []string {
	t.Helper()
	err := p.Err()
	if err == nil {
		return nil
	}
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		t.Fatalf("not a fault: %v", err)
	}
	names := []string{}
	for _, name := range f.Absent {
		names = append(names, name+"?")
	}
	for name := range f.Params {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func euros() *money.Currency { return new(money.Currency("EUR")) }

func TestANewChannelHasTheDefaults(t *testing.T) {
	var p errs.Problems
	c := ChannelFields{Name: new("Alpine Escapes"), Currency: euros()}.NewChannel(Site{ID: 3, Name: "Demo"}, false, &p)
	if got := wrongFields(t, &p); got != nil {
		t.Fatalf("wrong: %v", got)
	}
	want := Channel{
		SiteID: 3, Name: "Alpine Escapes", Slug: "alpine-escapes", AccountType: "protected-processing", Mode: ModeTest,
		WasTest: true, ProtectionType: "trust-travel", Currency: "EUR", Language: "enGB", ReceiptLabel: "Demo",
		OtherProtection: "none", AuthorisationDays: 7, StatementPeriod: "month",
	}
	if fmt.Sprintf("%+v", c) != fmt.Sprintf("%+v", want) {
		t.Errorf("made\n%+v\nwant\n%+v", c, want)
	}
	if c.Status() != "test" {
		t.Errorf("its status is %s", c.Status())
	}
}

func TestWhatIsWrongWithANewChannel(t *testing.T) {
	long := strings.Repeat("é", check.MaxText+1)
	cases := []struct {
		name       string
		in         ChannelFields
		byOperator bool
		want       []string
	}{
		{"nothing said", ChannelFields{}, false, []string{"currencies?", "name?"}},
		{"an empty name", ChannelFields{Name: new(" "), Currency: euros()}, false, []string{"name"}},
		{"a long name", ChannelFields{Name: &long, Currency: euros()}, false, []string{"name"}},
		{"a name with a bell", ChannelFields{Name: new("a\a"), Currency: euros()}, false, []string{"name"}},
		{"everything at once", ChannelFields{
			Name: new("a"), Currency: euros(), Mode: new(AccountMode("live")), Language: new("en"), PrimaryMail: new("a@b.example,x"),
			ReceiptLabel: &long, ExternalID: &long,
		}, false, []string{"account_mode", "external_id", "language", "primary_mail", "receipt_label"}},
		{"a mode that is the operator's", ChannelFields{Name: new("a"), Currency: euros(), Mode: new(ModeAffiliate)}, false, []string{"account_mode"}},
		{"the same by the operator", ChannelFields{Name: new("a"), Currency: euros(), Mode: new(ModeAffiliate)}, true, nil},
		{"wrong fields that are the operator's, by a customer", ChannelFields{
			Name: new("a"), Currency: euros(), AccountType: new("x"), ProtectionType: new("x"), Status: new("x"),
			StatementPeriod: new("x"), Suppliers: new(make([]int64, check.MaxList+1)),
		}, false, nil},
		{"the same by the operator", ChannelFields{
			Name: new("a"), Currency: euros(), AccountType: new("x"), ProtectionType: new("x"), Status: new("x"),
			StatementPeriod: new("x"), Suppliers: new(make([]int64, check.MaxList+1)),
		}, true, []string{"account_type", "channel_status", "protection_type", "statement_period", "suppliers"}},
	}
	for _, c := range cases {
		var p errs.Problems
		c.in.NewChannel(Site{}, c.byOperator, &p)
		if got := wrongFields(t, &p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestModesMoveAlongTheirTable(t *testing.T) {
	for profile, open := range map[Profile]AccountMode{"": ModeProtectionOnly, ProtectionOnlyProfile: ModeProtectionOnly, ServerToServerProfile: ModeLive} {
		t.Run(string(profile), func(t *testing.T) { modesMove(t, profile, open) })
	}
}

// modesMove tries every move in a profile; open is the mode in which its channels take money.
func modesMove(t *testing.T, profile Profile, open AccountMode) {
	t.Helper()
	allowed := map[[2]AccountMode]bool{
		{ModeTest, ModeClosed}: true, {ModeDraft, open}: true, {ModeDraft, ModeAffiliate}: true, {ModeDraft, ModeClosed}: true,
		{open, ModeAffiliate}: true, {open, ModeClosed}: true, {ModeAffiliate, open}: true,
		{ModeAffiliate, ModeClosed}: true, {ModeClosed, open}: true, {ModeClosed, ModeAffiliate}: true,
	}
	for _, from := range profile.Modes() {
		for _, to := range []AccountMode{ModeTest, ModeDraft, ModeProtectionOnly, ModeLive, ModeAffiliate, ModeClosed} {
			var p errs.Problems
			before := Channel{Name: "a", Currency: "EUR", Mode: from, Language: "enGB", AccountType: "trust", ProtectionType: "trust-travel", StatementPeriod: "month"}
			after := ChannelFields{Profile: profile, Mode: &to}.Change(before, false, true, &p)
			want := from == to || allowed[[2]AccountMode{from, to}]
			if (wrongFields(t, &p) == nil) != want {
				t.Errorf("from %s to %s: wrong is %v", from, to, wrongFields(t, &p))
			}
			if want && after.Mode != to {
				t.Errorf("from %s to %s: it became %s", from, to, after.Mode)
			}
			var ignored errs.Problems
			if same := (ChannelFields{Profile: profile, Mode: &to}).Change(before, false, false, &ignored); same.Mode != from || wrongFields(t, &ignored) != nil {
				t.Errorf("a customer moved %s to %s, wrong is %v", from, same.Mode, wrongFields(t, &ignored))
			}
		}
	}
}

func TestAChannelBornForTestsOnlyCloses(t *testing.T) {
	var p errs.Problems
	c := Channel{Name: "a", Mode: ModeClosed, WasTest: true}
	ChannelFields{Mode: new(ModeProtectionOnly)}.Change(c, false, false, &p)
	if got := wrongFields(t, &p); slices.Contains(got, "account_mode") {
		t.Errorf("a customer's mode is ignored, and not %v", got)
	}
	ChannelFields{Mode: new(ModeProtectionOnly)}.Change(c, false, true, &p)
	if got := wrongFields(t, &p); !slices.Contains(got, "account_mode") {
		t.Errorf("a closed test channel became protected; wrong is %v", got)
	}
}

func TestBookingsFixTheCurrency(t *testing.T) {
	before := Channel{Name: "a", Currency: "EUR", Language: "enGB"}
	for _, c := range []struct {
		to          money.Currency
		hasBookings bool
		wrong       bool
	}{{"USD", false, false}, {"USD", true, true}, {"EUR", true, false}} {
		var p errs.Problems
		ChannelFields{Currency: &c.to}.Change(before, c.hasBookings, false, &p)
		if got := wrongFields(t, &p); (got != nil) != c.wrong {
			t.Errorf("EUR to %s with bookings %v: wrong is %v", c.to, c.hasBookings, got)
		}
	}
}

func TestChannelStatus(t *testing.T) {
	for _, c := range []struct {
		c    Channel
		want string
	}{
		{Channel{Mode: ModeTest}, "test"},
		{Channel{Mode: ModeDraft}, "new"},
		{Channel{Mode: ModeProtectionOnly}, "svc-protection"},
		{Channel{Mode: ModeAffiliate}, "affiliate"},
		{Channel{Mode: ModeClosed}, "closed"},
		{Channel{Mode: ModeDraft, StatusOverride: "agent"}, "agent"},
		{Channel{Mode: ModeDraft, StatusOverride: "agent", Locked: true}, "locked"},
	} {
		if got := c.c.Status(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.c, got, c.want)
		}
	}
}

func TestTheOperatorSetsTheStatus(t *testing.T) {
	base := Channel{Name: "a", Mode: ModeDraft, Language: "enGB", AccountType: "trust", ProtectionType: "trust-travel", StatementPeriod: "month"}
	cases := []struct {
		name   string
		before Channel
		in     ChannelFields
		want   string
		wrong  bool
	}{
		{"another one", base, ChannelFields{Status: new("agent")}, "agent", false},
		{"the one that follows anyway goes on following", base, ChannelFields{Status: new("svc-protection"), Mode: new(ModeProtectionOnly)}, "svc-protection", false},
		{"an echo beside a move sets nothing", base, ChannelFields{Status: new("new"), Mode: new(ModeProtectionOnly)}, "svc-protection", false},
		{"locked is not set", base, ChannelFields{Status: new("locked")}, "", true},
		{"nor anything else that is none", base, ChannelFields{Status: new("novel")}, "", true},
	}
	for _, c := range cases {
		var p errs.Problems
		after := c.in.Change(c.before, false, true, &p)
		if got := wrongFields(t, &p); (got != nil) != c.wrong {
			t.Errorf("%s: wrong is %v", c.name, got)
		}
		if !c.wrong && (after.Status() != c.want || c.name != "another one" && after.StatusOverride != "") {
			t.Errorf("%s: %s, set to %q; want %s", c.name, after.Status(), after.StatusOverride, c.want)
		}
	}
	set := base
	set.StatusOverride = "agent"
	var p errs.Problems
	if after := (ChannelFields{Status: new("")}).Change(set, false, true, &p); after.Status() != "new" || wrongFields(t, &p) != nil {
		t.Errorf("taken back, the status is %s; wrong is %v", after.Status(), wrongFields(t, &p))
	}
	locked := base
	locked.Locked = true
	if after := (ChannelFields{Status: new("locked")}).Change(locked, false, true, &p); after.StatusOverride != "" || wrongFields(t, &p) != nil {
		t.Errorf("the echo of a locked channel set %q; wrong is %v", after.StatusOverride, wrongFields(t, &p))
	}
}

// TestALockHasAReason: only the operator can set it, other changes keep it, and unlocking removes it.
func TestALockHasAReason(t *testing.T) {
	yes, no, why, other := true, false, "The licence was withdrawn.", "Insolvency suspected."
	c := Channel{Name: "a", Mode: ModeDraft, Language: "enGB", AccountType: "trust", ProtectionType: "trust-travel", StatementPeriod: "month", Currency: "EUR"}
	for i, step := range []struct {
		in         ChannelFields
		byOperator bool
		want       string
	}{
		{ChannelFields{LockReason: &why}, true, ""}, // not locked
		{ChannelFields{Locked: &yes, LockReason: &why}, false, ""},
		{ChannelFields{Locked: &yes, LockReason: &why}, true, why},
		{ChannelFields{Locked: &yes}, true, why},
		{ChannelFields{LockReason: &other}, false, why},
		{ChannelFields{LockReason: &other}, true, other},
		{ChannelFields{Locked: &no}, true, ""},
	} {
		var p errs.Problems
		if c = step.in.Change(c, false, step.byOperator, &p); c.LockReason != step.want || wrongFields(t, &p) != nil {
			t.Errorf("step %d: the reason is %q, want %q; wrong is %v", i, c.LockReason, step.want, wrongFields(t, &p))
		}
	}
	var p errs.Problems
	if (ChannelFields{Locked: &yes, LockReason: new(strings.Repeat("a", check.MaxContent+1))}).Change(c, false, true, &p); !p.Has("lock_reason") {
		t.Error("a reason that is too long")
	}
}

func TestSlugOf(t *testing.T) {
	for name, want := range map[string]string{
		"Alpine Escapes":  "alpine-escapes",
		" -- A & B, Ltd.": "a-b-ltd",
		"Zürich":          "z-rich",
		"日本":              "channel",
		"2 Go":            "2-go",
	} {
		if got := slugOf(name); got != want {
			t.Errorf("slugOf(%q) is %q, want %q", name, got, want)
		}
	}
}
