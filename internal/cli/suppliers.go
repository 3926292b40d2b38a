package cli

import (
	"context"

	"holdfast/internal/api/view"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/store"
)

// supplierCmd groups the supplier commands.
type supplierCmd struct {
	Create supplierCreateCmd `cmd:"" help:"Create a supplier."`
	Set    supplierSetCmd    `cmd:"" help:"Update a supplier."`
	List   supplierListCmd   `cmd:"" help:"List a site's suppliers."`
	Delete supplierDeleteCmd `cmd:"" help:"Delete an unused supplier."`
}

// supplierFlags are the fields of a supplier other than its name.
type supplierFlags struct {
	URL      *string `name:"url" help:"Supplier's website URL."`
	Category *string `placeholder:"CODE" help:"Category code."`
	Country  *string `placeholder:"CODE" help:"Two-letter country code, such as PT."`
}

// supplierCreateCmd creates a supplier.
type supplierCreateCmd struct {
	siteFlag
	Name string `arg:"" help:"Supplier name."`
	supplierFlags
}

// Run creates it.
func (c supplierCreateCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := merchant.SupplierFields{Name: &c.Name, URL: c.URL, Category: c.Category, Country: c.Country}
	made, err := p.app.Suppliers.Create(ctx, actor, in)
	if err != nil {
		return err
	}
	p.printf("Created supplier %d, %s\n", made.ID, made.Name)
	return nil
}

// supplierSetCmd updates a supplier. Fields without a flag do not change.
type supplierSetCmd struct {
	siteFlag
	ID   int64   `arg:"" help:"Supplier id."`
	Name *string `help:"Supplier name."`
	supplierFlags
}

// Run changes it.
func (c supplierSetCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := merchant.SupplierFields{Name: c.Name, URL: c.URL, Category: c.Category, Country: c.Country}
	changed, err := p.app.Suppliers.Change(ctx, actor, c.ID, in)
	if err != nil {
		return err
	}
	p.printf("Updated supplier %d, %s\n", changed.ID, changed.Name)
	return nil
}

// supplierListCmd lists suppliers.
type supplierListCmd struct{ listFlags }

// Run prints them.
func (c supplierListCmd) Run(ctx context.Context, p *program) error {
	return printList(ctx, p, c.listFlags, listing[merchant.Supplier]{
		read: func(actor access.Actor, page store.Page) (store.List[merchant.Supplier], error) {
			return p.app.Suppliers.List(ctx, actor, merchants.SupplierFilter{}, page)
		},
		shape:   func(s merchant.Supplier) any { return view.ShowSupplier(s) },
		columns: columnsOf("id name category country url"),
		row: func(s merchant.Supplier) []cell {
			return []cell{ident(s.ID), words(s.Name), words(s.Category), words(s.Country), words(s.URL)}
		},
		none: "No suppliers.",
	})
}

// supplierDeleteCmd deletes a supplier.
type supplierDeleteCmd struct {
	siteFlag
	ID int64 `arg:"" help:"Supplier id."`
}

// Run deletes it.
func (c supplierDeleteCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	if err := p.app.Suppliers.Delete(ctx, actor, c.ID, 0); err != nil {
		return err
	}
	p.printf("Deleted supplier %d\n", c.ID)
	return nil
}
