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

// Reading gives the fields of a form as the rooms want them: nil for a field that was not sent. What cannot be read is noted in
// Problems, which go to the room with the fields: it adds what else is wrong, so that all is told at once.
type Reading struct {
	*Form
	Problems errs.Problems
}

// Reading begins to read a form.
func (f *Form) Reading() *Reading { return &Reading{Form: f} }

// Sent says whether a field was sent at all.
func (f *Form) Sent(name string) bool { return len(f.Values[name]) > 0 }

// Text is a text without spaces around it.
func (r *Reading) Text(name string) *string {
	if !r.Sent(name) {
		return nil
	}
	return new(strings.ReplaceAll(r.Get(name), "\r\n", "\n")) // browsers end lines so
}

// Word is a word of the wire.
func Word[T ~string](r *Reading, name string) *T {
	if !r.Sent(name) {
		return nil
	}
	return new(T(r.Get(name)))
}

// Items are the lines of a text, or what stands between its commas; without empty ones.
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

// Version is the version that a form was filled from, in its hidden field "version"; 0 for none.
func (r *Reading) Version() int64 {
	version, err := strconv.ParseInt(r.Get("version"), 10, 64)
	if err != nil || version < 0 {
		return 0
	}
	return version
}

// Yes is a check box. A browser sends nothing for an empty one: so this is never nil.
func (r *Reading) Yes(name string) *bool { return new(r.Get(name) != "") }

// Day is a day; nil for an empty field.
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

// Number is a whole number, with commas or without; nil for an empty field.
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

// thousands is an amount with commas where English has them. 12,50 is none: read without its comma, it would be a hundred
// times as much as was meant.
var thousands = regexp.MustCompile(`^-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?$`)

// Amount is an amount in major units, such as 1,234.50; nil for an empty field.
func (r *Reading) Amount(name string, c money.Currency) *int64 {
	text := r.Get(name)
	if text == "" || c == "" { // the missing currency is a problem of its own
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

// Instant is a time in GMT, as browsers and people write it; the zero time for an empty field.
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

// Currency is the code of a currency; nil for an empty field.
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

// tell puts what a room found wrong where a page shows it: at the field, also where the problem is in an item of its list.
func (f *Form) tell(e *errs.Error) {
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
