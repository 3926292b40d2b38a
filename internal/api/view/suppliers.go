package view

import (
	"strconv"

	"holdfast/internal/domain/merchant"
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
func ShowSupplier(s merchant.Supplier) supplierShape {
	return supplierShape{strconv.FormatInt(s.ID, 10), s.Name, s.URL, s.Category, s.Country}
}
