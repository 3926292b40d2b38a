package sqlite_test

import (
	"testing"

	"holdfast/internal/store/sqlite"
)

// TestParametersInOrder: SQLite gets "?" exactly where that means the same.
func TestParametersInOrder(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT 1":                      "SELECT 1",
		"VALUES ($1, $2), ($3, $4)":     "VALUES (?, ?), (?, ?)",
		"a = $1 AND b = $1":             "a = $1 AND b = $1",
		"a = $2 AND b = $1":             "a = $2 AND b = $1",
		"$1$2$3$4$5$6$7$8$9$10$11":      "???????????",
		"a = $1 AND b = $22":            "a = $1 AND b = $22",
		"$1, $2, $3 AND (c = $4) LIMIT": "?, ?, ? AND (c = ?) LIMIT",
	} {
		if got := sqlite.Positional(query); got != want {
			t.Errorf("%s becomes %s, want %s", query, got, want)
		}
	}
}
