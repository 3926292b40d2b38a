package secrets

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// modalLists are the fields of an auth string that hold a JSON list.
var modalLists = []string{"allocations"}

// jsonForm is one way to write JSON. Encoders differ in what they escape, and in spaces.
type jsonForm struct {
	slash   bool   // "/" as "\/"
	letters string // letters outside ASCII by this format; "" leaves them as they are
	signs   string // these signs …
	hex     string // … by this format
	gap     string // after a comma and a colon
}

// The formats of an escaped letter.
const (
	lowerHex = `\u%04x`
	upperHex = `\u%04X`
)

// signSets are the signs that common encoders escape for HTML: those of Go and Rails, Gson, PHP with all its flags, .NET.
var signSets = []string{"<>&", "<>&='", `<>&'"`, "<>&'\"+`"}

// formsOf lists the forms in which an encoder may have signed a JSON text. The first is the text itself.
func formsOf(text string) []string {
	one, ok := (jsonForm{}).write(text)
	if !ok {
		return []string{text}
	}
	slashes, letters, signs := []bool{false}, []string{""}, []jsonForm{{}}
	if strings.Contains(one, "/") {
		slashes = append(slashes, true)
	}
	if strings.ContainsFunc(one, func(r rune) bool { return r >= utf8.RuneSelf }) {
		letters = append(letters, lowerHex, upperHex)
	}
	if strings.ContainsAny(one, "<>&='+`") || strings.Contains(one, `\"`) {
		for _, set := range signSets {
			signs = append(signs, jsonForm{signs: set, hex: lowerHex}, jsonForm{signs: set, hex: upperHex})
		}
	}
	forms := []string{text}
	for _, form := range signs {
		for _, form.slash = range slashes {
			for _, form.letters = range letters {
				for _, form.gap = range []string{"", " "} {
					written, _ := form.write(one) // which may be much shorter than the text
					forms = append(forms, written)
				}
			}
		}
	}
	return forms
}

// write writes a JSON text in the form. ok is false when the text is not one JSON value.
func (f jsonForm) write(text string) (written string, ok bool) {
	if !json.Valid([]byte(text)) {
		return "", false
	}
	var w strings.Builder
	var open []json.Delim // the lists and objects around the place
	var parts []int       // how many values each of them has so far; names count too
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return w.String(), true
		}
		if err != nil {
			return "", false
		}
		delim, _ := token.(json.Delim)
		closes := delim == ']' || delim == '}'
		if n := len(open); n > 0 && !closes {
			if open[n-1] == '{' && parts[n-1]%2 == 1 {
				w.WriteString(":" + f.gap)
			} else if parts[n-1] > 0 {
				w.WriteString("," + f.gap)
			}
			parts[n-1]++
		}
		switch v := token.(type) {
		case json.Delim:
			w.WriteString(v.String())
			if closes {
				open, parts = open[:len(open)-1], parts[:len(parts)-1]
			} else {
				open, parts = append(open, v), append(parts, 0)
			}
		case string:
			f.text(&w, v)
		case nil:
			w.WriteString("null")
		default:
			fmt.Fprint(&w, v)
		}
	}
}

// short are the escapes that all encoders write the same way.
var short = map[rune]string{'\\': `\\`, '"': `\"`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

func (f jsonForm) text(w *strings.Builder, text string) {
	w.WriteByte('"')
	for _, r := range text {
		switch {
		case strings.ContainsRune(f.signs, r):
			fmt.Fprintf(w, f.hex, r)
		case short[r] != "":
			w.WriteString(short[r])
		case r < ' ':
			fmt.Fprintf(w, lowerHex, r)
		case r == '/' && f.slash:
			w.WriteString(`\/`)
		case r >= utf8.RuneSelf && f.letters != "":
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(w, f.letters, unit)
			}
		default:
			w.WriteRune(r)
		}
	}
	w.WriteByte('"')
}

// OneForm writes a field of an auth string that holds a JSON list in one form: without spaces, and with nothing escaped
// that need not be. Other fields, and anything that is not JSON, are unchanged.
func OneForm(field, value string) string {
	if slices.Contains(modalLists, field) {
		if one, ok := (jsonForm{}).write(value); ok {
			return one
		}
	}
	return value
}

// signedAs lists the fields in all forms in which they may have been signed. The first is that in which they are given.
func signedAs(fields map[string]string) []map[string]string {
	all := []map[string]string{fields}
	for _, name := range modalLists {
		value, given := fields[name]
		if !given {
			continue
		}
		for _, form := range formsOf(value)[1:] {
			other := maps.Clone(fields)
			other[name] = form
			all = append(all, other)
		}
	}
	return all
}
