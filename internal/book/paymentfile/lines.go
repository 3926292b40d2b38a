package paymentfile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"

	"holdfast/internal/lib/csvcell"
)

// Bounds of one row, far above any real one. Without them, a quotation mark that is never closed would turn the rest of
// the file into one row, and fill the memory.
const (
	maxRowBytes = 64 << 10
	maxRowLines = 100
)

var (
	errRowTooLong = errors.New("the row is longer than 64 KiB")
	errQuotes     = errors.New("the quotation marks do not match: one is missing or extra")
)

// line is one physical line, without its end.
type line struct {
	number int
	text   string
	long   bool // too long for a row; text is empty then
}

// records splits a file into rows, and gives the reader of the standard library one row at a time. Otherwise that reader
// would read from a wrong quotation mark to the next one, however far away, and lose every row between them.
type records struct {
	in     *bufio.Reader
	number int      // number of the last physical line
	back   []line   // lines that were read too early and are rows of their own
	read   int64    // bytes of all lines so far
	first  string   // the first line of the last row
	mended bool     // the file comes from WriteRefused: its cells are shielded
	names  []string // of the header
	end    byte     // what ends a line: '\n', or '\r' in a file that has no '\n' in its first line
}

// next returns the cells of the next row that is not empty, and the number of its first line. An error with a line
// number is about that row only. An error with line 0 ends the file.
func (r *records) next() (cells []string, number int, err error) {
	for {
		first, err := r.line()
		if err != nil {
			return nil, 0, err
		}
		if r.first = first.text; first.long {
			return nil, first.number, errRowTooLong
		}
		if strings.TrimSpace(first.text) == "" {
			continue
		}
		cells, err := r.row(first)
		if errors.Is(err, errQuotes) || err == nil {
			return cells, first.number, err
		}
		return nil, 0, err
	}
}

// row reads the row that starts with first. A cell in quotes may have line breaks: the row continues until the number of
// quotation marks is even. If the row is broken, only its first line is refused, and the others are read again.
func (r *records) row(first line) ([]string, error) {
	text := first.text
	var more []line
	for strings.Count(text, `"`)%2 == 1 {
		next, err := r.line()
		if err != nil && err != io.EOF {
			return nil, err
		}
		if err == nil {
			more = append(more, next)
		}
		if err == io.EOF || next.long || len(more) == maxRowLines || len(text)+len(next.text) > maxRowBytes {
			r.back = append(more, r.back...)
			return nil, errQuotes
		}
		text += "\n" + next.text
	}
	in := csv.NewReader(strings.NewReader(text))
	in.FieldsPerRecord = -1
	in.TrimLeadingSpace = true // also between a comma and a quotation mark
	cells, err := in.Read()
	if err != nil {
		r.back = append(more, r.back...)
		return nil, errQuotes
	}
	for i := range cells {
		if r.mended {
			cells[i] = csvcell.UnshieldCell(cells[i])
		}
	}
	return cells, nil
}

// line reads one physical line of any length. It drops the text of a line that is too long for a row.
func (r *records) line() (line, error) {
	if len(r.back) > 0 {
		first := r.back[0]
		r.back = r.back[1:]
		return first, nil
	}
	l := line{number: r.number + 1}
	if r.end == 0 {
		if err := r.begin(); err != nil {
			return line{}, err
		}
	}
	var text []byte
	for {
		part, err := r.in.ReadSlice(r.end)
		r.read += int64(len(part))
		text = append(text, part...)
		if len(text) > maxRowBytes {
			l.long = true
			text = text[:0]
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && len(text) == 0 && !l.long:
			return line{}, io.EOF
		case err != nil && err != io.EOF:
			return line{}, err
		}
		r.number++
		if !l.long {
			l.text = strings.Trim(string(text), "\r\n")
		}
		return l, nil
	}
}

// begin skips the byte order mark and looks how the first line ends: files of old programs for the Mac, and of some
// spreadsheets, have only carriage returns.
func (r *records) begin() error {
	if mark, err := r.in.Peek(len(utf8BOM)); err == nil && string(mark) == utf8BOM {
		n, _ := r.in.Discard(len(utf8BOM)) // it was peeked at
		r.read += int64(n)
	}
	r.end = '\n'
	for n := 64; ; n *= 2 {
		ahead, err := r.in.Peek(min(n, r.in.Size()))
		if at := bytes.IndexAny(ahead, "\r\n"); at >= 0 && at+1 < len(ahead) || at >= 0 && err == io.EOF {
			if ahead[at] == '\r' && (at+1 == len(ahead) || ahead[at+1] != '\n') {
				r.end = '\r'
			}
			return nil
		}
		switch {
		case err == io.EOF, n >= r.in.Size():
			return nil
		case err != nil:
			return err
		}
	}
}
