package developers

import (
	"strings"
	"time"
)

// soon is how long before expiry a token is highlighted.
const soon = 14 * 24 * time.Hour

// listed formats a list on one line.
func listed(list []string, say func(any) string) string {
	words := make([]string, len(list))
	for i, item := range list {
		words[i] = say(item)
	}
	return strings.Join(words, ", ")
}
