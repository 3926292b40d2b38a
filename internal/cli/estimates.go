package cli

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"holdfast/internal/api/reports"
	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
)

// estimateFlags are the flags shared by exposure-model and what-if.
type estimateFlags struct {
	siteFlag
	AsOf dayFlag `name:"as-of" placeholder:"YYYY-MM-DD" help:"As of the end of this day (default: today)."`
	momentFlags
	Merchants []int64 `placeholder:"ID" field:"channels" help:"Only these merchants, by id."`
	formFlags
	orderFlags
	detailFlags
}

func (f estimateFlags) query() (in report.EstimateQuery) {
	in = report.EstimateQuery{Moment: ledger.Moment{AsOf: f.AsOf.day, KnownAt: f.KnownAt}, Channels: f.Merchants}
	in.Currency = f.in(&in.Problems)
	return in
}

// detailsQuery is the query for the details of a what-if.
func (f estimateFlags) detailsQuery() report.DetailsQuery {
	in := f.query()
	return report.DetailsQuery{ExposureQuery: report.ExposureQuery{
		Problems: in.Problems, Moment: in.Moment, Currency: in.Currency, Scope: exposure.Scope{Channels: in.Channels},
	}}
}

// modelCmd prints the estimate next to the actual exposure.
type modelCmd struct {
	estimateFlags
	Bands string `placeholder:"DAYS:PPM,…" help:"Bands of the estimate: number of days and share of their turnover in parts per million. 30:400000,90:600000 means 40% of the last 30 days plus 60% of the last 90 (default: built in)."`
}

// Run computes the report and prints it.
func (c modelCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := c.query()
	if c.Bands != "" {
		if in.Bands, err = estimate.ParseBands(c.Bands); err != nil {
			in.Problems.Wrong("bands", "Invalid bands: %v.", err)
		}
	}
	if c.Details {
		return p.modelDetails(ctx, actor, in, c.estimateFlags)
	}
	r, err := p.app.Exposure.Model(ctx, actor, in)
	if err != nil {
		return err
	}
	page := &reportPage{query: r.Query, shape: reports.ShowModel(r), parts: []sheet{modelSheet(r)}}
	page.table = func() { p.modelTable(r, page.parts[0]) }
	return p.printReport(c.formFlags, c.orderFlags, page)
}

// modelSheet has a row per merchant, and the total.
func modelSheet(r report.ModelReport) sheet {
	q := r.Query
	s := sheet{columns: columnsOf("row channel_id channel currency estimate e1 report_currency estimate_report e1_report difference_report")}
	inReport := func(estimate, e1 int64, estimateGap, e1Gap bool) []cell {
		return []cell{
			words(string(q.Currency)), value(estimate, estimateGap, q.Currency), value(e1, e1Gap, q.Currency),
			value(estimate-e1, estimateGap || e1Gap, q.Currency),
		}
	}
	for _, row := range r.Rows {
		cells := []cell{
			words("row"), ident(row.ChannelID), words(r.ChannelNames[row.ChannelID]), words(string(row.Currency)),
			amount(row.Estimate, row.Currency), amount(row.E1, row.Currency),
		}
		s.rows = append(s.rows, append(cells, inReport(row.EstimateReport, row.E1Report, !row.Valued, !row.Valued)...))
	}
	total := []cell{words("total"), {}, {text: "total"}, {}, {}, {}}
	s.foot = [][]cell{append(total, inReport(r.Estimate, r.E1, r.EstimateGap, r.E1Gap)...)}
	return s
}

func (p *program) modelTable(r report.ModelReport, s sheet) {
	q := r.Query
	code := string(q.Currency)
	p.printf("Estimate from card turnover and actual exposure at the end of %s,\nas known at %s GMT\n\n", q.AsOf, civil.FormatInstant(q.KnownAt))
	p.printTable(s.only(column{name: "channel"}, column{name: "currency"}, column{name: "estimate"}, column{"e1", "E1"},
		column{"estimate_report", "ESTIMATE " + code}, column{"e1_report", "E1 " + code},
		column{"difference_report", "DIFFERENCE " + code}), "")
	p.printf("\n")
	p.tellUnvalued(q, r)
	shares := make([]string, len(r.Bands))
	for i, b := range r.Bands {
		percent := strings.TrimRight(strings.TrimRight(new(big.Rat).SetFrac64(b.SharePPM, 10_000).FloatString(4), "0"), ".")
		shares[i] = fmt.Sprintf("%s %% of the last %d days", percent, b.Days)
	}
	p.printf("The estimate adds up shares of card turnover: %s.\n", strings.Join(shares, "; "))
}

