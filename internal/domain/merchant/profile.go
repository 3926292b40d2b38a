package merchant

import (
	"slices"

	"holdfast/internal/domain/check"
	"holdfast/internal/errs"
)

// Profile is the purpose of a deployment: one of the two profiles of the specification.
type Profile string

// The profiles. The zero Profile counts as the first.
const (
	ProtectionOnlyProfile Profile = "protection-only"  // payments are taken elsewhere and logged here
	ServerToServerProfile Profile = "server-to-server" // channels can take payments by card themselves
)

// Processes reports whether channels can take payments themselves.
func (p Profile) Processes() bool { return p == ServerToServerProfile }

// Modes lists the account_mode values of the profile, the default first (section 2.3).
func (p Profile) Modes() []AccountMode {
	if p.Processes() {
		return []AccountMode{ModeTest, ModeDraft, ModeLive, ModeClosed, ModeAffiliate}
	}
	return []AccountMode{ModeTest, ModeDraft, ModeProtectionOnly, ModeAffiliate, ModeClosed}
}

// AccountTypes lists the account_type values, the default of the profile first (section 2.3).
func (p Profile) AccountTypes() []string {
	if p.Processes() {
		return []string{TypeTrust, TypeProtected}
	}
	return []string{TypeProtected, TypeTrust}
}

// ChannelStatuses lists the channel_status values of the profile, the default first (section 2.3).
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

// SettlementCurrencies are the currencies of payouts (section 2.3).
var SettlementCurrencies = []string{
	"AED", "AUD", "CAD", "CHF", "DKK", "EUR", "GBP", "HKD", "JPY", "NOK", "NZD", "SEK", "SGD", "USD", "ZAR",
}

// ProcessorConfig holds the fields that a channel has only in the server-to-server profile (section 2.3, second
// table).
type ProcessorConfig struct {
	CardholderPresent  bool
	MailFailures       bool
	ServerToServer     bool
	Processor          string // such as stripe; "" when none is set
	TokenizerID        string
	TokenizerKeyEnd    string // the last four characters of the key; "" when no key is set
	BeneficiaryID      string
	SettlementCurrency string // set by the operator; "" follows the base currency
	ChargebackMail     string
	PayoutMinimum      int64  // minor units of the settlement currency
	Descriptor         string // text on the cardholder's statement; "" for the default of the merchant
}

// tokenizerKeyLeast is the least length of a key, because its last four characters are shown.
const tokenizerKeyLeast = 12

// TokenizerKey is the key of the tokenizer as answers show it: … and its last four characters.
func (s ProcessorConfig) TokenizerKey() string {
	if s.TokenizerKeyEnd == "" {
		return ""
	}
	return "…" + s.TokenizerKeyEnd
}

// Settlement is the currency of payouts: the one that the operator has set, otherwise the base currency, and
// otherwise the euro.
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

// Covered reports whether card payments of the channel are protected while it is not locked (R2): in mode
// protection-only, and in mode live with the account type protected-processing.
func (c Channel) Covered() bool {
	return c.Mode == ModeProtectionOnly || c.Mode == ModeLive && c.AccountType == TypeProtected
}

// TakesPayments reports whether the channel takes payments itself: it has a processor, and is in mode live or test.
func (c Channel) TakesPayments() bool {
	return c.ServerToServer && c.Processor != "" && (c.Mode == ModeLive || c.Mode == ModeTest)
}

// ProcessorFields are the fields of a request that set a ProcessorConfig. Absent fields are nil.
type ProcessorFields struct {
	MailFailures   *bool   `json:"mail_failures,omitempty"`
	ChargebackMail *string `json:"chargeback_mail,omitempty"`
	TokenizerID    *string `json:"tokenizer_id,omitempty"`
	// TokenizerKey is the whole key; "" removes it. Proposals never contain it: many people can read them, and they are
	// kept forever.
	TokenizerKey *string `json:"-"`
	// Fields that only the operator sets.
	CardholderPresent  *bool   `json:"cardholder_present,omitempty"`
	ServerToServer     *bool   `json:"server_to_server,omitempty"`
	BeneficiaryID      *string `json:"beneficiary_id,omitempty"`
	SettlementCurrency *string `json:"settlement_currency,omitempty"` // "" follows the base currency again
	PayoutMinimum      *int64  `json:"payout_minimum,omitempty"`
	Descriptor         *string `json:"descriptor,omitempty"` // "" removes it
}

