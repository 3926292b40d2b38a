package input

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

func queryOf(t *testing.T, raw string) *Query {
	t.Helper()
	given, err := url.ParseQuery(raw)
	if err != nil {
		t.Fatal(err)
	}
	return ReadQuery(given)
}

func TestPages(t *testing.T) {
	for raw, want := range map[string]store.Page{
		"": {Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true},
		"page=3&per_page=7&order=desc&orderby=name&count=false": {Number: 3, Size: 7, Offset: -1, OrderBy: "name", Descending: true},
		"offset=0&page=&count=1":                                {Number: 1, Size: 100, Offset: 0, OrderBy: "id", Count: true},
		"orderby=include&include=3,2&order=desc":                {Number: 1, Size: 100, Offset: -1, OrderBy: "include", Count: true, Include: []int64{3, 2}},
		"exclude[]=4&modified_after=2024-06-30": {
			Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true, Exclude: []int64{4},
			Modified: civil.Span{After: time.Date(2024, 6, 30, 0, 0, 0, 0, time.UTC)},
		},
		"cursor=" + Cursor(store.Anchor{ID: 7}): {
			Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true, After: &store.Anchor{ID: 7},
		},
		"orderby=name&cursor=" + Cursor(store.Anchor{Key: "é, \\", ID: 7}): {
			Number: 1, Size: 100, Offset: -1, OrderBy: "name", Count: true, After: &store.Anchor{Key: "é, \\", ID: 7},
		},
		"orderby=name&cursor=" + Cursor(store.Anchor{Key: int64(-1 << 62), ID: 7}): {
			Number: 1, Size: 100, Offset: -1, OrderBy: "name", Count: true, After: &store.Anchor{Key: int64(-1 << 62), ID: 7},
		},
	} {
		q := queryOf(t, raw)
		if got := q.Page([]string{"name"}); !reflect.DeepEqual(got, want) || q.Err() != nil {
			t.Errorf("%q: %+v, %v; want %+v", raw, got, q.Err(), want)
		}
	}
	for _, raw := range []string{"page=0", "page=1.5", "page=99999999999", "per_page=0", "per_page=101", "offset=-1", "order=ASC", "orderby=x", "count=x", "orderby=include", "search=x", "page=1&page=2",
		"cursor=x", "cursor=e30", "page=2&cursor=" + Cursor(store.Anchor{ID: 7}), "cursor=bnVsbA==", "cursor=eyJpIjoxLCJuIjoxLCJ0IjoiIn0"} {
		q := queryOf(t, raw)
		q.Page(nil)
		if !errs.Is(q.Err(), errs.Invalid) {
			t.Errorf("%q: %v, want it refused", raw, q.Err())
		}
	}
}

func TestListsAreReadInEveryForm(t *testing.T) {
	for _, raw := range []string{"a=1,2,3", "a[]=1&a[]=2&a[]=3", "a%5B%5D=1,2&a[]=3", "a[0]=1&a[1]=2&a[2]=3", "a=1&a=2,%203,"} {
		if got := queryOf(t, raw).Ids("a"); !slices.Equal(got, []int64{1, 2, 3}) {
			t.Errorf("%q: %v", raw, got)
		}
	}
	q := queryOf(t, "mode=test,closed")
	if got := Words(q, "mode", merchant.ProtectionOnlyProfile.Modes()); !slices.Equal(got, []merchant.AccountMode{merchant.ModeTest, merchant.ModeClosed}) || q.Err() != nil {
		t.Errorf("words: %v, %v", got, q.Err())
	}
	long := "id=1"
	for range maxFilterItems {
		long += ",1"
	}
	for _, raw := range []string{"mode=open", "id=x", "id=-1", long} {
		q := queryOf(t, raw)
		Words(q, "mode", merchant.ProtectionOnlyProfile.Modes())
		q.Ids("id")
		if !errs.Is(q.Err(), errs.Invalid) {
			t.Errorf("%.20q: %v, want it refused", raw, q.Err())
		}
	}
}

func TestISODates(t *testing.T) {
	want := time.Date(2026, 3, 2, 10, 20, 30, 0, time.UTC)
	for _, text := range []string{
		"2026-03-02T10:20:30", "2026-03-02T10:20:30Z", "2026-03-02T12:20:30+02:00", "2026-03-02T12:20:30+0200",
		"2026-03-02T05:20:30-05:00", "2026-03-02 10:20:30", "2026-03-02T10:20:30.000Z",
	} {
		// Also without escaping, where a plus sign becomes a space.
		for _, escaped := range []string{url.QueryEscape(text), strings.ReplaceAll(text, " ", "%20")} {
			q := queryOf(t, "after="+escaped)
			if got := q.Instant("after"); got == nil || !got.Equal(want) {
				t.Errorf("%q: %v (%v)", escaped, got, q.Err())
			}
		}
	}
	q := queryOf(t, "after=2026-03-02&on=2026-03-02")
	if got := q.Instant("after"); got == nil || !got.Equal(time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("a day: %v", got)
	}
	if q.Instant("absent") != nil || q.Day("absent") != civil.NoDay || q.Day("on").String() != "2026-03-02" {
		t.Error("absent days")
	}
	for _, text := range []string{"yesterday", "2026-02-30", "1969-12-31", "2026-03-02T25:00:00", "20260302"} {
		q := queryOf(t, "after="+text+"&on="+text)
		if got := q.Instant("after"); got != nil || !errs.Is(q.Err(), errs.Invalid) {
			t.Errorf("%q: %v", text, got)
		}
		if q.Day("on") != civil.NoDay || len(problemsOf(t, &q.Problems)) != 2 {
			t.Errorf("%q as a day: %v", text, q.Err())
		}
	}
}
