// Package check validates single request fields: lengths, e-mail addresses, countries, languages. It adds problems to
// an input under the field's name. Start at Line and Text.
package check

import (
	"net/mail"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"holdfast/internal/errs"
)

// Limits of the texts and amounts in requests.
const (
	MaxText    = 191                   // characters of an ordinary text
	MaxContent = 1023                  // characters of a description
	MaxAmount  = 1_000_000_000_000_000 // minor units
	MaxPax     = 100_000               // travellers on one booking
	MaxList    = 100                   // items of a list in an object
)

// titleOf makes a title of the parts that are known.
func Title(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " | ")
}

// breaksLine are the characters that begin a new line: names and references have one line.
const breaksLine = "\n\v\f\r\u0085\u2028\u2029"

// Line adds a problem when a text of one line is longer than MaxText, has a line break, is not valid UTF-8 or holds
// control characters.
func Line(p *errs.Problems, field, value string) { LineOf(p, field, value, MaxText) }

// Note adds a problem when a text of several lines is longer than MaxContent, is not valid UTF-8 or holds control
// characters.
func Note(p *errs.Problems, field, value string) { Text(p, field, value, MaxContent) }

// LineOf is Line with a limit of its own.
func LineOf(p *errs.Problems, field, value string, limit int) {
	if Text(p, field, value, limit); strings.ContainsAny(value, breaksLine) {
		p.Wrong(field, "Line breaks are not allowed in this field.")
	}
}

// checkText adds a problem when a text is too long, is not valid UTF-8 or holds control characters.
func Text(p *errs.Problems, field, value string, limit int) {
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
func Required(p *errs.Problems, field string, value *string) {
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
func Email(p *errs.Problems, field, value string) {
	Line(p, field, value)
	if addr, err := mail.ParseAddress(value); err != nil || addr.Address != value {
		p.Wrong(field, "Must be a valid e-mail address.")
	}
}

// checkEmails adds a problem when a text is not a list of e-mail addresses with commas between. It may be empty.
func Emails(p *errs.Problems, field, value string) {
	Line(p, field, value)
	if strings.TrimSpace(value) == "" {
		return
	}
	for part := range strings.SplitSeq(value, ",") {
		addr := strings.TrimSpace(part)
		if parsed, err := mail.ParseAddress(addr); err != nil || parsed.Address != addr {
			p.Wrong(field, "Must be a comma-separated list of e-mail addresses.")
		}
	}
}

// checkOneOf adds a problem when a value is not in a list.
func OneOf[T ~string](p *errs.Problems, field string, value T, allowed []T) {
	if !slices.Contains(allowed, value) {
		words := make([]string, len(allowed))
		for i, a := range allowed {
			words[i] = string(a)
		}
		p.Wrong(field, "Must be one of: %s.", strings.Join(words, ", "))
	}
}

// Set copies a value to target, unless it is nil.
func Set[T any](target *T, given *T) {
	if given != nil {
		*target = *given
	}
}
