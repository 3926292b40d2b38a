// Package travel has the objects of the service and their rules: sites, channels, suppliers, bookings, transactions
// and their states (sections 1 to 3). Its rules are functions over plain values, without a database. What is wrong
// with an input is collected in its Problems, under the field names of section 2.
package travel

import (
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"holdfast/internal/fault"
)

// Limits of the texts and amounts in requests.
const (
	MaxText    = 191                   // characters of an ordinary text
	MaxContent = 1023                  // characters of a description
	MaxAmount  = 1_000_000_000_000_000 // minor units
	MaxPax     = 100_000               // travellers on one booking
	MaxList    = 100                   // items of a list in an object
)

// LongestPage is how many rows a page has at most.
const LongestPage = 100

// Page says which page of a list is wanted (section 4).
type Page struct {
	Number     int    // from 1
	Size       int    // 1 to LongestPage
	Offset     int    // rows to skip, in place of Number; -1 when not given
	OrderBy    string // one of the object's …Orders
	Descending bool
	Count      bool // whether to count the whole list
}

// Skip returns the number of rows before the page.
func (p Page) Skip() int {
	if p.Offset >= 0 {
		return p.Offset
	}
	return (p.Number - 1) * p.Size
}

// deepPage is how many rows a page may pass over before it is deep.
const deepPage = 10_000

// Deep reports whether so many rows lie before the page that reading it takes long.
func (p Page) Deep() bool { return p.Skip() >= deepPage }

// Span picks what happened after one instant and before another. Both count in whole seconds, as times are shown: what
// happened in the second of After is not after it. A zero instant is no bound.
type Span struct {
	After, Before time.Time
}

// List is one page of a list.
type List[T any] struct {
	Items []T
	Total int64 // items of the whole list; -1 when they were not counted
	More  bool  // whether there is a next page
	// PastEnd says that the page lies behind the end of a list that is not empty.
	PastEnd bool
}

// Site is an acquirer or a platform: it holds a policy, and its merchants are its channels.
type Site struct {
	ID            int64
	Path          string // first segment of its addresses
	Name          string
	Sandbox       bool          // decided when it is made, and never changed (R0)
	ClockAhead    time.Duration // how far its clock is ahead of the real one; only a sandbox's can be moved
	PermittedURLs []string      // origins of pages that may open the payment modal
	Issuer        Party         // who issues the statements of the site and is paid
	Policyholder  Party         // whose policy it is; the name is that of the site unless another one is set
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

// DefaultLanguage is the language of mail receipts when none is given.
const DefaultLanguage = "enGB"

// titleOf makes a title of the parts that are known.
func titleOf(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " | ")
}

// breaksLine are the characters that begin a new line: names and references have one line.
const breaksLine = "\n\v\f\r\u0085\u2028\u2029"

// CheckLine adds a problem when a text of one line is longer than MaxText, has a line break, is not valid UTF-8 or holds
// control characters.
func CheckLine(p *fault.Problems, field, value string) { checkLine(p, field, value, MaxText) }

// CheckNote adds a problem when a text of several lines is longer than MaxContent, is not valid UTF-8 or holds control
// characters.
func CheckNote(p *fault.Problems, field, value string) { checkText(p, field, value, MaxContent) }

func checkLine(p *fault.Problems, field, value string, limit int) {
	if checkText(p, field, value, limit); strings.ContainsAny(value, breaksLine) {
		p.Wrong(field, "Line breaks are not allowed in this field.")
	}
}

// checkText adds a problem when a text is too long, is not valid UTF-8 or holds control characters.
func checkText(p *fault.Problems, field, value string, limit int) {
	switch {
	case !utf8.ValidString(value):
		p.Wrong(field, "This text is not valid UTF-8.")
	case utf8.RuneCountInString(value) > limit:
		p.Wrong(field, "At most %d characters are allowed.", limit)
	case strings.ContainsFunc(value, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\n\r\t\u0085", r) }):
		p.Wrong(field, "Control characters are not allowed.")
	}
}

// needText adds a problem when a required text is absent (nil) or empty.
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

// checkEmail adds a problem when a text is not one plain e-mail address.
func checkEmail(p *fault.Problems, field, value string) {
	CheckLine(p, field, value)
	if addr, err := mail.ParseAddress(value); err != nil || addr.Address != value {
		p.Wrong(field, "This is not an e-mail address.")
	}
}

// checkEmails adds a problem when a text is not a list of e-mail addresses with commas between. It may be empty.
func checkEmails(p *fault.Problems, field, value string) {
	CheckLine(p, field, value)
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

// checkOneOf adds a problem when a value is not in a list.
func checkOneOf[T ~string](p *fault.Problems, field string, value T, allowed []T) {
	if !slices.Contains(allowed, value) {
		words := make([]string, len(allowed))
		for i, a := range allowed {
			words[i] = string(a)
		}
		p.Wrong(field, "This is not one of %s.", strings.Join(words, ", "))
	}
}

// set copies a value to target, unless it is nil.
func set[T any](target *T, given *T) {
	if given != nil {
		*target = *given
	}
}
