package store

import (
	"strconv"
	"strings"

	"holdfast/internal/store/sqltext"
)

// ListPage reads one page of the rows of a source (a table, or tables joined) that fulfil w. It counts all of them if
// the page asks for it; else the total is -1. orders and include are as in orderBy. The database goes through all rows
// before the page, so a deep one belongs into a report (sites.ReadPage).
func ListPage[T any](
	tx *Tx, source, columns string, w *sqltext.Where, page Page, orders map[string]string, include []int64,
	scan func(scan func(dest ...any) error) (T, error),
) (List[T], error) {
	from, given, skip := " FROM "+source+" WHERE "+w.Text.String(), w.Args, page.Skip()
	query := `SELECT ` + columns + from + orderBy(tx, w, page, orders, include) +
		" LIMIT " + w.Arg(page.Size+1) + " OFFSET " + w.Arg(skip) // one row more, to know whether there is a next page
	list := List[T]{Items: []T{}, Total: -1}
	err := tx.Query(query, w.Args, func(row func(dest ...any) error) error {
		item, err := scan(row)
		list.Items = append(list.Items, item)
		return err
	})
	if err != nil {
		return List[T]{}, err
	}
	n := len(list.Items)
	switch {
	case page.Count && n <= page.Size && (n > 0 || skip == 0): // the list ends with this page
		list.Total = int64(skip + n)
	case page.Count:
		err = tx.QueryRow(`SELECT COUNT(*)`+from, given, &list.Total)
	}
	if n > page.Size {
		list.Items, list.More = list.Items[:page.Size], true
	}
	// A page that is given by an offset may be empty. Only a page that is given by its number can be past the end.
	if err == nil && n == 0 && page.Offset < 0 && page.Number > 1 {
		err = tx.QueryRow(`SELECT EXISTS (SELECT 1`+from+`)`, given, &list.PastEnd)
	}
	return list, err
}

// orderBy writes the order of a page: by the attribute that the page names, then by id, so that rows with equal
// attributes keep their places from page to page. columns maps attributes of the wire to SQL expressions. The
// attribute "include" means the order in which the caller listed the ids.
func orderBy(tx *Tx, w *sqltext.Where, page Page, columns map[string]string, include []int64) string {
	direction := " ASC"
	if page.Descending {
		direction = " DESC"
	}
	column := columns[page.OrderBy]
	switch {
	case page.OrderBy == "include" && len(include) > 0:
		column = placeIn(w, include)
	case column == "", column == "id":
		if w.IsNarrow() {
			return " ORDER BY " + SortsFound(tx) + "id" + direction
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
