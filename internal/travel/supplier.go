package travel

import (
	"net/url"

	"holdfast/internal/fault"
)

// Supplier provides part of a trip: an airline, a hotel (section 2.5).
type Supplier struct {
	SiteID   int64
	ID       int64
	Name     string
	URL      string
	Category string // short code
	Country  string // ISO 3166-1 alpha-2
	Version  int64
}

// SupplierFields are the fields of a request that makes or changes a supplier. Absent fields are nil.
type SupplierFields struct {
	IfVersion int64
	Problems  fault.Problems
	Name      *string
	URL       *string
	Category  *string
	Country   *string
}

// Apply returns the supplier with the given fields set. A new supplier, with the id 0, needs a name. It adds problems
// to p.
func (f SupplierFields) Apply(s Supplier, p *fault.Problems) Supplier {
	if s.ID == 0 || f.Name != nil {
		needText(p, "name", f.Name)
	}
	set(&s.Name, f.Name)
	set(&s.URL, f.URL)
	set(&s.Category, f.Category)
	set(&s.Country, f.Country)
	CheckLine(p, "name", s.Name)
	CheckLine(p, "url", s.URL)
	if u, err := url.Parse(s.URL); s.URL != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		p.Wrong("url", "This is not an http or https address.")
	}
	checkLine(p, "category", s.Category, 40)
	if s.Country != "" && !KnownCountry(s.Country) {
		p.Wrong("country", "A country is two letters, such as PT.")
	}
	return s
}

// SupplierFilter picks suppliers from a list (section 4.5). An empty field picks all.
type SupplierFilter struct {
	Include, Exclude []int64
	Modified         Span
	Name             string // part of the name, in small or capital letters
	URL              string // part of the address, in small or capital letters
	Countries        []string
	Categories       []string
}

// SupplierOrders lists the values of orderby for suppliers.
var SupplierOrders = []string{"id", "name", "url", "category", "country", "include"}
