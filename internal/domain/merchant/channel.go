// Package merchant defines sites, their channels (the wire's name for merchants) and suppliers, and the rules for
// their fields (sections 2.3 and 2.5). Start at Channel.
package merchant

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
)

// AccountMode is the purpose of a channel (section 2.3).
type AccountMode string

// The modes. Profile.Modes lists those of each profile.
const (
	ModeTest           AccountMode = "test"
	ModeDraft          AccountMode = "draft"
	ModeProtectionOnly AccountMode = "protection-only" // of the protection-only profile
	ModeLive           AccountMode = "live"            // of the server-to-server profile
	ModeAffiliate      AccountMode = "affiliate"
	ModeClosed         AccountMode = "closed"
)

// The account types.
const (
	TypeProtected = "protected-processing"
	TypeTrust     = "trust"
)

// modeMoves are the permitted changes of a channel's mode. A test channel never becomes another one, because its
// payments stay simulated. No channel returns to draft, because payments that were logged in draft stay unprotected.
var modeMoves = map[AccountMode][]AccountMode{
	ModeTest:           {ModeClosed},
	ModeDraft:          {ModeProtectionOnly, ModeLive, ModeAffiliate, ModeClosed},
	ModeProtectionOnly: {ModeAffiliate, ModeClosed},
	ModeLive:           {ModeAffiliate, ModeClosed},
	ModeAffiliate:      {ModeProtectionOnly, ModeLive, ModeClosed},
	ModeClosed:         {ModeProtectionOnly, ModeLive, ModeAffiliate},
}

// ProtectionTypes are the values of a channel's protection_type (section 2.3), the default first.
var ProtectionTypes = []string{"trust-travel", "svcu-management"}

// OtherProtection is the other protection that a traveller has when a merchant fails.
type OtherProtection string

// OtherProtections lists the values, the default first.
var OtherProtections = []OtherProtection{"none", "bond", "trust_account", "insurance", "scheme"}

// statusOfMode is the channel_status of each mode, when the operator has set none.
var statusOfMode = map[AccountMode]string{
	ModeTest:           "test",
	ModeDraft:          "new",
	ModeProtectionOnly: "svc-protection",
	ModeLive:           "full-processing",
	ModeAffiliate:      "affiliate",
	ModeClosed:         "closed",
}

// Channel is one merchant of a site, with its base currency.
type Channel struct {
	SiteID            int64
	ID                int64
	UUID              string
	Name              string
	Slug              string // derived from its first name, unique on the site
	AccountType       string
	Mode              AccountMode
	WasTest           bool // created as a test channel: its payments are simulated in every mode
	ProtectionType    string
	Currency          money.Currency
	Language          string
	PrimaryMail       string
	MailBCC           bool
	ReceiptLabel      string
	ExternalID        string
	StatusOverride    string          // set by the operator; "" if the status follows the mode
	OtherProtection   OtherProtection // default for its bookings
	StatementPeriod   string
	AuthorisationDays int64 // days from its effective_at in which an authorisation can be captured
	Locked            bool
	LockReason        string // shown to everyone who can read the channel; "" if none was given
	Insolvency        Insolvency
	Suppliers         []int64
	SealedSecret      string // signs requests of the payment modal; encrypted, as stored
	Version           int64
	CreatedAt         time.Time
	ModifiedAt        time.Time
	ProcessorConfig   // for the server-to-server profile
	// Proposal is set when the change waits for another operator (R0). Then nothing has changed yet.
	Proposal *proposal.Proposal
}

// Status is the channel_status: "locked" for a locked or insolvent channel, otherwise what the operator has set, otherwise the
// status of the mode (section 2.3).
func (c Channel) Status() string {
	switch {
	case c.LockedOrInsolvent():
		return "locked"
	case c.StatusOverride != "":
		return c.StatusOverride
	default:
		return statusOfMode[c.Mode]
	}
}

// LockedOrInsolvent reports whether payments recorded for the channel now are unprotected whatever its mode.
func (c Channel) LockedOrInsolvent() bool { return c.Locked || c.Insolvency.InForce() }

// DefaultAuthorisationDays is the life of an authorisation with most schemes. maxAuthorisationDays is longer than with any scheme.
const (
	DefaultAuthorisationDays = 7
	maxAuthorisationDays     = 90
)

