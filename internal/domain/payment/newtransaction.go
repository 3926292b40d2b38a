package payment

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"time"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/modal"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

// Item is the part of a payment that a caller gives to one booking, in base currency.
type Item struct {
	BookingID int64
	Currency  money.Currency
	Total     int64
}

// NewTransaction are the fields of a request that makes a transaction (section 4.6). Absent required fields are nil,
// and absent optional texts are empty. The names of its fields are part of Hash.
type NewTransaction struct {
	Problems     errs.Problems  `json:"-"` // the problems found so far
	Modal        *modal.Session `json:"-"` // the session that pays; nil outside the payment modal
	ChannelID    *int64
	Currency     *money.Currency
	Total        *int64
	Type         *TransactionType
	Items        *[]Item
	PSP          string
	Method       string // "" is credit-card
	PayeeName    string
	PayeeSurname string
	PayeeEmail   string
	Country      string
	Reference    string
	Token        string
	IPAddress    string
	BIN          string
	LastFour     string
	CardType     string
	AuthCode     string
	// Absent from the hash when they are empty, so that earlier hashes stay valid.
	AcquirerReference  string `json:",omitempty"`
	ProcessorReference string `json:",omitempty"`
	Attempt3DS         bool
	RedirectURL        string
	LinkedID           int64
	Content            string
	EffectiveAt        time.Time // zero: now
	// Of the card, when its token does not include the expiry. Never stored.
	ExpiryMonth int64 `json:",omitempty"`
	ExpiryYear  int64 `json:",omitempty"`
	// Only for a chargeback, from the scheme or the processor.
	ReasonCode   string     `json:",omitempty"`
	ChallengeDay *civil.Day `json:",omitempty"`
	// CoverFromEffective is for a payment that was covered elsewhere before: cover starts when it was taken (R2).
	// Only an import sets it.
	CoverFromEffective bool
	ImportKey          string
}

var (
	binText      = regexp.MustCompile(`^([0-9]{6}|[0-9]{8})$`)
	lastFourText = regexp.MustCompile(`^[0-9]{4}$`)
	arnText      = regexp.MustCompile(`^[0-9]{23}$`)
)

