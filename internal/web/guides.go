package web

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"path"
	"strings"

	"holdfast/docs"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// guide is a page written in Markdown: a guide or a handbook page.
type guide struct {
	Name     string // its title
	Address  string
	About    template.HTML // its first paragraph
	Body     template.HTML
	Chapters []chapter

	file string // path in docs
}

// chapter is a heading with the text up to the next one. The first one of a page has no anchor.
type chapter struct {
	link
	about string
}

// Paths of the pages.
const (
	guidesPath   = Path + "/guides/"
	handbookPath = Path + "/handbook/"
	description  = "/openapi.yaml"
)

// readGuides reads the Markdown pages. assets is the path of the images.
func (m *manual) readGuides(assets string) error {
	for _, name := range docs.Guides {
		m.Guides = append(m.Guides, guide{Address: guidesPath + name, file: "guides/" + name + ".md"})
	}
	for _, name := range docs.Handbook {
		m.Handbook = append(m.Handbook, guide{Address: handbookPath + name, file: name + ".md"})
	}
	homes := map[string]string{"openapi.yaml": description}
	for _, list := range [][]guide{m.Guides, m.Handbook} {
		for _, g := range list {
			homes[g.file] = g.Address
		}
	}
	for _, list := range [][]guide{m.Guides, m.Handbook} {
		for i := range list {
			if err := list[i].read(homes, assets); err != nil {
				return fmt.Errorf("docs/%s: %w", list[i].file, err)
			}
		}
	}
	m.groupPages()
	return nil
}

// group is a group of pages in the menu.
type group struct {
	Name      string
	Pages     []guide
	Reference bool // contains the API reference
}

func (m *manual) groupPages() {
	guides, handbook := m.Guides, m.Handbook
	for _, g := range docs.Groups {
		made := group{Name: g.Name, Reference: g.Name == docs.Reference}
		made.Pages = append(append(made.Pages, guides[:len(g.Guides)]...), handbook[:len(g.Handbook)]...)
		guides, handbook = guides[len(g.Guides):], handbook[len(g.Handbook):]
		m.Groups = append(m.Groups, made)
	}
}

// read renders a guide's file. The library removes raw HTML by default.
func (g *guide) read(homes map[string]string, assets string) error {
	source, err := docs.Pages.ReadFile(g.file)
	if err != nil {
		return err
	}
	markdown := goldmark.New(
		// The CSP blocks inline styles, so cells are aligned with an attribute.
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks{}, 100)), html.WithXHTML()),
	)
	page := markdown.Parser().Parse(text.NewReader(source))
	g.readChapters(page, source)
	if g.Name == "" {
		return fmt.Errorf("the page has no title")
	}
	g.pageLinks(page, homes, assets)
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, source, page); err != nil {
		return err
	}
	g.Body = template.HTML(body.String()) //nolint:gosec // the library has escaped all text, and the source is ours
	return nil
}

// readChapters finds the title, the headings and the text below each of them.
func (g *guide) readChapters(page ast.Node, source []byte) {
	for n := page.FirstChild(); n != nil; n = n.NextSibling() {
		words := wordsIn(n, source)
		heading, isHeading := n.(*ast.Heading)
		switch {
		case isHeading && heading.Level == 1:
			g.Name = words
			g.Chapters = append(g.Chapters, chapter{link: link{Text: words}})
		case isHeading && heading.Level == 2:
			id, _ := heading.AttributeString("id")
			anchor, _ := id.([]byte)
			g.Chapters = append(g.Chapters, chapter{link: link{words, string(anchor)}})
		case len(g.Chapters) > 0:
			g.Chapters[len(g.Chapters)-1].about += words + " "
			if n.Kind() == ast.KindParagraph && g.About == "" {
				g.About = template.HTML("<p>" + template.HTMLEscapeString(words) + "</p>") //nolint:gosec // escaped
			}
		}
	}
}

// wordsIn returns the plain text of a part of a page.
func wordsIn(part ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(part, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function gives no error
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		if entering && n.Type() == ast.TypeBlock && n.Kind() == ast.KindFencedCodeBlock {
			b.Write(n.Lines().Value(source))
		}
		if !entering && n.Type() == ast.TypeBlock && n != part {
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// pageLinks rewrites links between files to links between pages. Links to files without a page become plain text.
func (g *guide) pageLinks(page ast.Node, homes map[string]string, assets string) {
	var lost []*ast.Link
	_ = ast.Walk(page, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function gives no error
		if picture, ok := n.(*ast.Image); ok && entering {
			picture.Destination = []byte(assets + "/" + path.Base(string(picture.Destination)))
		}
		if to, ok := n.(*ast.Link); ok && entering {
			target, err := url.Parse(string(to.Destination))
			if err != nil || target.Scheme == "" && target.Path != "" && !strings.HasPrefix(target.Path, "/") {
				home := ""
				if err == nil {
					home = homes[path.Join(path.Dir(g.file), target.Path)]
				}
				if home == description && target.Fragment != "" { // a page of the reference
					home, target.Fragment = address(target.Fragment), ""
				}
				if home == "" {
					lost = append(lost, to)
					return ast.WalkContinue, nil
				}
				target.Path = home
				to.Destination = []byte(target.String())
			}
		}
		return ast.WalkContinue, nil
	})
	for _, l := range lost {
		for child := l.FirstChild(); child != nil; child = l.FirstChild() {
			l.Parent().InsertBefore(l.Parent(), l, child)
		}
		l.Parent().RemoveChild(l.Parent(), l)
	}
}

// blocks renders code blocks like those of the reference.
type blocks struct{}

// RegisterFuncs is called by the library.
func (b blocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, b.render)
}

// titles are the captions of code blocks by language.
var titles = map[string]string{
	"sh": "Shell", "json": "Response", "text": "Output", "console": "Terminal", "html": "HTML", "js": "JavaScript", "go": "Go",
	"ts": "TypeScript", "php": "PHP", "python": "Python",
}

// render writes a block. Blocks with the class "curl" get a copy button.
func (blocks) render(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	block, ok := n.(*ast.FencedCodeBlock)
	if !entering || !ok {
		return ast.WalkContinue, nil
	}
	language := string(block.Language(source))
	class := map[bool]string{true: "response", false: "curl"}[language == "json" || language == "text" || language == ""]
	_, err := fmt.Fprintf(w, "<div class=\"sample\">%s<pre class=%q tabindex=\"0\"><code>%s</code></pre></div>\n",
		"<p>"+template.HTMLEscapeString(titles[language])+"</p>", class, template.HTMLEscapeString(string(block.Lines().Value(source))))
	return ast.WalkContinue, err
}
