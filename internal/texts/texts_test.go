package texts_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/texts"
	"holdfast/internal/travel"
)

// sections are the parts of the catalogue.
var sections = []string{"modal", "paper", "label", "mail", "certificate"}

// catalogue gives all texts of a language.
func catalogue(code string) map[string]texts.Text {
	all := map[string]texts.Text{}
	for _, section := range sections {
		for key, text := range texts.Of(code).Section(section) {
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
	want := slices.Sorted(slices.Values(travel.Languages))
	if got := texts.Codes(); !slices.Equal(got, want) {
		t.Errorf("%v, and bookings have %v", got, want)
	}
	if got := texts.Of("tlhTLH").Code(); got != travel.DefaultLanguage {
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
	for _, code := range texts.Codes() {
		own := catalogue(code)
		for key, text := range english {
			if _, ok := own[key]; !ok {
				if section, _, _ := strings.Cut(key, "."); section == "modal" || section == "paper" {
					t.Errorf("%s has no %s", code, key)
				}
				continue
			}
			if len(text) > 1 != (len(own[key]) > 1) && !slices.Contains([]string{"jaJA", "koKO", "zhZH"}, code) {
				t.Errorf("%s: %s has plural forms in one of the languages only", code, key)
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
