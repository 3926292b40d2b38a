package travel

import (
	"fmt"
	"slices"

	"holdfast/internal/fault"
)

// Profile is what a deployment is for: one of the two profiles of the document.
type Profile string

// The profiles. The zero Profile is the first.
const (
	ProtectionOnlyProfile Profile = "protection-only"  // payments are taken elsewhere and logged here
	ServerToServerProfile Profile = "server-to-server" // channels can take payments by card themselves
)

// ParseProfile reads the name of a profile.
func ParseProfile(s string) (Profile, error) {
	switch p := Profile(s); p {
	case ProtectionOnlyProfile, ServerToServerProfile:
		return p, nil
	}
	return "", fmt.Errorf("%q is not a profile: it is %s or %s", s, ProtectionOnlyProfile, ServerToServerProfile)
}

// Processes reports whether channels can take payments themselves.
func (p Profile) Processes() bool { return p == ServerToServerProfile }

// Modes lists the modes of channels, the default first.
func (p Profile) Modes() []AccountMode {
	if p.Processes() {
		return []AccountMode{ModeTest, ModeDraft, ModeLive, ModeClosed, ModeAffiliate}
	}
	return []AccountMode{ModeTest, ModeDraft, ModeProtectionOnly, ModeAffiliate, ModeClosed}
}

// AccountTypes lists the types of channels, the default first.
func (p Profile) AccountTypes() []string {
	if p.Processes() {
		return []string{TypeTrust, TypeProtected}
	}
	return []string{TypeProtected, TypeTrust}
}

// ChannelStatuses lists what the channel_status can be, the default first.
func (p Profile) ChannelStatuses() []string {
	list := []string{
		"test", "affiliate", "agent", "supplier", "closed", "admin", "locked", "new",
		"svcs-end-user", "svc-protection", "svcu-protection",
	}
	if p.Processes() {
		list = append(list, "full-processing", "full-processing-ic-plus", "full-processing-blended-default")
	}
	return list
}

// SettlementCurrencies are those in which payouts are made (section 2.3).
var SettlementCurrencies = []string{
	"AED", "AUD", "CAD", "CHF", "DKK", "EUR", "GBP", "HKD", "JPY", "NOK", "NZD", "SEK", "SGD", "USD", "ZAR",
}

// ProcessorConfig is what a channel has besides in the server-to-server profile (section 2.3, the second table).
type ProcessorConfig struct {
	CardholderPresent  bool
	MailFailures       bool
	ServerToServer     bool
	Processor          string // such as stripe; "" where none is set
	TokenizerID        string
	TokenizerKeyEnd    string // its last four characters; "" where no key is set
	BeneficiaryID      string
	SettlementCurrency string // as the operator set it; "" follows the base currency
	ChargebackMail     string
	PayoutMinimum      int64  // minor units of the settlement currency
	Descriptor         string // on the cardholder's statement; "" for the merchant's own
}

// tokenizerKeyLeast is how long a key is at least: its last four characters are shown.
const tokenizerKeyLeast = 12

// TokenizerKey is the tokenizer's key as it is shown: its end.
func (s ProcessorConfig) TokenizerKey() string {
	if s.TokenizerKeyEnd == "" {
		return ""
	}
	return "…" + s.TokenizerKeyEnd
}

// Settlement is the currency of payouts: what the operator set, else the base currency, else the euro.
func (c Channel) Settlement() string {
	switch {
	case c.SettlementCurrency != "":
		return c.SettlementCurrency
	case slices.Contains(SettlementCurrencies, string(c.Currency)):
		return string(c.Currency)
	default:
		return "EUR"
	}
}

// Covered reports whether payments of the channel are protected as long as it is not locked (R2): in mode
// protection-only all of them, in mode live those of channels whose type says so.
func (c Channel) Covered() bool {
	return c.Mode == ModeProtectionOnly || c.Mode == ModeLive && c.AccountType == TypeProtected
}

// TakesPayments reports whether the channel takes payments itself: it is set up for it, and in a mode in which money,
// or the test of it, moves.
func (c Channel) TakesPayments() bool {
	return c.ServerToServer && c.Processor != "" && (c.Mode == ModeLive || c.Mode == ModeTest)
}

