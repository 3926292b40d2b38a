package merchant

import (
	"net/url"

	"holdfast/internal/domain/check"
	"holdfast/internal/errs"
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
	Problems  errs.Problems
	Name      *string
	URL       *string
	Category  *string
	Country   *string
}

// Apply returns the supplier with the given fields set. A new supplier, with the id 0, needs a name. It adds problems
// to p.
func (f SupplierFields) Apply(s Supplier, p *errs.Problems) Supplier {
	if s.ID == 0 || f.Name != nil {
		check.Required(p, "name", f.Name)
	}
	check.Set(&s.Name, f.Name)
	check.Set(&s.URL, f.URL)
	check.Set(&s.Category, f.Category)
	check.Set(&s.Country, f.Country)
	check.Line(p, "name", s.Name)
	check.Line(p, "url", s.URL)
	if u, err := url.Parse(s.URL); s.URL != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		p.Wrong("url", "Must be an http or https URL.")
	}
	check.LineOf(p, "category", s.Category, 40)
	if s.Country != "" {
		check.Country(p, "country", s.Country)
	}
	return s
}
