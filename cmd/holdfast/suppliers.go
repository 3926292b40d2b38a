package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"holdfast/internal/travel"
)

// supplierCmd groups what the operator does with suppliers.
type supplierCmd struct {
	Create supplierCreateCmd `cmd:"" help:"Create a supplier."`
	Set    supplierSetCmd    `cmd:"" help:"Set fields of a supplier."`
	List   supplierListCmd   `cmd:"" help:"List the suppliers of a site."`
	Delete supplierDeleteCmd `cmd:"" help:"Delete a supplier that nothing refers to."`
}

// supplierFlags are the fields of a supplier besides its name.
type supplierFlags struct {
	URL      *string `name:"url" help:"Address of its web site."`
	Category *string `placeholder:"CODE" help:"Short code of what it supplies."`
	Country  *string `placeholder:"CODE" help:"Country, ISO 3166-1 alpha-2."`
}

// supplierCreateCmd creates a supplier.
type supplierCreateCmd struct {
	siteFlag
	Name string `arg:"" help:"What the supplier is called."`
	supplierFlags
}

// Run creates it.
func (c supplierCreateCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := travel.SupplierFields{Name: &c.Name, URL: c.URL, Category: c.Category, Country: c.Country}
	made, err := p.app.Suppliers.Create(ctx, actor, in)
	if err != nil {
		return err
	}
	p.printf("supplier %d, %s, is created\n", made.ID, made.Name)
	return nil
}

// supplierSetCmd changes a supplier. Flags that are not given leave their field as it is.
type supplierSetCmd struct {
	siteFlag
	ID   int64   `arg:"" help:"Id of the supplier."`
	Name *string `help:"What the supplier is called."`
	supplierFlags
}

// Run changes it.
func (c supplierSetCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := travel.SupplierFields{Name: c.Name, URL: c.URL, Category: c.Category, Country: c.Country}
	changed, err := p.app.Suppliers.Change(ctx, actor, c.ID, in)
	if err != nil {
		return err
	}
	p.printf("supplier %d, %s, is changed\n", changed.ID, changed.Name)
	return nil
}

// supplierListCmd lists suppliers.
type supplierListCmd struct {
	siteFlag
}

// Run prints them in order of their ids.
func (c supplierListCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "ID\tNAME\tCATEGORY\tCOUNTRY\tURL")
	err = everyPage(func(page travel.Page) (travel.List[travel.Supplier], error) {
		return p.app.Suppliers.List(ctx, actor, travel.SupplierFilter{}, page)
	}, func(s travel.Supplier) {
		fmt.Fprintf(out, "%d\t%s\t%s\t%s\t%s\n", s.ID, s.Name, s.Category, s.Country, s.URL)
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// supplierDeleteCmd deletes a supplier.
type supplierDeleteCmd struct {
	siteFlag
	ID int64 `arg:"" help:"Id of the supplier."`
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
	p.printf("supplier %d is deleted\n", c.ID)
	return nil
}
