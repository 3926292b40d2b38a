package developers

import (
	"strings"
	"time"
)

// soon is how long before its end a token is marked.
const soon = 14 * 24 * time.Hour

// listed writes a list as a line.
func listed(list []string, say func(any) string) string {
	words := make([]string, len(list))
	for i, item := range list {
		words[i] = say(item)
	}
	return strings.Join(words, ", ")
}
