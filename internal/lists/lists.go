// Package lists reads the pages of lists: rows by a filter and in an order, with their total where it is asked for. It owns no table. Begin
// reading at Page; docs/decisions/0014-lists.md says why a deep page costs no more than the first.
package lists

import (
	"strconv"
	"strings"

	"holdfast/internal/db"
	"holdfast/internal/packed"
	"holdfast/internal/sqltext"
	"holdfast/internal/travel"
)

// Page reads one page of the rows of a source (a table, or tables joined) that fulfil w. It counts all of them if
// the page asks for it; else the total is -1. orders and include are as in orderBy.
func Page[T any](
	tx *db.Tx, source, columns string, w *sqltext.Where, page travel.Page, orders map[string]string, include []int64,
	scan func(scan func(dest ...any) error) (T, error),
) (travel.List[T], error) {
	return pageOf(tx, source, w, page, orders, include, func(from string) ([]T, error) {
		return rowsOf(tx, `SELECT `+columns+from, w.Args, scan)
	})
}

// PackedPage is Page for wide rows. The whole page comes as one text.
func PackedPage[T any](
	tx *db.Tx, source string, columns packed.Wide, w *sqltext.Where, page travel.Page, orders map[string]string, include []int64,
	read func(row *packed.Row) (T, error),
) (travel.List[T], error) {
	return pageOf(tx, source, w, page, orders, include, func(from string) ([]T, error) {
		var n int
		var text string
		if err := tx.Row(columns.Page(from), w.Args, &n, &text); err != nil {
			return nil, err
		}
		if list, err := packed.ReadPage(n, text, read); err == nil {
			return list, nil
		}
		return rowsOf(tx, `SELECT `+columns.One+from, w.Args, func(scan func(dest ...any) error) (item T, err error) {
			var row packed.Row
			if err := scan(&row); err != nil {
				return item, err
			}
			return read(&row)
		})
	})
}

// rowsOf reads the rows of a query one by one.
func rowsOf[T any](tx *db.Tx, query string, args []any, scan func(scan func(dest ...any) error) (T, error)) ([]T, error) {
	list := []T{}
	err := tx.Each(query, args, func(row func(dest ...any) error) error {
		item, err := scan(row)
		list = append(list, item)
		return err
	})
	return list, err
}

// pageOf is Page. read reads the rows of the page; from is their query without its columns.
func pageOf[T any](
	tx *db.Tx, source string, w *sqltext.Where, page travel.Page, orders map[string]string, include []int64,
	read func(from string) ([]T, error),
) (list travel.List[T], err error) {
	condition, given := " FROM "+source+" WHERE "+w.Text.String(), w.Args
	total, skip, err := countAndSeek(tx, w, page, orders)
	if err != nil {
		return list, err
	}
	list.Items, err = read(" FROM " + source + " WHERE " + w.Text.String() + orderBy(tx, w, page, orders, include) +
		" LIMIT " + w.Arg(page.Size+1) + " OFFSET " + w.Arg(skip)) // one row more, to know whether there is a next page
	if err != nil {
		return travel.List[T]{}, err
	}
	list.Total = total
	if n := len(list.Items); page.Count && total < 0 {
		if n <= page.Size && (n > 0 || skip == 0) { // the list ends with this page
			list.Total = skip + int64(n)
		} else if list.Total, err = countSome(tx, condition, given); err != nil {
			return travel.List[T]{}, err
		}
	}
	if len(list.Items) > page.Size {
		list.Items, list.More = list.Items[:page.Size], true
	}
	// A page that is given by an offset may be empty. Only a page that is given by its number can be past the end.
	if len(list.Items) == 0 && page.Offset < 0 && page.Number > 1 {
		err = tx.Row(`SELECT EXISTS (SELECT 1`+condition+`)`, given, &list.PastEnd)
	}
	return list, err
}

// countAndSeek counts the rows of a list of all, if its page asks for that; else the total is -1. It returns how many rows the
// query of the page passes over. Where a list of all rows goes by their ids, it adds the condition that the page begins behind a mark.
func countAndSeek(tx *db.Tx, w *sqltext.Where, page travel.Page, orders map[string]string) (total, skip int64, err error) {
	total, skip = -1, int64(page.Skip())
	rows, all := w.Kept().(SiteTable)
	byID := all && sortsByID(page, orders)
	if err := Deep(tx, page); err != nil && !byID {
		return 0, 0, err
	}
	if !all || !page.Count && (!byID || skip == 0) {
		return total, skip, nil
	}
	seen, err := rows.look(tx)
	if err == nil && byID {
		skip, err = seen.seek(w, page)
	}
	if page.Count {
		total = seen.all
	}
	return total, skip, err
}

// countSome counts the rows of a filter. To count many is a long read: a quick one stops at some 10,000.
func countSome(tx *db.Tx, condition string, args []any) (total int64, err error) {
	most := marksOf.Of(tx).step * quickMarks
	if tx.Long() != nil { // it is a quick one
		condition = ` FROM (SELECT 1` + condition + ` LIMIT ` + strconv.FormatInt(most+1, 10) + `) AS found`
	}
	if err = tx.Row(`SELECT COUNT(*)`+condition, args, &total); err == nil && total > most {
		err = tx.Long()
	}
	return total, err
}

// deepPage is how many rows a page may pass over before it is a long read: the database goes through all of them.
const deepPage = 10_000

// Deep is Tx.Long where a page lies deep in its list.
func Deep(tx *db.Tx, page travel.Page) error {
	if page.Skip() < deepPage {
		return nil
	}
	return tx.Long()
}

// sortsByID reports whether a page goes by the ids alone.
func sortsByID(page travel.Page, orders map[string]string) bool {
	column, known := orders[page.OrderBy]
	return page.OrderBy != "include" && (!known || column == "id")
}

// orderBy writes the order of a page: by the attribute that the page names, then by id, so that rows with equal
// attributes keep their places from page to page. columns maps attributes of the wire to SQL expressions. The
// attribute "include" stands for the order in which the caller named the ids.
func orderBy(tx *db.Tx, w *sqltext.Where, page travel.Page, columns map[string]string, include []int64) string {
	direction := " ASC"
	if page.Descending {
		direction = " DESC"
	}
	column := columns[page.OrderBy]
	switch {
	case page.OrderBy == "include" && len(include) > 0:
		column = placeIn(w, include)
	case column == "", sortsByID(page, columns):
		if w.IsNarrow() {
			return " ORDER BY " + db.SortsFound(tx) + "id" + direction
		}
		return " ORDER BY id" + direction
	}
	return " ORDER BY " + column + direction + ", id" + direction
}

// placeIn is an SQL expression: the first place of the id in a list.
func placeIn(w *sqltext.Where, ids []int64) string {
	var b strings.Builder
	b.WriteString("CASE id")
	for i, id := range ids {
		b.WriteString(" WHEN " + w.Arg(id) + " THEN " + strconv.Itoa(i))
	}
	b.WriteString(" END")
	return b.String()
}