// Hash is the same for two requests with the same content, in any order of the items, and with or without the default
// payment method. It is stored.
func (n NewTransaction) Hash() string {
	if n.Items != nil {
		items := slices.Clone(*n.Items)
		slices.SortFunc(items, func(a, b Item) int { return cmp.Compare(a.BookingID, b.BookingID) })
		n.Items = &items
	}
	n.Method = cmp.Or(n.Method, PaymentMethods[0])
	text, err := json.Marshal(n)
	if err != nil {
		panic(fmt.Sprintf("payment: hash of a transaction: %v", err)) // not reached: plain values can be encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Check adds the problems of the fields to p. EffectiveAt must not be later than now. The caller checks what needs
// the bookings, the channel or the linked transaction.
func (n NewTransaction) Check(now time.Time, p *errs.Problems) {
	n.checkRequired(p)
	if n.Total != nil {
		checkAmount(p, "total", *n.Total)
	}
	if n.Type != nil {
		check.OneOf(p, "transaction_types", *n.Type, TransactionTypes)
		if slices.Contains(TransactionTypes, *n.Type) && !n.Type.Linked() && n.LinkedID != 0 {
			p.Wrong("linked_id", "Not allowed for the type %s.", *n.Type)
		}
	}
	if n.Items != nil {
		checkItems(*n.Items, p)
	}
	n.checkTexts(p)
	n.checkCard(p)
	if n.EffectiveAt.After(now) {
		p.Wrong("effective_at", "Must not be in the future.")
	}
	n.checkWithdrawn(now, p)
}

// checkWithdrawn refuses a payment in a currency that was no longer in use. Adjustments of an earlier payment are
// taken: a capture, a refund, a chargeback.
func (n NewTransaction) checkWithdrawn(now time.Time, p *errs.Problems) {
	if n.Currency == nil || n.Type == nil || n.Type.Linked() {
		return
	}
	field, at := "effective_at", n.EffectiveAt
	if at.IsZero() {
		field, at = "currencies", now
	}
	if last, yes := n.Currency.Withdrawn(civil.DayOf(at)); yes {
		p.Wrong(field, "%s has been withdrawn. It cannot be used for payments after %s.", *n.Currency, last)
	}
}

func (n NewTransaction) checkRequired(p *errs.Problems) {
	need := func(field string, absent bool) {
		if absent && !p.Has(field) {
			p.Missing(field)
		}
	}
	linked := n.Type != nil && n.Type.Linked()
	need("channels", n.ChannelID == nil)
	need("currencies", n.Currency == nil)
	need("total", n.Total == nil)
	need("transaction_types", n.Type == nil)
	// An adjustment needs no items when the payment was for one booking.
	need("bookings", n.Items == nil && !linked)
	need("linked_id", linked && n.LinkedID == 0)
	need("3ds_redirect_url", n.Attempt3DS && n.RedirectURL == "")
}

func (n NewTransaction) checkTexts(p *errs.Problems) {
	for field, text := range map[string]string{
		"psp": n.PSP, "payee_name": n.PayeeName, "payee_surname": n.PayeeSurname, "reference": n.Reference,
		"token": n.Token, "card_types": n.CardType, "auth_code": n.AuthCode, "processor_reference": n.ProcessorReference, "3ds_redirect_url": n.RedirectURL,
	} {
		check.Line(p, field, text)
	}
	check.Note(p, "content", n.Content)
	if n.Method != "" {
		check.OneOf(p, "payment_methods", n.Method, PaymentMethods)
	}
	if n.PayeeEmail != "" {
		check.Email(p, "payee_email", n.PayeeEmail)
	}
	if n.Country != "" {
		check.Country(p, "countries", n.Country)
	}
	if _, err := netip.ParseAddr(n.IPAddress); n.IPAddress != "" && err != nil {
		p.Wrong("ip_address", "Must be an IP address.")
	}
	if n.RedirectURL != "" && !n.Attempt3DS && !p.Has("attempt_3ds") {
		p.Wrong("3ds_redirect_url", "Only allowed with attempt_3ds.")
	}
	if u, err := url.Parse(n.RedirectURL); n.RedirectURL != "" &&
		(err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "") {
		p.Wrong("3ds_redirect_url", "Must be an http or https URL.")
	}
}

func (n NewTransaction) checkCard(p *errs.Problems) {
	if n.BIN != "" && !binText.MatchString(n.BIN) {
		p.Wrong("bin_number", "Must be the first 6 or 8 digits of the card number.")
	}
	if n.LastFour != "" && !lastFourText.MatchString(n.LastFour) {
		p.Wrong("last_four_digits", "Must be the last 4 digits of the card number.")
	}
	if n.AcquirerReference != "" && !arnText.MatchString(n.AcquirerReference) {
		p.Wrong("acquirer_reference", "Must be an acquirer reference number (ARN) of 23 digits.")
	}
	if n.ExpiryMonth < 0 || n.ExpiryMonth > 12 || n.ExpiryMonth == 0 && n.ExpiryYear != 0 {
		p.Wrong("expiry_month", "Must be a month from 1 to 12.")
	}
	if n.ExpiryYear != 0 && (n.ExpiryYear < 2000 || n.ExpiryYear > 2199) || n.ExpiryYear == 0 && n.ExpiryMonth != 0 {
		p.Wrong("expiry_year", "Must be a year of four digits.")
	}
}

func checkItems(items []Item, p *errs.Problems) {
	if len(items) == 0 || len(items) > check.MaxList {
		p.Wrong("bookings", "Must list between 1 and %d bookings.", check.MaxList)
		return
	}
	seen := map[int64]bool{}
	for i, item := range items {
		if total := errs.Item("bookings", i, "total"); !p.Has(total) {
			checkAmount(p, total, item.Total)
		}
		if id := errs.Item("bookings", i, "id"); seen[item.BookingID] && !p.Has(id) {
			p.Wrong(id, "Booking %d is listed twice.", item.BookingID)
		}
		seen[item.BookingID] = true
	}
}

func checkAmount(p *errs.Problems, field string, amount int64) {
	if amount < 1 || amount > check.MaxAmount {
		p.Wrong(field, "Must be between 1 and %d minor units.", int64(check.MaxAmount))
	}
}

// BaseTotal is the sum of the items, in minor units of the base currency. It fits in 64 bits, because the items were
// checked.
func BaseTotal(items []Item) int64 {
	var sum int64
	for _, item := range items {
		sum += item.Total
	}
	return sum
}
