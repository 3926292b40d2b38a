// Package tabular reads files of rows as programs export them: separated by commas, semicolons, tabs or bars, with LF, CRLF or CR, in UTF-8,
// UTF-16 or Windows-1252 (Latin-1). It holds one row in memory, and a broken row is an error of that row alone. For files that
// the program writes, it escapes cells that a spreadsheet would run as formulas. Start at Open and PlainCell.
package tabular

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Bounds of one row, far above any real one. Without them, a quotation mark that is never closed would turn the rest of
// the file into one row, and fill the memory.
const (
	maxRowBytes = 64 << 10
	maxRowLines = 100
)

// Errors of one row. Reading continues with the next line.
var (
	ErrTooLong = errors.New("the row is longer than 64 KiB")
	ErrQuotes  = errors.New("the quotation marks do not match: one is missing or extra")
)

// Row is one row of a file. A broken one has its Line and, unless it is too long, the Text of its first line.
type Row struct {
	Line  int // number of its first line, from 1
	Cells []string
	Text  string // as in the file, in UTF-8, without the end of the line
}

// Reader splits a file into rows, and gives the reader of the standard library one row at a time. Otherwise that reader
// would read from a wrong quotation mark to the next one, however far away, and lose every row between them.
type Reader struct {
	in        *bufio.Reader
	separator rune
	decode    bool   // lines that are not UTF-8 are Windows-1252
	number    int    // number of the last physical line
	back      []line // lines that were read too early and are rows of their own
	read      int64  // bytes of all lines so far
	end       byte   // what ends a line: '\n', or '\r' in a file that has no '\n' in its first line
}

// line is one physical line, without its end.
type line struct {
	number int
	text   string
	long   bool // too long for a row; text is empty then
}

const utf8BOM = "\ufeff" // a mark that spreadsheet programs put before the first column

// buffer is how much of a file is read to detect its format.
const buffer = 32 << 10

// New reads a file in UTF-8, with or without a byte order mark, whose separator is known.
func New(r io.Reader, separator rune) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, buffer), separator: separator}
}

// Separator is what separates the cells.
func (r *Reader) Separator() rune { return r.separator }

// Taken is how many bytes of the file the rows so far took. It is not whole while lines that were read with a broken row are still to be
// returned.
func (r *Reader) Taken() (bytes int64, whole bool) { return r.read, len(r.back) == 0 }

// Next returns the next row that is not empty. ErrTooLong and ErrQuotes are about that row only, and reading can continue; any other error
// ends the file, io.EOF at its end.
func (r *Reader) Next() (Row, error) {
	for {
		first, err := r.line()
		if err != nil {
			return Row{}, err
		}
		if first.long {
			return Row{Line: first.number}, ErrTooLong
		}
		if strings.TrimSpace(first.text) != "" {
			return r.row(first)
		}
	}
}

// row reads the row that starts with first. A cell in quotes may have line breaks: the row continues until the number
// of quotation marks is even. If the row is broken, only its first line is rejected, and the others are read again.
func (r *Reader) row(first line) (Row, error) {
	text := first.text
	broken := Row{Line: first.number, Text: first.text}
	var more []line
	for strings.Count(text, `"`)%2 == 1 {
		next, err := r.line()
		if err != nil && err != io.EOF {
			return Row{}, err
		}
		if err == nil {
			more = append(more, next)
		}
		if err == io.EOF || next.long || len(more) == maxRowLines || len(text)+len(next.text) > maxRowBytes {
			r.back = append(more, r.back...)
			return broken, ErrQuotes
		}
		text += "\n" + next.text
	}
	in := csv.NewReader(strings.NewReader(text))
	in.Comma = r.separator
	in.FieldsPerRecord = -1
	in.TrimLeadingSpace = r.separator != '\t' // also between a comma and a quotation mark; a tab is a space itself
	cells, err := in.Read()
	if err != nil {
		r.back = append(more, r.back...)
		return broken, ErrQuotes
	}
	return Row{Line: first.number, Cells: cells, Text: text}, nil
}

// line reads one physical line of any length. It drops the text of a line that is too long for a row.
func (r *Reader) line() (line, error) {
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
			l.text = r.decoded(bytes.Trim(text, "\r\n"))
		}
		return l, nil
	}
}

// decoded is a line as text. Programs for Windows write files in the code page of Western Europe, and say so nowhere.
func (r *Reader) decoded(text []byte) string {
	if !r.decode || utf8.Valid(text) {
		return string(text)
	}
	plain, err := charmap.Windows1252.NewDecoder().Bytes(text)
	if err != nil {
		return string(text)
	}
	return string(plain)
}

// begin skips the byte order mark and looks how the first line ends: files of old programs for the Mac, and of some
// spreadsheets, have only carriage returns.
func (r *Reader) begin() error {
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
