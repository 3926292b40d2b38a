// Package docs holds what users read, and hands the program what it serves of it.
package docs

import "embed"

// OpenAPI is the description of the HTTP API, with the default segments in its addresses.
//
//go:embed openapi.yaml
var OpenAPI []byte

// Pages are the texts for users, in Markdown, and the pictures in them: guides, and each page of Handbook.
//
//go:embed guides/*.md pictures/*.svg
//go:embed running.md dashboard.md payments.md modal.md webhooks.md import.md clients.md mail.md reliability.md
//go:embed protection.md rules.md glossary.md processors.md card-data.md security.md backup.md command-line.md settings.md
var Pages embed.FS

// Guides names the guides, in the order in which they are shown and read: guides/NAME.md.
var Guides = []string{
	"first-payment", "concepts", "logging", "go-live", "modal", "webhooks", "errors", "exposure", "moving",
}

// Handbook names the other pages that are shown, in their order: NAME.md. What is left out is for those who work on the program.
var Handbook = []string{
	"running", "dashboard", "payments", "modal", "webhooks", "import", "clients", "mail", "reliability", "protection", "rules", "glossary",
	"processors", "card-data", "security", "backup", "command-line", "settings",
}
