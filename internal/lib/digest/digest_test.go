package digest_test

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"testing"
	"time"

	"holdfast/internal/lib/digest"
)

func sumOf(t *testing.T, values ...any) []byte {
	t.Helper()
	sum, err := digest.Of(values...)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestADigestDistinguishesValues: no two lists have the same text before they are hashed.
func TestADigestDistinguishesValues(t *testing.T) {
	t.Parallel()
	type named string
	lists := [][]any{
		{}, {nil}, {""}, {"", ""}, {0}, {"0"}, {1, 2}, {12}, {"1", "2"}, {"12"}, {"a;t1:b"}, {"a", "b"}, {":a;t:b"}, {":a", ":b"},
		{-1}, {"n"}, {"ä"}, {"a", ";t:b"}, {"a;t:", "b"},
	}
	seen := map[string]int{}
	for i, list := range lists {
		sum := string(sumOf(t, list...))
		if j, twice := seen[sum]; twice {
			t.Errorf("%q and %q have the same digest", lists[j], list)
		}
		seen[sum] = i
	}
	for _, same := range [][2]any{
		{true, 1}, {false, int64(0)}, {named("x"), "x"}, {[]byte("x"), "x"}, {sql.NullInt64{}, nil},
		{sql.NullInt64{Int64: 7, Valid: true}, int32(7)},
	} {
		if !bytes.Equal(sumOf(t, same[0]), sumOf(t, same[1])) {
			t.Errorf("%T and %T are stored alike, and have other digests", same[0], same[1])
		}
	}
	if _, err := digest.Of(time.Unix(0, 0)); err == nil {
		t.Error("a time has a digest, and not its microseconds")
	}
}

// TestTheTextOfADigestStays: stored digests must remain valid forever.
func TestTheTextOfADigestStays(t *testing.T) {
	t.Parallel()
	// printf 'i-5;t3:abc;i1;n;' | sha256sum
	want := "0d77fd3aa04c73c17d344c4af8919d3a7d534ee7e98a40666e44e1f4ed10f019"
	if got := hex.EncodeToString(sumOf(t, -5, "abc", true, nil)); got != want {
		t.Errorf("%s", got)
	}
}

// BenchmarkDigest digests the values of a transaction. A purchase needs five digests, most of them shorter.
func BenchmarkDigest(b *testing.B) {
	values := []any{
		int64(1), "9fd1995b-b6ee-4955-93d0-a2b33c6a30cb", int64(3), int64(0), "holdfast", "holdfast", "purchase", "EUR",
		int64(30295), "EUR", int64(30295), "", "", "credit-card", "Ada", "Byron", "ada@example.org", "PT", "tok_visa",
		"192.0.2.1", false, "", nil, "d167bc9df285f374a7186c782e0b881a8ace648ca154fcb6d465d82c8e360b2e", nil, false,
		int64(1716991200000000), int64(1717405200000000), "",
	}
	for b.Loop() {
		if _, err := digest.Of(values...); err != nil {
			b.Fatal(err)
		}
	}
}
