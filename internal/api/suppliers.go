package api

import (
	"net/http"
	"strconv"

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
func ShowSupplier(s travel.Supplier) any { return showSupplier(s) }

func showSupplier(s travel.Supplier) supplierShape {
	return supplierShape{strconv.FormatInt(s.ID, 10), s.Name, s.URL, s.Category, s.Country}
}

func supplierObject(s travel.Supplier) object {
	return object{id: s.ID, version: s.Version, body: showSupplier(s)}
}

func (s *server) listSuppliers(c *call) error {
	q := c.query()
	page := q.page(travel.SupplierOrders)
	filter := travel.SupplierFilter{
		Include:    q.ids("include"),
		Exclude:    q.ids("exclude"),
		Modified:   q.span("modified_"),
		Name:       q.text("name"),
		URL:        q.text("url"),
		Countries:  q.codes("countries"),
		Categories: q.list("categories"),
	}
	if err := q.err(); err != nil {
		return err
	}
	found, err := s.app.Suppliers.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, showSupplier)
}

func (s *server) getSupplier(c *call) error {
	found, err := s.findSupplier(c, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, found)
}

func (s *server) findSupplier(c *call, id int64) (object, error) {
	found, err := s.app.Suppliers.Get(c.ctx, c.actor, id)
	return supplierObject(found), err
}

func (s *server) createSupplier(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, err := s.app.Suppliers.Create(c.ctx, c.actor, supplierFields(in))
		return supplierObject(made), err
	})
}

func (s *server) changeSupplier(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := supplierFields(in)
	fields.IfVersion = c.ifVersion()
	changed, err := s.app.Suppliers.Change(c.ctx, c.actor, c.id, fields)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, supplierObject(changed))
}

func (s *server) deleteSupplier(c *call) error {
	if err := s.app.Suppliers.Delete(c.ctx, c.actor, c.id, c.ifVersion()); err != nil {
		return err
	}
	c.json(http.StatusOK, deleted{true})
	return nil
}

func supplierFields(in *input) travel.SupplierFields {
	f := travel.SupplierFields{
		Name:     in.text("name"),
		URL:      in.text("url"),
		Category: in.text("category"),
		Country:  in.text("country"),
	}
	f.Problems = *in.problems // now that all fields are read
	return f
}
