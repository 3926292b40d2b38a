package input

import (
	"bytes"
	"encoding/json"
	"slices"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/modal"
	"holdfast/internal/platform/secrets"
)

// Needed reads a required text. It notes a problem when the text is missing.
func (in *Input) Needed(name string) string {
	text := in.Text(name)
	if text == nil {
		if !in.Problems.Has(name) {
			in.Problems.Missing(name)
		}
		return ""
	}
	return *text
}

// maxVerbatim is how many bytes of a field go into an auth string. An encoder writes the longest list that is taken, of 1,023
// characters, with twelve bytes for a character at most.
const maxVerbatim = 16 << 10

// Verbatim gives a field as the text from which an auth string is computed: a text as it is, a number as its digits, a
// list or an object as JSON without spaces, and "" when the field is absent. The text will be stored, so it is checked for
// card numbers, even when it was a number.
func (in *Input) Verbatim(name string) (string, error) {
	var text string
	switch v := in.Fields[name].(type) {
	case nil:
	case string:
		if text = v; !Storable(v) {
			in.Wrong(name, "Control characters are not allowed.")
		}
	case json.Number:
		text = v.String()
	case Raw:
		var written bytes.Buffer
		_ = json.Compact(&written, v) // it is valid JSON, and loses the spaces between its parts here
		text = written.String()
	}
	if len(text) > maxVerbatim {
		in.Wrong(name, "This is too long.")
		return "", nil
	}
	// Digits can be hidden in escapes.
	if card.HoldsCardNumber(text) || card.HoldsCardNumber(secrets.OneForm(name, text)) {
		return "", ErrCardNumber(name)
	}
	return text, nil
}

// Verifiable reads the fields that an auth string can verify, and that are given.
func (in *Input) Verifiable() (given map[string]string, err error) {
	given = map[string]string{}
	for _, name := range slices.Concat(modal.Always, modal.Verifiable) {
		if in.Fields[name] == nil {
			continue
		}
		text, err := in.Verbatim(name)
		if err != nil {
			return nil, err
		}
		given[name] = secrets.OneForm(name, text) // as the session keeps it
	}
	return given, nil
}
