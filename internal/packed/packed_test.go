package packed_test

import (
	"maps"
	"slices"
	"testing"

	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/packed"
	"holdfast/internal/sqltext"
)

// TestAPackedRowHoldsAnyText: texts come back as they were stored, whatever looks like a part of the packing in them.
func TestAPackedRowHoldsAnyText(t *testing.T) {
	t.Parallel()
	dbtest.OnBoth(t, func(t *testing.T, url string) {
		base := dbtest.Open(t, url, dbtest.AtStart)
		for _, text := range []string{"", ",", "3,abc", "a,b\n\x1fc", "Zoë, 東京 🏝", " 12,", "'\"\\"} {
			var row packed.Row
			dbtest.Read(t, base, func(tx *db.Tx) error {
				return tx.Row(`SELECT `+packed.Columns("v.n, v.n > 0", "v.t", "'x'", "v.t")+`
					FROM (SELECT CAST($1 AS BIGINT) AS n, CAST($2 AS TEXT) AS t) v`, []any{int64(-7), text}, &row)
			})
			n, flag := row.Int(), row.Flag()
			first, between, second := row.Text(), row.Text(), row.Text()
			if n != -7 || flag || first != text || between != "x" || second != text || row.Err() != nil {
				t.Errorf("%q: read %d, %t, %q, %q, %q: %v", text, n, flag, first, between, second, row.Err())
			}
		}
	})
}

// TestAPackedRowWithOtherColumnsIsAnError: a row is never read in part, or as something else.
func TestAPackedRowWithOtherColumnsIsAnError(t *testing.T) {
	t.Parallel()
	for text, read := range map[string]func(row *packed.Row){
		"":        func(row *packed.Row) { row.Int() },
		"1":       func(row *packed.Row) { row.Int(); row.Int() },
		"1,2":     func(row *packed.Row) { row.Int() },
		"x":       func(row *packed.Row) { row.Int() },
		"1,":      func(row *packed.Row) { row.Int() },
		"5,abc":   func(row *packed.Row) { row.Text() },
		"2,abc":   func(row *packed.Row) { row.Text() },
		"2,abc3":  func(row *packed.Row) { row.Text(); row.Int() },
		"-1,abc":  func(row *packed.Row) { row.Text() },
		"3,abc,1": func(row *packed.Row) { row.Text() },
		"3,abc":   func(row *packed.Row) { row.Text(); row.Flag() },
		"3":       func(row *packed.Row) { row.Text() },
	} {
		var row packed.Row
		if err := row.Scan(text); err != nil {
			t.Fatal(err)
		}
		if read(&row); row.Err() == nil {
			t.Errorf("%q: no error", text)
		}
	}
	if err := new(packed.Row).Scan(int64(1)); err == nil {
		t.Error("a number is no packed row")
	}
}

// TestRowsThatAreJoinedAreReadOneByOne: texts of any kind in them, and a query that finds none.
func TestRowsThatAreJoinedAreReadOneByOne(t *testing.T) {
	t.Parallel()
	dbtest.OnBoth(t, func(t *testing.T, url string) {
		base := dbtest.Open(t, url, dbtest.AtStart)
		var rows, none, ids packed.Rows
		dbtest.Read(t, base, func(tx *db.Tx) error {
			const two = ` FROM (SELECT 7 AS n, '' AS t UNION ALL SELECT 3, ',4,' UNION ALL SELECT 7, 'x') v `
			return tx.Row(`SELECT (SELECT `+packed.Together(packed.Columns("v.n", "v.t"))+two+`),
				(SELECT `+packed.Together(packed.Columns("v.n"))+two+`WHERE v.n > 7), (SELECT `+packed.Together(packed.Columns("v.n"))+two+`)`,
				nil, &rows, &none, &ids)
		})
		got := map[string]int64{}
		for rows.Next() {
			n := rows.Int()
			got[rows.Text()] += n
		}
		if want := (map[string]int64{"": 7, ",4,": 3, "x": 7}); !maps.Equal(got, want) || rows.Err() != nil {
			t.Errorf("read %v, not %v: %v", got, want, rows.Err())
		}
		if none.Next() || none.Err() != nil {
			t.Errorf("a query without rows: %v", none.Err())
		}
		if list, err := ids.Ids(); err != nil || !slices.Equal(list, []int64{3, 7}) {
			t.Errorf("read %v: %v", list, err)
		}
	})
	var broken packed.Rows
	if err := broken.Scan("1,2,x"); err != nil {
		t.Fatal(err)
	}
	if list, err := broken.Ids(); err == nil {
		t.Errorf("a broken list is read as %v", list)
	}
}

// pageRow is a row of the pages below.
type pageRow struct {
	n    int64
	text string
	last bool
}

var widePage = packed.WideOf(func(pack packed.Pack) string { return pack("v.n, (SELECT "+pack("", "v.t")+")", "'x'") })

// readPage reads texts as a page, the last one first.
func readPage(t *testing.T, base *db.DB, texts ...string) (list []pageRow, err error) {
	t.Helper()
	var w sqltext.Where
	from := " FROM (SELECT 0 AS n, '' AS t"
	for i, text := range texts {
		from += w.Fill(" UNION ALL SELECT CAST(? AS BIGINT), CAST(? AS TEXT)", int64(i+1), text)
	}
	var n int
	var page string
	dbtest.Read(t, base, func(tx *db.Tx) error {
		return tx.Row(widePage.Page(from+") v WHERE v.n > 0 ORDER BY v.n DESC LIMIT 100"), w.Args, &n, &page)
	})
	return packed.ReadPage(n, page, func(row *packed.Row) (pageRow, error) {
		r := pageRow{n: row.Int(), text: row.Text(), last: row.Text() == "x"}
		return r, row.Err()
	})
}

// TestAPageIsReadFromOneText: its rows keep their order and hold any text. A text with the signs that end columns and rows is
// never read as something else, also where it looks like another row.
func TestAPageIsReadFromOneText(t *testing.T) {
	t.Parallel()
	dbtest.OnBoth(t, func(t *testing.T, url string) {
		base := dbtest.Open(t, url, dbtest.AtStart)
		list, err := readPage(t, base, "a,b\n", "", "3,abc", "Zoë, 東京 🏝")
		want := []pageRow{{4, "Zoë, 東京 🏝", true}, {3, "3,abc", true}, {2, "", true}, {1, "a,b\n", true}}
		if err != nil || !slices.Equal(list, want) {
			t.Errorf("read %v, not %v: %v", list, want, err)
		}
		if list, err := readPage(t, base); err != nil || len(list) != 0 {
			t.Errorf("a page without rows is read as %v: %v", list, err)
		}
		for _, text := range []string{"\x1f", "a\x1e", "a\x1fx\x1e7\x1fb", "\x1e\x1f", "\x1fx"} {
			if list, err := readPage(t, base, "before", text, "behind"); err == nil {
				t.Errorf("%q is read as %v", text, list)
			}
		}
	})
}
