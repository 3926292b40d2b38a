// Package i18n has all texts that travellers and merchants read, in the languages of the service (section 2.3):
// e-mails, statements, the certificate and the payment modal. Each language has one file of texts. Money, numbers, dates and
// countries are formatted with Unicode's CLDR. Start reading at Of and Language.Say.
package i18n

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

//go:embed languages cldr.json.gz
var files embed.FS

// fallback is used for all unknown languages.
const fallback = "enGB"

// Text is one text of a language, with its {placeholders}. A text that depends on a number has a form per CLDR plural
// category of the language (zero, one, two, few, many, other); any other text only has the form "other".
type Text map[string]string

// UnmarshalJSON reads a text without plural forms as a string, and one with them as an object.
func (t *Text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		return json.Unmarshal(b, (*map[string]string)(t))
	}
	var form string
	if err := json.Unmarshal(b, &form); err != nil {
		return err
	}
	*t = Text{other: form}
	return nil
}

// MarshalJSON is the reverse of UnmarshalJSON.
func (t Text) MarshalJSON() ([]byte, error) {
	if form, ok := t[other]; ok && len(t) == 1 {
		return json.Marshal(form)
	}
	return json.Marshal(map[string]string(t))
}

// Language formats texts in one language. Create it with Of.
type Language struct{ *words }

// words is the data of a language.
type words struct {
	code  string
	texts map[string]Text
	forms forms
	tag   language.Tag
}

// all are the languages by code. The files are embedded, and a test reads each of them. Most commands need none, so they are
// loaded on demand.
var all = sync.OnceValue(func() map[string]*words {
	found := map[string]*words{}
	formsOf := map[string]forms{}
	mustRead("cldr.json.gz", &formsOf)
	for code, f := range formsOf {
		w := &words{code: code, forms: f, tag: language.MustParse(f.Tag)}
		mustRead("languages/"+code+".json", &w.texts)
		found[code] = w
	}
	return found
})

func mustRead(name string, into any) {
	content, err := files.ReadFile(name)
	if err == nil && strings.HasSuffix(name, ".gz") {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(content)); err == nil {
			content, err = io.ReadAll(z)
		}
	}
	if err == nil {
		err = json.Unmarshal(content, into)
	}
	if err != nil { // cannot happen: the file is embedded
		panic(fmt.Sprintf("%s: %v", name, err))
	}
}

// Codes are the codes of all languages, such as deDE, in alphabetical order.
func Codes() []string { return slices.Sorted(maps.Keys(all())) }

// Of returns the language with a code of section 2.3. Any other code gives British English, the service's default.
func Of(code string) Language {
	if w, ok := all()[code]; ok {
		return Language{w}
	}
	return Language{all()[fallback]}
}

// Known reports whether a code is one of the languages.
func Known(code string) bool { return all()[code] != nil }

// Code is the code of the language in bookings, such as deDE.
func (l Language) Code() string { return l.code }

// Tag is the language for a page's lang attribute, such as de-DE (BCP 47).
func (l Language) Tag() string { return l.forms.Tag }

// Direction is a page's dir attribute: ltr or rtl. External text, such as names, may run the other way.
func (l Language) Direction() string {
	script, _ := l.tag.Script()
	if slices.Contains([]string{"Arab", "Hebr", "Thaa", "Syrc", "Nkoo"}, script.String()) {
		return "rtl"
	}
	return "ltr"
}

// Name is the language's own name, such as Deutsch.
func (l Language) Name() string { return l.forms.Name }

// count is the value that selects a plural form.
const count = "count"

// other is the form for all numbers without their own form.
const other = "other"

// Say returns a text with its {placeholders} filled in. The values are pairs of a placeholder name and its value: a string,
// or for {count} an int or int64 that also selects the plural form. Say fails for an unknown text, a placeholder without a
// value, or a value without a placeholder, so that tests catch each such mistake.
func (l Language) Say(key string, values ...any) (string, error) {
	text, ok := l.texts[key]
	if !ok {
		return "", fmt.Errorf("unknown text %q in %s", key, l.code)
	}
	given, form, err := l.values(text, values)
	if err != nil {
		return "", fmt.Errorf("the text %q in %s: %w", key, l.code, err)
	}
	said, err := fill(form, given)
	if err != nil {
		return "", fmt.Errorf("the text %q in %s: %w", key, l.code, err)
	}
	return said, nil
}

// values reads the pairs and selects the plural form.
func (l Language) values(text Text, pairs []any) (given map[string]string, form string, err error) {
	given, form = map[string]string{}, text[other]
	if len(pairs)%2 != 0 {
		return nil, "", fmt.Errorf("%d values, which are no pairs", len(pairs))
	}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, "", fmt.Errorf("%v is not the name of a place", pairs[i])
		}
		switch v := pairs[i+1].(type) {
		case string:
			given[name] = v
		case int:
			given[name], form = l.Number(int64(v)), l.form(text, int64(v))
		case int64:
			given[name], form = l.Number(v), l.form(text, v)
		default:
			return nil, "", fmt.Errorf("the value of %s is a %T", name, v)
		}
	}
	if _, ok := given[count]; !ok && len(text) > 1 {
		return nil, "", fmt.Errorf("no count, which selects the form")
	}
	return given, form, nil
}

// categories are CLDR's names of the plural forms, in the library's order.
var categories = map[plural.Form]string{
	plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: other,
}

// form is the form of a text for a number.
func (l Language) form(text Text, n int64) string {
	if form, ok := text[l.category(n)]; ok {
		return form
	}
	return text[other]
}

func (l Language) category(n int64) string {
	// Plural rules look at the last digits and at whether a number is small. The library counts in int.
	size := max(n, -n)
	if size > 1_000_000_000 {
		size = 1_000_000_000 + size%1_000_000
	}
	return categories[plural.Cardinal.MatchPlural(l.tag, int(size), 0, 0, 0, 0)]
}

// fill substitutes the placeholders. Values are never searched for placeholders.
func fill(form string, given map[string]string) (string, error) {
	var b strings.Builder
	used := map[string]bool{}
	for rest := form; ; {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			break
		}
		name, after, found := strings.Cut(after, "}")
		value, ok := given[name]
		if !found || !ok {
			return "", fmt.Errorf("the place {%s} has no value", name)
		}
		used[name] = true
		b.WriteString(value)
		rest = after
	}
	for name := range given {
		if !used[name] && name != count { // some languages omit the number in one form
			return "", fmt.Errorf("it has no place {%s}", name)
		}
	}
	return b.String(), nil
}

// Section returns the texts whose keys start with a name and a dot, such as modal, without that prefix.
func (l Language) Section(name string) map[string]Text {
	found := map[string]Text{}
	for key, text := range l.texts {
		if own, ok := strings.CutPrefix(key, name+"."); ok {
			found[own] = text
		}
	}
	return found
}
