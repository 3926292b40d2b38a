package view

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Fields writes the fields of a JSON object one after the other, as Encode would write them. Lists of bookings are the
// longest answers, and without reflection they take a third of the time.
type Fields struct{ Text []byte }

// Name begins a field.
func (f *Fields) Name(name string) {
	if f.Text[len(f.Text)-1] != '{' {
		f.Text = append(f.Text, ',')
	}
	f.Text = append(append(append(f.Text, '"'), name...), '"', ':')
}

// String writes a field with a text.
func (f *Fields) String(name, value string) {
	f.Name(name)
	f.Text = appendText(f.Text, value)
}

// Number writes a field with a whole number.
func (f *Fields) Number(name string, value int64) {
	f.Name(name)
	f.Text = strconv.AppendInt(f.Text, value, 10)
}

// Numbers writes a field with a list of whole numbers.
func (f *Fields) Numbers(name string, list []int64) {
	f.Name(name)
	f.Text = append(f.Text, '[')
	for i, n := range list {
		if i > 0 {
			f.Text = append(f.Text, ',')
		}
		f.Text = strconv.AppendInt(f.Text, n, 10)
	}
	f.Text = append(f.Text, ']')
}

// Strings writes a field with a list of texts.
func (f *Fields) Strings(name string, list []string) {
	f.Name(name)
	f.Text = append(f.Text, '[')
	for i, text := range list {
		if i > 0 {
			f.Text = append(f.Text, ',')
		}
		f.Text = appendText(f.Text, text)
	}
	f.Text = append(f.Text, ']')
}

// appendText writes a JSON string. Texts that need escaping are rare; Encode handles them.
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
	_ = Encode(&escaped, text) // a string can always be written
	return append(b, bytes.TrimSuffix(escaped.Bytes(), []byte("\n"))...)
}
