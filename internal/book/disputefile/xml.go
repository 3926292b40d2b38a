package disputefile

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// xmlCases returns the cases of an XML file: the elements that a format calls a case, wherever they are. Namespaces are
// ignored, and entities defined in the file are not expanded. Reading stops at a syntax error, because the start of the
// next case is unknown.
func xmlCases(in *bufio.Reader, wanted []*format) iter.Seq2[tree, error] {
	return func(yield func(tree, error) bool) {
		s := &source{in: in}
		s.topUp(0)
		d := xml.NewDecoder(s)
		d.CharsetReader = charset
		for number := 1; ; {
			at := d.InputOffset()
			token, err := d.RawToken()
			if err == io.EOF {
				return
			}
			start, is := token.(xml.StartElement)
			if err == nil && (!is || !slices.ContainsFunc(wanted, func(f *format) bool { return f.element != "" && f.element == start.Name.Local })) {
				s.topUp(d.InputOffset())
				continue
			}
			one := tree{number: number}
			number++
			if err == nil {
				err = xmlElement(d, &one, nil, start)
			}
			if err != nil {
				if s.err != nil {
					yield(tree{}, s.err)
					return
				}
				yield(tree{number: one.number, problem: fmt.Sprintf("The file cannot be read from case %d on: %v.", one.number, err)}, nil)
				return
			}
			one.raw = s.text(at, d.InputOffset())
			s.topUp(d.InputOffset())
			if !yield(one, nil) {
				return
			}
		}
	}
}

// xmlElement adds the texts within an element, up to its end. Elements that may be repeated are counted: activity.0, activity.1.
func xmlElement(d *xml.Decoder, t *tree, path []string, start xml.StartElement) error {
	if len(path) > maxCaseDepth {
		return errCaseTooDeep
	}
	seen := map[string]int{}
	var text strings.Builder
	inner := false
	for {
		token, err := d.RawToken()
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.CharData:
			if text.Write(token); text.Len() > maxCaseBytes {
				return errCaseTooLong
			}
		case xml.StartElement:
			inner = true
			name := token.Name.Local
			at := append(slices.Clone(path), name)
			if name == "activity" {
				at = append(at, strconv.Itoa(seen[name]))
			}
			seen[name]++
			if err := xmlElement(d, t, at, token); err != nil {
				return err
			}
		case xml.EndElement:
			if token.Name.Local != start.Name.Local {
				return fmt.Errorf("element %.40q is closed by %.40q", start.Name.Local, token.Name.Local)
			}
			if !inner && len(path) > 0 && !t.add(path, strings.TrimSpace(text.String())) {
				return errCaseTooLong
			}
			return nil
		}
	}
}

// charset reads what XML declares besides UTF-8. UTF-16 was decoded before.
func charset(name string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(name) {
	case "utf-16", "utf-16le", "utf-16be", "us-ascii", "ascii":
		return in, nil
	case "iso-8859-1", "latin1", "windows-1252":
		return charmap.Windows1252.NewDecoder().Reader(in), nil
	}
	return nil, fmt.Errorf("the encoding %.20q is not known", name)
}
