package tabular

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// separators are what programs put between cells, the likeliest first.
const separators = ",;\t|"

// Open detects the encoding, line ends and separator of a file. A first line such as sep=; sets the separator and is
// not a row. Errors are those of r.
func Open(r io.Reader) (*Reader, error) {
	text, err := Text(r)
	if err != nil {
		return nil, err
	}
	in := New(text, ',')
	in.decode = true
	if err := in.begin(); err != nil {
		return nil, err
	}
	ahead, err := in.in.Peek(buffer)
	if err != nil && err != io.EOF {
		return nil, err
	}
	first, _, _ := bytes.Cut(ahead, []byte{in.end})
	if name, named := strings.CutPrefix(strings.TrimSpace(string(first)), "sep="); named && len(name) == 1 && strings.Contains(separators, name) {
		_, err := in.line()
		in.separator = rune(name[0])
		return in, err
	}
	in.separator = separatorOf(ahead, in.end)
	return in, nil
}

// Text is a file as UTF-8, or its bytes if it is neither UTF-8 nor UTF-16. It may still begin with a byte order mark.
func Text(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, buffer)
	ahead, err := in.Peek(64)
	if err != nil && err != io.EOF {
		return nil, err
	}
	order, is := utf16Order(ahead)
	if !is {
		return in, nil
	}
	return transform.NewReader(in, unicode.UTF16(order, unicode.UseBOM).NewDecoder()), nil
}

// utf16Order reports whether a file is in UTF-16, and in which order its bytes are where no mark says it. Text of files has mostly characters
// whose other byte is zero.
func utf16Order(ahead []byte) (unicode.Endianness, bool) {
	switch {
	case bytes.HasPrefix(ahead, []byte{0xff, 0xfe}):
		return unicode.LittleEndian, true
	case bytes.HasPrefix(ahead, []byte{0xfe, 0xff}):
		return unicode.BigEndian, true
	}
	var zeros [2]int
	for i, b := range ahead {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch half := len(ahead) / 2; {
	case half < 2:
		return unicode.LittleEndian, false
	case zeros[1] > half*3/4 && zeros[0] == 0:
		return unicode.LittleEndian, true
	case zeros[0] > half*3/4 && zeros[1] == 0:
		return unicode.BigEndian, true
	}
	return unicode.LittleEndian, false
}

// lookedAt is how many lines decide about the separator.
const lookedAt = 40

// separatorOf returns the separator that most lines contain equally often; if there are several, the most frequent one.
// A text with many commas in one cell does not outweigh the semicolons of all rows.
func separatorOf(ahead []byte, end byte) rune {
	best, bestLines, bestCells := ',', 0, 0
	for _, s := range separators {
		lines := map[int]int{} // by how often they have it
		n := 0
		for text := range bytes.SplitSeq(ahead, []byte{end}) {
			if n++; n > lookedAt {
				break
			}
			if count := unquoted(text, byte(s)); count > 0 {
				lines[count]++
			}
		}
		for count, of := range lines {
			if of > bestLines || of == bestLines && count > bestCells {
				best, bestLines, bestCells = s, of, count
			}
		}
	}
	return best
}

// unquoted counts a separator outside quotation marks.
func unquoted(text []byte, separator byte) (n int) {
	quoted := false
	for _, b := range text {
		switch {
		case b == '"':
			quoted = !quoted
		case b == separator && !quoted:
			n++
		}
	}
	return n
}
