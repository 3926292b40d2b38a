package store

// LongestPage is how many rows a page has at most.
const LongestPage = 100

// Page says which page of a list is wanted (section 4).
type Page struct {
	Number     int    // from 1
	Size       int    // 1 to LongestPage
	Offset     int    // rows to skip, in place of Number; -1 when not given
	OrderBy    string // one of the object's …Orders
	Descending bool
	Count      bool // whether to count the whole list
}

// Skip returns the number of rows before the page.
func (p Page) Skip() int {
	if p.Offset >= 0 {
		return p.Offset
	}
	return (p.Number - 1) * p.Size
}

// deepPage is how many rows a page may pass over before it is deep.
const deepPage = 10_000

// Deep reports whether so many rows lie before the page that reading it takes long.
func (p Page) Deep() bool { return p.Skip() >= deepPage }

// List is one page of a list.
type List[T any] struct {
	Items []T
	Total int64 // items of the whole list; -1 when they were not counted
	More  bool  // whether there is a next page
	// PastEnd: the page is past the end of a list that is not empty.
	PastEnd bool
}
