package channels

import (
	"net/http"
	"strconv"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// supplierOrders are the sort orders of the list.
var supplierOrders = []string{"name", "category", "country", "id"}

// suppliers lists the site's suppliers.
func (p *pages) suppliers(v *kit.Visit) error {
	page, err := v.PageOf(supplierOrders, false)
	if err != nil {
		return err
	}
	form := &kit.Form{Values: v.R.URL.Query()}
	f := merchants.SupplierFilter{Name: form.Get("name")}
	if country := form.Get("country"); country != "" {
		f.Countries = []string{country}
	}
	if category := form.Get("category"); category != "" {
		f.Categories = []string{category}
	}
	t := kit.Table{
		Name: "suppliers", Caption: "Suppliers", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: []kit.Column{
			{Name: "name", Title: "Name", Sorts: true}, {Name: "category", Title: "Category", Sorts: true}, {Name: "country", Title: "Country", Sorts: true},
			{Name: "url", Title: "Website", Minor: true}, {Name: "id", Title: "Number", Figure: true, Sorts: true, Minor: true},
		},
		Empty: kit.Empty{
			Title: "No suppliers found",
			Text:  "A supplier delivers part of a trip, such as an airline or a hotel. Bookings name their suppliers, so you can see how much depends on each.",
		},
	}
	var acts []kit.Link
	if v.Can(access.WriteSuppliers) {
		acts = []kit.Link{{Text: "New supplier", Href: v.At("/suppliers/new")}}
		t.Empty.Act = acts[0]
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Suppliers.List(v.R.Context(), v.Actor, f, page)
		for _, s := range list.Items {
			t.Rows = append(t.Rows, kit.Row{Href: supplierAt(v, s.ID, ""), Cells: []kit.Cell{
				kit.Words(s.Name), kit.Words(s.Category), kit.Words(s.Country), kit.Words(s.URL), kit.Ident(s.ID),
			}})
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	return v.ShowTable(p.Pages, "suppliers.html", made, kit.Page{
		Title: "Suppliers", Menu: settingsMenu, Parts: v.Parts("settings", "/suppliers"), Acts: acts, Data: struct {
			List   *kit.Table
			Filter *kit.Form
			Send   string
		}{made, form, v.At("/suppliers")},
	})
}

func supplierAt(v *kit.Visit, id int64, below string) string {
	return v.At("/suppliers/" + kit.Ident(id).Plain + below)
}

func (p *pages) showSupplier(v *kit.Visit, form *kit.Form, s merchant.Supplier) error {
	view := struct {
		Form               *kit.Form
		Facts              []kit.Fact
		Countries          any
		May                bool
		Send, Back, Delete string
	}{Form: form, Countries: choices.Countries(), May: v.Can(access.WriteSuppliers), Send: v.At("/suppliers"), Back: v.At("/suppliers")}
	page := kit.Page{Title: "New supplier", Menu: settingsMenu, Path: []kit.Link{{Text: "Suppliers", Href: view.Back}}}
	if s.ID != 0 {
		page.Title, view.Send, view.Delete = s.Name, supplierAt(v, s.ID, ""), supplierAt(v, s.ID, "/delete")
		view.Facts = []kit.Fact{
			{Text: "Category", Value: s.Category}, {Text: "Country", Value: choices.Country(s.Country)}, {Text: "Website", Value: s.URL}, {Text: "Number", Value: kit.Ident(s.ID).Text},
		}
	}
	page.Data = view
	return v.Show(p.Pages, "supplier.html", page)
}

func (p *pages) newSupplier(v *kit.Visit) error {
	return p.showSupplier(v, kit.Filled(), merchant.Supplier{})
}

func (p *pages) makeSupplier(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	made, err := p.app.Suppliers.Create(v.R.Context(), v.Actor, supplierFields(form))
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.showSupplier(v, form, merchant.Supplier{})
	}
	return v.Done(v.At("/suppliers"), "Supplier %s created.", made.Name)
}

func supplierFields(form *kit.Form) merchant.SupplierFields {
	r := form.Reading()
	in := merchant.SupplierFields{Name: r.Text("name"), URL: r.Text("url"), Category: r.Text("category"), Country: r.Text("country")}
	if version := r.Number("version"); version != nil {
		in.IfVersion = *version
	}
	in.Problems = r.Problems
	return in
}

func (p *pages) supplier(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	s, err := p.app.Suppliers.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	return p.showSupplier(v, filledWithSupplier(s), s)
}

func filledWithSupplier(s merchant.Supplier) *kit.Form {
	return kit.Filled("name", s.Name, "url", s.URL, "category", s.Category, "country", s.Country, "version", strconv.FormatInt(s.Version, 10))
}

func (p *pages) changeSupplier(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	form, err := v.Form()
	if err != nil {
		return err
	}
	changed, err := p.app.Suppliers.Change(v.R.Context(), v.Actor, id, supplierFields(form))
	stored := func() (*kit.Form, error) {
		s, err := p.app.Suppliers.Get(v.R.Context(), v.Actor, id)
		return filledWithSupplier(s), err
	}
	if ok, err := v.TookOver(form, err, stored); err != nil {
		return err
	} else if !ok {
		return p.showSupplier(v, form, merchant.Supplier{ID: id, Name: "Supplier " + kit.Ident(id).Text})
	}
	return v.Done(v.At("/suppliers"), "Supplier %s saved.", changed.Name)
}

// deleteSupplier deletes a supplier that is not in use, after a confirmation.
func (p *pages) deleteSupplier(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	s, err := p.app.Suppliers.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	again := kit.Filled()
	if v.R.Method == http.MethodPost {
		ok, err := v.Took(again, p.app.Suppliers.Delete(v.R.Context(), v.Actor, id, 0))
		if err != nil {
			return err
		} else if ok {
			return v.Done(v.At("/suppliers"), "Supplier %s deleted.", s.Name)
		}
	}
	return v.Confirm(kit.Confirmation{
		Title: "Delete the supplier " + s.Name + "?", Act: "Delete supplier", Harm: true, Back: supplierAt(v, id, ""), Again: again,
		Text: []string{"This cannot be undone. A supplier used by a merchant or a booking cannot be deleted."},
	}, kit.Page{Menu: settingsMenu, Path: []kit.Link{{Text: "Suppliers", Href: v.At("/suppliers")}}})
}
