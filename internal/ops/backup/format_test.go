package backup

import (
	"reflect"
	"testing"

	"holdfast/internal/store/catalog"

	"pgregory.net/rapid"
)

func column(name string, kind catalog.Kind) catalog.Column {
	return catalog.Column{Name: name, Kind: kind}
}

// TestARowComesBackAsItWas: whatever a column holds, including invalid text.
func TestARowComesBackAsItWas(t *testing.T) {
	t.Parallel()
	columns := []catalog.Column{
		column("a", catalog.Text), column("b", catalog.Whole), column("c", catalog.Truth), column("d", catalog.Bytes), column("e", catalog.Text),
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.StringMatching(`[\[\]{},"\\\n\x00a]*`))
		row := []any{
			text.Draw(t, "a"), rapid.Int64().Draw(t, "b"), rapid.Bool().Draw(t, "c"), rapid.SliceOf(rapid.Byte()).Draw(t, "d"), text.Draw(t, "e"),
		}
		for i := range row {
			if rapid.Bool().Draw(t, "null") {
				row[i] = nil
			}
		}
		line, err := appendRow(nil, columns, row)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseRow(line, columns)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for i, v := range row {
			if b, ok := v.([]byte); ok && len(b) == 0 {
				row[i] = got[i] // nil and empty are the same bytes
			}
		}
		if !reflect.DeepEqual(got, row) {
			t.Fatalf("%s gives %#v, want %#v", line, got, row)
		}
	})
}

// TestAColumnHoldsItsType: SQLite stores any type in any column, which another engine would reject.
func TestAColumnHoldsItsType(t *testing.T) {
	t.Parallel()
	if line, err := appendRow(nil, []catalog.Column{column("a", catalog.Whole)}, []any{"ten"}); err == nil {
		t.Errorf("a text goes into a number: %s", line)
	}
	for _, line := range []string{"", "[", "[]", "[1", "[1]", "[1,2]\n", "[x]\n", "[1.5]\n", `["1"]` + "\n", "[1]]\n", "[1] \n"} {
		if v, err := parseRow([]byte(line), []catalog.Column{column("a", catalog.Whole)}); err == nil {
			t.Errorf("%q is taken as %v", line, v)
		}
	}
}
