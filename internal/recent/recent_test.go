package recent

import (
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestWhatIsAskedForStays: among many texts that nobody asks for again, the one that is asked for stays, and the bytes are bounded.
func TestWhatIsAskedForStays(t *testing.T) {
	t.Parallel()
	const most = 100_000
	texts := New[int](most)
	texts.Put(-1, []byte("asked for"))
	for n := range 10_000 {
		texts.Put(n, []byte(strings.Repeat("x", n%900+1)))
		if got := string(texts.Get(-1)); got != "asked for" {
			t.Fatalf("after %d other texts it is %q", n, got)
		}
		if got := len(texts.Get(n)); got != n%900+1 {
			t.Fatalf("text %d, just kept, has %d bytes", n, got)
		}
		held := 0
		for _, of := range []map[int][]byte{texts.young, texts.old} {
			for _, text := range of {
				held += len(text) + perText
			}
		}
		if held > most {
			t.Fatalf("after %d texts, %d bytes are held", n, held)
		}
	}
	if texts.Get(1) != nil || texts.Get(9_990) == nil {
		t.Error("an early text is still there, or a late one is not")
	}
}

// TestTextsAreCopied: who hands a text over may use its memory again.
func TestTextsAreCopied(t *testing.T) {
	t.Parallel()
	texts := New[string](10_000)
	buffer := []byte("first")
	texts.Put("a", buffer)
	copy(buffer, "other")
	if got := string(texts.Get("a")); got != "first" {
		t.Errorf("the text became %q", got)
	}
	if got := texts.Get("b"); got != nil {
		t.Errorf("there is a text %q that nobody put there", got)
	}
}

// TestTextsForMany: requests come at once, and find each the text of its own key.
func TestTextsForMany(t *testing.T) {
	t.Parallel()
	texts := New[int](20_000)
	var all sync.WaitGroup
	for from := range 4 {
		all.Go(func() {
			for n := range 2_000 {
				key := from*n + n%50
				if text := texts.Get(key); text != nil && string(text) != strconv.Itoa(key) {
					t.Errorf("%q is kept as %d", text, key)
				}
				texts.Put(key, []byte(strconv.Itoa(key)))
			}
		})
	}
	all.Wait()
}
