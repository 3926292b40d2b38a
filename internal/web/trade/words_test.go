package trade

import (
	"testing"

	"holdfast/internal/travel"
)

// TestEachLanguageHasAName, in the order of the wire.
func TestEachLanguageHasAName(t *testing.T) {
	t.Parallel()
	if len(languages) != 2*len(travel.Languages) {
		t.Fatalf("there are %d names for %d languages", len(languages)/2, len(travel.Languages))
	}
	for i, code := range travel.Languages {
		if languages[2*i] != code || languages[2*i+1] == "" {
			t.Errorf("%s is not at its place", code)
		}
	}
}
