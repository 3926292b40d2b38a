package kit

import (
	"cmp"
	"slices"
	"strings"
)

// FindPages returns links to the pages whose name or group matches a search, best matches first: only pages that the user may open, and at
// most `most`.
func (v *Visit) FindPages(query string, most int) (list []Link) {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	type hit struct {
		Link
		rank int
	}
	var hits []hit
	for _, page := range v.openPages() {
		if rank, ok := rankOf(page, words); ok && !slices.ContainsFunc(hits, func(h hit) bool { return h.Href == page.href }) {
			hits = append(hits, hit{Link{Text: page.title(), Href: page.href}, rank})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.rank, b.rank) })
	for _, h := range hits[:min(len(hits), most)] {
		list = append(list, h.Link)
	}
	return list
}

// openPage is a named page that the user may open. Pages about one object have no name.
type openPage struct{ group, name, href string }

func (p openPage) title() string {
	if p.group == "" || strings.EqualFold(p.group, p.name) {
		return p.name
	}
	return p.group + ": " + p.name
}

// openPages returns the entries of the sidebar, the tabs of groups, and the user's own page.
func (v *Visit) openPages() (list []openPage) {
	for _, m := range v.frame.menus {
		group := ""
		if m.Office {
			group = "All sites"
		}
		if v.opens(m) {
			list = append(list, openPage{group, m.Name, v.menuAt(m)})
		}
	}
	for _, p := range v.frame.groups {
		if !strings.Contains(p.Below, "{id}") && (p.May == "" || v.Can(p.May)) {
			list = append(list, openPage{Say(p.Group), p.Name, v.At(p.Below)})
		}
	}
	return append(list, openPage{"", "Account", Path + "/account"})
}

// rankOf returns how well a page matches: lower is better. ok is false if a word is missing.
func rankOf(p openPage, words []string) (rank int, ok bool) {
	name, group := strings.ToLower(p.name), strings.ToLower(p.group)
	for _, w := range words {
		switch {
		case strings.HasPrefix(name, w):
		case strings.Contains(name, w):
			rank++
		case strings.Contains(group, w):
			rank += 2
		default:
			return 0, false
		}
	}
	return rank, true
}
