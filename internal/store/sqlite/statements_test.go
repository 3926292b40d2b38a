package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestLongStatementsAreNotKeptForEver: callers choose the length of a filter, so a connection caches a bounded amount
// of text.
func TestLongStatementsAreNotKeptForEver(t *testing.T) {
	connector, err := NewConnector("file:" + filepath.Join(t.TempDir(), "holdfast.db"))
	if err != nil {
		t.Fatal(err)
	}
	opened, err := connector.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn := opened.(*cachingConn)
	for n := range 2 * cachedText / 30_000 { // twice what is kept
		query := fmt.Sprintf("SELECT %d, '%s'", n, strings.Repeat("x", 30_000))
		if _, err := conn.ExecContext(t.Context(), query, nil); err != nil {
			t.Fatal(err)
		}
		text := 0
		for _, kept := range conn.cached.Keys() {
			text += len(kept)
		}
		if text > cachedText || text != conn.text || text == 0 {
			t.Fatalf("after %d statements %d bytes of text are kept, counted as %d", n+1, text, conn.text)
		}
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}
