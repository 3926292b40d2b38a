package paymentfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"

	"holdfast/internal/domain/card"
	"holdfast/internal/errs"
)

// Check reads a file as it comes, looks at every cell for card numbers, and hands on what it has looked at, in pieces of at
// most size bytes. So nothing that keep stores holds a card number, and no more than a piece and a row is in memory. It
// returns the number of rows. Errors: CardNumber, BodyTooLarge for more than most rows, Invalid for a file that is no file of
// payments or has a row above 64 KiB, and those of r and keep.
func Check(r io.Reader, size, most int, keep func(piece []byte) error) (rows int, err error) {
	var pending bytes.Buffer
	in := &records{in: bufio.NewReaderSize(io.TeeReader(r, &pending), 32<<10)}
	var kept int64 // bytes that were handed on
	hand := func(all bool) error {
		// What was read ahead of a broken row is not looked at yet.
		for looked := int(in.read - kept); len(in.back) == 0 && (looked >= size || all && looked > 0); looked = int(in.read - kept) {
			piece := pending.Next(min(size, looked))
			if err := keep(piece); err != nil {
				return err
			}
			kept += int64(len(piece))
		}
		return nil
	}
	if _, err := readHeader(in); err != nil {
		return 0, err
	}
	if card.HoldsCardNumber(in.first) {
		return 0, errCardIn(in.number)
	}
	for {
		cells, line, err := in.next()
		switch {
		case err == io.EOF:
			return rows, hand(true)
		case err != nil && line == 0:
			return rows, err
		case errors.Is(err, errRowTooLong):
			return rows, errs.WrongField("file", "The row on line %d is longer than 64 KiB.", line)
		case card.HoldsCardNumber(in.first) || slices.ContainsFunc(cells, card.HoldsCardNumber):
			return rows, errCardIn(line)
		}
		if rows++; rows > most {
			return rows, errs.New(errs.BodyTooLarge, "The file can have at most %d rows.", most)
		}
		if err := hand(false); err != nil {
			return rows, err
		}
	}
}

// errCardIn refuses a whole file: it would be stored with the number.
func errCardIn(line int) error {
	return &errs.Error{
		Kind:    errs.CardNumber,
		Message: "A card number was found in the file; it was neither stored nor logged.",
		Params:  map[string]string{"file": "Line " + strconv.Itoa(line) + " contains a card number."},
	}
}
