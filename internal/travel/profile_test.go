package travel

import (
	"slices"
	"strings"
	"testing"

	"holdfast/internal/fault"
	"holdfast/internal/money"
)

func TestProfilesDifferInTheirModesTypesAndStatuses(t *testing.T) {
	for _, c := range []struct {
		profile         Profile
		mode, otherMode AccountMode
		accountType     string
		processes       bool
	}{
		{"", ModeProtectionOnly, ModeLive, TypeProtected, false},
		{ProtectionOnlyProfile, ModeProtectionOnly, ModeLive, TypeProtected, false},
		{ServerToServerProfile, ModeLive, ModeProtectionOnly, TypeTrust, true},
	} {
		modes := c.profile.Modes()
		if len(modes) != 5 || modes[0] != ModeTest || !slices.Contains(modes, c.mode) || slices.Contains(modes, c.otherMode) {
			t.Errorf("%q: modes %v", c.profile, modes)
		}
		if types := c.profile.AccountTypes(); types[0] != c.accountType || len(types) != 2 {
			t.Errorf("%q: types %v", c.profile, types)
		}
		full := slices.Contains(c.profile.ChannelStatuses(), "full-processing-ic-plus")
		if full != c.processes || c.profile.Processes() != c.processes {
			t.Errorf("%q: processes %t, statuses %v", c.profile, c.profile.Processes(), c.profile.ChannelStatuses())
		}
		for _, mode := range modes {
			if status := (Channel{Mode: mode}).Status(); !slices.Contains(c.profile.ChannelStatuses(), status) {
				t.Errorf("%q: the status of mode %s is %q", c.profile, mode, status)
			}
		}
		var p fault.Problems
		made := ChannelFields{Profile: c.profile, Name: new("a"), Currency: new(money.Currency("EUR"))}.NewChannel(Site{}, false, &p)
		if made.AccountType != c.accountType || made.Mode != ModeTest || wrongFields(t, &p) != nil {
			t.Errorf("%q: a new channel is %+v", c.profile, made)
		}
	}
}

func TestCoverAndPaymentsFollowTheMode(t *testing.T) {
	for _, c := range []struct {
		channel        Channel
		covered, takes bool
	}{
		{channel: Channel{Mode: ModeProtectionOnly, AccountType: TypeTrust}, covered: true},
		{channel: Channel{Mode: ModeLive, AccountType: TypeTrust}, takes: true},
		{channel: Channel{Mode: ModeLive, AccountType: TypeProtected}, covered: true, takes: true},
		{channel: Channel{Mode: ModeTest, AccountType: TypeProtected}, takes: true},
		{channel: Channel{Mode: ModeDraft, AccountType: TypeProtected}},
		{channel: Channel{Mode: ModeAffiliate, AccountType: TypeProtected}},
		{channel: Channel{Mode: ModeClosed, AccountType: TypeProtected}},
	} {
		if got := c.channel.Covered(); got != c.covered {
			t.Errorf("%+v: covered is %t", c.channel, got)
		}
		if c.channel.TakesPayments() {
			t.Errorf("%+v takes payments without a processor", c.channel)
		}
		c.channel.ServerToServer, c.channel.Processor = true, "sandbox"
		if got := c.channel.TakesPayments(); got != c.takes {
			t.Errorf("%+v: takes payments is %t", c.channel, got)
		}
		c.channel.ServerToServer = false
		if c.channel.TakesPayments() {
			t.Errorf("%+v takes payments that is not set up for it", c.channel)
		}
	}
}

