package web

import (
	"html/template"
	"regexp"
	"strings"
)

var (
	boldText = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	codeText = regexp.MustCompile("`([^`]+)`")
)

// prose turns a description into HTML: paragraphs, lists and headings, with `code` and **bold** inside. It supports only the
// Markdown that the description uses, so no library needs to be trusted with HTML.
func prose(text string) template.HTML {
	var b strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		block = strings.TrimSpace(block)
		heading, isHeading := strings.CutPrefix(block, "## ")
		switch {
		case block == "":
		case isHeading:
			b.WriteString(`<h3 id="about-` + anchor(heading) + `">` + inline(heading) + "</h3>\n")
		case strings.HasPrefix(block, "- "):
			b.WriteString("<ul>\n")
			for item := range strings.SplitSeq("\n"+block, "\n- ") {
				if item = strings.TrimSpace(item); item != "" {
					b.WriteString("<li>" + inline(item) + "</li>\n")
				}
			}
			b.WriteString("</ul>\n")
		default:
			b.WriteString("<p>" + inline(block) + "</p>\n")
		}
	}
	return template.HTML(b.String()) //nolint:gosec // inline has escaped all text
}

// phrase renders one paragraph as HTML, without the paragraph tags.
func phrase(text string) template.HTML {
	return template.HTML(inline(strings.TrimSpace(text))) //nolint:gosec // as above
}

// inline escapes a text and renders bold and code.
func inline(text string) string {
	text = template.HTMLEscapeString(text)
	text = boldText.ReplaceAllString(text, "<strong>$1</strong>")
	return codeText.ReplaceAllString(text, "<code>$1</code>")
}

// headings returns a description's headings, for the table of contents.
func headings(text string) []link {
	var list []link
	for line := range strings.Lines(text) {
		if heading, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok {
			list = append(list, link{heading, "about-" + anchor(heading)})
		}
	}
	return list
}

var notInAnchor = regexp.MustCompile(`[^a-z0-9]+`)

// anchor turns a text into a URL fragment.
func anchor(text string) string {
	return strings.Trim(notInAnchor.ReplaceAllString(strings.ToLower(text), "-"), "-")
}
