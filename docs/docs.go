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
//go:embed import.md payments.md modal.md webhooks.md mail.md clients.md dashboard.md protection.md
//go:embed running.md reliability.md backup.md processors.md security.md card-data.md scale.md performance.md
//go:embed rules.md glossary.md command-line.md settings.md
var Pages embed.FS

// Guides names the guides in reading order: guides/NAME.md.
var Guides = []string{
	"first-payment", "concepts", // start
	"logging", "modal", "webhooks", "errors", "moving", // log
	"exposure", // read
	"go-live",  // operate
}

// Handbook names the other pages that are shown, in the same order: NAME.md. Pages for contributors are left out.
var Handbook = []string{
	"import", "payments", "modal", "webhooks", "mail", "clients", // log
	"dashboard", "protection", // read
	"running", "reliability", "backup", "processors", "security", "card-data", "scale", "performance", // operate
	"rules", "glossary", "command-line", "settings", // reference
}
