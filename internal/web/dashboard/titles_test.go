package dashboard_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestColumnTitlesAreConsistent: no table says State, Kind or Channel for Status, Type or Merchant.
func TestColumnTitlesAreConsistent(t *testing.T) {
	t.Parallel()
	other := regexp.MustCompile(`(Title|Text): "(State|Kind|Channels?)"|<(th|dt)>(State|Kind|Channels?)<`)
	for _, pattern := range []string{"../*/*.go", "../*/*.html", "../*/pages/*.html"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range other.FindAll(text, -1) {
				t.Errorf("%s: %s", name, found)
			}
		}
	}
}
