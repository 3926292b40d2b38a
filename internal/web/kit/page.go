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

// Menu is an entry of the side bar. There are at most eight for anybody.
type Menu struct {
	Name string
	// Below is the address: below the site for entries of a site, below Path for those of the office.
	Below  string
	Letter string // after g, it leads there
	May    access.Permission
	Office bool // for the operator's people, on no site
}

// AddMenu adds entries to the side bar, in their order.
func (f *Frame) AddMenu(list ...Menu) { f.menus = append(f.menus, list...) }

// Part is one of several pages that belong together, such as those of the settings. Links to the others stand above each.
type Part struct {
	Group, Name string
	Below       string // the address below the site; {id} stands for the object that the pages are about
	May         access.Permission
}

// AddParts adds pages to groups, in their order.
func (f *Frame) AddParts(list ...Part) { f.groups = append(f.groups, list...) }

// Parts are the links to the pages of a group that the user may open. here is the Below of this page, id that of the object.
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
	// Menu is the Below of the entry of the side bar that this page belongs to.
	Menu string
	// Path leads back: the pages above this one, the highest first.
	Path []Link
	// Acts stand beside the title: what can be done here. The first is the main one.
	Acts []Link
	// Parts are links to the pages that belong to this one: see Visit.Parts.
	Parts []Tab
	Data  any
	// Bare pages have no side bar: those for signing in.
	Bare bool
	// Wide pages use the whole width: those with large tables.
	Wide bool
	// Refresh asks for the page again every two seconds, while something runs.
	Refresh bool
}

// Link leads to a page.
type Link struct {
	Text, Href string
	Plain      bool // not the main act
}

// frameView is what the layout gets.
type frameView struct {
	Page
	V       *Visit
	Menus   []menuView
	Assets  string
	Note    noted
	Sandbox bool
	Sites   bool // there is more than this site to go to
	Clock   string
	Find    string // the address of the search
	Here    string
}

type menuView struct {
	Menu
	Href string
	Here bool
}

// Show answers with a page: the template of a file of the folder pages.
func (v *Visit) Show(p Pages, file string, page Page) error {
	read, ok := p.read[file]
	if !ok {
		panic("unknown template " + file)
	}
	t, err := read()
	if err != nil {
		return err
	}
	if v.R.Header.Get("X-Part") == "results" { // the search while typing asks for a part of the page
		return v.render(t, page, "results")
	}
	return v.render(t, page, "")
}

// render makes a page of the layout, or only one block of it. block is "" for the whole page with the block "main" in it.
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
		if view.Bare { // nobody knows who asks
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

// menus are the entries that the user may open where they are.
func (v *Visit) menus(here string) (list []menuView) {
	for _, m := range v.frame.menus {
		if m.Office != (v.Site.ID == 0) || m.Office && !v.User.Operator || m.May != "" && !v.Can(m.May) {
			continue
		}
		href := Path + m.Below
		if !m.Office {
			href = v.At(m.Below)
		}
		list = append(list, menuView{m, href, m.Below == here})
	}
	return list
}

// Confirmation asks once before something is done that cannot be taken back.
type Confirmation struct {
	Title  string
	Text   []string // what will happen, in sentences
	Act    string   // the words on the button, such as "Delete the booking"
	Harm   bool     // the button is red
	Fields url.Values
	Back   string
	Reason string // the label of a field for a reason; "" for no such field
	// Again is set when what was sent was refused.
	Again *Form
}

// Confirm shows a page that asks. Its button sends to the same address.
func (v *Visit) Confirm(c Confirmation, page Page) error {
	page.Title, page.Data = c.Title, c
	return v.render(v.frame.own, page, "")
}

// sortedNames are the names of values, so that pages are the same each time.
func sortedNames(values url.Values) (names []string) {
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// hidden are the values of an address as fields of a form, but those that the form has itself.
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
