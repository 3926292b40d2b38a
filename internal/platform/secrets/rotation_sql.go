package secrets

import (
	"fmt"
	"strconv"
	"strings"

	"holdfast/internal/store"
)

// sealedText is the text of a sealed column in one row.
type sealedText struct {
	key  []any
	text string
}

// placeholders are $from, … for n values.
func placeholders(from, n int) string {
	var list []string
	for i := range n {
		list = append(list, "$"+strconv.Itoa(from+i))
	}
	return strings.Join(list, ", ")
}

// sealedPage reads the next texts of a column after a key, in the order of the key. No key means from the first.
func sealedPage(tx *store.Tx, c SealedColumn, after []any, limit int) (page []sealedText, err error) {
	key, where := strings.Join(c.Key, ", "), ""
	if after != nil {
		where = fmt.Sprintf(" WHERE (%s) > (%s)", key, placeholders(1, len(after)))
	}
	query := fmt.Sprintf("SELECT %s, %s FROM %s%s ORDER BY %s LIMIT $%d", key, c.Column, c.Table, where, key, len(after)+1)
	err = tx.Query(query, append(after[:len(after):len(after)], limit), func(scan func(dest ...any) error) error {
		row := sealedText{key: make([]any, len(c.Key))}
		var dest []any
		for i := range row.key {
			dest = append(dest, &row.key[i])
		}
		err := scan(append(dest, &row.text)...)
		page = append(page, row)
		return err
	})
	return page, err
}

// replaceSealed replaces the text of a row, if it is still equal to was. It needs no lock and no new version: the old
// text decrypts to the same secret.
func replaceSealed(tx *store.Tx, c SealedColumn, was sealedText, text string) (bool, error) {
	var where []string
	for i, column := range c.Key {
		where = append(where, fmt.Sprintf("%s = $%d", column, i+1))
	}
	n := len(c.Key)
	query := fmt.Sprintf("UPDATE %s SET %s = $%d WHERE %s AND %s = $%d", c.Table, c.Column, n+1, strings.Join(where, " AND "), c.Column, n+2)
	changed, err := tx.Exec(query, append(was.key[:n:n], text, was.text)...)
	return changed == 1, err
}

// sealingKeys counts the secrets of columns by the id of the key that sealed them.
func sealingKeys(tx *store.Tx, columns []SealedColumn) (map[string]int, error) {
	counts := map[string]int{}
	for _, c := range columns {
		query := fmt.Sprintf("SELECT substr(%s, 1, %d), COUNT(*) FROM %s WHERE %[1]s <> '' GROUP BY 1", c.Column, SealedHead, c.Table)
		err := tx.Query(query, nil, func(scan func(dest ...any) error) error {
			var head string
			var n int
			err := scan(&head, &n)
			counts[SealedWith(head)] += n
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// columnsSealed lists the columns that hold no plain text.
func columnsSealed(tx *store.Tx) (names []string, err error) {
	err = tx.Query(`SELECT name FROM sealed_columns`, nil, func(scan func(dest ...any) error) error {
		var name string
		err := scan(&name)
		names = append(names, name)
		return err
	})
	return names, err
}

// markSealed notes that columns hold no plain text any more.
func markSealed(tx *store.Tx, names []string) error {
	for _, name := range names {
		if _, err := tx.Exec(`INSERT INTO sealed_columns (name, sealed_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`,
			name, store.Micros(tx.Now)); err != nil {
			return err
		}
	}
	return nil
}
