package api

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// fields writes the fields of a JSON object one after the other, as encode would write them. Lists of bookings are the
// longest answers, and without reflection they take a third of the time.
type fields struct{ text []byte }

// name begins a field.
func (f *fields) name(name string) {
	if f.text[len(f.text)-1] != '{' {
		f.text = append(f.text, ',')
	}
	f.text = append(append(append(f.text, '"'), name...), '"', ':')
}

// string writes a field with a text.
func (f *fields) string(name, value string) {
	f.name(name)
	f.text = appendText(f.text, value)
}

// number writes a field with a whole number.
func (f *fields) number(name string, value int64) {
	f.name(name)
	f.text = strconv.AppendInt(f.text, value, 10)
}

// numbers writes a field with a list of whole numbers.
func (f *fields) numbers(name string, list []int64) {
	f.name(name)
	f.text = append(f.text, '[')
	for i, n := range list {
		if i > 0 {
			f.text = append(f.text, ',')
		}
		f.text = strconv.AppendInt(f.text, n, 10)
	}
	f.text = append(f.text, ']')
}

// appendText writes a JSON string. Texts in which something has to be escaped are rare; encode knows how.
func appendText(b []byte, text string) []byte {
	ascii := true
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c == '"' || c == '\\' {
			return appendEscaped(b, text)
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if !ascii && (!utf8.ValidString(text) || strings.Contains(text, "\u2028") || strings.Contains(text, "\u2029")) {
		return appendEscaped(b, text)
	}
	return append(append(append(b, '"'), text...), '"')
}

func appendEscaped(b []byte, text string) []byte {
	var escaped bytes.Buffer
	_ = encode(&escaped, text) // a string can always be written
	return append(b, bytes.TrimSuffix(escaped.Bytes(), []byte("\n"))...)
}