// ProcessorFields is what is said about the second table, to make a channel or to change one. Absent fields are nil.
type ProcessorFields struct {
	MailFailures   *bool
	ChargebackMail *string
	TokenizerID    *string
	TokenizerKey   *string // the key itself; "" takes it away
	// The operator's own.
	CardholderPresent  *bool
	ServerToServer     *bool
	BeneficiaryID      *string
	SettlementCurrency *string // "" follows the base currency again
	PayoutMinimum      *int64
	Descriptor         *string // "" takes it away
}

// apply sets the fields of the second table. The key of the tokenizer is not kept here: whoever stores the channel
// seals it.
func (f ProcessorFields) apply(c *Channel, byOperator bool, p *fault.Problems) {
	if byOperator {
		set(&c.CardholderPresent, f.CardholderPresent)
		set(&c.ServerToServer, f.ServerToServer)
		set(&c.BeneficiaryID, f.BeneficiaryID)
		if f.SettlementCurrency != nil && *f.SettlementCurrency != c.Settlement() { // the one that follows goes on following
			c.SettlementCurrency = *f.SettlementCurrency
		}
		set(&c.PayoutMinimum, f.PayoutMinimum)
		set(&c.Descriptor, f.Descriptor)
		checkText(p, "beneficiary_id", c.BeneficiaryID, MaxText)
		checkText(p, "descriptor", c.Descriptor, MaxText)
		if c.SettlementCurrency != "" {
			checkOneOf(p, "settlement_currency", c.SettlementCurrency, SettlementCurrencies)
		}
		if c.PayoutMinimum < 0 || c.PayoutMinimum > MaxAmount {
			p.Wrong("payout_minimum", "A minimum lies between 0 and %d minor units.", int64(MaxAmount))
		}
	}
	set(&c.MailFailures, f.MailFailures)
	set(&c.ChargebackMail, f.ChargebackMail)
	checkEmails(p, "chargeback_mail", c.ChargebackMail)
	f.applyTokenizer(c, p)
}

// applyTokenizer sets the access to the tokenizer, which only a channel has that processes by itself. What an answer
// shows of it may be sent back as it is.
func (f ProcessorFields) applyTokenizer(c *Channel, p *fault.Problems) {
	if f.setsTokenizerKey(*c) {
		checkText(p, "tokenizer_api_key", *f.TokenizerKey, MaxText)
		key := []rune(*f.TokenizerKey)
		switch {
		case len(key) == 0:
			c.TokenizerKeyEnd = ""
		case len(key) < tokenizerKeyLeast:
			p.Wrong("tokenizer_api_key", "A key has at least %d characters.", tokenizerKeyLeast)
		case !c.ServerToServer:
			p.Wrong("tokenizer_api_key", onlyServerToServer)
		default:
			c.TokenizerKeyEnd = string(key[len(key)-4:])
		}
	}
	if f.TokenizerID != nil && *f.TokenizerID != "" && !c.ServerToServer {
		p.Wrong("tokenizer_id", onlyServerToServer)
	}
	set(&c.TokenizerID, f.TokenizerID)
	checkText(p, "tokenizer_id", c.TokenizerID, MaxText)
	if !c.ServerToServer { // what does not apply any more is not kept
		c.TokenizerID, c.TokenizerKeyEnd = "", ""
	}
}

const onlyServerToServer = "This applies to channels whose server_to_server is true, and this one's is not."

// setsTokenizerKey reports whether a key is given that is not the shown end of the stored one.
func (f ProcessorFields) setsTokenizerKey(stored Channel) bool {
	return f.TokenizerKey != nil && *f.TokenizerKey != stored.TokenizerKey()
}

// NewTokenizerKey tells what becomes of the stored key when a channel changes: another one, or "" for none any more.
func (f ProcessorFields) NewTokenizerKey(before, after Channel) (key string, changes bool) {
	switch {
	case after.TokenizerKeyEnd == "":
		return "", before.TokenizerKeyEnd != ""
	case f.setsTokenizerKey(before):
		return *f.TokenizerKey, true
	}
	return "", false
}
