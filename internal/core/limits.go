package core

import (
	"slices"

	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// CheckNote notes a text that is too long to be kept.
func CheckNote(p *fault.Problems, field, text string) {
	if len([]rune(text)) > travel.MaxContent {
		p.Wrong(field, "At most %d characters are allowed.", travel.MaxContent)
	}
}

// PageOf cuts a page out of a list that is all there.
func PageOf[T any](all []T, page travel.Page) travel.List[T] {
	if page.Descending {
		slices.Reverse(all)
	}
	first := min(page.Skip(), len(all))
	list := travel.List[T]{Items: all[first:min(first+page.Size, len(all))], Total: int64(len(all))}
	list.More = first+page.Size < len(all)
	list.PastEnd = len(list.Items) == 0 && page.Offset < 0 && page.Number > 1 && len(all) > 0
	return list
}
