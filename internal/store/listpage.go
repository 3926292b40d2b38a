package store

import (
	"strconv"
	"strings"

	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/store/sqltext"
)

// Orders that every list has, besides those of its own.
const (
	OrderID       = "id"
	OrderModified = "modified" // by the last change
	OrderInclude  = "include"  // as the caller listed the ids
)

// Orders are the SQL expressions of the attributes that a list is sorted by. OrderID is the column id if it is not there.
// OrderModified is also what Page.Modified is compared with.
type Orders map[string]string

func (o Orders) id() string {
	if column := o[OrderID]; column != "" {
		return column
	}
	return "id"
}

// ListPage reads one page of the rows of a source (a table or a join) that match w and the filters of the page. It
// counts all of them if the page asks for it; otherwise the total is -1. The database scans all rows before a page
// selected by its number, so deep pages are read as reports (sites.ReadPage).
func ListPage[T any](
	tx *Tx, source, columns string, w *sqltext.Where, page Page, orders Orders,
	scan func(scan func(dest ...any) error) (T, error),
) (List[T], error) {
	sqltext.In(w, orders.id(), page.Include)
	sqltext.NotIn(w, orders.id(), page.Exclude)
	if page.Modified != (civil.Span{}) {
		modified, ok := orders[OrderModified]
		if !ok {
			return List[T]{}, errs.WrongField("modified_after", "The items of this list never change.")
		}
		Within(w, modified, page.Modified)
	}
	from, given := " FROM "+source+" WHERE "+w.Text.String(), w.Args
	key := orderKey(w, page, orders)
	if page.After != nil {
		if err := follow(w, page, orders, key); err != nil {
			return List[T]{}, err
		}
	}
	shown := key
	if shown == "" {
		shown = "0"
	}
	query := `SELECT ` + columns + ", " + shown + ", " + orders.id() + " FROM " + source + " WHERE " + w.Text.String() +
		orderBy(tx, w, page, orders, key) +
		" LIMIT " + w.Arg(page.Size+1) + " OFFSET " + w.Arg(page.Skip()) // one row more, to know whether there is a next page
	list := List[T]{Items: []T{}, Total: -1}
	var last Anchor
	err := tx.Query(query, w.Args, func(row func(dest ...any) error) error {
		if len(list.Items) == page.Size {
			list.More = true
			return nil
		}
		item, err := scan(func(dest ...any) error { return row(append(dest, &last.Key, &last.ID)...) })
		list.Items = append(list.Items, item)
		return err
	})
	if err != nil {
		return List[T]{}, err
	}
	if list.More {
		list.Last = &last
		if key == "" {
			last.Key = nil
		}
	}
	n, first := len(list.Items), page.After == nil && page.Skip() == 0
	switch {
	case page.Count && !list.More && page.After == nil && (n > 0 || first): // the list ends with this page
		list.Total = int64(page.Skip() + n)
	case page.Count:
		err = tx.QueryRow(`SELECT COUNT(*)`+from, given, &list.Total)
	}
	// A page that is given by an offset may be empty. Only a page that is given by its number can be past the end.
	if err == nil && n == 0 && page.After == nil && page.Offset < 0 && page.Number > 1 {
		list.PastEnd, err = Exists(tx, `SELECT 1`+from, given...)
	}
	return list, err
}

// orderKey is the SQL expression that a page is sorted by. It is "" for the order by id.
func orderKey(w *sqltext.Where, page Page, orders Orders) string {
	switch {
	case page.OrderBy == OrderID:
		return ""
	case page.OrderBy == OrderInclude && len(page.Include) > 0:
		return placeIn(w, orders.id(), page.Include)
	}
	return orders[page.OrderBy]
}

// orderBy writes the order of a page: by its key, then by id, so that rows with equal keys keep their places from page to
// page.
func orderBy(tx *Tx, w *sqltext.Where, page Page, orders Orders, key string) string {
	direction := " ASC"
	if page.Descending {
		direction = " DESC"
	}
	if key != "" {
		return " ORDER BY " + key + direction + ", " + orders.id() + direction
	}
	if w.IsNarrow() {
		return " ORDER BY " + sortsFound(tx) + orders.id() + direction
	}
	return " ORDER BY " + orders.id() + direction
}

// follow adds the condition that a row comes after the anchor of a page.
func follow(w *sqltext.Where, page Page, orders Orders, key string) error {
	than := " > "
	if page.Descending {
		than = " < "
	}
	switch value := page.After.Key.(type) {
	case nil:
		if key == "" {
			w.And(orders.id()+than+"?", page.After.ID)
			return nil
		}
	case int64, string:
		if key != "" {
			w.And("("+key+", "+orders.id()+")"+than+"(?, ?)", value, page.After.ID)
			return nil
		}
	}
	return errs.WrongField("cursor", "This cursor belongs to a list in another order.")
}

// placeIn is an SQL expression: the first place of the id in a list.
func placeIn(w *sqltext.Where, column string, ids []int64) string {
	var b strings.Builder
	b.WriteString("CASE " + column)
	for i, id := range ids {
		b.WriteString(" WHEN " + w.Arg(id) + " THEN " + strconv.Itoa(i))
	}
	b.WriteString(" END")
	return b.String()
}
