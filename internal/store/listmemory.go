package store

import (
	"cmp"
	"slices"
	"time"
)

// PageOf returns one page of a list that is in memory as a whole, in its order unless the page says otherwise. of
// returns the id of an item and when it was last changed; if it is nil, the page cannot filter the items. PageOf may
// reorder the list in place.
func PageOf[T any](all []T, page Page, of func(T) (id int64, modified time.Time)) List[T] {
	if of != nil {
		all = chosen(all, page, of)
	}
	if page.Descending {
		slices.Reverse(all)
	}
	begin := min(page.Skip(), len(all))
	if page.After != nil && of != nil {
		begin = afterAnchor(all, *page.After, of)
	}
	list := List[T]{Items: all[begin:min(begin+page.Size, len(all))], Total: int64(len(all))}
	if next := begin + page.Size; next < len(all) {
		list.More = true
		if of != nil {
			id, _ := of(all[next-1])
			list.Last = &Anchor{Key: int64(next - 1), ID: id}
		}
	}
	list.PastEnd = len(list.Items) == 0 && page.After == nil && page.Offset < 0 && page.Number > 1 && len(all) > 0
	return list
}

// chosen are the items that a page chooses, in its order.
func chosen[T any](all []T, page Page, of func(T) (int64, time.Time)) []T {
	first, begins := FirstIn(page.Modified)
	end, ends := EndOf(page.Modified)
	all = slices.DeleteFunc(all, func(item T) bool {
		id, modified := of(item)
		at := Micros(modified)
		return len(page.Include) > 0 && !slices.Contains(page.Include, id) || slices.Contains(page.Exclude, id) ||
			begins && at < first || ends && at >= end
	})
	slices.SortStableFunc(all, func(a, b T) int {
		idA, modifiedA := of(a)
		idB, modifiedB := of(b)
		switch page.OrderBy {
		case OrderModified:
			return modifiedA.Compare(modifiedB)
		case OrderInclude:
			return cmp.Compare(slices.Index(page.Include, idA), slices.Index(page.Include, idB))
		}
		return 0
	})
	return all
}

// afterAnchor returns the index of the first item after an anchor, whose key is the former index of its item. If items
// before it have been removed since, it has moved to the front.
func afterAnchor[T any](all []T, anchor Anchor, of func(T) (int64, time.Time)) int {
	place, _ := anchor.Key.(int64)
	last := int(max(0, min(place, int64(len(all))-1)))
	for i := last; i >= 0 && i < len(all); i-- {
		if id, _ := of(all[i]); id == anchor.ID {
			return i + 1
		}
	}
	return min(last, len(all))
}
