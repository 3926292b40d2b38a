package paymentfile

import (
	"bufio"
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strings"
)

// A file up to heldBytes is kept in memory. The rows of a larger one go to parts temporary files, all rows of a booking to
// the same one, and one of these files at a time is in memory.
const (
	heldBytes = 8 << 20
	parts     = 128
)

// record is one row before it is read. Broken is why it has no cells, or "".
type record struct {
	Line   int
	Cells  []string
	Broken string
}

func (r record) size() int {
	n := 64 + len(r.Broken)
	for _, cell := range r.Cells {
		n += 16 + len(cell)
	}
	return n
}

// booking is the same text for all rows of one booking. A broken row has its own.
func (h header) booking(r record) string {
	if len(r.Cells) != len(h) {
		return fmt.Sprintf("line %d", r.Line)
	}
	var key strings.Builder
	for i, column := range h {
		if column != nil && slices.Contains([]string{"channel", "channel_id", "booking_reference"}, column.Name) {
			fmt.Fprintf(&key, "%d %q ", i, strings.TrimSpace(r.Cells[i]))
		}
	}
	return key.String()
}

// together calls each for all records, those of a booking consecutively: the rows of a booking may be anywhere in the
// file, but are processed together. Before that it calls note for each record as it is read, and counted with their
// number, which it returns. It ends early if each returns false.
func (h header) together(in *records, note func(record), counted func(rows int), each func(record) bool) (int, error) {
	var held []record
	size, rows := 0, 0
	var spill *spilled
	defer func() { spill.remove() }()
	for {
		cells, line, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil && line == 0 {
			return rows, err
		}
		r := record{Line: line, Cells: cells}
		if err != nil {
			r.Broken = err.Error()
		}
		note(r)
		held, rows, size = append(held, r), rows+1, size+r.size()
		if size < heldBytes {
			continue
		}
		if spill == nil {
			if spill, err = newSpilled(); err != nil {
				return rows, err
			}
		}
		if err := spill.add(h, held); err != nil {
			return rows, err
		}
		held, size = held[:0], 0
	}
	counted(rows)
	if spill == nil {
		h.byBooking(held, each)
		return rows, nil
	}
	if err := spill.add(h, held); err != nil {
		return rows, err
	}
	for i := range spill.files {
		part, err := spill.read(i)
		if err != nil {
			return rows, err
		}
		if !h.byBooking(part, each) {
			break
		}
	}
	return rows, nil
}

// byBooking calls each for records, booking by booking in the order of their first rows.
func (h header) byBooking(list []record, each func(record) bool) bool {
	first := map[string]int{}
	order := make([]int, len(list)) // of each record: the index of the first one of its booking
	index := make([]int, len(list))
	for i, r := range list {
		key := h.booking(r)
		if _, met := first[key]; !met {
			first[key] = i
		}
		order[i], index[i] = first[key], i
	}
	slices.SortFunc(index, func(a, b int) int { return cmp.Or(cmp.Compare(order[a], order[b]), cmp.Compare(a, b)) })
	for _, i := range index {
		if !each(list[i]) {
			return false
		}
	}
	return true
}

// spilled is the temporary files. They have no names, so that nothing stays when the program ends in any way.
type spilled struct {
	files [parts]*os.File
	to    [parts]*bufio.Writer
	out   [parts]*gob.Encoder
}

func newSpilled() (*spilled, error) {
	s := &spilled{}
	for i := range s.files {
		file, err := os.CreateTemp("", "holdfast-import-*")
		if err != nil {
			s.remove()
			return nil, fmt.Errorf("sorting a large file in temporary files: %w", err)
		}
		_ = os.Remove(file.Name()) // where an open file cannot be removed, remove does it
		s.files[i], s.to[i] = file, bufio.NewWriter(file)
		s.out[i] = gob.NewEncoder(s.to[i])
	}
	return s, nil
}

func (s *spilled) add(h header, list []record) error {
	for _, r := range list {
		sum := fnv.New32a()
		_, _ = io.WriteString(sum, h.booking(r)) // a hash takes everything
		if err := s.out[sum.Sum32()%parts].Encode(r); err != nil {
			return fmt.Errorf("sorting a large file in temporary files: %w", err)
		}
	}
	return nil
}

// read gives the records of one file, in the order in which they were added.
func (s *spilled) read(i int) (list []record, err error) {
	err = s.to[i].Flush()
	if err == nil {
		_, err = s.files[i].Seek(0, io.SeekStart)
	}
	in := gob.NewDecoder(bufio.NewReader(s.files[i]))
	for err == nil {
		var r record
		if err = in.Decode(&r); err == nil {
			list = append(list, r)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("sorting a large file in temporary files: %w", err)
	}
	return list, nil
}

// remove may be called for nil.
func (s *spilled) remove() {
	if s == nil {
		return
	}
	for _, file := range s.files {
		if file != nil {
			_ = file.Close()
			_ = os.Remove(file.Name())
		}
	}
}
