// Package docs holds what users read, and hands the program what it serves of it.
package docs

import "embed"

// OpenAPI is the description of the HTTP API, with the default segments in its addresses.
//
//go:embed openapi.yaml
var OpenAPI []byte

// Pages are the guides and the pages of Handbook in Markdown, with their pictures.
//
//go:embed guides/*.md pictures/*.svg
//go:embed import.md payments.md disputes.md modal.md webhooks.md mail.md clients.md dashboard.md protection.md
//go:embed running.md reliability.md backup.md processors.md security.md card-data.md scale.md performance.md
//go:embed rules.md glossary.md command-line.md settings.md
var Pages embed.FS

// Group is a group of pages in the menu of the documentation.
type Group struct {
	Name     string
	Guides   []string // guides/NAME.md
	Handbook []string // NAME.md
}

// Groups lists the pages in menu order. Pages for contributors are left out.
var Groups = []Group{
	{"Start", []string{"first-payment", "concepts"}, nil},
	{"Log", []string{"logging", "modal", "webhooks", "errors", "moving"}, []string{"import", "payments", "disputes", "modal", "webhooks", "mail", "clients"}},
	{"Read", []string{"exposure"}, []string{"dashboard", "protection"}},
	{"Operate", []string{"go-live", "insolvency"}, []string{"running", "reliability", "backup", "processors", "security", "card-data", "scale", "performance"}},
	{Reference, nil, []string{"rules", "glossary", "command-line", "settings"}},
}

// Reference is the group that also has the reference of the API.
const Reference = "Reference"

// Guides and Handbook are the pages of all groups, in menu order.
var (
	Guides   = flatten(func(g Group) []string { return g.Guides })
	Handbook = flatten(func(g Group) []string { return g.Handbook })
)

func flatten(pages func(Group) []string) (list []string) {
	for _, g := range Groups {
		list = append(list, pages(g)...)
	}
	return list
}
