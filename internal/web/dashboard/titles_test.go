package dashboard_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestColumnTitlesAreConsistent: what one table calls Status or Type, no other calls State, Kind or Channel.
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
