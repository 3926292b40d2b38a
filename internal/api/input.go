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
)

// input is the JSON object of a body. Each method reads one field. It returns nil if the field is absent or null. If
// the field has the wrong type, it also notes a problem under the name of the field. Unknown fields are ignored.
type input struct {
	fields   map[string]any // see valueOf
	problems *fault.Problems
	item     string // of an item of a list in the body: its name with a dot, such as "bookings[0]."
}

func (in *input) wrong(name, format string, args ...any) {
	in.problems.Wrong(in.item+name, format, args...)
}

// need notes required fields of an item that are absent. (The rooms check the required fields of a body.)
func (in *input) need(names ...string) {
	for _, name := range names {
		if in.fields[name] == nil {
			in.problems.Missing(in.item + name)
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
	items := read(in, name, func(value any) (items []any, problem string) {
		switch v := value.(type) {
		case raw:
			if v[0] == '[' {
				return itemsOf(v, maxItems), ""
			}
		case string:
			for part := range strings.SplitSeq(v, ",") {
				if part = strings.TrimSpace(part); part != "" && len(items) <= maxItems {
					items = append(items, part)
				}
			}
			return items, ""
		}
		return nil, "A list of whole numbers is expected."
	})
	return readItems(in, name, items, parseInteger)
}

// maxItems is how many items of a list are read. Each field has its own limit, none above this one.
const maxItems = 1000

// readItems reads each item of a list. It notes all wrong items, and returns nil if there is one or the list is absent.
func readItems[T any](in *input, name string, items *[]any, parse func(value any) (T, string)) *[]T {
	if items == nil {
		return nil
	}
	if len(*items) > maxItems {
		in.wrong(name, "At most %d items are allowed.", maxItems)
		return nil
	}
	values, right := make([]T, len(*items)), true
	for i, item := range *items {
		var problem string
		if values[i], problem = parse(item); problem != "" {
			in.wrong(fault.Item(name, i, ""), "%s", problem)
			right = false
		}
	}
	if !right {
		return nil
	}
	return &values
}

// texts reads a list of texts.
func (in *input) texts(name string) *[]string {
	return readItems(in, name, in.list(name, "A list of texts is expected."), parseText)
}

// list reads a list of anything. expected is what a caller reads who gives something else.
func (in *input) list(name, expected string) *[]any {
	return read(in, name, func(value any) ([]any, string) {
		text, ok := value.(raw)
		if !ok || text[0] != '[' {
			return nil, expected
		}
		return itemsOf(text, maxItems), ""
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
	objects := readItems(in, name, in.list(name, "A list of objects is expected."), func(value any) (raw, string) {
		text, ok := value.(raw)
		if !ok || text[0] != '{' {
			return nil, "An object is expected."
		}
		return text, ""
	})
	if objects == nil {
		return nil
	}
	items := make([]*input, len(*objects))
	for i, text := range *objects {
		item := fault.Item(name, i, "")
		fields, err := fieldsOf(text, in.item+item+".", in.problems)
		if err != nil {
			in.wrong(item, "%s", err.Error())
		}
		items[i] = &input{fields: fields, problems: in.problems, item: in.item + item + "."}
	}
	return &items
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
