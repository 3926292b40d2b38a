package travel

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

	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
)

// Item is the part of a payment that a caller gives to one booking, in base currency.
type Item struct {
	BookingID int64
	Currency  money.Currency
	Total     int64
}

// NewTransaction is what a caller reports of a payment. Absent optional texts are empty, absent required fields nil.
type NewTransaction struct {
	Once         Once           `json:"-"`
	Problems     fault.Problems `json:"-"` // what the reader of the input already found wrong
	Modal        *ModalSession  `json:"-"` // that pays; nil: somebody else does
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
	Attempt3DS   bool
	RedirectURL  string
	LinkedID     int64
	Content      string
	EffectiveAt  time.Time // zero: now
	// Of the card, where its token does not include it. Never stored.
	ExpiryMonth int64 `json:",omitempty"`
	ExpiryYear  int64 `json:",omitempty"`
	// Of a chargeback, as the scheme or the processor told the operator.
	ReasonCode   string     `json:",omitempty"`
	ChallengeDay *civil.Day `json:",omitempty"`
	// CoverFromEffective takes over a payment that was covered before: cover starts when it was taken (R2). Only an
	// import can say so.
	CoverFromEffective bool
	ImportKey          string
}

var (
	binText      = regexp.MustCompile(`^([0-9]{6}|[0-9]{8})$`)
	lastFourText = regexp.MustCompile(`^[0-9]{4}$`)
)

// Hash is the same for two reports that say the same, in whatever order and with whatever default left out.
func (n NewTransaction) Hash() string {
	if n.Items != nil {
		items := slices.Clone(*n.Items)
		slices.SortFunc(items, func(a, b Item) int { return cmp.Compare(a.BookingID, b.BookingID) })
		n.Items = &items
	}
	n.Method = cmp.Or(n.Method, PaymentMethods[0])
	text, err := json.Marshal(n)
	if err != nil {
		panic(fmt.Sprintf("travel: a report of plain values cannot be written: %v", err)) // no such value exists
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Check notes in p everything that is wrong with the report by itself; now bounds EffectiveAt. What depends on the
// bookings, the channel and the linked transaction is for the caller.
func (n NewTransaction) Check(now time.Time, p *fault.Problems) {
	n.checkRequired(p)
	if n.Total != nil {
		checkAmount(p, "total", *n.Total)
	}
	if n.Type != nil {
		checkOneOf(p, "transaction_types", *n.Type, TransactionTypes)
		if !n.Type.Linked() && n.LinkedID != 0 {
			p.Wrong("linked_id", "A %s adjusts no other transaction.", *n.Type)
		}
	}
	if n.Items != nil {
		checkItems(*n.Items, p)
	}
	n.checkTexts(p)
	n.checkCard(p)
	if n.EffectiveAt.After(now) {
		p.Wrong("effective_at", "A payment cannot have been taken in the future.")
	}
}

func (n NewTransaction) checkRequired(p *fault.Problems) {
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
	// What adjusts a payment of a single booking can leave the split out: there is only one.
	need("bookings", n.Items == nil && !linked)
	need("linked_id", linked && n.LinkedID == 0)
	need("3ds_redirect_url", n.Attempt3DS && n.RedirectURL == "")
}

func (n NewTransaction) checkTexts(p *fault.Problems) {
	for field, text := range map[string]string{
		"psp": n.PSP, "payee_name": n.PayeeName, "payee_surname": n.PayeeSurname, "reference": n.Reference,
		"token": n.Token, "card_types": n.CardType, "auth_code": n.AuthCode, "3ds_redirect_url": n.RedirectURL,
	} {
		checkText(p, field, text, MaxText)
	}
	checkText(p, "content", n.Content, MaxContent)
	if n.Method != "" {
		checkOneOf(p, "payment_methods", n.Method, PaymentMethods)
	}
	if n.PayeeEmail != "" {
		checkEmail(p, "payee_email", n.PayeeEmail)
	}
	if n.Country != "" && !KnownCountry(n.Country) {
		p.Wrong("countries", "This is not an ISO 3166-1 alpha-2 country code.")
	}
	if _, err := netip.ParseAddr(n.IPAddress); n.IPAddress != "" && err != nil {
		p.Wrong("ip_address", "This is not an IP address.")
	}
	if u, err := url.Parse(n.RedirectURL); n.RedirectURL != "" &&
		(err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "") {
		p.Wrong("3ds_redirect_url", "This is not an http or https address.")
	}
}

func (n NewTransaction) checkCard(p *fault.Problems) {
	if n.BIN != "" && !binText.MatchString(n.BIN) {
		p.Wrong("bin_number", "The first 6 or 8 digits of the card number are expected.")
	}
	if n.LastFour != "" && !lastFourText.MatchString(n.LastFour) {
		p.Wrong("last_four_digits", "The last 4 digits of the card number are expected.")
	}
	if n.ExpiryMonth < 0 || n.ExpiryMonth > 12 || n.ExpiryMonth == 0 && n.ExpiryYear != 0 {
		p.Wrong("expiry_month", "A month between 1 and 12 is expected.")
	}
	if n.ExpiryYear != 0 && (n.ExpiryYear < 2000 || n.ExpiryYear > 2199) || n.ExpiryYear == 0 && n.ExpiryMonth != 0 {
		p.Wrong("expiry_year", "A year of four digits is expected.")
	}
}

func checkItems(items []Item, p *fault.Problems) {
	if len(items) == 0 || len(items) > MaxList {
		p.Wrong("bookings", "Between 1 and %d bookings are expected.", MaxList)
		return
	}
	seen := map[int64]bool{}
	for i, item := range items {
		switch {
		case item.Total < 1 || item.Total > MaxAmount:
			p.Wrong("bookings", "Item %d: an amount lies between 1 and %d minor units.", i+1, int64(MaxAmount))
		case seen[item.BookingID]:
			p.Wrong("bookings", "Item %d: booking %d is named twice.", i+1, item.BookingID)
		}
		seen[item.BookingID] = true
	}
}

func checkAmount(p *fault.Problems, field string, amount int64) {
	if amount < 1 || amount > MaxAmount {
		p.Wrong(field, "An amount lies between 1 and %d minor units.", int64(MaxAmount))
	}
}

// BaseTotal is what the items come to, in base currency. Items were checked: 100 of 10^15 fit an int64.
func BaseTotal(items []Item) int64 {
	var sum int64
	for _, item := range items {
		sum += item.Total
	}
	return sum
}
