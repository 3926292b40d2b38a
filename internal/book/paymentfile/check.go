package paymentfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"holdfast/internal/book/imports"
	"holdfast/internal/domain/card"
	"holdfast/internal/errs"
	"holdfast/internal/lib/tabular"
)

// Check reads a file as it comes, looks at every cell that an import reads for card numbers, and hands on what it has
// looked at, in pieces of at most size bytes. No more than a piece and a row is in memory. After a card number it only
// looks for more, so that the error names every line. Errors: CardNumber, BodyTooLarge for more than most rows, Invalid
// for a file that is no file of payments, has no rows or a row above 64 KiB, and those of r and keep.
func Check(r io.Reader, size, most int, keep func(piece []byte) error) (scan imports.Scan, err error) {
	var pending bytes.Buffer
	in := newRecords(io.TeeReader(r, &pending))
	var kept int64 // bytes that were handed on
	hand := func(all bool) error {
		// Rows read ahead of a broken row have not been checked yet.
		taken, whole := in.in.Taken()
		for looked := int(taken - kept); whole && (looked >= size || all && looked > 0); looked = int(taken - kept) {
			piece := pending.Next(min(size, looked))
			if err := keep(piece); err != nil {
				return err
			}
			kept += int64(len(piece))
		}
		return nil
	}
	header, err := readHeader(in)
	if err != nil {
		return scan, err
	}
	seen := survey{header: header, decimals: map[*Column]int{}}
	var cards cardLines
	if card.HoldsCardNumber(in.first) {
		cards.add(in.at)
	}
	for {
		cells, line, err := in.next()
		switch {
		case err == io.EOF && cards.count > 0:
			return scan, cards.err()
		case err == io.EOF && scan.Rows == 0:
			return scan, errNoRows(in.names)
		case err == io.EOF:
			scan.Notes = seen.notes(in.names)
			return scan, hand(true)
		case err != nil && line == 0:
			return scan, err
		case errors.Is(err, tabular.ErrTooLong):
			return scan, errs.WrongField("file", "The row on line %d is longer than 64 KiB.", line)
		case err != nil && card.HoldsCardNumber(in.first), header.cardNumber(cells) >= 0:
			cards.add(line)
		}
		seen.note(record{Line: line, Cells: cells})
		if scan.Rows++; scan.Rows > most {
			return scan, errs.New(errs.BodyTooLarge, "The file can have at most %d rows.", most)
		}
		if cards.count > 0 {
			pending.Reset() // nothing more is kept
			continue
		}
		if err := hand(false); err != nil {
			return scan, err
		}
	}
}

// maxCardLines is how many lines an error names.
const maxCardLines = 100

// cardLines are the lines of a file that hold card numbers.
type cardLines struct {
	lines []string // the first ones
	count int
}

func (c *cardLines) add(line int) {
	if c.count++; c.count <= maxCardLines {
		c.lines = append(c.lines, strconv.Itoa(line))
	}
}

// err refuses the whole file: it would be stored with the numbers.
func (c *cardLines) err() error {
	what := "Line " + c.lines[0] + " contains a card number."
	if last := len(c.lines) - 1; c.count > len(c.lines) {
		what = fmt.Sprintf("Lines %s and %d more contain card numbers.", strings.Join(c.lines, ", "), c.count-len(c.lines))
	} else if last > 0 {
		what = fmt.Sprintf("Lines %s and %s contain card numbers.", strings.Join(c.lines[:last], ", "), c.lines[last])
	}
	return &errs.Error{
		Kind:    errs.CardNumber,
		Message: "The file contains card numbers. Nothing of it was stored or logged.",
		Params:  map[string]string{"file": what},
	}
}
