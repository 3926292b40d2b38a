package fx

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
)

// Table finds fixings by currency and day. It never changes after NewTable, so that many readers may share it.
type Table struct {
	series map[seriesKey]*series
}

type seriesKey struct {
	provider Provider
	currency money.Currency
}

// NewTable makes a table of fixings in any order. Fixings of an unknown provider never count. Fixings of the euro are
// never used, because its leg is 1.
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

// On returns the fixing of c that counts on a day: the last one that is dated up to day, is at most maxAge days old,
// was on file at known and had not expired then. The first provider that has such a fixing wins, even when a later
// provider has a newer one. Of several fixings of one day the last recorded one counts. ok is false when there is
// none.
func (t *Table) On(c money.Currency, day civil.Day, known time.Time, maxAge int) (Fixing, bool) {
	for _, p := range order {
		if f, ok := t.last(p, c, day, known); ok && int64(day-f.Day) <= int64(maxAge) {
			return f, true
		}
	}
	return Fixing{}, false
}

// newest returns the fixing with the latest date, of any provider and any age. When two have the same day, the
// provider that is first in order wins.
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

// series is the fixings of one provider and currency by day, with a binary tree over them. The tree finds the last
// fixing up to a day that was on file and had not expired, in as many steps as it is deep. This holds even for a
// report about a time before most fixings were recorded: a walk back from the day would read the whole history. Only
// expired quotes cost more steps, and they are few.
type series struct {
	fixings []Fixing
	leaves  int    // a power of two; the leaf of fixings[i] is tree[leaves+i], the root tree[1]
	tree    []span // by node
}

// span is the time in which any fixing below a node counts, in microseconds: the databases keep times so.
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
		leaf := span{recorded: math.MaxInt64, expires: math.MinInt64} // an empty leaf never counts
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

// find looks below a node, whose leaves are those from lo to hi. It returns the greatest index below end that counts
// at known, or -1.
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
