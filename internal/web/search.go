package web

import (
	"cmp"
	"html/template"
	"slices"
	"strings"
)

// entry is something a search can find.
type entry struct {
	Kind  string // guide, handbook, operation, field, object, error or chapter
	Title string
	Where string // the page
	Link  string
	About template.HTML

	title, text string // in lower case
}

// Limits of a search.
const (
	mostQuery = 100 // characters
	mostHits  = 40
)

// cut truncates a text to what a search looks at.
func cut(text string) string {
	letters := []rune(strings.TrimSpace(text))
	return string(letters[:min(len(letters), mostQuery)])
}

// entries lists what can be found.
func (m manual) entries() (list []entry) {
	add := func(kind, title, where, link string, about template.HTML, more ...string) {
		list = append(list, entry{
			Kind: kind, Title: title, Where: where, Link: link, About: about, title: strings.ToLower(title),
			text: strings.ToLower(strings.Join(append(more, plain(about)), " ")),
		})
	}
	for _, c := range m.Chapters {
		add("chapter", c.Text, "Introduction", Path+"#"+c.Anchor, "")
	}
	for _, s := range m.Sections {
		page := address(s.Anchor)
		add("chapter", s.Name, s.Name, page, s.About)
		for _, o := range s.Operations {
			add("operation", o.Summary, s.Name, page+"#"+o.Anchor, o.About, o.key, o.Anchor)
			for _, f := range o.Parameters {
				add("parameter", f.Name, s.Name+", "+o.Summary, page+"#"+o.Anchor, f.About, f.Values...)
			}
			if o.Body != nil {
				for _, f := range o.Body.Fields {
					add("field", f.Name, s.Name+", "+o.Summary, page+"#"+f.Anchor, f.About, f.Values...)
				}
			}
		}
		for _, o := range s.Objects {
			add("object", o.Name, s.Name, page+"#"+o.Anchor, o.About)
			for _, f := range o.Fields {
				add("field", f.Name, o.Name, page+"#"+f.Anchor, f.About, f.Values...)
			}
		}
	}
	for _, e := range m.Errors {
		add("error", e.Code, "Error codes", address("errors")+"#"+e.Anchor, e.Condition, e.Status)
	}
	for _, g := range slices.Concat(m.Guides, m.Handbook) {
		kind := "guide"
		if strings.HasPrefix(g.Address, handbookPath) {
			kind = "handbook"
		}
		for _, c := range g.Chapters {
			to := g.Address
			if c.Anchor != "" {
				to += "#" + c.Anchor
			}
			add(kind, c.Text, g.Name, to, "", c.about)
		}
	}
	return list
}

// find searches for all words of a query. Matches in titles come first. more is the number of hits left out.
func find(index []entry, query string) (hits []entry, more int) {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil, 0
	}
	type ranked struct {
		entry
		rank int
	}
	var found []ranked
	for _, e := range index {
		if rank, ok := e.rank(words); ok {
			found = append(found, ranked{e, rank})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	for i, r := range found {
		if i == mostHits {
			return hits, len(found) - mostHits
		}
		hits = append(hits, r.entry)
	}
	return hits, 0
}

// rank returns how well an entry matches: lower is better. ok is false if a word is missing.
func (e entry) rank(words []string) (rank int, ok bool) {
	inText := map[string]int{"operation": 5, "chapter": 6, "guide": 4, "handbook": 6}[e.Kind]
	for _, w := range words {
		switch {
		case e.title == w:
		case strings.HasPrefix(e.title, w):
			rank += 2
		case strings.Contains(e.title, w):
			rank += 4
		case strings.Contains(e.text, w):
			rank += cmp.Or(inText, 12)
		default:
			return 0, false
		}
	}
	if e.Kind == "field" || e.Kind == "parameter" {
		rank += 4 + 4*strings.Count(e.title, ".") // operations come first, nested fields later
	}
	// A search for a name in the API finds the reference first, then the guides.
	return rank + map[string]int{"guide": 3, "handbook": 5}[e.Kind], true
}

// plain returns a text without tags.
func plain(html template.HTML) string {
	var b strings.Builder
	inside := false
	for _, r := range string(html) {
		switch {
		case r == '<':
			inside = true
		case r == '>':
			inside = false
		case !inside:
			b.WriteRune(r)
		}
	}
	return b.String()
}
