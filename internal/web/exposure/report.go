package exposure

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/web/chart"
	"holdfast/internal/web/kit"
)

// reportPage is the content of a page: key figures, notes, charts and tables. The first table can be exported.
type reportPage struct {
	Settings *setting
	About    string // scope and date of the report
	Keep     string // URL of this snapshot
	Release  string // URL of the live report
	Figures  []figure
	Warnings []note // reasons why a figure is unknown or wrong
	Notes    []note // notes on the figures
	Charts   []template.HTML
	Parts    []part
	day      *civil.Day // the day whose end the figures describe; nil for current figures
}

// figure is a key figure.
type figure struct{ Text, Value, Hint, Href string }

// note is a note on the figures.
type note struct{ Text, Href string }

// part is a table or a list of facts, with a title.
type part struct {
	Title, Text string
	Table       *kit.Table
	Facts       []kit.Fact
	ID          string
}

// began returns a report with its settings form.
func (s *settings) began(which int) *reportPage { return &reportPage{Settings: s.fields(which)} }

// at describes the report's date and time, and returns the URL of the snapshot.
func (r *reportPage) at(s *settings, q exposure.ReportQuery, final bool) {
	r.day = &q.AsOf
	rates := "at spot rates"
	if q.Valuation == exposure.Locked {
		rates = "at locked rates"
	}
	r.About = "At the end of " + kit.Day(q.AsOf) + ", as known at " + kit.Instant(q.KnownAt)
	if q.Currency != "" {
		r.About += ", in " + string(q.Currency) + " " + rates
	}
	r.About += "."
	if lag := s.v.Lag(); lag != "" {
		r.About += " Read from the standby, " + lag + " seconds behind."
	}
	if final {
		r.About += " This report is final."
	}
	if s.AsOf == nil || s.KnownAt.IsZero() {
		// The browser's field has milliseconds, the databases microseconds: round up so that nothing is lost.
		known := q.KnownAt.Add(time.Millisecond - time.Microsecond).Truncate(time.Millisecond)
		r.Keep = s.v.With("as_of", q.AsOf.String(), "known_at", known.UTC().Format(pinned), "page", "")
	} else {
		r.Release = s.v.With("as_of", "", "known_at", "", "page", "")
	}
}

// since describes the first day of the report's changes.
func (r *reportPage) since(from civil.Day) {
	r.About = "From the end of " + kit.Day(from) + " to the end" + strings.TrimPrefix(r.About, "At the end")
}

// draw adds a chart, unless it is empty.
func (r *reportPage) draw(c chart.Chart) {
	if len(c.Points) > 0 {
		r.Charts = append(r.Charts, c.HTML())
	}
}

// show serves a report as a page, or its first table as a file.
func (p *pages) show(v *kit.Visit, r *reportPage, page kit.Page) error {
	r.setSummary(v)
	if len(r.Parts) > 0 && r.Parts[0].Table != nil {
		r.Parts[0].Table.Day = r.day
		if sent, err := v.File(r.Parts[0].Table); sent || err != nil {
			return err
		}
	}
	page.Data = r
	if page.Menu == "" {
		page.Menu = "/exposure"
	}
	return v.Show(p.Pages, "report.html", page)
}

// setSummary sets the summary for the report's e-mail.
func (r *reportPage) setSummary(v *kit.Visit) {
	var facts []kit.Fact
	for _, f := range r.Figures {
		facts = append(facts, kit.Fact{Text: f.Text, Value: f.Value})
	}
	for _, n := range r.Warnings {
		facts = append(facts, kit.Fact{Text: "Note", Value: n.Text})
	}
	kit.SetSummary(v, r.About, facts)
}

// fail shows the form with its errors.
func (p *pages) fail(s *settings, which int, err error, page kit.Page) error {
	r := s.began(which)
	if err := s.refused(r.Settings, err); err != nil {
		return err
	}
	return p.show(s.v, r, page)
}

// sum is an amount, or a note that it is unknown because a rate is missing.
func sum(amount int64, gap bool, c money.Currency) kit.Cell {
	if gap {
		return kit.NoSum("Unknown", c)
	}
	return kit.Sum(amount, c)
}

// dashed shows zero as a dash, so that other figures stand out.
func dashed(c kit.Cell) kit.Cell {
	if strings.Trim(c.Plain, "0.") == "" && c.Plain != "" {
		c.Text = "\u2013"
	}
	return c
}

// said is sum as a text.
func said(amount int64, gap bool, c money.Currency) string {
	if gap {
		return "Unknown"
	}
	return kit.Money(amount, c)
}

// leading is a cell with a link.
func leading(c kit.Cell, href string) kit.Cell {
	c.Href = href
	return c
}

// pick returns the rows of a page from a list in memory. A file has all of them, up to a limit.
func pick[T any](v *kit.Visit, list []T, number, size int) (rows []T, more bool) {
	if v.Format() != "" {
		return list[:min(len(list), mostRows)], false
	}
	from := min(len(list), max(0, number-1)*size)
	to := min(len(list), from+size)
	return list[from:to], to < len(list)
}

// mostRows is the maximum number of rows in a file.
const mostRows = 10_000

// apartNotes lists what the totals do not include.
func (r *reportPage) apartNotes(pending, uncovered []exposure.Pending) {
	for _, x := range pending {
		text := fmt.Sprintf("There is no exchange rate yet for %s in %s, so %s undelivered and %s tail are not valued in the report currency.",
			kit.Plural(x.Allocations, "payment", "payments"), x.Currency, kit.Money(x.E1, x.Currency), kit.Money(x.E2, x.Currency))
		r.Warnings = append(r.Warnings, note{Text: text})
	}
	for _, x := range uncovered {
		text := fmt.Sprintf("Not included in the total: %s of %s unprotected or before cover begins.",
			kit.Money(x.E1, x.Currency), kit.Plural(x.Allocations, "payment", "payments"))
		r.Notes = append(r.Notes, note{Text: text})
	}
}
