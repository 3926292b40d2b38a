package travel_test

import (
	"testing"
	"unicode/utf8"

	"holdfast/internal/travel"
)

func TestKnownCountry(t *testing.T) {
	for code, name := range map[string]string{
		"GB": "United Kingdom", "PT": "Portugal", "CI": "Côte d'Ivoire", "SS": "South Sudan", "AX": "Åland Islands",
	} {
		if !travel.KnownCountry(code) || travel.CountryName(code) != name {
			t.Errorf("%s is %q, %v, want %q", code, travel.CountryName(code), travel.KnownCountry(code), name)
		}
	}
	// Reserved, user-assigned, withdrawn, and what is no code at all.
	for _, code := range []string{"UK", "EU", "XK", "AN", "CS", "SU", "ZZ", "gb", "GBR", "", "G", " GB"} {
		if travel.KnownCountry(code) || travel.CountryName(code) != "" {
			t.Errorf("%q is known as %q", code, travel.CountryName(code))
		}
	}
}

func TestEveryAssignedCountryIsKnownOnce(t *testing.T) {
	names := map[string]string{}
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			code := string([]rune{a, b})
			if !travel.KnownCountry(code) {
				continue
			}
			name := travel.CountryName(code)
			if other := names[name]; other != "" || utf8.RuneCountInString(name) < 4 {
				t.Errorf("%s is named %q, as is %q", code, name, other)
			}
			names[name] = code
		}
	}
	if len(names) != 249 {
		t.Errorf("%d countries, ISO 3166-1 assigns 249 codes", len(names))
	}
}
