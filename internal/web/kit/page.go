package kit

import (
	"bytes"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/domain/access"
)

// Menu is a sidebar entry. Nobody sees more than eight.
type Menu struct {
	Name string
	// Below is the address, below the site for site entries and below Path for operator entries.
	Below  string
	Letter string // keyboard shortcut: g, then this key
	May    access.Permission
	Office bool // for operators, outside any site
}

// AddMenu adds sidebar entries in order.
func (f *Frame) AddMenu(list ...Menu) { f.menus = append(f.menus, list...) }

// Part is one page of a group, such as the settings. Each page shows links to the others as tabs.
type Part struct {
	Group, Name string
	Below       string // address below the site; {id} is replaced with the object's ID
	May         access.Permission
}

// AddParts adds pages to groups in order.
func (f *Frame) AddParts(list ...Part) { f.groups = append(f.groups, list...) }

// Parts returns the links to the pages of a group that the user may open. here is the Below of the current page, id the
// object's ID.
func (v *Visit) Parts(group, here string, id ...int64) (list []Tab) {
	for _, p := range v.frame.groups {
		if p.Group != group || p.May != "" && !v.Can(p.May) {
			continue
		}
		below := p.Below
		if len(id) > 0 {
			below = strings.ReplaceAll(below, "{id}", strconv.FormatInt(id[0], 10))
		}
		list = append(list, Tab{p.Name, v.At(below), p.Below == here})
	}
	return list
}

// Page is what a handler shows.
type Page struct {
	Title string
	// Menu is the Below of this page's sidebar entry.
	Menu string
	// Path is the breadcrumb trail, top page first.
	Path []Link
	// Acts are the page's actions, shown next to the title. The first is the primary one.
	Acts []Link
	// Parts are the tabs of the page's group: see Visit.Parts.
	Parts []Tab
	Data  any
	// Bare pages have no sidebar, such as sign-in.
	Bare bool
	// Wide pages use the full width, for large tables.
	Wide bool
	// Refresh reloads the page every two seconds while something is running.
	Refresh bool
}

// Link is a link to a page.
type Link struct {
	Text, Href string
	Plain      bool // not the primary action
}

// frameView is the data of the layout template.
type frameView struct {
	Page
	V       *Visit
	Menus   []menuView
	Assets  string
	Note    noted
	Sandbox bool
	Sites   bool // the user has more than this site
	Clock   string
	Find    string // address of the search
	Here    string
}

type menuView struct {
	Menu
	Href string
	Here bool
}

// Show renders a page from a template file in the folder pages.
func (v *Visit) Show(p Pages, file string, page Page) error {
	read, ok := p.read[file]
	if !ok {
		panic("unknown template " + file)
	}
	t, err := read()
	if err != nil {
		return err
	}
	if v.R.Header.Get("X-Part") == "results" { // search-as-you-type requests only part of the page
		return v.render(t, page, "results")
	}
	return v.render(t, page, "")
}

// ShowTable renders the page of a table, or sends the table as a file if the request wants one.
func (v *Visit) ShowTable(p Pages, file string, t *Table, page Page) error {
	if sent, err := v.File(t); sent || err != nil {
		return err
	}
	return v.Show(p, file, page)
}

// render executes the layout, or only one of its blocks. With block "" it renders the whole page around the block "main".
func (v *Visit) render(t *template.Template, page Page, block string) error {
	view := frameView{Page: page, V: v, Assets: v.frame.at, Here: v.R.URL.RequestURI()}
	if block != "results" {
		view.Note = v.note()
	}
	view.Sandbox = v.Site.Sandbox
	view.Sites = v.User.Operator
	if v.Site.ID != 0 {
		view.Clock = instant(v.Now())
		view.Find = v.At("/search")
	}
	if v.User.ID != 0 {
		view.Menus = v.menus(page.Menu)
	} else {
		view.Bare = true
	}
	name := "layout"
	switch block {
	case "results":
		name = "results"
	case "failed":
		if view.Bare { // not signed in
			name = "failed-page"
		}
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, name, view); err != nil {
		return err
	}
	v.send(out.Bytes())
	return nil
}

// menus returns the sidebar entries that the user may open here.
func (v *Visit) menus(here string) (list []menuView) {
	for _, m := range v.frame.menus {
		if m.Office == (v.Site.ID == 0) && v.opens(m) {
			list = append(list, menuView{m, v.menuAt(m), m.Below == here})
		}
	}
	return list
}

// opens reports whether the user may open the page of a sidebar entry.
func (v *Visit) opens(m Menu) bool {
	return (!m.Office || v.Operator()) && (m.May == "" || v.Can(m.May))
}

func (v *Visit) menuAt(m Menu) string {
	if m.Office {
		return Path + m.Below
	}
	return v.At(m.Below)
}

// Confirmation asks before an action that cannot be undone.
type Confirmation struct {
	Title  string
	Text   []string // consequences, in sentences
	Act    string   // button label, such as "Delete booking"
	Harm   bool     // red button
	Fields url.Values
	Back   string
	Reason string // label of the reason field; "" for none
	// Again is set when the form was rejected.
	Again *Form
}

// Confirm shows the confirmation page. Its button posts to the same address.
func (v *Visit) Confirm(c Confirmation, page Page) error {
	page.Title, page.Data = c.Title, c
	return v.render(v.frame.own, page, "")
}

// sortedNames returns the names in order, so that pages are reproducible.
func sortedNames(values url.Values) (names []string) {
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// hidden returns an address's query values as form fields, without those the form already has.
func hidden(values url.Values, but ...string) (list []Link) {
	for _, name := range sortedNames(values) {
		if slices.Contains(but, name) || strings.HasPrefix(name, "page") {
			continue
		}
		for _, value := range values[name] {
			list = append(list, Link{Text: name, Href: value})
		}
	}
	return list
}
