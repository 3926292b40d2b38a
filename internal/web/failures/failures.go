// Package failures serves the dashboard pages about merchants that fail (R13): reports of a failure, insolvencies with the payments they
// affect, claims, payouts and recoveries. Start reading at Add.
package failures

import (
	"embed"

	"holdfast/internal/app"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/paper"
	"holdfast/internal/domain/access"
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

// spreadsheet is the media type of XLSX files.
const spreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

// menu is the sidebar entry of the pages.
const menu = "/channels"

// Add adds the pages to a frame.
func Add(f *kit.Frame, a *app.App) error {
	templates, err := f.Pages(files)
	if err != nil {
		return err
	}
	p := &pages{a, f, templates}
	f.Site("GET /insolvencies", access.ReadFailures, p.insolvencies)
	f.Site("GET /insolvencies/new", access.ReportFailures, p.newReport)
	f.Site("POST /insolvencies", access.ReportFailures, p.report)
	f.Site("GET /insolvencies/rehearsal", access.MoveClock, p.newRehearsal)
	f.Site("POST /insolvencies/rehearsal", access.MoveClock, p.rehearse)
	f.Site("GET /insolvencies/loss-ratio", access.ReadFailures, p.lossRatio)
	f.Site("GET /insolvencies/{id}", access.ReadFailures, p.insolvency)
	f.Site("GET /insolvencies/{id}/affected.csv", access.Export, p.affectedCSV)
	f.Site("GET /insolvencies/{id}/affected.xlsx", access.Export, p.affectedXLSX)
	f.Site("GET /insolvencies/{id}/snapshot.csv", access.Export, p.snapshot)
	f.Site("GET /claims", access.ReadFailures, p.claims)
	f.Site("GET /claims/bordereau", access.ReadFailures, p.bordereau)
	f.Site("GET /claims/bordereau.csv", access.Export, p.bordereauFile(".csv", "text/csv; charset=utf-8", writeClaimsCSV))
	f.Site("GET /claims/bordereau.xlsx", access.Export, p.bordereauFile(".xlsx", spreadsheet, paper.WriteClaimsXLSX))
	f.Site("GET /claims/bordereau/present", access.DecideClaims, p.present)
	f.Site("POST /claims/bordereau/present", access.DecideClaims, p.present)
	f.Site("GET /claims/{id}", access.ReadFailures, p.claim)
	for _, a := range claimActions {
		f.Site("GET /claims/{id}/"+a.below, a.may, p.actOnClaim(a))
		f.Site("POST /claims/{id}/"+a.below, a.may, p.actOnClaim(a))
	}
	f.Site("GET /payouts", access.ReadPayouts, p.payouts)
	f.Site("GET /payouts/{id}", access.ReadPayouts, p.payout)
	f.Site("GET /payouts/{id}/pdf", access.ReadPayouts, p.payoutPDF)
	f.Site("POST /payouts/{id}/sign", access.SignOffPayout, p.settle("Payout signed.", p.sign))
	f.Site("POST /payouts/{id}/paid", access.SignOffPayout, p.settle("Payout recorded as paid.", p.paid))
	f.Site("POST /payouts/{id}/failed", access.SignOffPayout, p.settle("Payout recorded as failed. Its claims are planned again.", p.fail))
	f.Site("GET /recoveries", access.ReadFailures, p.recoveries)
	f.Site("GET /recoveries/new", access.RecordRecoveries, p.newRecovery)
	f.Site("POST /recoveries", access.RecordRecoveries, p.recover)
	f.Site("GET /recoveries/{id}/cancel", access.RecordRecoveries, p.cancelRecovery)
	f.Site("POST /recoveries/{id}/cancel", access.RecordRecoveries, p.cancelRecovery)
	for _, a := range actions {
		f.Site("GET /insolvencies/{id}/"+a.below, a.may, p.act(a))
		f.Site("POST /insolvencies/{id}/"+a.below, a.may, p.act(a))
	}
	return nil
}

// at returns the URL of an insolvency, or of a page below it.
func at(v *kit.Visit, id int64, below string) string {
	return v.At("/insolvencies/" + kit.Ident(id).Plain + below)
}

// above is the breadcrumb trail of a page about an insolvency.
func above(v *kit.Visit) []kit.Link {
	return []kit.Link{{Text: "Merchants", Href: v.At("/channels")}, {Text: "Insolvencies", Href: v.At("/insolvencies")}}
}

// tones are the colours of the states.
var tones = map[insolvencies.State]string{
	insolvencies.Reported: "warn", insolvencies.Confirmed: "bad", insolvencies.Open: "bad", insolvencies.ClaimsClosed: "warn",
	insolvencies.Closed: "calm", insolvencies.Withdrawn: "calm",
}

// kinds are the display names of the kinds of failures, by what the API calls them.
var kinds = map[insolvencies.Kind]string{
	"administration": "Administration", "liquidation": "Liquidation", "ceased_trading": "Ceased trading",
	"scheme_revoked": "Card scheme revoked", "suspension": "Suspension",
}

// kindOf names a kind for people.
func kindOf(k insolvencies.Kind) string {
	if text, ok := kinds[k]; ok {
		return text
	}
	return kit.Say(k)
}
