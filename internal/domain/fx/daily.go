package fx

import (
	"encoding/xml"
	"fmt"
	"io"

	"holdfast/internal/domain/civil"
)

// maxDaily is the most bytes that are read: a few hundred times the size of a daily file.
const maxDaily = 1 << 20

// ReadDaily reads the ECB's daily file (eurofxref-daily.xml). The file of the last ninety days has the same form. Its
// elements are an Envelope, in it a Cube, in it a Cube for each day, and in that a Cube for each currency. An error
// of the kind Invalid names line and column.
func ReadDaily(r io.Reader) ([]Fixing, error) {
	source := &capped{r: r, left: maxDaily}
	d := daily{xml: xml.NewDecoder(source), seen: map[string]bool{}}
	for {
		token, err := d.xml.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, source.fault(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := d.start(t); err != nil {
				if source.failed != nil {
					return nil, source.fault(err)
				}
				line, column := d.xml.InputPos()
				return nil, broken("Line %d, column %d of the rates file: %v.", line, column, err)
			}
		case xml.EndElement:
			d.level--
		}
	}
	if len(d.fixings) == 0 {
		return nil, broken("The rates file contains no rates.")
	}
	return d.fixings, nil
}

// The levels of nesting: the innermost element that is open.
const (
	outside = iota
	inEnvelope
	inCube
	inDay
	inRate
)

// daily is the state while one file is read.
type daily struct {
	xml     *xml.Decoder
	level   int
	day     civil.Day
	seen    map[string]bool // days, and codes within a day
	fixings []Fixing
}

func (d *daily) start(e xml.StartElement) error {
	name := e.Name.Local
	switch {
	case d.level == outside && name == "Envelope" && !d.seen["Envelope"]:
		d.seen["Envelope"] = true
	case d.level == inEnvelope && name != "Cube": // subject and sender
		return d.xml.Skip()
	case d.level == outside || name != "Cube" || d.level == inRate:
		return fmt.Errorf("unexpected <%.24s>", name)
	case d.level == inCube:
		if err := d.startDay(attribute(e, "time")); err != nil {
			return err
		}
	case d.level == inDay:
		if err := d.rate(attribute(e, "currency"), attribute(e, "rate")); err != nil {
			return err
		}
	}
	d.level++
	return nil
}

func (d *daily) startDay(text string) error {
	day, err := civil.ParseDay(text)
	if err != nil {
		return err
	}
	if d.seen[text] {
		return fmt.Errorf("%s appears twice", text)
	}
	d.seen[text] = true
	d.day = day
	return nil
}

func (d *daily) rate(code, text string) error {
	if err := checkCode(code); err != nil {
		return err
	}
	key := d.day.String() + code
	if d.seen[key] {
		return fmt.Errorf("%s appears twice on %s", code, d.day)
	}
	d.seen[key] = true
	f, keep, err := read(code, d.day, text)
	if err != nil {
		return fmt.Errorf("%s: %w", code, err)
	}
	if keep {
		d.fixings = append(d.fixings, f)
	}
	return nil
}

// attribute returns the value of an attribute, or "" when it is missing. Callers refuse an empty day, code or rate.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
