// Package sqliteschema carries out a change of the schema that SQLite has no statement for. It owns nothing. Begin reading at
// DropConstraint.
package sqliteschema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// dropConstraint is the statement, as PostgreSQL has it.
var dropConstraint = regexp.MustCompile(`(?s)^(?:--[^\n]*\n)*ALTER TABLE (\w+) DROP CONSTRAINT(?: IF EXISTS)? (\w+)$`)

// DropConstraint carries out ALTER TABLE ... DROP CONSTRAINT for a UNIQUE constraint, by the name that PostgreSQL gives it: the table, its
// columns and "key". ours is false, and nothing is changed, for any other statement. The error names a constraint that is not there.
//
// Other programs copy such a table, which takes minutes and all of the disk where it is large. Here SQLite is told that the index of the
// constraint was made by a statement, and then drops it like any other. What is stored stays as it is. SQLite's documentation describes
// such changes of its table of the schema, under "Making Other Kinds Of Table Schema Changes". docs/decisions/0018 says more.
func DropConstraint(ctx context.Context, tx *sql.Tx, statement string) (ours bool, err error) {
	m := dropConstraint.FindStringSubmatch(statement)
	if m == nil {
		return false, nil
	}
	c, err := find(ctx, tx, m[1], m[2])
	if err != nil {
		return true, err
	}
	return true, c.drop(ctx, tx)
}

// constraint is one that is UNIQUE.
type constraint struct {
	table, made string   // made: the statement that made the table
	index       string   // of the constraint, which SQLite made
	columns     []string // of the index, in their order
	later       []string // the indexes of the constraints behind it
}

func find(ctx context.Context, tx *sql.Tx, table, name string) (c constraint, err error) {
	c.table = table
	err = tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(sql), '') FROM sqlite_master WHERE type = 'table' AND name = $1`, table).Scan(&c.made)
	if err != nil {
		return c, err
	}
	// Those of UNIQUE constraints have numbers, in the order in which they stand in the statement.
	rows, err := tx.QueryContext(ctx, `SELECT l.name, (SELECT group_concat(i.name, ',' ORDER BY i.seqno) FROM pragma_index_info(l.name) i)
		FROM sqlite_master m JOIN pragma_index_list(m.name) l WHERE m.name = $1 AND l.origin <> 'c' ORDER BY l.seq DESC`, table)
	if err != nil {
		return c, err
	}
	defer rows.Close()
	for rows.Next() {
		var index, columns string
		if err := rows.Scan(&index, &columns); err != nil {
			return c, err
		}
		switch {
		case c.index != "":
			c.later = append(c.later, index)
		case table+"_"+strings.ReplaceAll(columns, ",", "_")+"_key" == name:
			c.index, c.columns = index, strings.Split(columns, ",")
		}
	}
	if err := rows.Err(); err != nil {
		return c, err
	}
	if c.index == "" {
		return c, fmt.Errorf("the table %s has no constraint %s", table, name)
	}
	return c, nil
}

// drop takes the constraint out of the statement that made its table, and drops its index.
func (c constraint) drop(ctx context.Context, tx *sql.Tx) error {
	columns := strings.Join(c.columns, ", ")
	// A comma is behind it or, where it is the last, before it and before a comment.
	text := `UNIQUE \(` + columns + `\)`
	place := regexp.MustCompile(text + `,|,((?:[ \t]*--[^\n]*)?\s*)` + text)
	at := place.FindStringSubmatchIndex(c.made)
	if at == nil {
		return fmt.Errorf("the statement that made %s has no UNIQUE (%s) with a comma", c.table, columns)
	}
	without := c.made[:at[0]] + string(place.ExpandString(nil, "$1", c.made, at)) + c.made[at[1]:]
	dropped := c.table + "_to_be_dropped"
	steps := []step{
		{"PRAGMA writable_schema = ON", nil},
		{"UPDATE sqlite_master SET sql = $1 WHERE type = 'table' AND name = $2", []any{without, c.table}},
		{"UPDATE sqlite_master SET name = $1, sql = $2 WHERE type = 'index' AND name = $3", []any{
			dropped, fmt.Sprintf("CREATE UNIQUE INDEX %s ON %s (%s)", dropped, c.table, columns), c.index,
		}},
	}
	for i, index := range c.later { // SQLite counts them anew
		before := append([]string{c.index}, c.later...)[i]
		steps = append(steps, step{"UPDATE sqlite_master SET name = $1 WHERE type = 'index' AND name = $2", []any{before, index}})
	}
	steps = append(steps, step{"PRAGMA writable_schema = RESET", nil}, step{"DROP INDEX " + dropped, nil})
	for _, s := range steps {
		if _, err := tx.ExecContext(ctx, s.text, s.args...); err != nil {
			_, closed := tx.ExecContext(ctx, "PRAGMA writable_schema = RESET") // a rollback would leave it on
			return errors.Join(fmt.Errorf("%w in: %s", err, s.text), closed)
		}
	}
	return nil
}

type step struct {
	text string
	args []any
}
