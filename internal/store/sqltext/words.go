// Package sqltext reads and makes the texts of SQL statements. It owns nothing. Begin reading at Words and Rows.
package sqltext

import (
	"strconv"
	"strings"
	"sync"
)

// knownTexts is how many texts of statements are remembered at most.
const knownTexts = 4096

// Words remembers which of some words each statement has, so that each text is searched once.
type Words struct {
	words func() []string

	mu    sync.Mutex
	known map[string][]string // by the text of the statement
}

// NewWords asks for the words when it searches a text.
func NewWords(words func() []string) *Words {
	return &Words{words: words, known: map[string][]string{}}
}

// In returns the words that a statement has.
func (w *Words) In(query string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	found, ok := w.known[query]
	if !ok {
		if len(w.known) >= knownTexts {
			clear(w.known)
		}
		for _, word := range w.words() {
			if hasWord(query, word) {
				found = append(found, word)
			}
		}
		w.known[query] = found
	}
	return found
}

// hasWord reports whether a text contains a whole word: modal_payments does not contain payments.
func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if (start == 0 || !wordByte(text[start-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = end
	}
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// Numbered gives each "?" of a text its number, in order.
func Numbered(text string) string {
	var numbered strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(text, "?")
		numbered.WriteString(before)
		if !found {
			return numbered.String()
		}
		numbered.WriteString("$" + strconv.Itoa(n))
		text = after
	}
}
