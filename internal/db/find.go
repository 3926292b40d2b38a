package db

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"holdfast/internal/sqltext"
)

// findDeep is how many of the latest rows of a site Find looks through for parts of words.
const findDeep = "5000"

// Find adds the condition that a row is one that somebody looks for by a text, while they type it: the text is its number, or all
// of one of its columns, in capital or small letters. Of the latest rows a part of a column is enough. So a search costs the same
// however many rows there are. Each column needs an index; id is the name of the number in the query. An empty text finds all.
func Find(w *Where, siteID int64, table, id string, columns []string, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	var parts, like []string
	var values, patterns []any
	for _, c := range columns {
		parts = append(parts, "SELECT f.id FROM "+table+" f WHERE f.site_id = ? AND f."+c+" <> '' AND f."+c+" IN (?, ?, ?, ?)")
		values = append(values, siteID, text, strings.ToLower(text), strings.ToUpper(text), capital(text))
		// Only letters of English are folded by both engines, so that others are looked for as they were typed, too.
		like = append(like, "lower(f."+c+`) LIKE ? ESCAPE '\' OR f.`+c+` LIKE ? ESCAPE '\'`)
		patterns = append(patterns, sqltext.Wildcard(text), "%"+sqltext.EscapeLike(text)+"%")
	}
	latest := "SELECT id, " + strings.Join(columns, ", ") + " FROM " + table + " WHERE site_id = ? ORDER BY id DESC LIMIT " + findDeep
	parts = append(parts, "SELECT f.id FROM ("+latest+") f WHERE "+strings.Join(like, " OR "))
	values = append(append(values, siteID), patterns...)
	// A trust_id is the number of the site, a dash and that of the object.
	if n, err := strconv.ParseInt(strings.TrimPrefix(text, strconv.FormatInt(siteID, 10)+"-"), 10, 64); err == nil && n > 0 {
		parts = append(parts, "SELECT f.id FROM "+table+" f WHERE f.site_id = ? AND f.id = ?")
		values = append(values, siteID, n)
	}
	w.And(id+" IN ("+strings.Join(parts, " UNION ALL ")+")", values...)
}

// capital writes a word as names are written.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.ToLower(text[size:])
}
