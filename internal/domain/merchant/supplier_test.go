package merchant

import (
	"slices"
	"strings"
	"testing"

	"holdfast/internal/domain/check"
	"holdfast/internal/errs"
)

func TestWhatIsWrongWithASupplier(t *testing.T) {
	long := strings.Repeat("a", check.MaxText+1)
	cases := []struct {
		name   string
		in     SupplierFields
		before Supplier
		want   []string
	}{
		{"a new one without a name", SupplierFields{URL: new("https://a.example")}, Supplier{}, []string{"name?"}},
		{"a new one with an empty name", SupplierFields{Name: new("")}, Supplier{}, []string{"name"}},
		{"a new one with a name alone", SupplierFields{Name: new("A")}, Supplier{}, nil},
		{"a change without a name", SupplierFields{Category: new("hotel")}, Supplier{ID: 1, Name: "A"}, nil},
		{"a change that takes the name away", SupplierFields{Name: new("")}, Supplier{ID: 1, Name: "A"}, []string{"name"}},
		{"everything at once", SupplierFields{
			Name: &long, URL: new("ftp://a.example"), Category: &long, Country: new("UK"),
		}, Supplier{}, []string{"category", "country", "name", "url"}},
		{"an address without a host", SupplierFields{Name: new("A"), URL: new("https:///x")}, Supplier{}, []string{"url"}},
		{"an empty address and country", SupplierFields{URL: new(""), Country: new("")}, Supplier{ID: 1, Name: "A", URL: "x", Country: "GB"}, nil},
	}
	for _, c := range cases {
		var p errs.Problems
		c.in.Apply(c.before, &p)
		if got := wrongFields(t, &p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
