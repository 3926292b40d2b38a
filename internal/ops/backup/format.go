package backup

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"unicode/utf8"

	"holdfast/internal/store/catalog"
)

// A backup is gzip over lines of JSON, so that it can be read without this program. The first line says what it is. Then
// come the rows of each table, each an array, and behind them an object that says how many they are. The last line has
// the sum of all.
const format = 1

// longestLine is how long a line may be, in bytes. No row of ours comes near it.
const longestLine = 64 << 20

// ErrDamaged: a file is no backup, or not whole, or was changed.
var ErrDamaged = errors.New("this is not a complete backup")

// writer writes the lines of a backup.
type writer struct {
	zip *gzip.Writer
	buf *bufio.Writer
	sum hash.Hash
}

func newWriter(to io.Writer) *writer {
	// The fastest level: a backup shares the machine with the service. Other levels take three times as long and save a
	// fifth.
	zip, _ := gzip.NewWriterLevel(to, gzip.BestSpeed) // the level is a right one
	w := &writer{zip: zip, sum: sha256.New()}
	w.buf = bufio.NewWriterSize(io.MultiWriter(w.sum, w.zip), 1<<16)
	return w
}

func (w *writer) raw(line []byte) error {
	_, err := w.buf.Write(line)
	return err
}

func (w *writer) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.raw(append(text, '\n'))
}

// digest is that of all lines so far.
func (w *writer) digest() string {
	_ = w.buf.Flush() // its error comes again with the next line
	return hex.EncodeToString(w.sum.Sum(nil))
}

func (w *writer) close() error { return errors.Join(w.buf.Flush(), w.zip.Close()) }

// tally adds up the rows of a table.
type tally struct {
	of   string
	rows int64
	sum  hash.Hash
}

func (t *tally) add(line []byte) {
	if t.sum == nil {
		t.sum = sha256.New()
	}
	t.rows++
	t.sum.Write(line)
}

func (t *tally) end() TableEnd {
	if t.sum == nil {
		t.sum = sha256.New()
	}
	return TableEnd{Table: t.of, Rows: t.rows, Digest: hex.EncodeToString(t.sum.Sum(nil))}
}

// appendRow appends the line of a row. The same values always give the same line, on both engines.
func appendRow(line []byte, columns []catalog.Column, values []any) ([]byte, error) {
	line = append(line, '[')
	for i, v := range values {
		if i > 0 {
			line = append(line, ',')
		}
		switch v := v.(type) {
		case nil:
			line = append(line, "null"...)
		case int64:
			line = strconv.AppendInt(line, v, 10)
		case bool:
			line = strconv.AppendBool(line, v)
		case string:
			line = appendText(line, v)
		case []byte:
			line = append(line, '"')
			line = base64.StdEncoding.AppendEncode(line, v)
			line = append(line, '"')
		}
		if v != nil && kindOf(v) != columns[i].Kind {
			return nil, fmt.Errorf("the column %s holds a %T", columns[i].Name, v)
		}
	}
	return append(line, "]\n"...), nil
}

func kindOf(value any) catalog.Kind {
	switch value.(type) {
	case int64:
		return catalog.Whole
	case bool:
		return catalog.Truth
	case string:
		return catalog.Text
	case []byte:
		return catalog.Bytes
	}
	return ""
}

const hexDigits = "0123456789abcdef"

// appendText appends a text as JSON. Invalid text (SQLite stores any bytes) becomes an object, so that it is restored
// exactly.
func appendText(line []byte, s string) []byte {
	if !utf8.ValidString(s) {
		line = append(line, `{"base64":"`...)
		line = base64.StdEncoding.AppendEncode(line, []byte(s))
		return append(line, `"}`...)
	}
	line = append(line, '"')
	from := 0
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			line = append(line, s[from:i]...)
			if c < ' ' {
				line = append(line, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			} else {
				line = append(line, '\\', c)
			}
			from = i + 1
		}
	}
	return append(append(line, s[from:]...), '"')
}

// parseRow reads a line of appendRow.
func parseRow(line []byte, columns []catalog.Column) ([]any, error) {
	values := make([]any, len(columns))
	rest, ok := bytes.CutPrefix(line, []byte("["))
	for i, c := range columns {
		if i > 0 && ok {
			rest, ok = bytes.CutPrefix(rest, []byte(","))
		}
		if !ok {
			return nil, fmt.Errorf("%w: a row has a different number of values than its table has columns", ErrDamaged)
		}
		end := valueEnd(rest)
		v, err := parseValue(rest[:end], c.Kind)
		if err != nil {
			return nil, fmt.Errorf("%w: the column %s: %w", ErrDamaged, c.Name, err)
		}
		values[i], rest = v, rest[end:]
	}
	if string(rest) != "]\n" {
		return nil, fmt.Errorf("%w: a row has a different number of values than its table has columns", ErrDamaged)
	}
	return values, nil
}

// valueEnd finds the end of the first value of a text: before a comma or bracket outside of strings.
func valueEnd(text []byte) int {
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case !inside && (c == ',' || c == ']'):
			return i
		}
	}
	return len(text)
}

func parseValue(text []byte, kind catalog.Kind) (any, error) {
	if string(text) == "null" {
		return nil, nil // NULL is a value
	}
	switch kind {
	case catalog.Whole:
		return strconv.ParseInt(string(text), 10, 64)
	case catalog.Truth:
		return strconv.ParseBool(string(text))
	case catalog.Bytes:
		var v []byte
		err := json.Unmarshal(text, &v)
		return v, err
	case catalog.Text:
		if bytes.HasPrefix(text, []byte("{")) {
			var v struct{ Base64 []byte }
			err := json.Unmarshal(text, &v)
			return string(v.Base64), err
		}
		if n := len(text); n > 1 && text[0] == '"' && text[n-1] == '"' && !bytes.Contains(text, []byte(`\`)) {
			return string(text[1 : n-1]), nil
		}
		var v string
		err := json.Unmarshal(text, &v)
		return v, err
	}
	return nil, fmt.Errorf("unknown kind %q", kind)
}
