package kit

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

// Reading parses form fields for use cases: nil for a field that was not sent. Parse errors are collected in Problems and
// passed to the use case, which adds its own, so that all errors are reported together.
type Reading struct {
	*Form
	Problems errs.Problems
}

// Reading starts parsing a form.
func (f *Form) Reading() *Reading { return &Reading{Form: f} }

// Sent reports whether a field was sent.
func (f *Form) Sent(name string) bool { return len(f.Values[name]) > 0 }

// Text returns a field without surrounding spaces.
func (r *Reading) Text(name string) *string {
	if !r.Sent(name) {
		return nil
	}
	return new(strings.ReplaceAll(r.Get(name), "\r\n", "\n")) // browsers use CRLF
}

// Word returns an enum value of the API.
func Word[T ~string](r *Reading, name string) *T {
	if !r.Sent(name) {
		return nil
	}
	return new(T(r.Get(name)))
}

// Items splits a text at line breaks and commas, dropping empty items.
func (r *Reading) Items(name string) *[]string {
	if !r.Sent(name) {
		return nil
	}
	list := []string{}
	for item := range strings.FieldsFuncSeq(r.Get(name), func(c rune) bool { return c == '\n' || c == ',' }) {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return &list
}

// Version is the object version the form was filled from, in the hidden field "version"; 0 for none.
func (r *Reading) Version() int64 {
	version, err := strconv.ParseInt(r.Get("version"), 10, 64)
	if err != nil || version < 0 {
		return 0
	}
	return version
}

// Yes is a check box. Browsers send nothing for an unchecked one, so it is never nil.
func (r *Reading) Yes(name string) *bool { return new(r.Get(name) != "") }

// Day parses a day; nil for an empty field.
func (r *Reading) Day(name string) *civil.Day {
	if r.Get(name) == "" {
		return nil
	}
	day, err := civil.ParseDay(r.Get(name))
	if err != nil {
		r.Problems.Wrong(name, "Enter a date, such as 2026-09-14.")
		return nil
	}
	return &day
}

// Number parses a whole number, with or without commas; nil for an empty field.
func (r *Reading) Number(name string) *int64 {
	if r.Get(name) == "" {
		return nil
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(r.Get(name), ",", ""), 10, 64)
	if err != nil {
		r.Problems.Wrong(name, "Enter a whole number.")
		return nil
	}
	return &n
}

// thousands matches an amount with English thousands separators. 12,50 does not match: without its comma, it would be a
// hundred times the intended amount.
var thousands = regexp.MustCompile(`^-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?$`)

// Amount parses an amount in major units, such as 1,234.50; nil for an empty field.
func (r *Reading) Amount(name string, c money.Currency) *int64 {
	text := r.Get(name)
	if text == "" || c == "" { // the missing currency is reported separately
		return nil
	}
	if thousands.MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	n, err := money.ParsePlain(text, c)
	if err != nil {
		r.Problems.Wrong(name, "Enter an amount, such as %s.", money.FormatPlain(123450, c))
		return nil
	}
	return &n
}

// Instant parses a time in GMT, as browsers or people write it; the zero time for an empty field.
func (r *Reading) Instant(name string) time.Time {
	text := r.Get(name)
	if text == "" {
		return time.Time{}
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", civil.InstantLayout} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	r.Problems.Wrong(name, "Enter a time in GMT, such as 2026-09-14 16:30.")
	return time.Time{}
}

// Currency parses a currency code; nil for an empty field.
func (r *Reading) Currency(name string) *money.Currency {
	if r.Get(name) == "" {
		return nil
	}
	c, err := money.ParseCurrency(strings.ToUpper(r.Get(name)))
	if err != nil {
		r.Problems.Wrong(name, "Enter a currency, such as EUR or GBP.")
		return nil
	}
	return &c
}

// showProblems assigns a use case's validation errors to form fields. Errors in list items go to the list's field.
func (f *Form) showProblems(e *errs.Error) {
	f.Message, f.Problems = e.Message, map[string]string{}
	for name, text := range e.Params {
		field, item, _ := strings.Cut(name, "[")
		if at, _, ok := strings.Cut(item, "]"); ok {
			if n, err := strconv.Atoi(at); err == nil {
				text = "Line " + strconv.Itoa(n+1) + ": " + text
			}
		}
		if f.Problems[field] == "" || field == name {
			f.Problems[field] = text
		}
	}
	for _, name := range e.Absent {
		f.Problems[name] = "This field is required."
	}
	if e.Kind == errs.Invalid || e.Kind == errs.Missing {
		f.Message = "Check the highlighted fields. Nothing was saved."
	}
}
