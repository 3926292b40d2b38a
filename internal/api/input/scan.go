package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"holdfast/internal/domain/card"
	"holdfast/internal/errs"
)

// Raw is the text of a list or an object inside a body, as the client wrote it. The text is valid JSON.
type Raw []byte

// checkBounds rejects a text with more values than a body may have, or nested too deep. It stops at the first value too
// many. It runs first because it does less work per byte than any other reader.
func checkBounds(text []byte) error {
	values, depth := 1, 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			at = endOfText(text, at) - 1
		case ',':
			values++
		case '{', '[':
			values++ // its first
			depth++
		case '}', ']':
			depth--
		}
		if values > maxValues {
			return errs.New(errs.BodyTooLarge, "The body can have at most %d values.", maxValues)
		}
		if depth > maxDepth {
			return errs.New(errs.BadJSON, "The body is nested more than %d levels deep.", maxDepth)
		}
	}
	return nil
}

// endOfText is the place behind the JSON text that begins with the quotation mark at from.
func endOfText(text []byte, from int) int {
	for at := from + 1; ; {
		next := bytes.IndexAny(text[at:], `"\`)
		if next < 0 {
			return len(text) // only where the text is no valid JSON
		}
		at += next + 1
		if text[at-1] == '"' {
			return at
		}
		if at++; at >= len(text) {
			return len(text)
		}
	}
}

// around is a list or an object around the place that a scanner looks at.
type around struct {
	list  bool
	name  []byte // of the object's present field, with its quotation marks
	item  int    // of the list's present item
	value bool   // an object's next text is a value, and not a name
}

// scanner walks through a valid JSON text, and knows where it is. It builds nothing.
type scanner struct{ open []around }

// lookForCards refuses a text that holds a card number in any of its texts and numbers, names of fields included. The error
// names the field.
func lookForCards(text []byte) error {
	s := scanner{open: make([]around, 0, maxDepth+1)}
	for at := 0; at < len(text); at++ {
		top := len(s.open) - 1
		switch text[at] {
		case '"':
			end := endOfText(text, at)
			if err := s.look(text[at:end]); err != nil {
				return err
			}
			at = end - 1
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			end := endOfValue(text, at)
			if mayHoldCardNumber(text[at:end]) && len(s.open) > 0 && holdsCardNumber(s.field(), string(text[at:end])) {
				return ErrCardNumber(s.path(top + 1))
			}
			at = end - 1
		case '{':
			s.open = append(s.open, around{})
		case '[':
			s.open = append(s.open, around{list: true})
		case '}', ']':
			s.open = s.open[:top]
		case ':':
			s.open[top].value = true
		case ',':
			s.open[top].value = false
			s.open[top].item++
		}
	}
	return nil
}

// look checks one text with its quotation marks.
func (s *scanner) look(quoted []byte) error {
	top := len(s.open) - 1
	isName := !s.open[top].list && !s.open[top].value
	if isName {
		s.open[top].name = quoted
	}
	if !mayHoldCardNumber(quoted) {
		return nil
	}
	switch text := textOf(quoted); {
	case isName && card.HoldsCardNumber(text):
		return ErrCardNumber(s.path(top))
	case !isName && holdsCardNumber(s.field(), text):
		return ErrCardNumber(s.path(top + 1))
	default:
		return nil
	}
}

// field is the name of the field around the present value. It decides whether the value may hold long numbers.
func (s *scanner) field() string {
	for at := len(s.open) - 1; at >= 0; at-- {
		if !s.open[at].list {
			return textOf(s.open[at].name)
		}
	}
	return ""
}

// path names the present place in the first of the open lists and objects, such as bookings[0].reference.
func (s *scanner) path(depth int) string {
	if depth == 0 {
		return "body"
	}
	var path strings.Builder
	for _, of := range s.open[:depth] {
		switch {
		case of.list:
			fmt.Fprintf(&path, "[%d]", of.item)
		case path.Len() > 0:
			path.WriteString("." + textOf(of.name))
		default:
			path.WriteString(textOf(of.name))
		}
	}
	return path.String()
}

// mayHoldCardNumber is a quick look at a JSON text, without a copy of it. Each digit of a card number is a digit of ASCII, a
// letter of another script, or an escape of one of these.
func mayHoldCardNumber(quoted []byte) bool {
	digits := 0
	for _, b := range quoted {
		if b >= '0' && b <= '9' || b >= 0x80 || b == '\\' {
			digits++
		}
	}
	return digits >= card.CardDigitsMin
}

// textOf decodes a JSON text that is valid.
func textOf(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // it is valid
	return text
}

// endOfValue is the place behind the value that begins at from.
func endOfValue(text []byte, from int) int {
	depth := 0
	for at := from; at < len(text); at++ {
		switch text[at] {
		case '"':
			at = endOfText(text, at) - 1
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 { // behind a number or a word
				return at
			}
			if text[at] != ',' {
				depth--
			}
		case ' ', '\t', '\r', '\n':
			if depth == 0 {
				return at
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return at + 1
		}
	}
	return len(text)
}

// skipSpace returns the first position that is neither white space nor punctuation between values.
func skipSpace(text []byte, at int) int {
	for at < len(text) && strings.IndexByte(" \t\r\n,:", text[at]) >= 0 {
		at++
	}
	return at
}

// valueOf is a value as handlers get it: nil, true or false, a json.Number, a string, or the raw text of a list or an object.
func valueOf(text []byte) any {
	switch text[0] {
	case '{', '[':
		return Raw(text)
	case '"':
		return textOf(text)
	case 't', 'f':
		return text[0] == 't'
	case 'n':
		return nil
	default:
		return json.Number(text) // it stays text, so that no digit of an amount is lost
	}
}

// fieldsOf reads the fields of a valid JSON object. A duplicate field is noted as a problem. in is the prefix of
// the names of fields in messages.
func fieldsOf(text []byte, in string, p *errs.Problems) (map[string]any, error) {
	fields := map[string]any{}
	for at := skipSpace(text, 1); text[at] != '}'; at = skipSpace(text, at) {
		end := endOfText(text, at)
		name := textOf(text[at:end])
		at = skipSpace(text, end)
		end = endOfValue(text, at)
		if _, twice := fields[name]; twice {
			p.Wrong(in+name, "This field appears twice.")
		}
		fields[name] = valueOf(text[at:end])
		if at = end; len(fields) > maxFields {
			return nil, errs.New(errs.BodyTooLarge, "An object can have at most %d fields.", maxFields)
		}
	}
	return fields, nil
}

// itemsOf reads the items of a valid JSON list, at most one more than most.
func itemsOf(text []byte, most int) []any {
	items := []any{}
	for at := skipSpace(text, 1); text[at] != ']' && len(items) <= most; at = skipSpace(text, at) {
		end := endOfValue(text, at)
		items = append(items, valueOf(text[at:end]))
		at = end
	}
	return items
}

// holdsLoneSurrogate reports whether a valid JSON text escapes half of a surrogate pair: that is no character.
func holdsLoneSurrogate(text []byte) bool {
	unit := func(at int) (u rune, ok bool) { // the escape \uXXXX at a place
		if at+6 > len(text) || text[at] != '\\' || text[at+1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(text[at+2:at+6]), 16, 16)
		return rune(n), err == nil
	}
	for at := 0; ; {
		next := bytes.IndexByte(text[at:], '\\')
		if next < 0 {
			return false
		}
		at += next
		first, ok := unit(at)
		switch {
		case !ok:
			at += 2
		case !utf16.IsSurrogate(first):
			at += 6
		default:
			if second, ok := unit(at + 6); !ok || utf16.DecodeRune(first, second) == utf8.RuneError {
				return true
			}
			at += 12
		}
	}
}
