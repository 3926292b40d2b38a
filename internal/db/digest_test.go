package db_test

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"testing"
	"time"

	"holdfast/internal/db"
)

func digest(t *testing.T, values ...any) []byte {
	t.Helper()
	sum, err := db.Digest(values...)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestADigestTellsValuesApart: no two lists have the same text before they are hashed.
func TestADigestTellsValuesApart(t *testing.T) {
	t.Parallel()
	type named string
	lists := [][]any{
		{}, {nil}, {""}, {"", ""}, {0}, {"0"}, {1, 2}, {12}, {"1", "2"}, {"12"}, {"a;t1:b"}, {"a", "b"}, {":a;t:b"}, {":a", ":b"},
		{-1}, {"n"}, {"ä"}, {"a", ";t:b"}, {"a;t:", "b"},
	}
	seen := map[string]int{}
	for i, list := range lists {
		sum := string(digest(t, list...))
		if j, twice := seen[sum]; twice {
			t.Errorf("%q and %q have the same digest", lists[j], list)
		}
		seen[sum] = i
	}
	for _, same := range [][2]any{
		{true, 1}, {false, int64(0)}, {named("x"), "x"}, {[]byte("x"), "x"}, {sql.NullInt64{}, nil},
		{sql.NullInt64{Int64: 7, Valid: true}, int32(7)},
	} {
		if !bytes.Equal(digest(t, same[0]), digest(t, same[1])) {
			t.Errorf("%T and %T are stored alike, and have other digests", same[0], same[1])
		}
	}
	if _, err := db.Digest(time.Unix(0, 0)); err == nil {
		t.Error("a time has a digest, and not its microseconds")
	}
}

// TestTheTextOfADigestStays: digests that are stored must fit for ever.
func TestTheTextOfADigestStays(t *testing.T) {
	t.Parallel()
	// printf 'i-5;t3:abc;i1;n;' | sha256sum
	want := "0d77fd3aa04c73c17d344c4af8919d3a7d534ee7e98a40666e44e1f4ed10f019"
	if got := hex.EncodeToString(digest(t, -5, "abc", true, nil)); got != want {
		t.Errorf("%s", got)
	}
}
