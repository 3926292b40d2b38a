package input

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
)

func inputOf(t *testing.T, body string) *Input {
	t.Helper()
	in := &Input{Problems: &errs.Problems{}}
	var err error
	if in.Fields, err = decodeObject([]byte(body), in.Problems); err != nil {
		t.Fatal(err)
	}
	return in
}

// problemsOf are the invalid fields with their messages.
func problemsOf(t *testing.T, p *errs.Problems) map[string]string {
	t.Helper()
	err := p.Err()
	if err == nil {
		return map[string]string{}
	}
	f, ok := err.(*errs.Error)
	if !ok || f.Kind != errs.Invalid {
		t.Fatalf("%v is no fault about fields", err)
	}
	return f.Params
}

func TestFieldsAreRead(t *testing.T) {
	in := inputOf(t, `{"text": "Zoë", "null": null, "digits": "73", "number": -9007199254740993, "true": "TRUE", "one": 1, "no": false,
		"ids": [1, "2"], "csv": "3, 4,", "texts": ["a"], "day": "2026-02-28", "at": "2026-03-02 10:20:30", "money": "JPY",
		"items": [{"id": "1"}, {}], "gone": null, "empty": ""}`)
	for name, c := range map[string]struct{ got, want any }{
		"text":           {*in.Text("text"), "Zoë"},
		"null":           {in.Text("null"), (*string)(nil)},
		"absent":         {in.Integer("absent"), (*int64)(nil)},
		"absent text":    {in.TextOr("absent"), ""},
		"digits":         {*in.Integer("digits"), int64(73)},
		"beyond 2^53":    {*in.Integer("number"), int64(-9007199254740993)},
		"true":           {*in.Boolean("true"), true},
		"one":            {*in.Boolean("one"), true},
		"no":             {*in.Boolean("no"), false},
		"ids":            {*in.Integers("ids"), []int64{1, 2}},
		"csv":            {*in.Integers("csv"), []int64{3, 4}},
		"texts":          {*in.Texts("texts"), []string{"a"}},
		"day":            {in.Day("day").String(), "2026-02-28"},
		"at":             {civil.FormatInstant(*in.Instant("at")), "2026-03-02 10:20:30"},
		"money":          {string(*in.Currency("money")), "JPY"},
		"items":          {len(*in.Items("items")), 2},
		"a day by null":  {*in.DayOrNone("gone"), civil.NoDay},
		"a day by \"\"":  {*in.DayOrNone("empty"), civil.NoDay},
		"a day that is":  {in.DayOrNone("day").String(), "2026-02-28"},
		"no day at all":  {in.DayOrNone("absent"), (*civil.Day)(nil)},
		"a typed word":   {*Word[merchant.AccountMode](in, "text"), merchant.AccountMode("Zoë")},
		"an item's text": {(*in.Items("items"))[0].TextOr("id"), "1"},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: read %v, want %v", name, c.got, c.want)
		}
	}
	if found := problemsOf(t, in.Problems); len(found) != 0 {
		t.Errorf("problems %v", found)
	}
}

func TestWrongTypesAreAllNoted(t *testing.T) {
	in := inputOf(t, `{"text": 1, "float": 1.5, "exponent": 1e-3, "words": "1e3", "huge": 9223372036854775808, "blank": "", "bool": 2,
		"ids": [1, "x"], "idsobject": {}, "texts": {"a": 1}, "texts2": [1], "day": 20260228, "at": "2026-03-02", "money": "eur",
		"items": 1, "items2": [1], "items3": [{"id": "x"}, {"id": 1, "total": 1.5}]}`)
	in.Text("text")
	for _, name := range []string{"float", "exponent", "words", "huge", "blank"} {
		in.Integer(name)
	}
	in.Boolean("bool")
	in.Integers("ids")
	in.Integers("idsobject")
	in.Texts("texts")
	in.Texts("texts2")
	in.Day("day")
	in.Instant("at")
	in.Currency("money")
	in.Items("items")
	in.Items("items2")
	for _, item := range *in.Items("items3") {
		item.need("id", "total")
		item.Integer("id")
		item.Integer("total")
	}
	for name, field := range map[string]string{
		"ids": "ids", "texts2": "texts2", "items": "items[0]", "items2": "items2[0]", "items3": "items3[1].total",
	} {
		if !in.Problems.Has(field) || !in.Problems.Has(name) {
			t.Errorf("nothing is noted about %s", field)
		}
		delete(in.Fields, name)
	}
	found := problemsOf(t, in.Problems)
	for name := range in.Fields {
		if found[name] == "" {
			t.Errorf("nothing is noted about %s", name)
		}
	}
	// Each item is a separate field, and its missing fields are named too.
	for field, want := range map[string]string{"items3[0].id": "Must be a whole number", "items3[0].total": "required", "items3[1].total": "Must be a whole number"} {
		if !strings.Contains(found[field], want) {
			t.Errorf("about %s: %q, want %q", field, found[field], want)
		}
	}
}

