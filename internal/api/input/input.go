// Package input reads requests: bodies, query parameters and their fields, by their names on the wire. It collects
// all problems of single fields. Start at ReadInput and ReadQuery.
package input

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

// Input is the JSON object of a body. Each method reads one field. It returns nil if the field is absent or null. If
// the field has the wrong type, it also notes a problem under the name of the field. Unknown fields are ignored.
type Input struct {
	Fields   map[string]any // see valueOf
	Problems *errs.Problems
	item     string // of an item of a list in the body: its name with a dot, such as "bookings[0]."
}

// ReadInput reads a JSON object. An empty text counts as an empty object. Problems of single fields are noted in the input, and are reported
// together later. Errors: BodyTooLarge, BadJSON and CardNumber.
func ReadInput(text []byte) (*Input, error) {
	in := &Input{Problems: &errs.Problems{}}
	var err error
	if in.Fields, err = decodeObject(text, in.Problems); err != nil {
		return nil, err
	}
	return in, nil
}

// Wrong notes a problem with a field.
func (in *Input) Wrong(name, format string, args ...any) {
	in.Problems.Wrong(in.item+name, format, args...)
}

// need notes required fields of an item that are absent. (The rooms check the required fields of a body.)
func (in *Input) need(names ...string) {
	for _, name := range names {
		if in.Fields[name] == nil {
			in.Problems.Missing(in.item + name)
		}
	}
}

// read reads one field. parse returns its value, or a sentence that says what it must be.
func read[T any](in *Input, name string, parse func(value any) (T, string)) *T {
	value := in.Fields[name]
	if value == nil {
		return nil
	}
	result, problem := parse(value)
	if problem != "" {
		in.Wrong(name, "%s", problem)
		return nil
	}
	return &result
}

// Text reads a text.
func (in *Input) Text(name string) *string { return read(in, name, parseText) }

// TextOr reads a text. If the field is absent, the text is empty.
func (in *Input) TextOr(name string) string {
	if text := in.Text(name); text != nil {
		return *text
	}
	return ""
}

// Word reads a text that has a type of its own. The rooms check which values are allowed.
func Word[T ~string](in *Input, name string) *T {
	return read(in, name, func(value any) (T, string) {
		text, problem := parseText(value)
		return T(text), problem
	})
}

// Integer reads a whole number, also one written as a string of digits.
func (in *Input) Integer(name string) *int64 { return read(in, name, parseInteger) }

// Integers reads a list of whole numbers, also one written as a text with commas.
func (in *Input) Integers(name string) *[]int64 {
	items := read(in, name, func(value any) (items []any, problem string) {
		switch v := value.(type) {
		case Raw:
			if v[0] == '[' {
				return itemsOf(v, maxItems), ""
			}
		case json.Number:
			return []any{v}, ""
		case string:
			for part := range strings.SplitSeq(v, ",") {
				if part = strings.TrimSpace(part); part != "" && len(items) <= maxItems {
					items = append(items, part)
				}
			}
			return items, ""
		}
		return nil, "Must be a list of whole numbers."
	})
	return readItems(in, name, items, parseInteger, func(int) string { return name })
}

// maxItems is how many items of a list are read. Each field has its own limit, none above this one.
const maxItems = 1000

// readItems reads each item of a list. It notes all wrong items, and returns nil if there is one or the list is absent.
// field names an item in messages.
func readItems[T any](in *Input, name string, items *[]any, parse func(value any) (T, string), field func(i int) string) *[]T {
	if items == nil {
		return nil
	}
	if len(*items) > maxItems {
		in.Wrong(name, "At most %d items are allowed.", maxItems)
		return nil
	}
	values, right := make([]T, len(*items)), true
	for i, item := range *items {
		var problem string
		if values[i], problem = parse(item); problem != "" {
			in.Wrong(field(i), "%s", problem)
			right = false
		}
	}
	if !right {
		return nil
	}
	return &values
}

// Texts reads a list of texts.
func (in *Input) Texts(name string) *[]string {
	return readItems(in, name, in.list(name), parseText, func(int) string { return name })
}

// list reads a list of anything, or one value.
func (in *Input) list(name string) *[]any {
	return read(in, name, func(value any) ([]any, string) {
		text, ok := value.(Raw)
		if !ok || text[0] != '[' {
			return []any{value}, "" // a field that takes several takes one without brackets
		}
		return itemsOf(text, maxItems), ""
	})
}

// Boolean reads true or false, also as 1 or 0, and as texts: clients written for WordPress send these.
func (in *Input) Boolean(name string) *bool {
	return read(in, name, func(value any) (bool, string) {
		switch v := value.(type) {
		case bool:
			return v, ""
		case json.Number:
			if b, ok := booleans[v.String()]; ok {
				return b, ""
			}
		case string:
			if b, ok := booleans[strings.ToLower(v)]; ok {
				return b, ""
			}
		}
		return false, "Must be true or false."
	})
}

