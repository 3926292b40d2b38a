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

// SupplierFields is what an operator says about a supplier, to make one or to change one. Absent fields are nil.
type SupplierFields struct {
	Once      Once
	IfVersion int64
	Problems  fault.Problems
	Name      *string
	URL       *string
	Category  *string
	Country   *string
}

// Apply returns the supplier with the given fields set; a new one (id 0) needs its name. Problems are noted in p.
func (f SupplierFields) Apply(s Supplier, p *fault.Problems) Supplier {
	if s.ID == 0 || f.Name != nil {
		needText(p, "name", f.Name)
	}
	set(&s.Name, f.Name)
	set(&s.URL, f.URL)
	set(&s.Category, f.Category)
	set(&s.Country, f.Country)
	checkText(p, "name", s.Name, MaxText)
	checkText(p, "url", s.URL, MaxText)
	if u, err := url.Parse(s.URL); s.URL != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		p.Wrong("url", "This is not an http or https address.")
	}
	checkText(p, "category", s.Category, 40)
	if s.Country != "" && !KnownCountry(s.Country) {
		p.Wrong("country", "This is not an ISO 3166-1 alpha-2 country code.")
	}
	return s
}

// SupplierFilter chooses suppliers of a list; empty fields choose all.
type SupplierFilter struct {
	Include, Exclude []int64
	Name             string // part of the name, without letter case
	URL              string // part of the address, without letter case
	Countries        []string
	Categories       []string
}

// SupplierOrders lists the attributes by which suppliers can be sorted.
var SupplierOrders = []string{"id", "name", "url", "category", "country", "include"}
