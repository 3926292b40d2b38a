package disputefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"holdfast/internal/domain/card"
	"holdfast/internal/errs"
)

// Bounds of one case in JSON or XML. Without them a file of one endless case would fill the memory.
const (
	maxCaseBytes  = 256 << 10
	maxCaseFields = 5000
	maxCaseDepth  = 20
)

var (
	errCaseTooLong = errors.New("a case is longer than 256 KiB, or has more than 5,000 fields")
	errCaseTooDeep = errors.New("a case is nested more than 20 levels deep")
)

// kindOf says how a file is written, by its first character.
func kindOf(in *bufio.Reader) (kind, error) {
	ahead, err := in.Peek(1024)
	if err != nil && err != io.EOF {
		return tableFile, err
	}
	switch ahead = bytes.TrimLeft(ahead, "\ufeff \t\r\n"); {
	case bytes.HasPrefix(ahead, []byte("{")), bytes.HasPrefix(ahead, []byte("[{")), bytes.HasPrefix(ahead, []byte("[")):
		return jsonFile, nil
	case bytes.HasPrefix(ahead, []byte("<")):
		return xmlFile, nil
	}
	return tableFile, nil
}

// tree is one case of a JSON or XML file: its values by their paths, such as transaction.amount.value and statusHistory.0.status. Problem is why
// it cannot be read.
type tree struct {
	number  int
	raw     string
	names   []string
	cells   []string
	problem string
}

// add adds a value. It reports whether there is room.
func (t *tree) add(path []string, value string) bool {
	t.names, t.cells = append(t.names, strings.Join(path, ".")), append(t.cells, value)
	return len(t.names) <= maxCaseFields
}

func (t *tree) record() *record {
	r := &record{number: t.number, tree: true, raw: t.raw, names: t.names, index: indexOf(t.names), cells: t.cells}
	if t.problem != "" {
		r.problems = []string{t.problem}
		r.names, r.cells = nil, []string{t.raw}
	}
	return r
}

// readTrees finds the format of a file by its first case, and returns all cases.
func readTrees(cases iter.Seq2[tree, error], kind kind, wanted []*format) (Format, iter.Seq2[Line, error], error) {
	next, stop := iter.Pull2(cases)
	first, err, ok := next()
	switch {
	case !ok:
		stop()
		return Format{}, nil, errs.WrongField("file", "The file has no cases. Looked for: %s.", labels(wanted))
	case err != nil:
		stop()
		return Format{}, nil, fmt.Errorf("the file cannot be read: %w", err)
	case first.problem != "":
		stop()
		if card.HoldsCardNumber(first.problem) {
			return Format{}, nil, errs.WrongField("file", "The file cannot be read.")
		}
		return Format{}, nil, errs.WrongField("file", "%s", cleaned(first.problem))
	}
	found := search{wanted: wanted, kind: kind}
	index := indexOf(first.names)
	f := found.find(func(name string) bool { return indexHas(index, name) })
	if f == nil {
		stop()
		return Format{}, nil, found.unknown()
	}
	reading := f.start()
	return f.Format, func(yield func(Line, error) bool) {
		defer stop()
		for one, err := first, error(nil); ; {
			if err != nil {
				yield(Line{}, fmt.Errorf("the file cannot be read: %w", err))
				return
			}
			if !yield(reading.line(one.record()), nil) {
				return
			}
			if one, err, ok = next(); !ok {
				return
			}
		}
	}, nil
}

// indexHas reports whether a case has a value, or a list or object, of this name.
func indexHas(index map[string]int, name string) bool {
	if _, ok := index[name]; ok {
		return true
	}
	for path := range index {
		if strings.HasPrefix(path, name+".") {
			return true
		}
	}
	return false
}

// source is a file while a decoder reads it. The decoder gets only so many bytes before it is topped up for the next case, and source
// remembers them, so that a case can be kept as it is in the file.
type source struct {
	in   io.Reader
	left int
	held []byte
	from int64 // place in the file of the first byte held
	err  error // why the file could not be read, other than by its content
}

func (s *source) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, errCaseTooLong
	}
	n, err := s.in.Read(p[:min(len(p), s.left)])
	s.left -= n
	s.held = append(s.held, p[:n]...)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// topUp allows one more case after an offset of the file, and drops everything before it. Decoders read ahead, so the
// allowance is larger than one case.
func (s *source) topUp(place int64) {
	if gone := int(place - s.from); gone > 0 && gone <= len(s.held) {
		s.held = append(s.held[:0], s.held[gone:]...)
		s.from = place
	}
	s.left = 2 * maxCaseBytes
}

// text is the file from one place to another.
func (s *source) text(from, to int64) string {
	from, to = from-s.from, to-s.from
	if from < 0 || to < from || to > int64(len(s.held)) {
		return ""
	}
	return string(s.held[from:to])
}

func labels(wanted []*format) string {
	var list []string
	for _, f := range wanted {
		list = append(list, f.Label)
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ", ")
}
