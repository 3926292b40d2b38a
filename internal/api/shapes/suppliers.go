package shapes

import (
	"strconv"

	"holdfast/internal/api/wire"
	"holdfast/internal/travel"
)

// supplierShape is a supplier in answers. Its id is a text there, and clients depend on that.
type supplierShape struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	URL      string `json:"url"`
	Category string `json:"category"`
	Country  string `json:"country"`
}

// ShowSupplier gives the shape of a supplier, to be encoded as JSON.
func ShowSupplier(s travel.Supplier) supplierShape {
	return supplierShape{strconv.FormatInt(s.ID, 10), s.Name, s.URL, s.Category, s.Country}
}

// SupplierFields reads the fields of a supplier.
func SupplierFields(in *wire.Input) travel.SupplierFields {
	f := travel.SupplierFields{
		Name:     in.Text("name"),
		URL:      in.Text("url"),
		Category: in.Text("category"),
		Country:  in.Text("country"),
	}
	f.Problems = *in.Problems // now that all fields are read
	return f
}