var booleans = map[string]bool{"true": true, "false": false, "1": true, "0": false}

// Day reads a day written as YYYY-MM-DD.
func (in *Input) Day(name string) *civil.Day { return read(in, name, parseDay) }

// DayOrNone reads a day that can be removed: null and the empty text give civil.NoDay.
func (in *Input) DayOrNone(name string) *civil.Day {
	value, given := in.Fields[name]
	if given && (value == nil || value == "") {
		none := civil.NoDay
		return &none
	}
	return in.Day(name)
}

// Instant reads an instant written as YYYY-MM-DD HH:MM:SS in GMT.
func (in *Input) Instant(name string) *time.Time {
	return read(in, name, func(value any) (time.Time, string) {
		text, _ := value.(string)
		at, err := civil.ParseInstant(text)
		if err != nil {
			return at, fmt.Sprintf("Must be a time as YYYY-MM-DD HH:MM:SS, from %s to %s.", civil.FirstDay, civil.LastDay)
		}
		return at, ""
	})
}

// Currency reads a currency code.
func (in *Input) Currency(name string) *money.Currency {
	return read(in, name, func(value any) (money.Currency, string) {
		text, _ := value.(string)
		c, err := money.ParseCurrency(text)
		if err != nil {
			return c, "Must be an ISO 4217 currency code."
		}
		return c, ""
	})
}

// Objects returns the objects of a list that can be read, or of a field that is one, without noting problems.
func (in *Input) Objects(name string) (objects []*Input) {
	text, ok := in.Fields[name].(Raw)
	if !ok {
		return nil
	}
	items := []any{text}
	if text[0] == '[' {
		items = itemsOf(text, maxItems)
	}
	for _, item := range items {
		var ignored errs.Problems
		text, ok := item.(Raw)
		if !ok || text[0] != '{' {
			continue
		}
		if fields, err := fieldsOf(text, "", &ignored); err == nil {
			objects = append(objects, &Input{Fields: fields, Problems: &ignored})
		}
	}
	return objects
}

// Items reads a list of objects. It returns nil if the list is absent or wrong.
func (in *Input) Items(name string) *[]*Input {
	objects := readItems(in, name, in.list(name), func(value any) (Raw, string) {
		text, ok := value.(Raw)
		if !ok || text[0] != '{' {
			return nil, "Must be an object."
		}
		return text, ""
	}, func(i int) string { return errs.Item(name, i, "") })
	if objects == nil {
		return nil
	}
	items := make([]*Input, len(*objects))
	for i, text := range *objects {
		item := errs.Item(name, i, "")
		fields, err := fieldsOf(text, in.item+item+".", in.Problems)
		if err != nil {
			in.Wrong(item, "%s", err.Error())
		}
		items[i] = &Input{Fields: fields, Problems: in.Problems, item: in.item + item + "."}
	}
	return &items
}

func parseText(value any) (string, string) {
	text, ok := value.(string)
	switch {
	case !ok:
		return "", "Must be a string."
	case !Storable(text):
		return "", "Control characters are not allowed."
	}
	return text, ""
}

// parseInteger reads digits and a minus sign, or a JSON number whose value is an integer, such as 1000.0 or 1e5.
func parseInteger(value any) (int64, string) {
	var text string
	switch v := value.(type) {
	case json.Number:
		text = wholeNumber(v.String())
	case string:
		text = v
	}
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, "Must be a whole number, digits only."
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, "This number is too large."
	}
	return n, ""
}

// wholeNumber writes a JSON number without a fraction or an exponent if its value is an integer of at most 20 digits. It
// leaves any other text as it is.
func wholeNumber(text string) string {
	const longest = 64 // characters, so that no exponent makes a number that takes long to write
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if !strings.ContainsAny(text, ".eE") || len(text) > longest {
		return text
	}
	if power, err := strconv.Atoi(cmp.Or(exponent, "0")); err != nil || power > longest || power < -longest {
		return text
	}
	number, ok := new(big.Rat).SetString(mantissa + "e" + cmp.Or(exponent, "0"))
	if !ok || !number.IsInt() {
		return text
	}
	return number.Num().String()
}

func parseDay(value any) (civil.Day, string) {
	text, _ := value.(string)
	day, err := civil.ParseDay(text)
	if err != nil {
		return day, fmt.Sprintf("Must be a date as YYYY-MM-DD, from %s to %s.", civil.FirstDay, civil.LastDay)
	}
	return day, ""
}
