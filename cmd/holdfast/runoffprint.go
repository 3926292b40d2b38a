package main

import (
	"encoding/csv"
	"fmt"
	"holdfast/internal/reports"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/money"
	"holdfast/internal/protection"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// indent sets the tables of these reports off from the text above them.
const indent = "  "

// known says which facts and rates a report uses.
func known(q protection.ReportQuery) string {
	return fmt.Sprintf("as known at %s GMT, %s valuation, recognition by %s", q.KnownAt.UTC().Format("2006-01-02 15:04:05"), q.Valuation,
		strings.ReplaceAll(string(q.Recognition), "_", " "))
}

// runOffCSV prints, for each day, a row for every base currency and one for the total.
func (p *program) runOffCSV(r reports.RunOffReport) error {
	lines := [][]string{{"date", "days", "by", "currencies", "e1", "e2"}}
	for _, point := range r.Points {
		day, days := point.Day.String(), number(int64(point.Day-r.Query.AsOf))
		for _, c := range point.By {
			lines = append(lines, []string{day, days, "currency", string(c.Currency), number(c.E1), number(c.E2)})
		}
		lines = append(lines, []string{day, days, "total", string(r.Query.Currency), number(point.Total.E1), number(point.Total.E2)})
	}
	return csv.NewWriter(p.stdout).WriteAll(lines)
}

// runOffTable prints the run-off for people, up to the first day on which nothing is left.
func (p *program) runOffTable(r reports.RunOffReport) error {
	q := r.Query
	p.printf("Run-off from the end of %s,\n%s\n\n", q.AsOf, known(q))
	first := r.Points[0].Total
	if first == (protection.Level{}) {
		p.tellNothing(r.PendingRate, r.Uncovered)
		return nil
	}
	amount := func(n int64) string { return money.Format(n, q.Currency) }
	lines := [][]string{{"end of", "days", "E1 " + string(q.Currency), "E2 " + string(q.Currency), "of E1"}}
	for _, point := range r.Points {
		lines = append(lines, []string{
			point.Day.String(), number(int64(point.Day - q.AsOf)), amount(point.Total.E1), amount(point.Total.E2),
			share(point.Total.E1, first.E1),
		})
		if point.Total == (protection.Level{}) {
			break
		}
	}
	p.writeTable(indent, lines)
	if r.HalfLife != nil {
		p.printf("\nHalf of E1 is gone by %s, after %d days; its mean life is %s days.\n", *r.HalfLife, *r.HalfLife-q.AsOf, r.MeanLifeDays())
	} else {
		p.printf("\nThere is no E1.\n")
	}
	p.printf("Its peak so far, at the rates of the first day: %s %s on %s. The last dispute window ends on %s.\n",
		q.Currency, amount(r.Peak.E1), r.Peak.Day, r.LastDay)
	p.printf("%s", legend)
	p.tellApart(r.PendingRate, r.Uncovered)
	return nil
}

// share is a part of a whole in percent. It is cut to one decimal and not rounded, so that only the whole is 100.0 %.
func share(part, whole int64) string {
	if whole == 0 {
		return "-"
	}
	return protection.Percent(part, whole) + " %"
}

// tellNothing is printed in place of a table without rows.
func (p *program) tellNothing(pending, uncovered []protection.Pending) {
	if len(pending) > 0 {
		p.printf("Nothing that has a rate is at risk.\n")
	} else {
		p.printf("Nothing is at risk.\n")
	}
	p.tellApart(pending, uncovered)
}

// tellApart prints what no total counts.
func (p *program) tellApart(pending, uncovered []protection.Pending) {
	for _, w := range pending {
		p.printf("Not counted, because an exchange rate is missing: %d allocations, E1 %s %s", w.Allocations, w.Currency,
			money.Format(w.E1, w.Currency))
		if w.E2 > 0 {
			p.printf(", E2 %s %s", w.Currency, money.Format(w.E2, w.Currency))
		}
		p.printf(".\n")
	}
	for _, u := range uncovered {
		p.printf("Not protected, or not yet covered: %d allocations, %s %s.\n", u.Allocations, u.Currency, money.Format(u.E1, u.Currency))
	}
}

// ageingCSV prints a row for each band and base currency and, as the last one, the total.
func (p *program) ageingCSV(r reports.AgeingReport) error {
	currency := string(r.Query.Currency)
	lines := [][]string{{"band", "currencies", "allocations", "e1", "currency", "e1_report"}}
	for _, band := range r.Bands {
		for _, c := range band.By {
			lines = append(lines, []string{
				band.Name, string(c.Currency), number(c.Allocations), number(c.E1), currency, number(c.E1Report),
			})
		}
	}
	lines = append(lines, []string{"total", currency, number(r.Allocations), number(r.Total), currency, number(r.Total)})
	return csv.NewWriter(p.stdout).WriteAll(lines)
}

// ageingTable prints the ageing for people, with a column for each base currency.
func (p *program) ageingTable(r reports.AgeingReport) error {
	q := r.Query
	p.printf("Ageing of E1 at the end of %s,\n%s\n\n", q.AsOf, known(q))
	if r.Allocations == 0 {
		p.tellNothing(r.PendingRate, r.Uncovered)
		return nil
	}
	var currencies []money.Currency
	for _, band := range r.Bands {
		for _, c := range band.By {
			if !slices.Contains(currencies, c.Currency) {
				currencies = append(currencies, c.Currency)
			}
		}
	}
	slices.Sort(currencies)
	head := []string{"trip ends in", "allocations", "E1 " + string(q.Currency), "share", ""}
	for _, c := range currencies {
		head = append(head, "in "+string(c))
	}
	lines := [][]string{head}
	for _, band := range r.Bands {
		cells := []string{
			bandName(band.Name), number(band.Allocations), money.Format(band.E1, q.Currency), share(band.E1, r.Total), "",
		}
		for _, c := range currencies {
			cell := "-"
			if i := slices.IndexFunc(band.By, func(b protection.AgeingCurrency) bool { return b.Currency == c }); i >= 0 {
				cell = money.Format(band.By[i].E1, c)
			}
			cells = append(cells, cell)
		}
		lines = append(lines, cells)
	}
	if r.Rounding != 0 {
		lines = append(lines, []string{"rounding", "", money.Format(r.Rounding, q.Currency)})
	}
	lines = append(lines, []string{
		"total", number(r.Allocations), money.Format(r.Total, q.Currency), share(r.Total, r.Total),
	})
	p.writeTable(indent, lines)
	p.printf("\nE1: what is lost if the merchants fail now. Under way: the trip has begun and is not over.\n")
	p.tellApart(r.PendingRate, r.Uncovered)
	return nil
}

func bandName(name string) string {
	switch name {
	case "in_travel":
		return "under way"
	case "over_365":
		return "over 365 days"
	default:
		return strings.Replace(name, "-", "–", 1) + " days"
	}
}

// movementLines are the lines of a movement with their names. Each amount has its sign already.
func movementLines(f protection.Flows, valuation protection.Valuation) (names []string, levels []protection.Level) {
	add := func(name string, l protection.Level) { names, levels = append(names, name), append(levels, l) }
	add("opening", f.Opening)
	for _, c := range protection.Causes {
		add(c.String(), f.Of(c))
	}
	if valuation == protection.Spot {
		add("revaluation", f.Revaluation)
	}
	add("closing", f.Closing)
	return names, levels
}

// movementCSV prints a row for each line: for each base currency, for the total, and for payments that wait for a rate.
func (p *program) movementCSV(r reports.MovementReport) error {
	lines := [][]string{{"by", "currencies", "line", "e1", "e2"}}
	add := func(by string, c money.Currency, f protection.Flows, valuation protection.Valuation) {
		names, levels := movementLines(f, valuation)
		for i, name := range names {
			lines = append(lines, []string{by, string(c), name, number(levels[i].E1), number(levels[i].E2)})
		}
	}
	for _, row := range r.Rows {
		add("currency", row.Currency, row.Flows, protection.Locked) // nothing is revalued in its own currency
	}
	add("total", r.Query.Currency, r.Total, r.Query.Valuation)
	for _, row := range r.PendingRate {
		add("pending_rate", row.Currency, row.Flows, protection.Locked)
	}
	return csv.NewWriter(p.stdout).WriteAll(lines)
}

// movementTable prints the movement for people: a block for each base currency, and the total.
func (p *program) movementTable(r reports.MovementReport) error {
	q := r.Query
	p.printf("Movement from the end of %s to the end of %s,\n%s\n", q.From, q.AsOf, known(q.ReportQuery))
	if len(r.Rows)+len(r.PendingRate) == 0 {
		p.printf("\nNothing was at risk, and nothing is.\n")
		return nil
	}
	for _, row := range r.Rows {
		if len(r.Rows) == 1 && row.Currency == q.Currency { // the total says the same
			break
		}
		p.movementBlock("In "+string(row.Currency), row.Currency, row.Flows, protection.Locked)
	}
	p.movementBlock("Total in "+string(q.Currency), q.Currency, r.Total, q.Valuation)
	for _, row := range r.PendingRate {
		title := "Not in the total, because an exchange rate is missing: in " + string(row.Currency)
		p.movementBlock(title, row.Currency, row.Flows, protection.Locked)
	}
	p.printf("%s", legend)
	return nil
}

func (p *program) movementBlock(title string, c money.Currency, f protection.Flows, valuation protection.Valuation) {
	p.printf("\n%s\n\n", title)
	names, levels := movementLines(f, valuation)
	lines := [][]string{{"", "E1", "E2"}}
	amount := func(n int64, always bool) string {
		if n == 0 && !always {
			return "-"
		}
		return money.Format(n, c)
	}
	for i, name := range names {
		outer := i == 0 || i == len(names)-1
		word := strings.ReplaceAll(strings.ReplaceAll(name, "re_dated", "re-dated"), "_", " ")
		if !outer {
			word = "  " + word
		}
		lines = append(lines, []string{word, amount(levels[i].E1, outer), amount(levels[i].E2, outer)})
	}
	p.writeTable(indent, lines)
}
