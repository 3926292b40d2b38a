package i18n_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"holdfast/internal/domain/check"
	"holdfast/internal/lib/i18n"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// sections are the parts of the catalogue.
var sections = []string{"modal", "paper", "label", "mail", "certificate"}

// catalogue returns all texts of a language.
func catalogue(code string) map[string]i18n.Text {
	all := map[string]i18n.Text{}
	for _, section := range sections {
		for key, text := range i18n.Of(code).Section(section) {
			all[section+"."+key] = text
		}
	}
	return all
}

var place = regexp.MustCompile(`\{\w+\}`)

func places(form string) []string {
	found := place.FindAllString(form, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

func TestTheLanguagesAreThoseOfBookings(t *testing.T) {
	want := slices.Sorted(slices.Values(check.Languages))
	if got := i18n.Codes(); !slices.Equal(got, want) {
		t.Errorf("%v, and bookings have %v", got, want)
	}
	if got := i18n.Of("tlhTLH").Code(); got != check.DefaultLanguage {
		t.Errorf("a language that we do not have is %s", got)
	}
}

// TestEveryLanguageSaysEverything: the same keys, and in each form the places of the English text. A form for one single
// number may leave the number out.
func TestEveryLanguageSaysEverything(t *testing.T) {
	english := catalogue("enGB")
	if len(english) < 200 {
		t.Fatalf("there are %d texts", len(english))
	}
	for _, code := range i18n.Codes() {
		own := catalogue(code)
		for key, text := range english {
			if _, ok := own[key]; !ok {
				t.Errorf("%s has no %s", code, key)
				continue
			}
			forms := []string{"other"}
			if len(text) > 1 {
				forms = categories(code)
			}
			if got := slices.Sorted(maps.Keys(own[key])); !slices.Equal(got, forms) {
				t.Errorf("%s: %s has the forms %v, and needs %v", code, key, got, forms)
			}
			for name, form := range own[key] {
				got, want := places(form), places(text["other"])
				if name != "other" && !slices.Contains(got, "{count}") {
					want = slices.DeleteFunc(want, func(p string) bool { return p == "{count}" })
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %s (%s) has the places %v, in English %v", code, key, name, got, want)
				}
				if strings.TrimSpace(form) != form || form == "" {
					t.Errorf("%s: %s (%s) is %q", code, key, name, form)
				}
			}
		}
		for key := range maps.Keys(own) {
			if _, ok := english[key]; !ok {
				t.Errorf("%s has %s, which English has not", code, key)
			}
		}
	}
}

// categories are the plural forms that whole numbers have in a language, and the form of fractions.
func categories(code string) []string {
	names := map[plural.Form]string{
		plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other",
	}
	found := []string{"other"}
	for n := range 1001 {
		found = append(found, names[plural.Cardinal.MatchPlural(language.MustParse(i18n.Of(code).Tag()), n, 0, 0, 0, 0)])
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// same are the texts that are the same words in English and in another language, and why.
var same = map[string]string{
	"deDE certificate.test.title":  "the German word, too",
	"frFR modal.field_description": "the French word, too",
	"frFR paper.correction":        "the French word, too",
	"frFR paper.date":              "the French word, too",
	"frFR paper.transaction":       "the French word, too",
	"frFR paper.kind":              "the French word, too",
}

// TestNoLanguageLeavesATextInEnglish finds texts that were copied but not translated.
func TestNoLanguageLeavesATextInEnglish(t *testing.T) {
	english := catalogue("enGB")
	for _, code := range i18n.Codes() {
		if code == "enGB" {
			continue
		}
		for key, text := range catalogue(code) {
			equal := text["other"] == english[key]["other"] && strings.ContainsFunc(place.ReplaceAllString(text["other"], ""), unicode.IsLetter)
			if _, listed := same[code+" "+key]; equal != listed {
				t.Errorf("%s: %s is %q, equal to English: %t, in the list of such texts: %t", code, key, text["other"], equal, listed)
			}
		}
	}
}

// TestPluralForms: the forms for some numbers, with the number as the language writes it.
func TestPluralForms(t *testing.T) {
	for _, c := range []struct {
		code string
		n    int
		want string
	}{
		{"enGB", 1, "for 1 day."}, {"enGB", 0, "for 0 days."}, {"enGB", 1234, "for 1,234 days."}, {"deDE", 1, "Seit 1 Tag "},
		{"deDE", -1, "Seit -1 Tag "}, {"frFR", 0, "pendant 0 jour."}, {"frFR", 2, "pendant 2 jours."}, {"ruRU", 21, "в течение 21 дня."},
		{"ruRU", 12, "в течение 12 дней."}, {"roRO", 19, "19 zile,"}, {"roRO", 20, "20 de zile,"}, {"lvLV", 21, "21 dienu."},
		{"lvLV", 11, "11 dienas."}, {"jaJA", 1, "1 日間"}, {"ukUK", 1_000_000_001, "протягом 1 000 000 001 дня."},
	} {
		got, err := i18n.Of(c.code).Say("mail.webhook.text", "count", c.n, "address", "https://a.example/{count}")
		if err != nil || !strings.Contains(shown.Replace(got), c.want) {
			t.Errorf("%s, %d: %q, %v", c.code, c.n, got, err)
		}
		if !strings.Contains(got, "https://a.example/{count}") {
			t.Errorf("a place in a value was filled in: %q", got)
		}
	}
}

// TestAMistakeInTheUseOfATextIsAnError, in each language alike.
func TestAMistakeInTheUseOfATextIsAnError(t *testing.T) {
	for _, code := range i18n.Codes() {
		l := i18n.Of(code)
		for _, call := range [][]any{
			{"mail.nothing"},
			{"mail.receipt.title", "amount", "1"},
			{"mail.receipt.subject", "amount", "1"},
			{"mail.receipt.subject", "amount", "1", "merchant"},
			{"mail.receipt.subject", "amount", true, "merchant", "a"},
			{"mail.receipt.subject", "amount", "1", 2, "a"},
			{"mail.webhook.text", "address", "a"},
		} {
			if got, err := l.Say(call[0].(string), call[1:]...); err == nil {
				t.Errorf("%s: %v says %q", code, call, got)
			}
		}
	}
}