func TestFieldsOfTheOtherTable(t *testing.T) {
	key := "3q8w-example-key-9f2c"
	operators := ProcessorFields{
		CardholderPresent: new(true), ServerToServer: new(true), BeneficiaryID: new("BEN"), SettlementCurrency: new("USD"),
		PayoutMinimum: new(int64(5)), Descriptor: new("SHOP"),
	}
	base := Channel{
		Name: "a", Currency: "EUR", Mode: ModeLive, Language: "enGB", AccountType: TypeTrust, ProtectionType: "trust-travel", StatementPeriod: "month",
	}
	change := func(c Channel, f ProcessorFields, byOperator bool) (Channel, []string) {
		var p fault.Problems
		after := ChannelFields{Profile: ServerToServerProfile, ProcessorFields: f}.Change(c, false, byOperator, &p)
		return after, wrongFields(t, &p)
	}
	if after, wrong := change(base, operators, false); after.ProcessorConfig != (ProcessorConfig{}) || wrong != nil {
		t.Errorf("a customer set %+v, wrong is %v", after.ProcessorConfig, wrong)
	}
	set, wrong := change(base, operators, true)
	want := ProcessorConfig{CardholderPresent: true, ServerToServer: true, BeneficiaryID: "BEN", SettlementCurrency: "USD", PayoutMinimum: 5, Descriptor: "SHOP"}
	if set.ProcessorConfig != want || wrong != nil {
		t.Errorf("the operator set %+v, wrong is %v", set.ProcessorConfig, wrong)
	}
	tokenizer := ProcessorFields{TokenizerID: new("id"), TokenizerKey: &key, MailFailures: new(true), ChargebackMail: new("a@b.example")}
	if _, wrong := change(base, tokenizer, false); !slices.Equal(wrong, []string{"tokenizer_api_key", "tokenizer_id"}) {
		t.Errorf("without server_to_server wrong is %v", wrong)
	}
	kept, wrong := change(set, tokenizer, false)
	if kept.TokenizerID != "id" || kept.TokenizerKey() != "…9f2c" || !kept.MailFailures || kept.ChargebackMail != "a@b.example" || wrong != nil {
		t.Errorf("a customer set %+v, wrong is %v", kept.ProcessorConfig, wrong)
	}
	if sealed, changes := tokenizer.NewTokenizerKey(set, kept); sealed != key || !changes {
		t.Errorf("to seal: %q, %t", sealed, changes)
	}
	echo := ProcessorFields{TokenizerKey: new("…9f2c"), TokenizerID: new("id"), SettlementCurrency: new("USD")}
	same, wrong := change(kept, echo, true)
	if _, changes := echo.NewTokenizerKey(kept, same); changes || same.ProcessorConfig != kept.ProcessorConfig || wrong != nil {
		t.Errorf("an echo changes %t, %+v, wrong is %v", changes, same.ProcessorConfig, wrong)
	}
	for name, f := range map[string]ProcessorFields{
		"the key taken away": {TokenizerKey: new("")}, "it processes no more": {ServerToServer: new(false)},
	} {
		gone, wrong := change(kept, f, true)
		if sealed, changes := f.NewTokenizerKey(kept, gone); gone.TokenizerKey() != "" || sealed != "" || !changes || wrong != nil {
			t.Errorf("%s: %+v, to seal %q, %t, wrong is %v", name, gone.ProcessorConfig, sealed, changes, wrong)
		}
	}
	for field, f := range map[string]ProcessorFields{
		"tokenizer_api_key":   {TokenizerKey: new("…9f2d")}, // too short for a key, and not the shown end of this one
		"tokenizer_id":        {TokenizerID: new(strings.Repeat("x", MaxText+1))},
		"chargeback_mail":     {ChargebackMail: new("nobody")},
		"settlement_currency": {SettlementCurrency: new("BRL")},
		"payout_minimum":      {PayoutMinimum: new(int64(-1))},
		"descriptor":          {Descriptor: new("a\x00b")},
		"beneficiary_id":      {BeneficiaryID: new(strings.Repeat("x", MaxText+1))},
	} {
		if _, wrong := change(kept, f, true); !slices.Equal(wrong, []string{field}) {
			t.Errorf("%s: wrong is %v", field, wrong)
		}
	}
	var p fault.Problems
	if other := (ChannelFields{ProcessorFields: tokenizer}).Change(base, false, true, &p); other.ProcessorConfig != (ProcessorConfig{}) || wrongFields(t, &p) != nil {
		t.Errorf("in the other profile: %+v, wrong is %v", other.ProcessorConfig, wrongFields(t, &p))
	}
}

func TestTheSettlementCurrencyFollowsTheBaseCurrency(t *testing.T) {
	for _, c := range []struct{ base, set, want string }{
		{"GBP", "", "GBP"}, {"BRL", "", "EUR"}, {"BRL", "USD", "USD"},
	} {
		channel := Channel{Currency: money.Currency(c.base)}
		channel.SettlementCurrency = c.set
		if got := channel.Settlement(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestTheContentOfABookingIsTheProfiles(t *testing.T) {
	for profile, needed := range map[Profile]bool{ProtectionOnlyProfile: true, ServerToServerProfile: false} {
		var absent, emptied fault.Problems
		BookingFields{Profile: profile}.NewBooking(&absent)
		BookingFields{Profile: profile, Content: new("")}.Change(Booking{Language: "enGB"}, &emptied)
		if absent.Has("content") != needed || emptied.Has("content") != needed {
			t.Errorf("%s: absent is wrong %t, empty is wrong %t", profile, absent.Has("content"), emptied.Has("content"))
		}
	}
}
