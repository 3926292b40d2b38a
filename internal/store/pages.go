package store

import "holdfast/internal/travel"

// listOf reads one page of the rows of a source that fulfil w, and counts them all where the page asks for it.
func listOf[T any](
	tx *Tx, source, columns string, w *where, page travel.Page, orders map[string]string, include []int64,
	scan func(scan func(dest ...any) error) (T, error),
) (travel.List[T], error) {
	list := travel.List[T]{Total: -1}
	condition := " FROM " + source + " WHERE " + w.text.String()
	if page.Count {
		var err error
		if w.countAll != nil && w.conditions == w.countAllAt {
			list.Total, err = w.countAll()
		} else {
			err = tx.row(`SELECT COUNT(*)`+condition, w.args, &list.Total)
		}
		if err != nil {
			return travel.List[T]{}, err
		}
	}
	given := w.args
	query := `SELECT ` + columns + condition + orderBy(w, page, orders, include) + limit(w, page)
	err := tx.each(query, w.args, func(row func(dest ...any) error) error {
		item, err := scan(row)
		list.Items = append(list.Items, item)
		return err
	})
	if err != nil {
		return travel.List[T]{}, err
	}
	// One row more than the page was read, to know whether there is a next one.
	if len(list.Items) > page.Size {
		list.Items, list.More = list.Items[:page.Size], true
	}
	// Skipping a number of rows is no page: there, nothing is an answer.
	if len(list.Items) == 0 && page.Offset < 0 && page.Number > 1 {
		err = tx.row(`SELECT EXISTS (SELECT 1`+condition+`)`, given, &list.PastEnd)
	}
	return list, err
}