func TestCardNumbersAreRefusedWhereverTheyAre(t *testing.T) {
	const pan = "4111 1111 1111 1111"
	for body, field := range map[string]string{
		`{"content": "` + pan + `"}`:                                   "content",
		`{"content": "Paid by ` + pan + `, thanks"}`:                   "content",
		`{"a": {"b": [{"c": ["x", "` + pan + `"]}]}}`:                  "a.b[0].c[1]",
		`{"a": "` + pan + `", "a": "harmless"}`:                        "a",
		`{"` + pan + `": 1}`:                                           "body",
		`{"a": {"` + pan + `": 1}}`:                                    "a",
		`{"token": "4111111111111111"}`:                                "token",
		`{"content": "\u0034111-1111-1111-1111"}`:                      "content",
		`{"bookings": [{"reference": "` + pan + `"}]}`:                 "bookings[0].reference",
		`{"hash": {"deeper": "` + pan + `"}}`:                          "hash.deeper",
		`{"total": "4111111111111111"}`:                                "total",
		`{"booking_auth": "4111111111111111", "email": "` + pan + `"}`: "email",
	} {
		_, err := decodeObject([]byte(body), &errs.Problems{})
		f, ok := err.(*errs.Error)
		if !ok || f.Kind != errs.CardNumber || f.Params[field] == "" {
			t.Errorf("%s: %v, want a card number in %s", body, err, field)
			continue
		}
		if message := f.Error() + strings.Join(keysOf(f.Params), ""); strings.Contains(message, "1111") {
			t.Errorf("%s: the number is repeated: %s", body, message)
		}
	}
	for _, body := range []string{
		`{"booking_auth": "` + pan + `", "hash": "4111111111111111", "uuid": "` + pan + `"}`,
		`{"token": "tok_4111111111111111"}`,
		`{"content": "4111 1111 1111 1112"}`,
	} {
		if _, err := decodeObject([]byte(body), &errs.Problems{}); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func keysOf(params map[string]string) []string {
	var keys []string
	for key := range params {
		keys = append(keys, key)
	}
	return keys
}

// built builds a value with everything inside it.
func built(t *testing.T, value any, p *errs.Problems) any {
	t.Helper()
	text, ok := value.(Raw)
	if fields, isObject := value.(map[string]any); isObject || ok && text[0] == '{' {
		if ok {
			var err error
			if fields, err = fieldsOf(text, "", p); err != nil {
				t.Fatal(err)
			}
		}
		for name, inside := range fields {
			fields[name] = built(t, inside, p)
		}
		return fields
	}
	if !ok {
		return value
	}
	items := itemsOf(text, maxValues)
	for i, inside := range items {
		items[i] = built(t, inside, p)
	}
	return items
}

// FuzzReadInput compares the decoder with encoding/json: it accepts the same objects, and reads the same values.
func FuzzReadInput(f *testing.F) {
	for _, seed := range []string{
		`{}`, ``, ` { "a" : [ 1 , -2.5e3, "x", null, true, {"b": []} ] } `, `{"a":1,"a":2}`, `[]`, `"x"`, `{"a":`, `{"a":1}{}`,
		`{"a":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}`, `{"ä":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, "{\"a\":\"\xff\"}", `{"a":01}`, `{"a":1,}`,
		`{"content":"4111 1111 1111 1111"}`, "\v{}", "{}\u00a0", "{\"a\" : [ ] , \"b\"\t:\n{ } }", `{"a":"]}\",[{","b":[",",":",{"\\":"\\\""}]}`,
		`{"a":"`, `{"a":"\`, `{"a":1 , "b":true , "c":[null ,-0.1E+7 ,"\u00e9"]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		problems := &errs.Problems{}
		got, err := decodeObject(raw, problems)
		var want map[string]any
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.UseNumber()
		wantErr := d.Decode(&want)
		if err != nil {
			if kind := errs.KindOf(err); kind != errs.BadJSON && kind != errs.CardNumber && kind != errs.BodyTooLarge {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if strings.Trim(string(raw), " \t\r\n") == "" {
			return
		}
		if wantErr != nil {
			t.Fatalf("%q was read as %v, but is no JSON: %v", raw, got, wantErr)
		}
		// encoding/json merges duplicate fields of duplicate objects.
		if read := built(t, got, problems); problems.Err() == nil && !reflect.DeepEqual(read, any(want)) {
			t.Fatalf("%q was read as %v, want %v", raw, read, want)
		}
	})
}

func TestIntegersAreReadByTheirValue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		`1000.0`: 1000, `1e5`: 100_000, `-2.50e1`: -25, `"73"`: 73, `0`: 0, `-0.0`: 0, `9223372036854775807`: math.MaxInt64, `92233720368547758.07E2`: math.MaxInt64,
	} {
		in := inputOf(t, `{"n": `+text+`}`)
		if got := in.Integer("n"); got == nil || *got != want || in.Problems.Err() != nil {
			t.Errorf("%s is read as %v, want %d", text, got, want)
		}
	}
	for _, text := range []string{`1.5`, `1e-1`, `1e999999999`, `1e19`, `"1e5"`, `"1000.0"`, `true`, `""`} {
		in := inputOf(t, `{"n": `+text+`}`)
		if got := in.Integer("n"); got != nil || !in.Problems.Has("n") {
			t.Errorf("%s is read as %d", text, *got)
		}
	}
}

// TestOneValueIsAList: a field that takes several values takes one without brackets.
func TestOneValueIsAList(t *testing.T) {
	t.Parallel()
	in := inputOf(t, `{"ids": 3, "texts": "https://shop.example", "bookings": {"id": 7}}`)
	ids, texts, items := in.Integers("ids"), in.Texts("texts"), in.Items("bookings")
	if err := in.Problems.Err(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(*ids, []int64{3}) || !slices.Equal(*texts, []string{"https://shop.example"}) || len(*items) != 1 || *(*items)[0].Integer("id") != 7 {
		t.Errorf("%v, %v, %v", *ids, *texts, *items)
	}
}

func TestHalfOfASurrogatePairIsNoText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`"\ud83d\ude00"`: true, `"\uD83D\uDE00 \\ud83d"`: true, `"é"`: true, `"\\\u00e9"`: true,
		`"\ud83d"`: false, `"\ude00"`: false, `"\ud83dx"`: false, `"\ude00\ud83d"`: false, `"\ud83d\ud83d\ude00"`: false,
	} {
		if _, err := ReadInput([]byte(`{"a": ` + text + `}`)); (err == nil) != want || !want && !errs.Is(err, errs.BadJSON) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestNumbersHoldNoCardNumbers: a card number without quotation marks is also found.
func TestNumbersHoldNoCardNumbers(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"content": 4111111111111111}`: true, `{"bookings": [{"id": 1}, {"total": 378282246310005}]}`: true,
		`{"content": 4111111111111112}`: false, `{"lat": 51.4111111111111111}`: false, `{"total": 1000000000000000}`: false, `{"hash": 4111111111111111}`: false,
	} {
		if _, err := ReadInput([]byte(body)); errs.Is(err, errs.CardNumber) != want {
			t.Errorf("%s: %v", body, err)
		}
	}
}
