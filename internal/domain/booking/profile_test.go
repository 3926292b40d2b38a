package booking

import (
	"slices"
	"strings"
	"testing"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

func TestProfilesDifferInTheirModesTypesAndStatuses(t *testing.T) {
	for _, c := range []struct {
		profile         merchant.Profile
		mode, otherMode merchant.AccountMode
		accountType     string
		processes       bool
	}{
		{"", merchant.ModeProtectionOnly, merchant.ModeLive, merchant.TypeProtected, false},
		{merchant.ProtectionOnlyProfile, merchant.ModeProtectionOnly, merchant.ModeLive, merchant.TypeProtected, false},
		{merchant.ServerToServerProfile, merchant.ModeLive, merchant.ModeProtectionOnly, merchant.TypeTrust, true},
	} {
		modes := c.profile.Modes()
		if len(modes) != 5 || modes[0] != merchant.ModeTest || !slices.Contains(modes, c.mode) || slices.Contains(modes, c.otherMode) {
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
			if status := (merchant.Channel{Mode: mode}).Status(); !slices.Contains(c.profile.ChannelStatuses(), status) {
				t.Errorf("%q: the status of mode %s is %q", c.profile, mode, status)
			}
		}
		var p errs.Problems
		made := merchant.ChannelFields{Profile: c.profile, Name: new("a"), Currency: new(money.Currency("EUR"))}.NewChannel(merchant.Site{}, false, &p)
		if made.AccountType != c.accountType || made.Mode != merchant.ModeTest || wrongFields(t, &p) != nil {
			t.Errorf("%q: a new channel is %+v", c.profile, made)
		}
	}
}

func TestCoverAndPaymentsFollowTheMode(t *testing.T) {
	for _, c := range []struct {
		channel        merchant.Channel
		covered, takes bool
	}{
		{channel: merchant.Channel{Mode: merchant.ModeProtectionOnly, AccountType: merchant.TypeTrust}, covered: true},
		{channel: merchant.Channel{Mode: merchant.ModeLive, AccountType: merchant.TypeTrust}, takes: true},
		{channel: merchant.Channel{Mode: merchant.ModeLive, AccountType: merchant.TypeProtected}, covered: true, takes: true},
		{channel: merchant.Channel{Mode: merchant.ModeTest, AccountType: merchant.TypeProtected}, takes: true},
		{channel: merchant.Channel{Mode: merchant.ModeDraft, AccountType: merchant.TypeProtected}},
		{channel: merchant.Channel{Mode: merchant.ModeAffiliate, AccountType: merchant.TypeProtected}},
		{channel: merchant.Channel{Mode: merchant.ModeClosed, AccountType: merchant.TypeProtected}},
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
	operators := merchant.ProcessorFields{
		CardholderPresent: new(true), ServerToServer: new(true), BeneficiaryID: new("BEN"), SettlementCurrency: new("USD"),
		PayoutMinimum: new(int64(5)), Descriptor: new("SHOP"),
	}
	base := merchant.Channel{
		Name: "a", Currency: "EUR", Mode: merchant.ModeLive, Language: "enGB", AccountType: merchant.TypeTrust, ProtectionType: "trust-travel", StatementPeriod: "month",
	}
	change := func(c merchant.Channel, f merchant.ProcessorFields, byOperator bool) (merchant.Channel, []string) {
		var p errs.Problems
		after := merchant.ChannelFields{Profile: merchant.ServerToServerProfile, ProcessorFields: f}.Change(c, false, byOperator, &p)
		return after, wrongFields(t, &p)
	}
	if after, wrong := change(base, operators, false); after.ProcessorConfig != (merchant.ProcessorConfig{}) || wrong != nil {
		t.Errorf("a customer set %+v, wrong is %v", after.ProcessorConfig, wrong)
	}
	set, wrong := change(base, operators, true)
	want := merchant.ProcessorConfig{CardholderPresent: true, ServerToServer: true, BeneficiaryID: "BEN", SettlementCurrency: "USD", PayoutMinimum: 5, Descriptor: "SHOP"}
	if set.ProcessorConfig != want || wrong != nil {
		t.Errorf("the operator set %+v, wrong is %v", set.ProcessorConfig, wrong)
	}
	tokenizer := merchant.ProcessorFields{TokenizerID: new("id"), TokenizerKey: &key, MailFailures: new(true), ChargebackMail: new("a@b.example")}
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
	echo := merchant.ProcessorFields{TokenizerKey: new("…9f2c"), TokenizerID: new("id"), SettlementCurrency: new("USD")}
	same, wrong := change(kept, echo, true)
	if _, changes := echo.NewTokenizerKey(kept, same); changes || same.ProcessorConfig != kept.ProcessorConfig || wrong != nil {
		t.Errorf("an echo changes %t, %+v, wrong is %v", changes, same.ProcessorConfig, wrong)
	}
	for name, f := range map[string]merchant.ProcessorFields{
		"the key taken away": {TokenizerKey: new("")}, "it processes no more": {ServerToServer: new(false)},
	} {
		gone, wrong := change(kept, f, true)
		if sealed, changes := f.NewTokenizerKey(kept, gone); gone.TokenizerKey() != "" || sealed != "" || !changes || wrong != nil {
			t.Errorf("%s: %+v, to seal %q, %t, wrong is %v", name, gone.ProcessorConfig, sealed, changes, wrong)
		}
	}
	for field, f := range map[string]merchant.ProcessorFields{
		"tokenizer_api_key":   {TokenizerKey: new("…9f2d")}, // too short for a key, and not the shown end of this one
		"tokenizer_id":        {TokenizerID: new(strings.Repeat("x", check.MaxText+1))},
		"chargeback_mail":     {ChargebackMail: new("nobody")},
		"settlement_currency": {SettlementCurrency: new("BRL")},
		"payout_minimum":      {PayoutMinimum: new(int64(-1))},
		"descriptor":          {Descriptor: new("a\x00b")},
		"beneficiary_id":      {BeneficiaryID: new(strings.Repeat("x", check.MaxText+1))},
	} {
		if _, wrong := change(kept, f, true); !slices.Equal(wrong, []string{field}) {
			t.Errorf("%s: wrong is %v", field, wrong)
		}
	}
	var p errs.Problems
	if other := (merchant.ChannelFields{ProcessorFields: tokenizer}).Change(base, false, true, &p); other.ProcessorConfig != (merchant.ProcessorConfig{}) || wrongFields(t, &p) != nil {
		t.Errorf("in the other profile: %+v, wrong is %v", other.ProcessorConfig, wrongFields(t, &p))
	}
}

func TestTheSettlementCurrencyFollowsTheBaseCurrency(t *testing.T) {
	for _, c := range []struct{ base, set, want string }{
		{"GBP", "", "GBP"}, {"BRL", "", "EUR"}, {"BRL", "USD", "USD"},
	} {
		channel := merchant.Channel{Currency: money.Currency(c.base)}
		channel.SettlementCurrency = c.set
		if got := channel.Settlement(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestTheContentOfABookingIsTheProfiles(t *testing.T) {
	for profile, needed := range map[merchant.Profile]bool{merchant.ProtectionOnlyProfile: true, merchant.ServerToServerProfile: false} {
		var absent, emptied errs.Problems
		BookingFields{Profile: profile}.NewBooking(&absent)
		BookingFields{Profile: profile, Content: new("")}.Change(Booking{Language: "enGB"}, &emptied)
		if absent.Has("content") != needed || emptied.Has("content") != needed {
			t.Errorf("%s: absent is wrong %t, empty is wrong %t", profile, absent.Has("content"), emptied.Has("content"))
		}
	}
}
