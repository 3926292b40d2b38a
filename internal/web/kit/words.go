package kit

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/web/chart"
)

// functions are the functions of all templates.
func (f *Frame) functions() template.FuncMap {
	return template.FuncMap{
		"money": Money, "amount": Amount, "short": chart.Short, "day": Day, "instant": instant, "count": Count,
		"field": newField, "options": optionsOf, "hidden": hidden, "dict": dict, "lower": strings.ToLower, "plural": Plural,
		"say": Say, "path": func() string { return Path }, "list": func(items ...any) []any { return items },
	}
}

// Money formats an amount with its currency, such as "1,234.50 GBP". It never wraps.
func Money(amount int64, c money.Currency) string {
	if c == "" {
		return Count(amount)
	}
	return Amount(amount, c) + "\u00a0" + string(c)
}

// Amount formats an amount in major units with commas and without currency, for tables with a currency column.
func Amount(amount int64, c money.Currency) string { return money.Format(amount, c) }

// Count formats a whole number with commas.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "\u2212", digits[1:]
	}
	var out strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(d)
	}
	return sign + out.String()
}

// Plural formats a count with its noun: "1 booking", "2 bookings".
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Day formats a day unambiguously: "14 Sep 2026". NoDay is empty.
func Day(d civil.Day) string {
	if d == civil.NoDay {
		return ""
	}
	return d.Start().Format("2 Jan 2006")
}

// instant formats a time in GMT, to the minute; the zero time is empty.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 Jan 2006 15:04") + " GMT"
}

// Instant formats a time for pages.
func Instant(t time.Time) string { return instant(t) }

// Say formats an enum value of the API, such as "protection-only" or "transaction_refund", for people.
func Say(word any) string {
	text := strings.NewReplacer("_", " ", "-", " ").Replace(fmt.Sprint(word))
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// dict builds a template argument from alternating names and values.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict needs names and values in turn, and got %d", len(pairs))
	}
	made := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict got %v for a name", pairs[i])
		}
		made[name] = pairs[i+1]
	}
	return made, nil
}

// option is one choice of a select field.
type option struct{ Value, Text string }

// optionsOf builds options from "value" or "value=Text".
func optionsOf(texts ...string) (list []option) {
	for _, t := range texts {
		value, text, ok := strings.Cut(t, "=")
		if !ok {
			text = Say(value)
		}
		list = append(list, option{value, text})
	}
	return list
}

// Options builds options from pairs of value and text.
func Options(pairs ...string) (list []option) {
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, option{pairs[i], pairs[i+1]})
	}
	return list
}

// fieldView is a field of a form.
type fieldView struct {
	Name, Label, Kind, Hint, Value, Problem, Auto string
	Options                                       []option
	Needed                                        bool
	Form                                          *Form
}

// newField builds a field from a form, its name, its label and further settings as pairs: "kind" (text, email, password,
// number, date, month, textarea, select, check, file), "hint", "options", "needed", "auto" (for autocomplete).
func newField(form *Form, name, label string, settings ...any) (fieldView, error) {
	v := fieldView{Name: name, Label: label, Kind: "text", Form: form}
	if form != nil {
		v.Value, v.Problem = form.Values.Get(name), form.Problem(name)
	}
	more, err := dict(settings...)
	for key, value := range more {
		switch key {
		case "kind":
			v.Kind = fmt.Sprint(value)
		case "hint":
			v.Hint = fmt.Sprint(value)
		case "auto":
			v.Auto = fmt.Sprint(value)
		case "needed":
			v.Needed, _ = value.(bool)
		case "value":
			v.Value = fmt.Sprint(value)
		case "options":
			v.Options, _ = value.([]option)
		default:
			err = fmt.Errorf("a field has no setting %s", key)
		}
	}
	return v, err
}

// LockedText says that payments of a locked or insolvent merchant are not protected, and why.
func LockedText(c merchant.Channel) string {
	text, because := "This merchant is locked: new payments are not protected.", " Reason: "
	if c.Insolvency.InForce() {
		text, because = "Insolvent since "+c.Insolvency.Day().Long()+": new payments are not protected.", " Also locked: "
	}
	if c.LockReason != "" {
		text += because + c.LockReason
	}
	return text
}

// LockedWord is "insolvent" or "locked" for a merchant whose new payments are not protected whatever its mode, else "".
func LockedWord(c merchant.Channel) string {
	switch {
	case c.Insolvency.InForce():
		return "insolvent"
	case c.Locked:
		return "locked"
	}
	return ""
}

// Fact is one row of a description list, shown by the template "facts".
type Fact struct {
	Text, Value, Href, Tone string
	Figure                  bool
}

// Tab is one tab of a page, shown by the template "tabs".
type Tab struct {
	Text, Href string
	Here       bool
}
