package input

import "holdfast/internal/domain/merchant"

// SupplierFields reads the fields of a supplier.
func SupplierFields(in *Input) merchant.SupplierFields {
	f := merchant.SupplierFields{
		Name:     in.Text("name"),
		URL:      in.Text("url"),
		Category: in.Text("category"),
		Country:  in.Text("country"),
	}
	f.Problems = *in.Problems // now that all fields are read
	return f
}
