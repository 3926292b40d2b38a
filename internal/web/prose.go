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

// prose lays out a description: paragraphs, lists and headings, with `code` and **bold** inside. It is the part of
// Markdown that the description uses, and no more, so that no library has to be trusted with HTML.
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
	return template.HTML(b.String()) //nolint:gosec // every text in it went through inline, which escapes
}

// phrase is prose of a single paragraph, without the paragraph.
func phrase(text string) template.HTML {
	return template.HTML(inline(strings.TrimSpace(text))) //nolint:gosec // as above
}

// inline escapes a text and marks what is bold or code in it.
func inline(text string) string {
	text = template.HTMLEscapeString(text)
	text = boldText.ReplaceAllString(text, "<strong>$1</strong>")
	return codeText.ReplaceAllString(text, "<code>$1</code>")
}

// headings lists the headings of a description, for the way through the page.
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

// anchor is a text as it can stand in an address.
func anchor(text string) string {
	return strings.Trim(notInAnchor.ReplaceAllString(strings.ToLower(text), "-"), "-")
}
