package input

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"holdfast/internal/domain/card"
	"holdfast/internal/errs"
)

// Limits of a request.
const (
	MaxBody   = 1 << 20 // bytes
	maxDepth  = 16      // of objects and lists inside each other; no valid body has more than 3
	maxValues = 20_000  // in a body, with those inside others; a rate card of 1,000 lines has 5,001
	maxFields = 1000    // of one object
)

// decodeObject reads the fields of a JSON object, and nothing inside them: a list or an object stays a raw text until a
// handler requests it. So unused fields cost one scan of their bytes. Every text is scanned, because card numbers are
// rejected everywhere. A duplicate field is a problem.
func decodeObject(text []byte, p *errs.Problems) (map[string]any, error) {
	text = bytes.Trim(text, " \t\r\n") // the only white space of JSON
	if len(text) == 0 {
		return map[string]any{}, nil
	}
	if err := checkBounds(text); err != nil {
		return nil, err
	}
	if !utf8.Valid(text) || !json.Valid(text) || holdsLoneSurrogate(text) {
		return nil, errs.New(errs.BadJSON, "The body is not valid JSON.")
	}
	if text[0] != '{' {
		return nil, errs.New(errs.BadJSON, "The body is not a JSON object.")
	}
	if err := lookForCards(text); err != nil {
		return nil, err
	}
	return fieldsOf(text, "", p)
}

// holdsLongNumbers are the fields in which card numbers are not looked for: a hash can look like one by chance.
var holdsLongNumbers = map[string]bool{"booking_auth": true, "hash": true, "hashes": true, "uuid": true}

// holdsCardNumber says whether a text contains a card number. A token does only when all of it is a card number. key is the name
// of the field.
func holdsCardNumber(key, text string) bool {
	switch {
	case holdsLongNumbers[key]:
		return false
	case key == "token":
		return card.IsCardNumber(text)
	default:
		return card.HoldsCardNumber(text)
	}
}

// ErrCardNumber is the error about a field that contains a card number. The number must not appear in the answer or in the log.
func ErrCardNumber(field string) error {
	return &errs.Error{
		Kind:    errs.CardNumber,
		Message: "The request contains a card number. It was neither stored nor logged.",
		Params:  map[string]string{field: "This field contains a card number."},
	}
}
