package fx

import (
	"encoding/csv"
	"fmt"
	"io"

	"holdfast/internal/domain/civil"
)

// maxHistory is the most bytes that are read: eight times the size of 25 years of fixings.
const maxHistory = 16 << 20

// Counts describes the contents of a history file.
type Counts struct {
	Days    int // lines
	Fixings int // rates that emit got
	Skipped int // rates of currencies in which no amount can be
}

// ReadHistory reads the ECB's history file (eurofxref-hist.csv) and calls emit for each fixing, in the order of the
// file. The file has a header with currency codes and then one line for each day. A currency without a rate has N/A,
// and each line ends in a comma. An error of the kind Invalid names line and column. After an error the fixings so
// far are only a part of the file, so that callers keep all or none. An error of emit ends the reading and is
// returned.
func ReadHistory(r io.Reader, emit func(Fixing) error) (Counts, error) {
	source := &capped{r: r, left: maxHistory}
	in := csv.NewReader(source)
	in.ReuseRecord = true
	first, err := in.Read()
	if err == io.EOF {
		return Counts{}, broken("The rates file is empty.")
	}
	if err != nil {
		return Counts{}, source.fault(err)
	}
	header, err := readHeader(first)
	if err != nil {
		return Counts{}, broken("The first line of the rates file is not the header of the ECB's history file: %v.", err)
	}

	h := history{codes: header, seen: map[civil.Day]bool{}, emit: emit}
	for {
		cells, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return h.counts, source.fault(err)
		}
		line, _ := in.FieldPos(0)
		if err := h.line(line, cells); err != nil {
			return h.counts, err
		}
	}
	if h.counts.Days == 0 {
		return h.counts, broken("The rates file has a header but no fixings.")
	}
	return h.counts, nil
}

// readHeader returns the codes by column. The first column is the day. The last one is empty and is left out, because
// each line ends in a comma.
func readHeader(cells []string) ([]string, error) {
	codes := make([]string, len(cells))
	copy(codes, cells)
	if last := len(codes) - 1; codes[last] == "" {
		codes = codes[:last]
	}
	if len(codes) < 2 || codes[0] != "Date" {
		return nil, fmt.Errorf("it does not start with Date and a currency")
	}
	seen := map[string]bool{}
	for i, code := range codes[1:] {
		if err := checkCode(code); err != nil {
			return nil, fmt.Errorf("column %d: %w", i+2, err)
		}
		if seen[code] {
			return nil, fmt.Errorf("column %d: %s appears twice", i+2, code)
		}
		seen[code] = true
	}
	return codes, nil
}

// history is the state while one file is read.
type history struct {
	codes  []string
	seen   map[civil.Day]bool
	emit   func(Fixing) error
	counts Counts
}

func (h *history) line(number int, cells []string) error {
	day, err := civil.ParseDay(cells[0])
	if err != nil {
		return broken("Line %d, column Date: %v.", number, err)
	}
	if h.seen[day] { // it is unknown which of the two is right
		return broken("Line %d, column Date: %s appears twice.", number, day)
	}
	h.seen[day] = true
	h.counts.Days++
	for i, text := range cells[1:] {
		column := i + 1
		if column == len(h.codes) {
			if text != "" {
				return broken("Line %d, column %d: there is text after the last comma.", number, column+1)
			}
			continue
		}
		if text == "N/A" {
			continue
		}
		f, keep, err := read(h.codes[column], day, text)
		switch {
		case err != nil:
			return broken("Line %d, column %s: %v.", number, h.codes[column], err)
		case !keep:
			h.counts.Skipped++
			continue
		}
		if err := h.emit(f); err != nil {
			return fmt.Errorf("fixing of %s on %s: %w", f.Currency, f.Day, err)
		}
		h.counts.Fixings++
	}
	return nil
}
