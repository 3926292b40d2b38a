package failures

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"holdfast/internal/book/claims"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/web/kit"
)

// bordereauShown is how many rows the page shows. Files have all.
const bordereauShown = 50

func bordereauAt(v *kit.Visit, below, month string) string {
	return v.At("/claims/bordereau"+below) + "?period=" + url.QueryEscape(month)
}

// lastMonth is the last month that is over.
func lastMonth(v *kit.Visit) string {
	this := terms.PeriodOf(terms.PeriodMonth, civil.DayOf(v.Now()))
	return terms.PeriodOf(terms.PeriodMonth, this.First-1).Name()
}

// bordereau shows the claims bordereau of a month, and whether it was presented.
func (p *pages) bordereau(v *kit.Visit) error {
	form := kit.Filled("period", cmp.Or(v.Query("period"), lastMonth(v)))
	month := form.Get("period")
	found, err := p.app.Claims.Bordereau(v.R.Context(), v.Actor, claims.BordereauQuery{Month: month})
	ok, err := v.Took(form, err)
	if err != nil {
		return err
	}
	sums, err := found.Totals()
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "claims-bordereau-" + month, Caption: "Claims", Columns: bordereauColumns, Total: -1,
		Empty: kit.Empty{Title: "No claims", Text: "The claims made by the end of this month appear here."},
	}
	if ok && v.Can(access.Export) {
		t.Files = []kit.Link{{Text: "CSV", Href: bordereauAt(v, ".csv", month)}, {Text: "XLSX", Href: bordereauAt(v, ".xlsx", month)}}
	}
	for _, r := range found.Rows[:min(len(found.Rows), bordereauShown)] {
		t.Rows = append(t.Rows, bordereauRow(v, r))
	}
	page := kit.Page{Title: "Claims bordereau", Menu: menu, Path: above(v)[:1], Parts: v.Parts("failures", "/claims/bordereau"), Wide: true}
	if ok && found.Final && found.Presented == nil && v.Can(access.DecideClaims) {
		page.Acts = []kit.Link{{Text: "Present", Href: bordereauAt(v, "/present", month)}}
	}
	page.Data = struct {
		Form         *kit.Form
		Totals, List *kit.Table
		More, Ok     bool
		Status       string
		SHA256       string
	}{form, totalsTable(v, sums), v.Table(t), len(found.Rows) > bordereauShown, ok, statusOf(found), hashOf(found)}
	return v.Show(p.Pages, "bordereau.html", page)
}

// statusOf describes whether a month is over and was presented.
func statusOf(b claims.Bordereau) string {
	switch {
	case b.Presented != nil:
		return fmt.Sprintf("Presented on %s by %s. Changes since the end of the month are in later months.", kit.Instant(b.Presented.At), b.Presented.By)
	case b.Final:
		return "The month is over: its report no longer changes. It has not been presented yet."
	default:
		return "As of " + kit.Day(b.AsOf) + ". The month is not over."
	}
}

func hashOf(b claims.Bordereau) string {
	if b.Presented == nil {
		return ""
	}
	return b.Presented.SHA256
}

var bordereauColumns = []kit.Column{
	{Name: "claim", Title: "Claim"}, {Name: "merchant", Title: "Merchant"}, {Name: "status", Title: "Status"}, {Name: "opened", Title: "Opened"},
	{Name: "contract", Title: "Contract", Hidden: true}, {Name: "year", Title: "Year of account", Hidden: true},
	{Name: "amount_claimed", Title: "Claimed", Currency: "original_currency"}, {Name: "paid_this_month", Title: "Paid this month", Currency: "settlement_currency"},
	{Name: "previously_paid", Title: "Previously paid", Currency: "settlement_currency", Minor: true},
	{Name: "reserve", Title: "Reserve", Currency: "settlement_currency"}, {Name: "total_incurred", Title: "Incurred", Currency: "settlement_currency"},
}

func bordereauRow(v *kit.Visit, r claims.BordereauRow) kit.Row {
	tone := "warn"
	if r.Closed != civil.NoDay {
		tone = "calm"
	}
	href := claimAt(v, r.ClaimID, "")
	return kit.Row{Href: href, Cells: append([]kit.Cell{
		kit.Linked(r.Reference(), href), kit.Words(r.Merchant), {Text: r.Status(), Plain: r.Status(), Tone: tone}, kit.OnDay(r.Opened),
		kit.Words(r.Contract.Reference), kit.Words(fmt.Sprint(r.Year)), kit.Sum(r.Claimed, r.Original),
	}, reportedCells(r.Reported, r.Settlement)...)}
}

func reportedCells(r claim.Reported, c money.Currency) []kit.Cell {
	return []kit.Cell{kit.Sum(r.Paid, c), kit.Sum(r.Previously, c), kit.Sum(r.Reserve, c), kit.Sum(r.Incurred(), c)}
}

// totalsTable has a row per contract, year of account and currency.
func totalsTable(v *kit.Visit, sums []claims.BordereauTotal) *kit.Table {
	t := kit.Table{
		Name: "totals", Bare: true, Caption: "Totals",
		Columns: append([]kit.Column{
			{Name: "contract", Title: "Contract"}, {Name: "year", Title: "Year of account"}, {Name: "rows", Title: "Claims", Figure: true},
		}, bordereauColumns[len(bordereauColumns)-4:]...),
	}
	for _, s := range sums {
		t.Rows = append(t.Rows, kit.Row{Cells: append([]kit.Cell{
			kit.Words(cmp.Or(s.Contract, "None")), kit.Words(fmt.Sprint(s.Year)), kit.Number(s.Rows),
		}, reportedCells(s.Reported, s.Settlement)...)})
	}
	return v.Table(t)
}

// bordereauFile sends the bordereau of a month as a file with the columns of the reporting standard.
func (p *pages) bordereauFile(end, kind string, write func(w io.Writer, b claims.Bordereau) error) kit.Handler {
	return func(v *kit.Visit) error {
		found, err := p.app.Claims.Bordereau(v.R.Context(), v.Actor, claims.BordereauQuery{Month: v.Query("period")})
		if err != nil {
			return err
		}
		return v.Stream("claims-"+found.Period.Name()+end, kind, func(w io.Writer) error { return write(w, found) })
	}
}

func writeClaimsCSV(w io.Writer, b claims.Bordereau) error { return b.WriteCSV(w) }

// present asks for a confirmation, and records that a month was presented.
func (p *pages) present(v *kit.Visit) error {
	month := v.Query("period")
	back := bordereauAt(v, "", month)
	form := kit.Filled()
	if v.R.Method == http.MethodPost {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		_, err = p.app.Claims.Present(v.R.Context(), v.Actor, claims.BordereauQuery{Month: month})
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return v.Done(back, "Month presented.")
		}
	}
	return v.Confirm(kit.Confirmation{
		Title: "Present the claims bordereau of " + month + "?", Act: "Present", Back: back, Again: form,
		Text: []string{"Do this when you send it to the underwriter. Its hash is recorded. A month can be presented once."},
	}, kit.Page{Menu: menu, Path: append(aboveClaims(v), kit.Link{Text: "Claims bordereau", Href: back})})
}
