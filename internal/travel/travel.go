// Package travel holds the nouns of the service and their rules: site, channel, supplier, booking, transaction, and
// the status of each (sections 1 to 3 of the document). It knows no database and no wire: rules are functions over
// plain values, and what is wrong with an input is collected in its Problems, under the names of the wire's fields.
package travel

import (
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/internal/fault"
)

// Bounds of every text and amount that comes in (wire: "Reading input").
const (
	MaxText    = 191                   // characters of an ordinary text
	MaxContent = 1023                  // characters of a description
	MaxAmount  = 1_000_000_000_000_000 // minor units
	MaxPax     = 100_000               // travellers on one booking
	MaxList    = 100                   // items of a list inside an object
)

// Once makes a repeated request the same request: the caller's idempotency key and a hash of what was asked. The zero
// value means that the caller gave no key.
type Once struct {
	Key  string
	Hash string
}

// Page asks for one page of a list.
type Page struct {
	Number     int    // from 1
	Size       int    // 1 to 100
	Offset     int    // rows to skip before page 1; -1 when not given
	OrderBy    string // attribute, checked against the noun's own list
	Descending bool
	Count      bool // whether to count the whole collection
}

// Skip returns how many rows precede the page.
func (p Page) Skip() int {
	if p.Offset >= 0 {
		return p.Offset
	}
	return (p.Number - 1) * p.Size
}

// List is one page of a collection.
type List[T any] struct {
	Items []T
	Total int64 // of the whole collection; -1 when it was not counted
	More  bool  // whether there is a next page
	// PastEnd says that the page lies past the end of a collection that is not empty.
	PastEnd bool
}

// Site is a policyholder: an acquirer or a platform, whose merchants are its channels.
type Site struct {
	ID            int64
	Path          string // first segment of its addresses
	Name          string
	Sandbox       bool          // from birth or never (R0)
	ClockAhead    time.Duration // of the real clock; a sandbox's can be moved
	PermittedURLs []string      // origins on which the payment modal may open
	Policy        Policy        // in force today, without its terms of premium
	ChannelCount  int64
	Version       int64
	CreatedAt     time.Time
	ModifiedAt    time.Time
}

// Languages of mail receipts (section 2.3), the default first.
var Languages = []string{
	"enGB", "deDE", "esES", "frFR", "itIT", "jaJA", "kkKK", "koKO", "lvLV", "ptBR", "roRO", "ruRU", "ukUK", "uzUZ", "zhZH",
}

// DefaultLanguage is the language of mail receipts where none is named.
const DefaultLanguage = "enGB"

// checkText notes a text that is too long, is not valid UTF-8 or holds control characters.
func checkText(p *fault.Problems, field, value string, limit int) {
	switch {
	case !utf8.ValidString(value):
		p.Wrong(field, "This text is not valid UTF-8.")
	case utf8.RuneCountInString(value) > limit:
		p.Wrong(field, "At most %d characters are allowed.", limit)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f }):
		p.Wrong(field, "Control characters are not allowed.")
	}
}

// needText notes a required text that is absent (nil) or empty.
func needText(p *fault.Problems, field string, value *string) {
	switch {
	case value == nil:
		if !p.Has(field) {
			p.Missing(field)
		}
	case strings.TrimSpace(*value) == "":
		p.Wrong(field, "This field cannot be empty.")
	}
}

// checkEmail notes a text that is not one plain e-mail address.
func checkEmail(p *fault.Problems, field, value string) {
	checkText(p, field, value, MaxText)
	if addr, err := mail.ParseAddress(value); err != nil || addr.Address != value {
		p.Wrong(field, "This is not an e-mail address.")
	}
}

// checkEmails notes a comma-separated list in which something is not an e-mail address. Empty means nobody.
func checkEmails(p *fault.Problems, field, value string) {
	checkText(p, field, value, MaxText)
	if strings.TrimSpace(value) == "" {
		return
	}
	for part := range strings.SplitSeq(value, ",") {
		addr := strings.TrimSpace(part)
		if parsed, err := mail.ParseAddress(addr); err != nil || parsed.Address != addr {
			p.Wrong(field, "This is not a comma-separated list of e-mail addresses.")
		}
	}
}

// checkOneOf notes a value outside a closed list.
func checkOneOf[T ~string](p *fault.Problems, field string, value T, allowed []T) {
	if !slices.Contains(allowed, value) {
		words := make([]string, len(allowed))
		for i, a := range allowed {
			words[i] = string(a)
		}
		p.Wrong(field, "This is not one of %s.", strings.Join(words, ", "))
	}
}

// set copies a given value and leaves the target as it is where none was given.
func set[T any](target *T, given *T) {
	if given != nil {
		*target = *given
	}
}
