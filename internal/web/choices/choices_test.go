package choices

import (
	"slices"
	"testing"

	"holdfast/internal/domain/check"
)

// TestEachLanguageHasAName, in the order of the API.
func TestEachLanguageHasAName(t *testing.T) {
	t.Parallel()
	if len(languages) != 2*len(check.Languages) {
		t.Fatalf("there are %d names for %d languages", len(languages)/2, len(check.Languages))
	}
	for i, code := range check.Languages {
		if languages[2*i] != code || Language(code) != languages[2*i+1] || Language(code) == "" {
			t.Errorf("%s is not at its place", code)
		}
	}
}

// TestCountriesHaveNames: exactly the assigned codes of ISO 3166-1.
func TestCountriesHaveNames(t *testing.T) {
	t.Parallel()
	list := countries()
	if len(list) < 2*240 || !slices.Contains(list, "Portugal") || slices.Contains(list, "XX") || Country("PT") != "Portugal" || Country("XX") != "XX" {
		t.Errorf("%d countries: %v", len(list)/2, list)
	}
	for i := 0; i < len(list); i += 2 {
		if list[i+1] == list[i] {
			t.Errorf("%s has no name", list[i])
		}
	}
}
