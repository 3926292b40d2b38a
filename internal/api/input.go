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

// input is the object of a body. Its methods read one field each: nil where the field is absent or null, nil and a
// problem under the field's name where it has the wrong type. Fields that nobody reads are ignored.
type input struct {
	fields   map[string]any
	raw      []byte // of the whole body
	once     travel.Once
	problems *fault.Problems
	// Of an item of a list inside the body: its problems are the list's, and begin with its place in it.
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

// need notes required fields of an item that are absent; those of a body are the noun's to know.
func (in *input) need(names ...string) {
	for _, name := range names {
		if in.fields[name] == nil {
			in.wrong(name, "This field is missing.")
		}
	}
}

// read reads one field by parse, which gives the value, or a sentence that says what was expected instead.
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

// textOr is for fields whose absence means the same as an empty text.
func (in *input) textOr(name string) string {
	if text := in.text(name); text != nil {
		return *text
	}
	return ""
}

// word reads a text that is one of a list; which ones are allowed is the noun's to know.
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

// boolean reads true or false, also written as in WordPress.
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

// day reads a day of the form Y-m-d.
func (in *input) day(name string) *civil.Day { return read(in, name, parseDay) }

// dayOrNone reads a day that can be taken away by null or an empty text, which are civil.NoDay.
func (in *input) dayOrNone(name string) *civil.Day {
	value, given := in.fields[name]
	if given && (value == nil || value == "") {
		none := civil.NoDay
		return &none
	}
	return in.day(name)
}

// instant reads an instant of the form Y-m-d H:i:s in GMT.
func (in *input) instant(name string) *time.Time {
	return read(in, name, func(value any) (time.Time, string) {
		text, _ := value.(string)
		at, err := civil.ParseInstant(text)
		if err != nil {
			return at, fmt.Sprintf("A time of the form Y-m-d H:i:s, between %s and %s, is expected.", civil.FirstDay, civil.LastDay)
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

// items reads a list of objects; nil where it is absent or wrong.
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

// parseInteger reads digits and nothing else: 1.0 and 1e3 are whole numbers to some, and a lost cent to others.
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
		return day, fmt.Sprintf("A date of the form Y-m-d, between %s and %s, is expected.", civil.FirstDay, civil.LastDay)
	}
	return day, ""
}
