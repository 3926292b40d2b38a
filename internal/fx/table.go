package fx

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/money"
)

// Table is a set of fixings to look up in. It never changes after NewTable, so that any number of readers may share it.
type Table struct {
	series map[seriesKey]*series
}

type seriesKey struct {
	provider Provider
	currency money.Currency
}

// NewTable takes the fixings in any order. Those of an unknown provider never count; those of the euro are not asked
// for, because its leg is 1.
func NewTable(fixings []Fixing) *Table {
	t := &Table{series: map[seriesKey]*series{}}
	for _, f := range fixings {
		key := seriesKey{f.Provider, f.Currency}
		s := t.series[key]
		if s == nil {
			s = &series{}
			t.series[key] = s
		}
		s.fixings = append(s.fixings, f)
	}
	for _, s := range t.series {
		s.index()
	}
	return t
}

// On returns the fixing of c that counts on a day: the last one dated on or before day, at most maxAge days before it,
// on file at known and not expired then. The first provider that has such a one wins, even where a later provider has
// a younger one. Of several of the same day the one recorded last counts.
func (t *Table) On(c money.Currency, day civil.Day, known time.Time, maxAge int) (Fixing, bool) {
	for _, p := range order {
		if f, ok := t.last(p, c, day, known); ok && int64(day-f.Day) <= int64(maxAge) {
			return f, true
		}
	}
	return Fixing{}, false
}

// newest returns the most recently dated fixing of any provider, of any age; the more trusted provider's where two are
// of the same day.
func (t *Table) newest(c money.Currency, day civil.Day, known time.Time) (best Fixing, found bool) {
	for _, p := range order {
		if f, ok := t.last(p, c, day, known); ok && (!found || f.Day > best.Day) {
			best, found = f, true
		}
	}
	return best, found
}

func (t *Table) last(p Provider, c money.Currency, day civil.Day, known time.Time) (Fixing, bool) {
	s := t.series[seriesKey{p, c}]
	if s == nil {
		return Fixing{}, false
	}
	return s.last(day, known.UnixMicro())
}

// series is one provider's fixings of one currency by day, with a binary tree over them. The tree answers "the last
// one up to here that was on file and had not expired" in the depth of the tree, also when a report looks back to
// before most of the fixings were recorded; walking back from the day would read the whole history then. Only quotes
// that have expired can cost more steps, and they are few.
type series struct {
	fixings []Fixing
	leaves  int    // a power of two; the leaf of fixings[i] is tree[leaves+i], the root tree[1]
	tree    []span // of each node: what its leaves span
}

// span bounds the time in which any fixing below a node counts, in microseconds, the finest that the stores keep.
type span struct {
	recorded int64 // the earliest recording
	expires  int64 // the latest expiry
}

func (s *series) index() {
	slices.SortStableFunc(s.fixings, func(a, b Fixing) int {
		return cmp.Or(
			cmp.Compare(a.Day, b.Day),
			cmp.Compare(a.RecordedAt.UnixMicro(), b.RecordedAt.UnixMicro()),
			cmp.Compare(a.ID, b.ID),
		)
	})
	s.leaves = 1
	for s.leaves < len(s.fixings) {
		s.leaves *= 2
	}
	s.tree = make([]span, 2*s.leaves)
	for i := range s.leaves {
		leaf := span{recorded: math.MaxInt64, expires: math.MinInt64} // a leaf of nothing never counts
		if i < len(s.fixings) {
			leaf = span{recorded: s.fixings[i].RecordedAt.UnixMicro(), expires: math.MaxInt64}
			if e := s.fixings[i].ExpiresAt; !e.IsZero() {
				leaf.expires = e.UnixMicro()
			}
		}
		s.tree[s.leaves+i] = leaf
	}
	for i := s.leaves - 1; i > 0; i-- {
		l, r := s.tree[2*i], s.tree[2*i+1]
		s.tree[i] = span{recorded: min(l.recorded, r.recorded), expires: max(l.expires, r.expires)}
	}
}

func (s *series) last(day civil.Day, known int64) (Fixing, bool) {
	end := sort.Search(len(s.fixings), func(i int) bool { return s.fixings[i].Day > day })
	if i := s.find(1, 0, s.leaves, end, known); i >= 0 {
		return s.fixings[i], true
	}
	return Fixing{}, false
}

// find returns the greatest index below end, among those from lo to hi under a node, that counts at known, or -1.
func (s *series) find(node, lo, hi, end int, known int64) int {
	if lo >= end || s.tree[node].recorded > known || s.tree[node].expires <= known {
		return -1
	}
	if hi-lo == 1 {
		return lo
	}
	middle := (lo + hi) / 2
	if i := s.find(2*node+1, middle, hi, end, known); i >= 0 {
		return i
	}
	return s.find(2*node, lo, middle, end, known)
}
