package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/merchant"
)

func supplierObject(s merchant.Supplier) object {
	return object{id: s.ID, version: s.Version, body: view.ShowSupplier(s)}
}

func (s *server) listSuppliers(c *call) error {
	q := c.query()
	page := q.SearchedPage(merchants.SupplierOrders)
	filter := merchants.SupplierFilter{
		Search:     q.Text("search"),
		Name:       q.Text("name"),
		URL:        q.Text("url"),
		Countries:  q.Codes("countries"),
		Categories: q.List("categories"),
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Suppliers.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowSupplier)
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
		made, err := s.app.Suppliers.Create(c.ctx, c.actor, input.SupplierFields(in))
		return supplierObject(made), err
	})
}

func (s *server) changeSupplier(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := input.SupplierFields(in)
	var changed merchant.Supplier
	err = c.ifVersion(func(version int64) (err error) {
		fields.IfVersion = version
		changed, err = s.app.Suppliers.Change(c.ctx, c.actor, c.id, fields)
		return err
	})
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, supplierObject(changed))
}

func (s *server) deleteSupplier(c *call) error {
	err := c.ifVersion(func(version int64) error { return s.app.Suppliers.Delete(c.ctx, c.actor, c.id, version) })
	if err != nil {
		return err
	}
	c.json(http.StatusOK, view.Deleted{Deleted: true})
	return nil
}
