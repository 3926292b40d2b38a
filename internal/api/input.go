package api

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// input is the JSON object of a body. Each method reads one field. It returns nil if the field is absent or null. If
// the field has the wrong type, it also notes a problem under the name of the field. Unknown fields are ignored.
type input struct {
	fields      map[string]any
	raw         []byte // of the whole body
	idempotency travel.IdempotencyKey
	problems    *fault.Problems
	// For an item of a list in the body: the name of the list, and the place of the item from 1. Its problems are
	// noted under the name of the list.
	list  string
	place int
}

func (in *input) wrong(name, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if in.list != "" {
		in.problems.Wrong(in.list, "Item %d, %s: %s", in.place, name, message)
		return
	}
	in.problems.Wrong(name, "%s", message)
}

// need notes required fields of an item that are absent. (The rooms check the required fields of a body.)
func (in *input) need(names ...string) {
	for _, name := range names {
		if in.fields[name] == nil {
			in.wrong(name, "This field is missing.")
		}
	}
}

// read reads one field. parse returns its value, or a sentence that says what is expected.
func read[T any](in *input, name string, parse func(value any) (T, string)) *T {
	value := in.fields[name]
	if value == nil {
		return nil
	}
	result, problem := parse(value)
	if problem != "" {
		in.wrong(name, "%s", problem)
		return nil
	}
	return &result
}

func (in *input) text(name string) *string { return read(in, name, parseText) }

// textOr reads a text. If the field is absent, the text is empty.
func (in *input) textOr(name string) string {
	if text := in.text(name); text != nil {
		return *text
	}
	return ""
}

// word reads a text that has a type of its own. The rooms check which values are allowed.
func word[T ~string](in *input, name string) *T {
	return read(in, name, func(value any) (T, string) {
		text, problem := parseText(value)
		return T(text), problem
	})
}

// integer reads a whole number, also one written as a string of digits.
func (in *input) integer(name string) *int64 { return read(in, name, parseInteger) }

// integers reads a list of whole numbers, also one written as a text with commas.
func (in *input) integers(name string) *[]int64 {
	return read(in, name, func(value any) ([]int64, string) {
		var items []any
		switch v := value.(type) {
		case []any:
			items = v
		case string:
			for part := range strings.SplitSeq(v, ",") {
				if part = strings.TrimSpace(part); part != "" {
					items = append(items, part)
				}
			}
		default:
			return nil, "A list of whole numbers is expected."
		}
		numbers := make([]int64, len(items))
		for i, item := range items {
			var problem string
			if numbers[i], problem = parseInteger(item); problem != "" {
				return nil, fmt.Sprintf("Item %d: %s", i+1, problem)
			}
		}
		return numbers, ""
	})
}

// texts reads a list of texts.
func (in *input) texts(name string) *[]string {
	return read(in, name, func(value any) ([]string, string) {
		items, ok := value.([]any)
		if !ok {
			return nil, "A list of texts is expected."
		}
		texts := make([]string, len(items))
		for i, item := range items {
			if texts[i], ok = item.(string); !ok {
				return nil, fmt.Sprintf("Item %d is not a text.", i+1)
			}
		}
		return texts, ""
	})
}

// boolean reads true or false, also as 1 or 0, and as texts: clients written for WordPress send these.
func (in *input) boolean(name string) *bool {
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
		return false, "True or false is expected."
	})
}

var booleans = map[string]bool{"true": true, "false": false, "1": true, "0": false}

// day reads a day written as YYYY-MM-DD.
func (in *input) day(name string) *civil.Day { return read(in, name, parseDay) }

// dayOrNone reads a day that can be removed: null and the empty text give civil.NoDay.
func (in *input) dayOrNone(name string) *civil.Day {
	value, given := in.fields[name]
	if given && (value == nil || value == "") {
		none := civil.NoDay
		return &none
	}
	return in.day(name)
}

// instant reads an instant written as YYYY-MM-DD HH:MM:SS in GMT.
func (in *input) instant(name string) *time.Time {
	return read(in, name, func(value any) (time.Time, string) {
		text, _ := value.(string)
		at, err := civil.ParseInstant(text)
		if err != nil {
			return at, fmt.Sprintf("A time as YYYY-MM-DD HH:MM:SS is expected, from %s to %s.", civil.FirstDay, civil.LastDay)
		}
		return at, ""
	})
}

func (in *input) currency(name string) *money.Currency {
	return read(in, name, func(value any) (money.Currency, string) {
		text, _ := value.(string)
		c, err := money.ParseCurrency(text)
		if err != nil {
			return c, "This is not an ISO 4217 currency code."
		}
		return c, ""
	})
}

// items reads a list of objects. It returns nil if the list is absent or wrong.
func (in *input) items(name string) *[]*input {
	return read(in, name, func(value any) ([]*input, string) {
		values, ok := value.([]any)
		if !ok {
			return nil, "A list of objects is expected."
		}
		items := make([]*input, len(values))
		for i, v := range values {
			fields, ok := v.(map[string]any)
			if !ok {
				return nil, fmt.Sprintf("Item %d is not an object.", i+1)
			}
			items[i] = &input{fields: fields, problems: in.problems, list: name, place: i + 1}
		}
		return items, ""
	})
}

func parseText(value any) (string, string) {
	text, ok := value.(string)
	switch {
	case !ok:
		return "", "A text is expected."
	case !storable(text):
		return "", "Control characters are not allowed."
	}
	return text, ""
}

// parseInteger reads digits and a minus sign, and nothing else. It refuses 1.0 and 1e3, because a client that writes
// amounts so may lose cents.
func parseInteger(value any) (int64, string) {
	var text string
	switch v := value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = v
	}
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, "A whole number is expected, as digits only."
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, "This number is too large."
	}
	return n, ""
}

func parseDay(value any) (civil.Day, string) {
	text, _ := value.(string)
	day, err := civil.ParseDay(text)
	if err != nil {
		return day, fmt.Sprintf("A date as YYYY-MM-DD is expected, from %s to %s.", civil.FirstDay, civil.LastDay)
	}
	return day, ""
}
