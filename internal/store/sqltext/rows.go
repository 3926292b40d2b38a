package sqltext

import (
	"strconv"
	"strings"

	"holdfast/internal/lib/cache"
)

// MostRows is how many rows share a statement at most: their parameters stay far below the limits of both engines.
const MostRows = 64

// Rows is a statement for any number of rows: an INSERT with values for Columns or, if Set is not "", an UPDATE. Then Columns are the
// types of v.column1, v.column2 and so on. The first two are the site, which is the same in all rows, and the id of a row.
type Rows struct {
	Table, Columns, Set string
}

// rowsKey says what such a statement looks like.
type rowsKey struct {
	Rows
	rows, values int
}

// rowsTexts caches the texts of such statements, because making one takes longer than many an insert. The program has about a
// hundred tables, and seven numbers of rows for most of them.
var rowsTexts = cache.New[rowsKey, string](2000)

// Text is the statement for so many rows, of so many values each.
func (r Rows) Text(rows, values int) string {
	key := rowsKey{r, rows, values}
	if text, ok := rowsTexts.Get(key); ok {
		return text
	}
	var types []string
	if r.Set != "" {
		types = strings.Split(r.Columns, ", ")
	}
	var list strings.Builder
	for i := range rows * values {
		place := "$" + strconv.Itoa(i+1)
		if i < len(types) { // those of the first row are those of all
			place = "CAST(" + place + " AS " + types[i] + ")"
		}
		switch {
		case i == 0:
			list.WriteString("(")
		case i%values == 0:
			list.WriteString("), (")
		default:
			list.WriteString(", ")
		}
		list.WriteString(place)
	}
	text := "INSERT INTO " + r.Table + " (" + r.Columns + ") VALUES " + list.String() + ")"
	if r.Set != "" {
		text = "UPDATE " + r.Table + " SET " + r.Set + " FROM (VALUES " + list.String() + ")) AS v WHERE " +
			r.Table + ".site_id = $1 AND " + r.Table + ".id = v.column2"
	}
	rowsTexts.Put(key, text)
	return text
}

// InPowers calls each with parts of a list, in order. Their lengths are powers of two up to most, the longest first. So
// there are few different statements, and the engines parse each once.
func InPowers[T any](list []T, most int, each func([]T) error) error {
	for size := most; len(list) > 0; {
		if size > len(list) {
			size /= 2
			continue
		}
		if err := each(list[:size]); err != nil {
			return err
		}
		list = list[size:]
	}
	return nil
}