// applyPayouts sets the fields of payouts, in both profiles.
func (f ProcessorFields) applyPayouts(c *Channel, p *errs.Problems) {
	check.Set(&c.BeneficiaryID, f.BeneficiaryID)
	// A PUT may repeat the currency that an answer showed: that sets nothing, so that it still follows the base currency.
	if f.SettlementCurrency != nil && *f.SettlementCurrency != c.Settlement() {
		c.SettlementCurrency = *f.SettlementCurrency
	}
	check.Set(&c.PayoutMinimum, f.PayoutMinimum)
	check.Line(p, "beneficiary_id", c.BeneficiaryID)
	if c.SettlementCurrency != "" {
		check.OneOf(p, "settlement_currency", c.SettlementCurrency, SettlementCurrencies)
	}
	if c.PayoutMinimum < 0 || c.PayoutMinimum > check.MaxAmount {
		p.Wrong("payout_minimum", "Must be between 0 and %d minor units.", int64(check.MaxAmount))
	}
}

// apply sets the fields of the server-to-server profile. It keeps only the end of the tokenizer's key: package merchants encrypts and stores the key.
func (f ProcessorFields) apply(c *Channel, byOperator bool, p *errs.Problems) {
	if byOperator {
		check.Set(&c.CardholderPresent, f.CardholderPresent)
		check.Set(&c.ServerToServer, f.ServerToServer)
		check.Set(&c.Descriptor, f.Descriptor)
		check.Line(p, "descriptor", c.Descriptor)
	}
	check.Set(&c.MailFailures, f.MailFailures)
	check.Set(&c.ChargebackMail, f.ChargebackMail)
	check.Emails(p, "chargeback_mail", c.ChargebackMail)
	f.applyTokenizer(c, p)
}

// applyTokenizer sets the access to the tokenizer, which only channels with server_to_server have. A request may
// repeat the shown end of the key: that changes nothing.
func (f ProcessorFields) applyTokenizer(c *Channel, p *errs.Problems) {
	if f.setsTokenizerKey(*c) {
		check.Line(p, "tokenizer_api_key", *f.TokenizerKey)
		key := []rune(*f.TokenizerKey)
		switch {
		case len(key) == 0:
			c.TokenizerKeyEnd = ""
		case len(key) < tokenizerKeyLeast:
			p.Wrong("tokenizer_api_key", "Must have at least %d characters.", tokenizerKeyLeast)
		case !c.ServerToServer:
			p.Wrong("tokenizer_api_key", onlyServerToServer)
		default:
			c.TokenizerKeyEnd = string(key[len(key)-4:])
		}
	}
	if f.TokenizerID != nil && *f.TokenizerID != "" && !c.ServerToServer {
		p.Wrong("tokenizer_id", onlyServerToServer)
	}
	check.Set(&c.TokenizerID, f.TokenizerID)
	check.Line(p, "tokenizer_id", c.TokenizerID)
	if !c.ServerToServer { // then the channel has no tokenizer
		c.TokenizerID, c.TokenizerKeyEnd = "", ""
	}
}

const onlyServerToServer = "Only allowed for channels with server_to_server set to true."

// setsTokenizerKey reports whether the request has a new key, and not only the shown end of the stored key.
func (f ProcessorFields) setsTokenizerKey(stored Channel) bool {
	return f.TokenizerKey != nil && *f.TokenizerKey != stored.TokenizerKey()
}

// NewTokenizerKey returns the key that a change of a channel sets. It is "" when the change removes the key. changes
// is false when the stored key stays.
func (f ProcessorFields) NewTokenizerKey(before, after Channel) (key string, changes bool) {
	switch {
	case after.TokenizerKeyEnd == "":
		return "", before.TokenizerKeyEnd != ""
	case f.setsTokenizerKey(before):
		return *f.TokenizerKey, true
	}
	return "", false
}
