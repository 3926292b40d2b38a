package sqltext

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// findDeep is how many of the latest rows of a site Find looks through for parts of words.
const findDeep = "5000"

// Find returns the condition for a search as you type: a row matches if the text is its number or equals one of its
// columns, ignoring case. In the latest rows, part of a column is enough. So the cost of a search does not depend on
// the number of rows. Each column needs an index; id is the column of the number. The condition has a ? for each value.
// An empty text matches everything: ok is then false.
func Find(siteID int64, table, id string, columns []string, text string) (condition string, values []any, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", nil, false
	}
	var parts, like []string
	var patterns []any
	for _, c := range columns {
		parts = append(parts, "SELECT f.id FROM "+table+" f WHERE f.site_id = ? AND f."+c+" <> '' AND f."+c+" IN (?, ?, ?, ?)")
		values = append(values, siteID, text, strings.ToLower(text), strings.ToUpper(text), capital(text))
		// Both engines only fold ASCII letters, so the text is also searched as typed.
		like = append(like, "lower(f."+c+`) LIKE ? ESCAPE '\' OR f.`+c+` LIKE ? ESCAPE '\'`)
		patterns = append(patterns, Wildcard(text), "%"+EscapeLike(text)+"%")
	}
	latest := "SELECT id, " + strings.Join(columns, ", ") + " FROM " + table + " WHERE site_id = ? ORDER BY id DESC LIMIT " + findDeep
	parts = append(parts, "SELECT f.id FROM ("+latest+") f WHERE "+strings.Join(like, " OR "))
	values = append(append(values, siteID), patterns...)
	// A trust_id is the number of the site, a dash and that of the object.
	if n, err := strconv.ParseInt(strings.TrimPrefix(text, strconv.FormatInt(siteID, 10)+"-"), 10, 64); err == nil && n > 0 {
		parts = append(parts, "SELECT f.id FROM "+table+" f WHERE f.site_id = ? AND f.id = ?")
		values = append(values, siteID, n)
	}
	return id + " IN (" + strings.Join(parts, " UNION ALL ") + ")", values, true
}

// capital writes a word as names are written.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.ToLower(text[size:])
}
