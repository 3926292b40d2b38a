package analyst

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

// report is what a page shows: key figures, what to know about them, charts, and tables. The first table leaves as a file.
type reportPage struct {
	Settings *setting
	About    string // what the report is about, and at which moment
	Keep     string // the address of the same report that always shows the same
	Release  string // the address of the report of now
	Figures  []figure
	Warnings []note // what makes a figure unknown or wrong
	Notes    []note // what stands beside the figures
	Charts   []template.HTML
	Parts    []part
}

// figure is a key figure.
type figure struct{ Text, Value, Hint, Href string }

// note is something to know about the figures.
type note struct{ Text, Href string }

// part is a table with its title, or a list of facts.
type part struct {
	Title, Text string
	Table       *kit.Table
	Facts       []kit.Fact
	ID          string
}

// began makes a report with the form above it.
func (s *settings) began(which int) *reportPage { return &reportPage{Settings: s.fields(which)} }

// at says at which moment a report is, and gives the address that keeps it.
func (r *reportPage) at(s *settings, q exposure.ReportQuery, final bool) {
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
		// The field of a browser takes milliseconds, and the databases keep microseconds: the next whole one has all of it.
		known := q.KnownAt.Add(time.Millisecond - time.Microsecond).Truncate(time.Millisecond)
		r.Keep = s.v.With("as_of", q.AsOf.String(), "known_at", known.UTC().Format(pinned), "page", "")
	} else {
		r.Release = s.v.With("as_of", "", "known_at", "", "page", "")
	}
}

// since says from which day on a report tells changes.
func (r *reportPage) since(from civil.Day) {
	r.About = "From the end of " + kit.Day(from) + " to the end" + strings.TrimPrefix(r.About, "At the end")
}

// draw adds a chart, unless it has nothing to show.
func (r *reportPage) draw(c chart.Chart) {
	if len(c.Points) > 0 {
		r.Charts = append(r.Charts, c.HTML())
	}
}

// show answers with a report: as a page, or its first table as a file.
func (p *pages) show(v *kit.Visit, r *reportPage, page kit.Page) error {
	r.tell(v)
	if len(r.Parts) > 0 && r.Parts[0].Table != nil {
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

// tell says what a mail with the report says.
func (r *reportPage) tell(v *kit.Visit) {
	var facts []kit.Fact
	for _, f := range r.Figures {
		facts = append(facts, kit.Fact{Text: f.Text, Value: f.Value})
	}
	for _, n := range r.Warnings {
		facts = append(facts, kit.Fact{Text: "Note", Value: n.Text})
	}
	kit.Tell(v, r.About, facts)
}

// fail shows the form with what is wrong in it.
func (p *pages) fail(s *settings, which int, err error, page kit.Page) error {
	r := s.began(which)
	if err := s.refused(r.Settings, err); err != nil {
		return err
	}
	return p.show(s.v, r, page)
}

// sum is an amount, or says that it is not known because a rate is missing.
func sum(amount int64, gap bool, c money.Currency) kit.Cell {
	if gap {
		return kit.Words("Unknown")
	}
	return kit.Sum(amount, c)
}

// dashed is a figure that people see as a dash where it is zero: the others are then found at once.
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

// leading is a cell that leads to a page.
func leading(c kit.Cell, href string) kit.Cell {
	c.Href = href
	return c
}

// pick takes the rows of a page out of a list that is read already. A file has all of them, up to a bound.
func pick[T any](v *kit.Visit, list []T, number, size int) (rows []T, more bool) {
	if v.Format() != "" {
		return list[:min(len(list), mostRows)], false
	}
	from := min(len(list), max(0, number-1)*size)
	to := min(len(list), from+size)
	return list[from:to], to < len(list)
}

// mostRows is how many rows a file has at most.
const mostRows = 10_000

// apartNotes tells what stands outside the totals.
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
