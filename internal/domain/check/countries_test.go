package check_test

import (
	"testing"

	"holdfast/internal/domain/check"
)

func TestKnownCountry(t *testing.T) {
	for _, code := range []string{"GB", "PT", "CI", "SS", "AX"} {
		if !check.KnownCountry(code) {
			t.Errorf("%s is not known", code)
		}
	}
	// Reserved, user-assigned, withdrawn and invalid codes.
	for _, code := range []string{"UK", "EU", "XK", "AN", "CS", "SU", "ZZ", "gb", "GBR", "", "G", " GB"} {
		if check.KnownCountry(code) {
			t.Errorf("%q is known", code)
		}
	}
}

func TestEveryAssignedCountryIsKnown(t *testing.T) {
	known := 0
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			if check.KnownCountry(string([]rune{a, b})) {
				known++
			}
		}
	}
	if known != 249 {
		t.Errorf("%d countries, ISO 3166-1 assigns 249 codes", known)
	}
}
