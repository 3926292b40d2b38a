package main

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"holdfast/internal/reports"
	"strconv"
	"strings"

	"holdfast/internal/api"
	"holdfast/internal/money"
	"holdfast/internal/protection"
)

// exposureJSON prints the same JSON as the API, so that a program can use either.
func (p *program) exposureJSON(r reports.ExposureReport) error {
	out := json.NewEncoder(p.stdout)
	out.SetIndent("", "  ")
	return out.Encode(api.ShowExposure(r))
}

// keyOf says what a row is about: ids, for channels and suppliers, and names.
func keyOf(r reports.ExposureReport, k protection.Key) (id, text string) {
	var ids, texts []string
	for _, d := range []protection.Dimension{r.Query.By, r.Query.Across} {
		switch d {
		case protection.ByChannel:
			ids = append(ids, strconv.FormatInt(k.ChannelID, 10))
			texts = append(texts, r.ChannelNames[k.ChannelID])
		case protection.ByMonth:
			texts = append(texts, k.Month)
		case protection.ByCurrency:
			texts = append(texts, string(k.Currency))
		case protection.ByScheme:
			texts = append(texts, k.Scheme)
		case protection.ByCountry:
			texts = append(texts, k.Country)
		case protection.BySupplier:
			ids = append(ids, k.Suppliers)
			texts = append(texts, cmp.Or(strings.ReplaceAll(k.Suppliers, ",", "+"), "none"))
		}
	}
	return strings.Join(ids, "/"), strings.Join(texts, " / ")
}

// exposureCSV prints the rows and then the total. What is not part of the total (payments that wait for a rate,
// rounding, collateral) is in the JSON only.
func (p *program) exposureCSV(r reports.ExposureReport) error {
	out := csv.NewWriter(p.stdout)
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	lines := [][]string{{
		"by", "id", "key", "currencies", "allocations", "e1", "e2", "currency", "e1_report", "e2_report", "e4", "e5",
	}}
	currency := r.Query.Currency
	for _, row := range r.Rows {
		id, key := keyOf(r, row.Key)
		lines = append(lines, []string{
			byOf(r), id, key, string(row.Currency), number(row.Allocations), number(row.E1), number(row.E2),
			string(currency), number(row.E1Report), number(row.E2Report), number(row.E4), number(row.E5),
		})
	}
	total := []string{
		"total", "", "", string(currency), number(r.Total.Allocations), number(r.Total.E1), number(r.Total.E2),
		string(currency), number(r.Total.E1), number(r.Total.E2), "", "",
	}
	if r.Memo != nil {
		total[10], total[11] = number(r.Memo.E4), number(r.Memo.E5)
	}
	return out.WriteAll(append(lines, total))
}

func byOf(r reports.ExposureReport) string {
	if r.Query.Across == "" {
		return string(r.Query.By)
	}
	return string(r.Query.By) + "," + string(r.Query.Across)
}

// exposureTable prints the report for people.
func (p *program) exposureTable(r reports.ExposureReport) {
	q := r.Query
	p.printf("Exposure at the end of %s, as known at %s GMT, %s valuation\n\n", q.AsOf, q.KnownAt.UTC().Format("2006-01-02 15:04:05"), q.Valuation)
	amount := money.Format
	lines := [][]string{{
		byOf(r), "allocations", "", "E1", "E2", "E1 " + string(q.Currency), "E2 " + string(q.Currency),
	}}
	for _, row := range r.Rows {
		_, key := keyOf(r, row.Key)
		lines = append(lines, []string{
			key, strconv.FormatInt(row.Allocations, 10), string(row.Currency), amount(row.E1, row.Currency),
			amount(row.E2, row.Currency), amount(row.E1Report, q.Currency), amount(row.E2Report, q.Currency),
		})
	}
	if r.RoundingE1 != 0 || r.RoundingE2 != 0 {
		lines = append(lines, []string{
			"rounding", "", "", "", "", amount(r.RoundingE1, q.Currency), amount(r.RoundingE2, q.Currency),
		})
	}
	lines = append(lines, []string{
		"total", strconv.FormatInt(r.Total.Allocations, 10), "", "", "", amount(r.Total.E1, q.Currency), amount(r.Total.E2, q.Currency),
	})
	p.writeTable("", lines)
	if r.Net.Held > 0 {
		p.printf("\nOf E1, %s %s is left after collateral of %s %s.\n",
			q.Currency, amount(r.Net.Net, q.Currency), q.Currency, amount(r.Net.Held, q.Currency))
	}
	p.printf("%s", legend)
	for _, w := range r.PendingRate {
		p.printf("Not counted, because an exchange rate is missing: %d allocations, E1 %s %s, E2 %s %s.\n",
			w.Allocations, w.Currency, amount(w.E1, w.Currency), w.Currency, amount(w.E2, w.Currency))
	}
	for _, i := range r.Instalments {
		p.printf("Still to be paid of %d bookings: %s %s (E4).\n", i.Allocations, i.Currency, amount(i.E1, i.Currency))
	}
	for _, u := range r.Uncovered {
		p.printf("Not protected, or not yet covered: %d allocations, %s %s.\n", u.Allocations, u.Currency, amount(u.E1, u.Currency))
	}
}

// legend explains the two figures under every report that shows them.
const legend = "\nE1: what is lost if the merchants fail now. E2: what can still be charged back for trips that are over.\n"

// writeTable prints lines of cells. The first column is words and begins at the left. The others are figures and end at
// the right, so that their digits stand under each other. A line may have fewer cells than the first one.
func (p *program) writeTable(indent string, lines [][]string) {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], width(cell))
		}
	}
	for _, line := range lines {
		text := indent
		for i, cell := range line {
			gap := strings.Repeat(" ", widths[i]-width(cell))
			if i == 0 {
				text += cell + gap
			} else {
				text += "  " + gap + cell
			}
		}
		p.printf("%s\n", strings.TrimRight(text, " "))
	}
}
