package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/report"
)

// momentFlags select the knowledge time and currency of a report.
type momentFlags struct {
	KnownAt  time.Time `name:"known-at" placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Use only what was known at this time, in GMT (default: now)."`
	Currency string    `placeholder:"CODE" help:"Report currency (default: the policy's)."`
}

// in parses the currency of a report.
func (f momentFlags) in(p *errs.Problems) money.Currency {
	if f.Currency == "" {
		return ""
	}
	c, err := money.ParseCurrency(strings.ToUpper(f.Currency))
	if err != nil {
		p.Wrong("currency", "%v.", err)
	}
	return c
}

// reportFlags are the flags shared by exposure, run-off, ageing and movement.
type reportFlags struct {
	siteFlag
	momentFlags
	Valuation  string   `enum:"spot,locked" default:"spot" placeholder:"KIND" help:"spot (default): use the day's exchange rates. locked: use the rates at which payments were priced."`
	Merchants  []int64  `placeholder:"ID" field:"channels" help:"Only these merchants, by id."`
	Suppliers  []int64  `placeholder:"ID" help:"Only bookings with these suppliers, by id."`
	Schemes    []string `placeholder:"NAME" help:"Only card payments of these schemes, such as visa or unknown."`
	Countries  []string `placeholder:"CODE" help:"Only bookings for these countries, such as ES."`
	Currencies []string `placeholder:"CODE" help:"Only bookings in these currencies."`
	Months     []string `placeholder:"YYYY-MM" help:"Only trips that end in these months."`
	formFlags
	orderFlags
	detailFlags
}

// query returns the part of the query shared by these reports.
func (f reportFlags) query(asOf dayFlag) report.ExposureQuery {
	query := report.ExposureQuery{
		Moment:    ledger.Moment{AsOf: asOf.day, KnownAt: f.KnownAt},
		Valuation: exposure.Valuation(f.Valuation),
		Scope:     exposure.Scope{Channels: f.Merchants, Suppliers: f.Suppliers, Months: f.Months},
	}
	query.Currency = f.in(&query.Problems)
	for _, name := range f.Schemes {
		query.Schemes = append(query.Schemes, card.Scheme(strings.ToLower(name)))
	}
	for _, code := range f.Countries {
		query.Countries = append(query.Countries, strings.ToUpper(code))
	}
	for _, code := range f.Currencies {
		query.Currencies = append(query.Currencies, money.Currency(strings.ToUpper(code)))
	}
	return query
}

// reportPage is a report in all output formats.
type reportPage struct {
	query exposure.ReportQuery
	shape any     // the JSON of the API
	parts []sheet // rows for tables and CSV, all with the same columns
	table func()  // prints the tables and the text around them
}

// printReport prints a report in the requested format.
func (p *program) printReport(form formFlags, order orderFlags, r *reportPage) error {
	if form.JSON {
		if order != (orderFlags{}) {
			return errs.WrongField("sort", "--sort and --limit only apply to tables and CSV. JSON always has all rows.")
		}
		return p.printJSON(r.shape)
	}
	for i := range r.parts {
		part := &r.parts[i]
		if order.Sort.column != "" { // sorting separates subtotals from their rows
			part.rows = slices.DeleteFunc(part.rows, func(row []cell) bool { return row[0].plain == "subtotal" })
		}
		if err := part.arrange(order); err != nil {
			return err
		}
	}
	if !form.CSV {
		r.table()
		return nil
	}
	all := sheet{columns: r.parts[0].columns}
	for _, part := range r.parts {
		all.rows = append(append(all.rows, part.rows...), part.foot...)
	}
	return p.printCSV(all.known(r.query.KnownAt), r.query.AsOf.String())
}

// known prepends a column with the knowledge time of the report.
func (s sheet) known(at time.Time) sheet {
	known := words(civil.FormatInstant(at))
	s.columns = append([]column{{name: "known_at"}}, s.columns...)
	add := func(rows [][]cell) [][]cell {
		list := make([][]cell, len(rows))
		for i, row := range rows {
			list[i] = append([]cell{known}, row...)
		}
		return list
	}
	s.rows, s.foot = add(s.rows), add(s.foot)
	return s
}

// only returns the sheet with some columns and their titles, for a table. The CSV has more columns than fit on a screen.
func (s sheet) only(columns ...column) sheet {
	places := make([]int, len(columns))
	for i, c := range columns {
		places[i] = columnNamed(s.columns, c.name)
	}
	pick := func(rows [][]cell) [][]cell {
		list := make([][]cell, len(rows))
		for i, row := range rows {
			for _, place := range places {
				list[i] = append(list[i], cellAt(row, place))
			}
		}
		return list
	}
	return sheet{columns: columns, rows: pick(s.rows), foot: pick(s.foot)}
}

// value is an amount in the report currency, or unknown.
func value(n int64, gap bool, c money.Currency) cell {
	if gap {
		return unknown()
	}
	return amount(n, c)
}

// share is a percentage with one decimal.
func share(part, whole int64, gap bool) cell {
	if gap || whole == 0 {
		return cell{text: "-", figure: true}
	}
	percent := protection.Percent(part, whole)
	return figures(percent+" %", percent)
}

// legend explains the two figures below every report that shows them.
const legend = "\nE1: the loss if the merchants fail now. E2: payments for completed trips that can still be disputed.\n"

// known describes which facts and rates a report uses.
func known(q exposure.ReportQuery) string {
	return fmt.Sprintf("as known at %s GMT, %s valuation, recognition by %s", civil.FormatInstant(q.KnownAt), q.Valuation,
		strings.ReplaceAll(string(q.Recognition), "_", " "))
}

// tellPending prints amounts without a value in the report currency.
func (p *program) tellPending(q exposure.ReportQuery, pending []exposure.Pending) {
	for _, w := range pending {
		if q.Valuation == exposure.Locked {
			p.printf("Not counted, because the exchange rate is missing: ")
		} else {
			p.printf("No exchange rate from %s to %s, so the total is not known: ", w.Currency, q.Currency)
		}
		p.printf("%s, E1 %s %s", counted(w.Allocations, "allocation"), w.Currency, money.Format(w.E1, w.Currency))
		if w.E2 != 0 {
			p.printf(", E2 %s %s", w.Currency, money.Format(w.E2, w.Currency))
		}
		p.printf(".\n")
	}
}

// tellConverted prints amounts that a locked valuation converted at spot, because they were priced in another policy's currency.
func (p *program) tellConverted(q exposure.ReportQuery, converted []exposure.Converted) {
	for _, c := range converted {
		p.printf("Priced in %s under another policy: %d allocations, E1 %s %s", c.Currency, c.Allocations, c.Currency,
			money.Format(c.E1, c.Currency))
		if c.E2 != 0 {
			p.printf(", E2 %s %s", c.Currency, money.Format(c.E2, c.Currency))
		}
		if c.Gaps == (exposure.Gaps{}) {
			p.printf(". Included in the total, converted at spot.\n")
		} else {
			p.printf(". No exchange rate from %s to %s, so the total is not known.\n", c.Currency, q.Currency)
		}
	}
}

// tellApart prints amounts without a value, and amounts that are not covered.
func (p *program) tellApart(q exposure.ReportQuery, pending, uncovered []exposure.Pending) {
	p.tellPending(q, pending)
	for _, u := range uncovered {
		p.printf("Not protected or not yet covered: %s, %s %s.\n", counted(u.Allocations, "allocation"), u.Currency, money.Format(u.E1, u.Currency))
	}
}
