package backup

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"holdfast/internal/notify/mail"
	"holdfast/internal/notify/schedules"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/leases"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/catalog"
)

// Check reads a whole backup and returns its description. The error is ErrDamaged if one byte of it is missing or
// was changed, and another one if this program cannot restore it.
func Check(from io.Reader) (Backup, error) {
	return read(from, func(catalog.Table, []byte) error { return nil }, func(catalog.Table, TableEnd) error { return nil })
}

// reader reads the lines of a backup.
type reader struct {
	lines *bufio.Reader
	zip   *gzip.Reader
	sum   hash.Hash
}

// next reads a line, with its end. The slice is good until the next call.
func (r *reader) next(buffer []byte) ([]byte, error) {
	line := buffer[:0]
	for {
		part, err := r.lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("%w: it ends too early, or cannot be read: %w", ErrDamaged, err)
		case len(line) > longestLine:
			return nil, fmt.Errorf("%w: a line is too long", ErrDamaged)
		}
	}
}

// read goes through a backup. row gets each line of a table's rows, and end what stands behind them, when it was found to be right.
func read(from io.Reader, row func(t catalog.Table, line []byte) error, end func(t catalog.Table, e TableEnd) error) (Backup, error) {
	var b Backup
	zip, err := gzip.NewReader(bufio.NewReaderSize(from, 1<<16))
	if err != nil {
		return b, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	r := &reader{lines: bufio.NewReaderSize(zip, 1<<16), zip: zip, sum: sha256.New()}
	line, err := r.next(nil)
	if err != nil {
		return b, err
	}
	if b.Head, err = parseHead(line); err != nil {
		return b, err
	}
	r.sum.Write(line)
	for _, t := range b.Tables {
		ends, err := r.table(t, row)
		if err != nil {
			return b, fmt.Errorf("the table %s: %w", t.Name, err)
		}
		if err := end(t, ends); err != nil {
			return b, fmt.Errorf("the table %s: %w", t.Name, err)
		}
		b.Ends = append(b.Ends, ends)
	}
	b.End, err = r.end(b.Ends)
	return b, err
}

func parseHead(line []byte) (Head, error) {
	var h Head
	if err := json.Unmarshal(line, &h); err != nil || h.Format == 0 || len(h.Schema) == 0 || len(h.Tables) == 0 {
		return h, fmt.Errorf("%w: it does not start like one", ErrDamaged)
	}
	if h.Format != format {
		return h, fmt.Errorf("the backup has the format %d, and this program only knows %d: use a newer holdfast", h.Format, format)
	}
	return h, store.Fits(h.Schema)
}

// table reads the rows of a table, and compares them with the TableEnd that follows.
func (r *reader) table(t catalog.Table, row func(t catalog.Table, line []byte) error) (TableEnd, error) {
	sum := tally{of: t.Name}
	var line []byte
	var err error
	for {
		if line, err = r.next(line); err != nil {
			return TableEnd{}, err
		}
		r.sum.Write(line)
		if !bytes.HasPrefix(line, []byte("[")) {
			break
		}
		sum.add(line)
		if err := row(t, line); err != nil {
			return TableEnd{}, err
		}
	}
	var says TableEnd
	want := sum.end()
	if err := json.Unmarshal(line, &says); err != nil {
		return says, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	want.Last = says.Last
	if says != want {
		return says, fmt.Errorf("%w: it has %d rows (sha256 %s), and %d (sha256 %s) were written",
			ErrDamaged, want.Rows, want.Digest, says.Rows, says.Digest)
	}
	return says, nil
}

// end reads the last line, and sees that nothing follows.
func (r *reader) end(tables []TableEnd) (End, error) {
	var e End
	digest := hex.EncodeToString(r.sum.Sum(nil))
	line, err := r.next(nil)
	if err != nil {
		return e, err
	}
	var rows int64
	for _, t := range tables {
		rows += t.Rows
	}
	if err := json.Unmarshal(line, &e); err != nil || e.Digest != digest || e.Rows != rows {
		return e, fmt.Errorf("%w: its digest does not match its lines", ErrDamaged)
	}
	// Reading to the end also compares the checksum of gzip.
	if _, err := r.lines.ReadByte(); !errors.Is(err, io.EOF) {
		return e, fmt.Errorf("%w: there is data after its end", ErrDamaged)
	}
	return e, nil
}

// rowsTogether is how many rows are kept before they are inserted.
const rowsTogether = 4096

// Restore makes a database at url from a backup, or leaves nothing behind. It first checks the whole backup, loads it, and then
// compares every row of the new database with it. Ids go on skip behind the last one that the backup knows: so an id
// that was given out after the backup never comes to mean something else. The error wraps store.ErrNotEmpty if there is a
// database already.
func Restore(ctx context.Context, url string, clock func() time.Time, from io.ReadSeeker, skip int64) (Backup, error) {
	b, err := Check(from)
	if err != nil {
		return b, err
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return b, err
	}
	return b, store.Build(ctx, url, clock, store.Content{
		Schema: b.Schema,
		Load:   func(tx *store.Tx) error { return load(tx, from, b, skip) },
		Finish: func(tx *store.Tx) error {
			return errors.Join(sites.Restored(tx), leases.Restored(tx), idempotency.Restored(tx), events.Restored(tx), mail.Restored(tx), schedules.Restored(tx), webhooks.Restored(tx))
		},
	})
}

// load inserts all rows and compares them.
func load(tx *store.Tx, from io.Reader, b Backup, skip int64) error {
	if err := sameTables(tx, b); err != nil {
		return err
	}
	var rows [][]any
	put := func(t catalog.Table) error {
		err := tx.Catalog().Whole(t).Put(rows)
		rows = rows[:0]
		return err
	}
	again, err := read(from, func(t catalog.Table, line []byte) error {
		values, err := parseRow(line, t.Columns)
		if err != nil {
			return err
		}
		if rows = append(rows, values); len(rows) < rowsTogether {
			return nil
		}
		return put(t)
	}, func(t catalog.Table, end TableEnd) error {
		if err := put(t); err != nil {
			return err
		}
		return compare(tx, t, end, skip)
	})
	if err == nil && again.Digest != b.Digest {
		err = errors.New("the backup has changed while it was read")
	}
	return err
}

// sameTables sees that the migrations have made just the tables of the backup.
func sameTables(tx *store.Tx, b Backup) error {
	tables, err := tx.Catalog().Tables()
	if err != nil {
		return err
	}
	made, stored := map[string]string{}, map[string]string{}
	for _, list := range []struct {
		tables []catalog.Table
		by     map[string]string
	}{{tables, made}, {b.Tables, stored}} {
		for _, t := range list.tables {
			list.by[t.Name] = fmt.Sprint(t)
		}
	}
	for name, t := range stored {
		if made[name] != t {
			return fmt.Errorf("the backup has a table %s, and this program's schema has %s", t, made[name])
		}
		delete(made, name)
	}
	for name := range made {
		return fmt.Errorf("the backup lacks the table %s", name)
	}
	// What a migration has put into a new table is in the backup, too, or was taken out.
	for i := len(b.Tables) - 1; i >= 0; i-- {
		if err := tx.Catalog().Whole(b.Tables[i]).Clear(); err != nil {
			return err
		}
	}
	return nil
}

// compare reads a table that was filled, and sets what its ids go on from.
func compare(tx *store.Tx, t catalog.Table, want TableEnd, skip int64) error {
	got, err := digestOf(tx, t, func([]byte) error { return nil })
	if err != nil {
		return err
	}
	if got.Rows != want.Rows || got.Digest != want.Digest {
		return fmt.Errorf("the database does not return what was written: %d rows (sha256 %s) instead of %d (sha256 %s)",
			got.Rows, got.Digest, want.Rows, want.Digest)
	}
	if t.Counter == "" || want.Last == 0 {
		return nil
	}
	return tx.Catalog().Whole(t).SetCounter(want.Last + skip)
}