// tellUnvalued lists the currencies without a rate.
func (p *program) tellUnvalued(q exposure.ReportQuery, r report.ModelReport) {
	reported := map[money.Currency]bool{}
	for _, row := range r.Rows {
		if !row.Valued && !reported[row.Currency] {
			reported[row.Currency] = true
			p.printf("No exchange rate from %s to %s: the total is not known.\n", row.Currency, q.Currency)
		}
	}
}

// whatIfCmd prints the loss if merchants fail.
type whatIfCmd struct{ estimateFlags }

// Run computes the report and prints it.
func (c whatIfCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	if c.Details {
		return p.exposureDetails(ctx, actor, c.detailsQuery(), c.detailFlags, c.formFlags, c.orderFlags)
	}
	r, err := p.app.Exposure.WhatIf(ctx, actor, c.query())
	if err != nil {
		return err
	}
	page := &reportPage{query: r.Query, shape: reports.ShowWhatIf(r), parts: whatIfSheets(r)}
	page.table = func() { p.whatIfTable(r, page.parts) }
	return p.printReport(c.formFlags, c.orderFlags, page)
}

// whatIfSheets has the loss by merchant, by scheme and by month of travel.
func whatIfSheets(r report.WhatIfReport) []sheet {
	q := r.Query
	columns := columnsOf("row channel_id key allocations currency loss tail collateral net policy_currency use limit over_limit")
	channels := sheet{columns: columns}
	loss := func(row string, channel int64, key string, f exposure.Figures, gaps exposure.Gaps) []cell {
		return []cell{
			words(row), ident(channel), words(key), count(f.Allocations), words(string(q.Currency)),
			value(f.E1, gaps.E1, q.Currency), value(f.E2, gaps.E2, q.Currency),
		}
	}
	limited := func(net exposure.NetTotal, use int64, gap bool, limit *protection.Limit) []cell {
		cells := []cell{
			value(net.Held, net.HeldGap, q.Currency), value(net.Net, net.NetGap, q.Currency), words(string(q.Policy)),
			value(use, gap, q.Policy), {text: "none", figure: true}, {},
		}
		if limit != nil {
			cells[4], cells[5] = amount(limit.Amount, limit.Currency), value(max(0, use-limit.Amount), gap, limit.Currency)
		}
		return cells
	}
	for _, c := range r.Channels {
		row := loss("channel", c.ChannelID, r.ChannelNames[c.ChannelID], c.Figures, c.Gaps)
		channels.rows = append(channels.rows, append(row, limited(c.Net, c.Use, c.UseGap, c.Limit)...))
	}
	total := loss("total", 0, "total", r.Total, r.Gaps)
	channels.foot = [][]cell{append(total, limited(r.Net, r.Use, r.UseGap, r.SiteLimit)...)}
	sheets := []sheet{channels}
	for _, by := range []struct {
		name string
		rows exposure.WhatIfRows
	}{{"scheme", r.Schemes}, {"month", r.Months}} {
		s := sheet{columns: columns}
		for _, row := range by.rows.Rows {
			s.rows = append(s.rows, loss(by.name, 0, row.Key, row.Figures, row.Gaps))
		}
		if n := by.rows.Rounding; n.E1 != 0 && !r.Gaps.E1 || n.E2 != 0 && !r.Gaps.E2 {
			row := loss(by.name+" rounding", 0, "rounding", n, r.Gaps)
			row[3] = cell{}
			s.foot = [][]cell{row}
		}
		sheets = append(sheets, s)
	}
	return sheets
}

func (p *program) whatIfTable(r report.WhatIfReport, parts []sheet) {
	q := r.Query
	code, policy := " "+string(q.Currency), " "+string(q.Policy)
	failing := "these merchants fail"
	if len(q.Scope.Channels) == 0 {
		failing = "all merchants fail (none selected)"
	}
	p.printf("If %s at the end of %s,\nas known at %s GMT\n\n", failing, q.AsOf, civil.FormatInstant(q.KnownAt))
	loss := []column{{"loss", "LOSS" + code}, {"tail", "TAIL" + code}}
	p.printTable(parts[0].only(slices.Concat([]column{{"key", "MERCHANT"}}, loss, []column{
		{"collateral", "COLLATERAL" + code}, {"net", "NET" + code}, {"use", "USE" + policy}, {"limit", "LIMIT" + policy},
	})...), "")
	for i, title := range []string{"SCHEME", "MONTH OF TRAVEL"} {
		p.printf("\n")
		p.printTable(parts[i+1].only(append([]column{{"key", title}}, loss...)...), "")
	}
	p.printf("\nLoss: payments for undelivered trips (E1). Tail: payments for completed trips that can still be disputed (E2).\n")
	p.tellCollateral(q, r.Unvalued)
	p.tellPending(q, r.Pending)
}
