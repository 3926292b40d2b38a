package store

import (
	"strconv"
	"strings"

	"modernc.org/sqlite"

	"holdfast/internal/travel"
)

// Texts are sorted by their bytes, whatever the locale of the database, so that a list is the same on both engines.
// PostgreSQL has the collation "C" for that; SQLite gets it here under the same name.
func init() {
	sqlite.MustRegisterCollationUtf8("C", strings.Compare)
}

// folded is how a name is kept for searching and sorting without letter case.
func folded(name string) string { return strings.ToLower(name) }

// wildcard is the LIKE pattern of a part of a name, without letter case; a * inside it stands for anything.
func wildcard(part string) string {
	return "%" + strings.ReplaceAll(escapeLike(folded(part)), "*", "%") + "%"
}

// orderBy writes the order of a page: by the attribute asked for, then by id, so that rows with equal attributes keep
// their places from page to page. columns maps the attributes of the wire to expressions; "include" is the order in
// which the caller named the ids.
func orderBy(w *where, page travel.Page, columns map[string]string, include []int64) string {
	direction := " ASC"
	if page.Descending {
		direction = " DESC"
	}
	column, known := columns[page.OrderBy]
	switch {
	case page.OrderBy == "include" && len(include) > 0:
		column = placeIn(w, include)
	case !known, column == "id":
		return " ORDER BY id" + direction
	}
	return " ORDER BY " + column + direction + ", id" + direction
}

// placeIn is the expression of an id's first place in a list.
func placeIn(w *where, ids []int64) string {
	var b strings.Builder
	b.WriteString("CASE id")
	for i, id := range ids {
		b.WriteString(" WHEN " + w.arg(id) + " THEN " + strconv.Itoa(i))
	}
	b.WriteString(" END")
	return b.String()
}

// limit writes which rows of the ordered list make up the page, and one more.
func limit(w *where, page travel.Page) string {
	return " LIMIT " + w.arg(page.Size+1) + " OFFSET " + w.arg(page.Skip())
}
