package api

import (
	"net/http/httptest"
	"testing"
)

func TestOnlyTheWantedFields(t *testing.T) {
	t.Parallel()
	const object = `{"id":1,"status":"paid","nested":{"a":1,"b":[{"c":2,"d":"x,\"}"}]},"list":[1,2]}`
	for query, want := range map[string]string{
		"":                                  object,
		"_fields=":                          object,
		"_fields=status,id":                 `{"id":1,"status":"paid"}`,
		"_fields[]=id&_fields[]=list":       `{"id":1,"list":[1,2]}`,
		"_fields=nested":                    `{"nested":{"a":1,"b":[{"c":2,"d":"x,\"}"}]}}`,
		"_fields=nested.b.d,nested.nothing": `{"nested":{"b":[{"d":"x,\"}"}]}}`,
		"_fields=nested.a,nested":           `{"nested":{"a":1,"b":[{"c":2,"d":"x,\"}"}]}}`,
		"_fields=nested,nested.a":           `{"nested":{"a":1,"b":[{"c":2,"d":"x,\"}"}]}}`,
		"_fields=nothing":                   `{}`,
	} {
		c := &call{r: httptest.NewRequestWithContext(t.Context(), "GET", "/?"+query, nil)}
		for before, after := range map[string]string{object: want, "[" + object + "," + object + "]": "[" + want + "," + want + "]", "[]": "[]"} {
			got, err := c.wantedFields().narrow([]byte(before))
			if err != nil || string(got) != after+"\n" {
				t.Errorf("%s of %s: %s, %v; want %s", query, before, got, err, after)
			}
		}
	}
}
