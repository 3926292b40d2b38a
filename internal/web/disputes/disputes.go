// Package disputes serves the dashboard pages about disputes (R14): the queue by the last day to answer, and each dispute with the payments
// that it may be about. Start reading at Add.
package disputes

import (
	"embed"

	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/web/kit"
)

//go:embed pages
var files embed.FS

// pages are the handlers of this package.
type pages struct {
	app   *app.App
	frame *kit.Frame
	kit.Pages
}

// menu is the sidebar entry of the pages, and group their tabs.
const menu, group = "/payments", "payments"

// Add adds the pages to a frame.
func Add(f *kit.Frame, a *app.App) error {
	templates, err := f.Pages(files)
	if err != nil {
		return err
	}
	p := &pages{a, f, templates}
	f.Site("GET /disputes", access.ReadDisputes, p.disputes)
	f.Site("GET /dispute-files", access.ReadDisputes, p.importFiles)
	f.Site("POST /dispute-files", access.WorkDisputes, p.importFiles)
	f.Site("GET /dispute-files/{id}", access.ReadDisputes, p.importedFile)
	f.Site("GET /disputes/ratios", access.ReadDisputes, p.ratios)
	f.Site("GET /disputes/{id}", access.ReadDisputes, p.dispute)
	f.Site("GET /disputes/{id}/evidence/{evidence}", access.ReadDisputes, p.file)
	f.Site("GET /disputes/{id}/representment.pdf", access.ReadDisputes, p.representment)
	f.Site("POST /disputes/{id}/evidence", access.WorkDisputes, p.attach)
	f.Site("GET /disputes/{id}/match/{transaction}", access.WorkDisputes, p.match)
	f.Site("POST /disputes/{id}/match/{transaction}", access.WorkDisputes, p.match)
	for _, a := range actions {
		f.Site("GET /disputes/{id}/"+a.below, access.WorkDisputes, p.act(a))
		f.Site("POST /disputes/{id}/"+a.below, access.WorkDisputes, p.act(a))
	}
	return nil
}

// at returns the URL of a dispute, or of a page below it.
func at(v *kit.Visit, id int64, below string) string {
	return v.At("/disputes/" + kit.Ident(id).Plain + below)
}

// above is the breadcrumb trail of a page about a dispute.
func above(v *kit.Visit) []kit.Link {
	return []kit.Link{{Text: "Payments", Href: v.At("/payments")}, {Text: "Disputes", Href: v.At("/disputes")}}
}

// tones are the colours of the statuses.
var tones = map[dispute.Status]string{
	dispute.Open: "warn", dispute.Challenged: "warn", dispute.Won: "good", dispute.Lost: "bad", dispute.Accepted: "calm", dispute.Expired: "bad",
	dispute.Cancelled: "calm", dispute.Prevented: "calm",
}

// matchTones are the colours of the states of matching, and matchWords their names.
var (
	matchTones = map[dispute.Matching]string{dispute.Matched: "good", dispute.Queued: "warn", dispute.Unmatched: "bad"}
	matchWords = map[dispute.Matching]string{dispute.Matched: "matched", dispute.Queued: "choose a payment", dispute.Unmatched: "no payment"}
)