// CaptureBy returns when an authorisation that was made at a time can no longer be captured.
func (c Channel) CaptureBy(made time.Time) time.Time {
	return made.AddDate(0, 0, int(cmp.Or(c.AuthorisationDays, DefaultAuthorisationDays)))
}

// ChannelFields are the fields of a request that makes or changes a channel. Absent fields are nil. As JSON they have the
// names of the wire, because a proposal to open cover keeps them.
type ChannelFields struct {
	Profile         Profile          `json:"-"` // of the deployment
	IfVersion       int64            `json:"-"` // from If-Match; 0 without it
	Reason          string           `json:"-"` // for the operator who approves the change, if it needs one
	Problems        errs.Problems    `json:"-"` // the problems found so far
	Name            *string          `json:"name,omitempty"`
	Currency        *money.Currency  `json:"currencies,omitempty"`
	Mode            *AccountMode     `json:"account_mode,omitempty"`
	Language        *string          `json:"language,omitempty"`
	PrimaryMail     *string          `json:"primary_mail,omitempty"`
	MailBCC         *bool            `json:"mail_bcc_transactional_mails,omitempty"`
	ReceiptLabel    *string          `json:"receipt_label,omitempty"`
	ExternalID      *string          `json:"external_id,omitempty"`
	OtherProtection *OtherProtection `json:"other_protection,omitempty"`
	// AuthorisationDays is how long an authorisation can be captured. Changes apply to new authorisations.
	AuthorisationDays *int64 `json:"authorisation_days,omitempty"`
	// Fields that only the operator can set. Customers can read them; what they send is ignored.
	AccountType     *string  `json:"account_type,omitempty"`
	ProtectionType  *string  `json:"protection_type,omitempty"`
	Status          *string  `json:"channel_status,omitempty"` // "" removes a status that was set
	StatementPeriod *string  `json:"statement_period,omitempty"`
	Locked          *bool    `json:"locked,omitempty"`
	LockReason      *string  `json:"lock_reason,omitempty"` // of a locked channel; unlocking removes it
	Suppliers       *[]int64 `json:"suppliers,omitempty"`
	ProcessorFields          // in the protection-only profile, all but those of payouts are ignored
}

// NewChannel makes a channel from the fields and their defaults. It adds problems to p. byOperator allows the fields
// and modes that only the operator sets.
func (f ChannelFields) NewChannel(site Site, byOperator bool, p *errs.Problems) Channel {
	check.Required(p, "name", f.Name)
	if f.Currency == nil && !p.Has("currencies") {
		p.Missing("currencies")
	}
	c := Channel{
		SiteID:          site.ID,
		AccountType:     f.Profile.AccountTypes()[0],
		Mode:            f.Profile.Modes()[0],
		ProtectionType:  ProtectionTypes[0],
		Language:        check.DefaultLanguage,
		ReceiptLabel:    site.Name,
		OtherProtection: OtherProtections[0], AuthorisationDays: DefaultAuthorisationDays,
		StatementPeriod: cmp.Or(site.Policy.StatementPeriod, terms.StatementPeriods[0]),
	}
	if f.Mode != nil {
		c.Mode = *f.Mode
		check.OneOf(p, "account_mode", c.Mode, f.Profile.Modes())
		if !byOperator && c.Mode != ModeTest && c.Mode != ModeDraft {
			p.Wrong("account_mode", "New channels must be in mode test or draft. Only the operator can set other modes.")
		}
	}
	c.WasTest = c.Mode == ModeTest
	f.apply(&c, byOperator, p)
	c.Slug = slugOf(c.Name)
	return c
}

// Change returns the channel with the given fields set. It adds problems to p. Only the operator changes the mode,
// from one mode to another as modeMoves allows; fields of the operator are ignored from a customer. A channel that
// has a booking, even one in the trash, cannot change its currency.
func (f ChannelFields) Change(c Channel, hadBookings, byOperator bool, p *errs.Problems) Channel {
	if f.Currency != nil && *f.Currency != c.Currency && hadBookings {
		p.Wrong("currencies", "The currency cannot change once the channel has had a booking, even a deleted one.")
	}
	if f.Name != nil {
		check.Required(p, "name", f.Name)
	}
	if f.Status != nil && *f.Status == c.Status() {
		f.Status = nil // a PUT may repeat the present status: that sets nothing
	}
	if f.Mode != nil && *f.Mode != c.Mode && byOperator {
		check.OneOf(p, "account_mode", *f.Mode, f.Profile.Modes())
		switch {
		case !slices.Contains(modeMoves[c.Mode], *f.Mode):
			p.Wrong("account_mode", "The mode cannot change from %s to %s.", c.Mode, *f.Mode)
		case c.WasTest && *f.Mode != ModeClosed:
			p.Wrong("account_mode", "A channel created in mode test cannot change to %s.", *f.Mode)
		}
		c.Mode = *f.Mode
	}
	f.apply(&c, byOperator, p)
	return c
}

