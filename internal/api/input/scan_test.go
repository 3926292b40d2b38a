package input

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"holdfast/internal/errs"
)

// hostile are bodies of nearly the maximum size that take more memory than their size if they are built.
func hostile() map[string]string {
	fill := func(head, piece, tail string) string {
		return head + strings.Repeat(piece, (MaxBody-len(head)-len(tail))/len(piece)) + tail
	}
	var fields strings.Builder
	for i := 0; fields.Len() < MaxBody-100; i++ {
		fmt.Fprintf(&fields, `"f%d":0,`, i)
	}
	return map[string]string{
		"numbers":             fill(`{"x":[`, "0,", "0]}"),
		"texts":               fill(`{"x":[`, `"",`, "0]}"),
		"objects":             fill(`{"x":[`, "{},", "0]}"),
		"lists":               fill(`{"x":[`, "[],", "0]}"),
		"fields":              "{" + fields.String() + `"x":0}`,
		"fields of an object": `{"x":{` + fields.String() + `"x":0}}`,
		"one field":           fill("{", `"x":0,`, `"x":0}`),
		"depth":               fill("", `{"x":`, ""),
		"brackets":            fill(`{"x":`, "[", ""),
		"a known list":        fill(`{"suppliers":[`, "1,", "1]}"),
		"a list in a text":    fill(`{"suppliers":"`, "1,", `1"}`),
	}
}

// TestAHostileBodyIsNotBuilt repeats an attack: forty bodies with half a million zeros took 1.5 GB.
func TestAHostileBodyIsNotBuilt(t *testing.T) {
	for name, text := range hostile() {
		body := []byte(text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		fields, err := decodeObject(body, &errs.Problems{})
		if err == nil {
			in := &Input{Fields: fields, Problems: &errs.Problems{}}
			in.Integers("suppliers")
			in.Text("x")
			in.Items("x")
			if in.Problems.Err() == nil {
				t.Errorf("%s: nothing is wrong", name)
			}
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 6<<20 {
			t.Errorf("%s: a body of %d bytes takes %d bytes", name, len(body), took)
		}
	}
}

// Unused values take no memory, however large they are.
func TestWhatIsUnknownIsNotBuilt(t *testing.T) {
	body := []byte(`{"x": [` + strings.Repeat(`{"a": [0, true, "b"]},`, 3000) + `0], "total": 7}`)
	took := testing.AllocsPerRun(5, func() {
		if _, err := decodeObject(body, &errs.Problems{}); err != nil {
			t.Fatal(err)
		}
	})
	if took > 30 {
		t.Errorf("it takes %.0f allocations", took)
	}
}

func TestBoundsOfABody(t *testing.T) {
	list := func(n int) string { return `{"x":[` + strings.Repeat("0,", n-3) + "0]}" } // the body, the list, the last
	nested := func(n int) string { return `{"x":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}" }
	object := func(n int) string {
		var b strings.Builder
		for i := range n - 1 {
			fmt.Fprintf(&b, `"f%d":[],`, i)
		}
		return "{" + b.String() + `"x":0}`
	}
	for name, c := range map[string]struct {
		body string
		want errs.Kind
	}{
		"the most values":                      {list(maxValues), errs.Internal},
		"a value too many":                     {list(maxValues + 1), errs.BodyTooLarge},
		"the deepest":                          {nested(maxDepth), errs.Internal},
		"too deep":                             {nested(maxDepth + 1), errs.BadJSON},
		"the most fields":                      {object(maxFields), errs.Internal},
		"a field too many":                     {object(maxFields + 1), errs.BodyTooLarge},
		"a text with signs":                    {`{"x":"` + strings.Repeat("[{,", maxValues) + `\"[{"}`, errs.Internal},
		"a value too many, in a list of lists": {`{"x":[` + strings.Repeat("[0],", maxValues/2) + "0]}", errs.BodyTooLarge},
	} {
		if _, err := decodeObject([]byte(c.body), &errs.Problems{}); errs.KindOf(err) != c.want || (err == nil) != (c.want == errs.Internal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnItemWithTooManyFieldsIsNamed(t *testing.T) {
	var b strings.Builder
	for i := range maxFields {
		fmt.Fprintf(&b, `"f%d":0,`, i)
	}
	in := inputOf(t, `{"bookings": [{}, {`+b.String()+`"x": 0}]}`)
	if items := in.Items("bookings"); items == nil || !in.Problems.Has("bookings[1]") || in.Problems.Has("bookings[0]") {
		t.Errorf("%v", in.Problems.Err())
	}
}

func TestAFieldOfAnItemThatIsGivenTwice(t *testing.T) {
	in := inputOf(t, `{"bookings": [{"id": 1}, {"id": 1, "id": 2}], "unknown": {"id": 1, "id": 2}}`)
	in.Items("bookings")
	if found := problemsOf(t, in.Problems); len(found) != 1 || found["bookings[1].id"] == "" {
		t.Errorf("%v", found)
	}
}
