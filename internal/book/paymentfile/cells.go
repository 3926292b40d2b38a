package paymentfile

import (
	"errors"
	"io"
	"slices"
	"strings"
)

// Cells reads the cells of some rows of a file, by the line on which each begins and by the name of their column. Only the columns that
// are ours are in it, and only rows that can be read. It reads no further than the last of the lines, and holds only what it returns.
// An error means that the file cannot be read at all.
func Cells(file io.Reader, lines []int) (map[int]map[string]string, error) {
	found := map[int]map[string]string{}
	if len(lines) == 0 {
		return found, nil
	}
	in := newRecords(file)
	header, err := readHeader(in)
	if err != nil {
		return nil, err
	}
	for last := slices.Max(lines); ; {
		cells, at, err := in.next()
		switch {
		case errors.Is(err, io.EOF), err == nil && at > last:
			return found, nil
		case err != nil && at == 0:
			return nil, err
		case err != nil, !slices.Contains(lines, at):
			continue
		}
		row := map[string]string{}
		for i, column := range header {
			if column != nil && i < len(cells) {
				row[column.Name] = strings.TrimSpace(cells[i])
			}
		}
		found[at] = row
	}
}
