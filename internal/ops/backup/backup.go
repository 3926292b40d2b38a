// Package backup writes a whole database to one file, and creates a database from such a file, on either engine. It owns no tables: it
// takes the list of tables from the migrations that the database has seen, so new tables are included automatically, and tables added by
// others are left out. Start at Write. The file format is in format.go, the restore in restore.go.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"holdfast/internal/store"
	"holdfast/internal/store/catalog"
	"holdfast/internal/store/sqlite"
)

// Backup is the description that a backup contains of itself.
type Backup struct {
	Head
	Ends []TableEnd `json:"tables"` // in the order of the head
	End
}

// Head is the first line: the data known before the rows are read.
type Head struct {
	Format  int             `json:"holdfast_backup"`    // the version of the file format
	Program string          `json:"program"`            // the version that wrote it
	Engine  string          `json:"engine"`             // of the source database: sqlite or postgres
	TakenAt time.Time       `json:"taken_at"`           // everything committed before is included
	Schema  []string        `json:"schema"`             // the migrations of the database, in order
	Others  []string        `json:"left_out,omitempty"` // tables and columns that are not ours; their data is not in the backup
	Tables  []catalog.Table `json:"tables"`             // in an order in which they can be filled
}

// End is the last line: the data known after all rows are written.
type End struct {
	Rows   int64   `json:"rows"`        // of all tables
	Chains []Chain `json:"audit_heads"` // the ends of the chains of audit records
	Digest string  `json:"sha256"`      // in hex, of all lines before this one
}

// TableEnd follows the rows of a table.
type TableEnd struct {
	Table  string `json:"end"`               // its name
	Rows   int64  `json:"rows"`              // how many
	Last   int64  `json:"last_id,omitempty"` // the last id that was assigned, including deleted rows
	Digest string `json:"sha256"`            // in hex, of the lines of its rows
}

// Chain is the end of a chain of audit records, as in the table audit_heads.
type Chain struct {
	SiteID int64  `json:"site_id"` // 0: the deployment's own
	LastID int64  `json:"last_id"`
	Hash   string `json:"hash"`
}

// Write writes a backup of one consistent snapshot of the database, and returns its description. Writers go on
// in the meantime. Its memory does not grow with the database. It does not migrate, so that the schema may be an older one.
func Write(ctx context.Context, db *store.DB, program string, to io.Writer) (Backup, error) {
	b := Backup{Head: Head{Format: format, Program: program, Engine: db.Engine()}}
	err := db.Snapshot(ctx, func(tx *store.Tx) error {
		var err error
		if b.Schema, err = tx.Catalog().Schema(); err != nil {
			return err
		}
		b.TakenAt = tx.Now
		if b.Tables, b.Others, err = tx.Catalog().Own(); err != nil {
			return err
		}
		out := newWriter(to)
		if err := out.line(b.Head); err != nil {
			return err
		}
		for _, t := range b.Tables {
			end, err := writeTable(tx, out, t)
			if err != nil {
				return fmt.Errorf("the table %s: %w", t.Name, err)
			}
			b.Ends = append(b.Ends, end)
			b.Rows += end.Rows
		}
		if b.Chains, err = chains(tx); err != nil {
			return err
		}
		b.Digest = out.digest()
		return errors.Join(out.line(b.End), out.close())
	})
	return b, err
}

// writeTable writes the rows of a table, and then their totals.
func writeTable(tx *store.Tx, out *writer, t catalog.Table) (TableEnd, error) {
	end, err := digestOf(tx, t, out.raw)
	if err != nil {
		return end, err
	}
	whole, err := tx.Catalog().Whole(t).CountWithoutIndex()
	if err != nil {
		return end, err
	}
	if whole != end.Rows {
		return end, fmt.Errorf("it has %d rows, but its index finds %d: the index is damaged; "+
			"rebuild all indexes (REINDEX) and try again", whole, end.Rows)
	}
	return end, out.line(end)
}

// digestOf goes through all rows of a table. each gets their lines.
func digestOf(tx *store.Tx, t catalog.Table, each func(line []byte) error) (TableEnd, error) {
	end := tally{of: t.Name}
	var line []byte
	err := tx.Catalog().Whole(t).Each(func(values []any) error {
		var err error
		if line, err = appendRow(line[:0], t.Columns, values); err != nil {
			return fmt.Errorf("the row with the key %v: %w", values[:len(t.Key)], err)
		}
		end.add(line)
		return each(line)
	})
	if err != nil {
		return TableEnd{}, err
	}
	done := end.end()
	if t.Counter != "" {
		done.Last, err = tx.Catalog().Whole(t).Counted()
	}
	return done, err
}

func chains(tx *store.Tx) (list []Chain, err error) {
	err = tx.Query(`SELECT site_id, id, hash FROM audit_heads ORDER BY site_id`, nil, func(scan func(dest ...any) error) error {
		var h Chain
		err := scan(&h.SiteID, &h.LastID, &h.Hash)
		list = append(list, h)
		return err
	})
	return list, err
}

// ToFile creates a file with write. It appears at path once it is complete and synced to the disk, and never before. If a file already exists,
// it is replaced only if replace says so. If anything fails, nothing new stays behind.
func ToFile(path string, replace bool, write func(to io.Writer) error) (err error) {
	if !replace {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%w: %s", os.ErrExist, path)
		}
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.partial") // for its owner alone to read
	if err != nil {
		return err
	}
	kept := false
	defer func() {
		if !kept {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if err := errors.Join(write(file), file.Sync(), file.Close()); err != nil {
		return err
	}
	if replace {
		if err := os.Rename(file.Name(), path); err != nil {
			return err
		}
		kept = true
	} else if err := os.Link(file.Name(), path); err != nil { // it never replaces what came meanwhile
		return err
	}
	return sqlite.SyncFolder(path)
}
