package store

import "holdfast/internal/domain/civil"

// LongestPage is how many rows a page has at most.
const LongestPage = 100

// Page selects a page of a list, and which of its rows (section 4).
type Page struct {
	Number     int     // from 1
	Size       int     // 1 to LongestPage
	Offset     int     // rows to skip, instead of Number; -1 if not given
	After      *Anchor // the row before the page, instead of Number and Offset; nil if not given
	OrderBy    string  // one of the object's …Orders
	Descending bool
	Count      bool // whether to count the whole list

	Include, Exclude []int64    // ids; empty for all
	Modified         civil.Span // when the row was changed last
}

// Anchor is a row of a list in some order. The page after it repeats and misses no row, whatever is written in the
// meantime.
type Anchor struct {
	Key any   // of the row in the order: an int64 or a string; nil for the order by id
	ID  int64 // of the row
}

// Skip returns the number of rows before the page.
func (p Page) Skip() int {
	switch {
	case p.After != nil:
		return 0
	case p.Offset >= 0:
		return p.Offset
	}
	return (p.Number - 1) * p.Size
}

// deepPage is how many rows a page must skip to be deep.
const deepPage = 10_000

// Deep reports whether the page skips so many rows that reading it takes long.
func (p Page) Deep() bool { return p.Skip() >= deepPage }

// Chooses reports whether the page chooses among the rows by id or by the time of their last change.
func (p Page) Chooses() bool {
	return len(p.Include) > 0 || len(p.Exclude) > 0 || p.Modified != (civil.Span{})
}

// Of returns the page with exactly the rows that have these ids, at most LongestPage of them.
func Of(ids []int64) Page { return Page{Number: 1, Size: max(1, len(ids)), Offset: -1, Include: ids} }

// List is one page of a list.
type List[T any] struct {
	Items []T
	Total int64   // items of the whole list; -1 when they were not counted
	More  bool    // whether there is a next page
	Last  *Anchor // of the last item; nil at the end of the list
	// PastEnd: the page is past the end of a list that is not empty.
	PastEnd bool
}