func (f ChannelFields) apply(c *Channel, byOperator bool, p *errs.Problems) {
	check.Set(&c.Name, f.Name)
	check.Set(&c.Currency, f.Currency)
	check.Set(&c.Language, f.Language)
	check.Set(&c.PrimaryMail, f.PrimaryMail)
	check.Set(&c.MailBCC, f.MailBCC)
	check.Set(&c.ReceiptLabel, f.ReceiptLabel)
	check.Set(&c.ExternalID, f.ExternalID)
	check.Set(&c.OtherProtection, f.OtherProtection)
	check.Set(&c.AuthorisationDays, f.AuthorisationDays)
	if f.AuthorisationDays != nil && (c.AuthorisationDays < 1 || c.AuthorisationDays > maxAuthorisationDays) {
		p.Wrong("authorisation_days", "Must be a number of days from 1 to %d.", maxAuthorisationDays)
	}
	check.Line(p, "name", c.Name)
	check.OneOf(p, "language", c.Language, check.Languages)
	c.PrimaryMail = strings.TrimSpace(c.PrimaryMail)
	check.Emails(p, "primary_mail", c.PrimaryMail)
	check.Line(p, "receipt_label", c.ReceiptLabel)
	check.Line(p, "external_id", c.ExternalID)
	if f.OtherProtection != nil {
		check.OneOf(p, "other_protection", c.OtherProtection, OtherProtections)
	}
	if f.Profile.Processes() {
		f.ProcessorFields.apply(c, byOperator, p)
	}
	if !byOperator {
		return
	}
	f.ProcessorFields.applyPayouts(c, p)
	check.Set(&c.AccountType, f.AccountType)
	check.Set(&c.ProtectionType, f.ProtectionType)
	check.Set(&c.StatementPeriod, f.StatementPeriod)
	check.Set(&c.Locked, f.Locked)
	check.Set(&c.LockReason, f.LockReason)
	check.Note(p, "lock_reason", c.LockReason)
	if !c.Locked {
		c.LockReason = ""
	}
	check.Set(&c.Suppliers, f.Suppliers)
	check.OneOf(p, "account_type", c.AccountType, f.Profile.AccountTypes())
	check.OneOf(p, "protection_type", c.ProtectionType, ProtectionTypes)
	c.setStatus(f.Status, f.Profile, p)
	check.OneOf(p, "statement_period", c.StatementPeriod, terms.StatementPeriods)
	if len(c.Suppliers) > check.MaxList {
		p.Wrong("suppliers", "At most %d suppliers are allowed.", check.MaxList)
	}
}

// setStatus sets the channel_status. A status that is that of the mode is not stored: then the status still follows
// the mode. The status "locked" cannot be set, because it follows from the field locked.
func (c *Channel) setStatus(status *string, profile Profile, p *errs.Problems) {
	switch {
	case status == nil:
		return
	case *status == "locked":
		p.Wrong("channel_status", "To lock the channel, set the field locked.")
	case *status != "":
		check.OneOf(p, "channel_status", *status, profile.ChannelStatuses())
	}
	c.StatusOverride = *status
	if c.StatusOverride == statusOfMode[c.Mode] {
		c.StatusOverride = ""
	}
}

// slugOf makes the slug of a name: small letters, digits and dashes. Package merchants makes it unique in the site.
func slugOf(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	if slug := strings.Trim(b.String(), "-"); slug != "" {
		return slug
	}
	return "channel"
}

// Same reports whether two states of a channel are equal in everything that can be set, ignoring the order of
// suppliers.
func Same(a, b Channel) bool {
	a.Suppliers, b.Suppliers = slices.Sorted(slices.Values(a.Suppliers)), slices.Sorted(slices.Values(b.Suppliers))
	return reflect.DeepEqual(a, b)
}
