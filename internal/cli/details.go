package cli

import (
	"context"
	"encoding/csv"

	"holdfast/internal/api/reports"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/errs"
	"holdfast/internal/report"
)

// detailFlags select the details of a report instead of the report.
type detailFlags struct {
	Details bool `help:"List the bookings and payments behind the figures instead of the report: one page, or all as CSV."`
	pageFlags
}

// refuse rejects flags that only apply to a report. Details have a fixed order.
func (f detailFlags) refuse(order orderFlags, p *errs.Problems) {
	if order != (orderFlags{}) {
		p.Wrong("sort", "Details are sorted by booking and payment. Use --page and --per-page, or sort the CSV.")
	}
}

// exposureDetails prints the details of an exposure, run-off, ageing or what-if report.
func (p *program) exposureDetails(
	ctx context.Context, actor access.Actor, in report.DetailsQuery, f detailFlags, form formFlags, order orderFlags,
) error {
	f.refuse(order, &in.Problems)
	in.Page = f.page(&in.Problems)
	if form.CSV {
		out := detailCSV{out: csv.NewWriter(p.stdout), columns: detailColumns()}
		_, err := p.app.Exposure.EachDetail(ctx, actor, in, func(r report.DetailsReport, d exposure.Detail) error {
			return out.row(r.Query, detailCells(r.Query, r.ChannelNames, d))
		})
		return out.end(err)
	}
	r, err := p.app.Exposure.Details(ctx, actor, in)
	if err != nil {
		return err
	}
	if form.JSON {
		return p.printJSON(reports.ShowDetails(r))
	}
	p.printf("Details of the exposure at the end of %s,\n%s\n", r.Query.AsOf, known(r.Query))
	if r.On > r.Query.AsOf {
		p.printf("Remaining at the end of %s with no new bookings\n", r.On)
	}
	s := sheet{columns: detailColumns()}
	for _, d := range r.Items.Items {
		s.rows = append(s.rows, detailCells(r.Query, r.ChannelNames, d))
	}
	columns := columnsOf("booking transaction channel date standing currency")
	columns[4].title = "COUNTS AS"
	for _, name := range []string{"e1", "e2", "e4", "e5"} {
		columns = append(columns, column{name: name})
	}
	code := string(r.Query.Currency)
	columns = append(columns, column{"e1_report", "E1 " + code}, column{"e2_report", "E2 " + code})
	f.print(p, s.only(columns...), r.Items.Total, "No details.")
	return nil
}

// detailCSV streams details as CSV, because there may be very many.
type detailCSV struct {
	out     *csv.Writer
	columns []column
	begun   bool
}

func (c *detailCSV) row(q exposure.ReportQuery, cells []cell) error {
	c.begin()
	return c.out.Write(recordOf(c.columns, append([]cell{words(civil.FormatInstant(q.KnownAt))}, cells...), q.AsOf.String()))
}

func (c *detailCSV) begin() {
	if !c.begun {
		c.begun = true
		c.columns = append([]column{{name: "known_at"}}, c.columns...)
		_ = c.out.Write(headOf(c.columns)) // the writer keeps its first error
	}
}

func (c *detailCSV) end(err error) error {
	if err != nil {
		return err
	}
	c.begin()
	c.out.Flush()
	return c.out.Error()
}

// print prints a page of details as a table.
func (f detailFlags) print(p *program, s sheet, total int64, none string) {
	if total == 0 {
		p.printf("\n%s\n", none)
		return
	}
	if len(s.rows) > 0 {
		p.printf("\n")
		p.printTable(s, "")
	}
	f.pages(p, "items", len(s.rows), total)
}

func detailColumns() []column {
	return columnsOf("booking transaction payment channel_id channel date last_day_of_dispute scheme country supplier_ids " +
		"standing band currency remaining e1 e2 e4 e5 report_currency e1_report e2_report")
}

func detailCells(q exposure.ReportQuery, names map[int64]string, d exposure.Detail) []cell {
	c := d.Currency
	cells := []cell{
		ident(d.BookingID), ident(d.TransactionID), ident(d.AllocationID), ident(d.ChannelID), words(names[d.ChannelID]),
		dayCell(d.Terms.End), {}, words(string(d.Scheme)), words(d.Terms.Country), {},
		words(string(d.Category)), words(d.Band), words(string(c)), amount(d.Remaining, c),
		amount(d.E1, c), amount(d.E2, c), amount(d.E4, c), amount(d.E5, c), words(string(q.Currency)), {}, {},
	}
	cells[9] = dimensionCells(exposure.Key{Suppliers: d.Terms.Suppliers}, nil, exposure.BySupplier)[0]
	if d.Category != exposure.Instalments {
		cells[6] = dayCell(d.Terms.LastDay)
	}
	if d.Category == exposure.Covered {
		cells[19], cells[20] = value(d.E1Report, d.Pending, q.Currency), value(d.E2Report, d.Pending, q.Currency)
	}
	return cells
}

// movementDetails prints the details of a movement.
func (p *program) movementDetails(
	ctx context.Context, actor access.Actor, in report.MovementQuery, f detailFlags, form formFlags, order orderFlags,
) error {
	f.refuse(order, &in.Problems)
	page := f.page(&in.Problems)
	if form.CSV {
		out := detailCSV{out: csv.NewWriter(p.stdout), columns: movementDetailColumns()}
		_, err := p.app.Exposure.EachMovementDetail(ctx, actor, in, func(r report.MovementDetailsReport, d exposure.MovementDetail) error {
			return out.row(r.Query.ReportQuery, movementDetailCells(r, d))
		})
		return out.end(err)
	}
	r, err := p.app.Exposure.MovementDetails(ctx, actor, in, page)
	if err != nil {
		return err
	}
	if form.JSON {
		return p.printJSON(reports.ShowMovementDetails(r))
	}
	p.printf("Details of the movement from the end of %s to the end of %s,\n%s\n", r.Query.From, r.Query.AsOf, known(r.Query.ReportQuery))
	s := sheet{columns: movementDetailColumns()}
	for _, d := range r.Items.Items {
		s.rows = append(s.rows, movementDetailCells(r, d))
	}
	columns := columnsOf("booking transaction channel currency")
	for i, l := range movementLines(exposure.Flows{}, exposure.FlowGaps{}, false) {
		moved := l.name == "opening" || l.name == "closing"
		for _, d := range r.Items.Items {
			moved = moved || movementLines(d.Flows, exposure.FlowGaps{}, false)[i].Level.E1 != 0
		}
		if moved {
			columns = append(columns, column{"e1_" + l.name, lineTitle(l.name)})
		}
	}
	p.printf("E1 in the currency of each booking; CSV and JSON also have E2\n")
	f.print(p, s.only(columns...), r.Items.Total, "No details.")
	return nil
}

func movementDetailColumns() []column {
	columns := columnsOf("from booking transaction payment channel_id channel currency")
	for _, figure := range []string{"e1_", "e2_"} {
		for _, l := range movementLines(exposure.Flows{}, exposure.FlowGaps{}, false) {
			columns = append(columns, column{name: figure + l.name})
		}
	}
	return columns
}

func movementDetailCells(r report.MovementDetailsReport, d exposure.MovementDetail) []cell {
	cells := []cell{
		dayCell(r.Query.From), ident(d.BookingID), ident(d.TransactionID), ident(d.ID), ident(d.ChannelID),
		words(r.ChannelNames[d.ChannelID]), words(string(d.Currency)),
	}
	lines := movementLines(d.Flows, exposure.FlowGaps{}, false)
	for _, l := range lines {
		cells = append(cells, amount(l.Level.E1, d.Currency))
	}
	for _, l := range lines {
		cells = append(cells, amount(l.Level.E2, d.Currency))
	}
	return cells
}

// modelDetails prints the details of a model: the payments behind the estimates, and the allocations behind E1.
func (p *program) modelDetails(ctx context.Context, actor access.Actor, in report.EstimateQuery, f estimateFlags) error {
	f.refuse(f.orderFlags, &in.Problems)
	page := f.page(&in.Problems)
	if f.CSV {
		out := detailCSV{out: csv.NewWriter(p.stdout), columns: modelDetailColumns()}
		_, err := p.app.Exposure.EachModelDetail(ctx, actor, in, func(r report.ModelDetailsReport, d estimate.ModelDetail) error {
			return out.row(r.Query, modelDetailCells(r, d))
		})
		return out.end(err)
	}
	r, err := p.app.Exposure.ModelDetails(ctx, actor, in, page)
	if err != nil {
		return err
	}
	if f.JSON {
		return p.printJSON(reports.ShowModelDetails(r))
	}
	p.printf("Behind the estimate and the exposure at the end of %s,\nas known at %s GMT\n", r.Query.AsOf, civil.FormatInstant(r.Query.KnownAt))
	s := sheet{columns: modelDetailColumns()}
	for _, d := range r.Items.Items {
		s.rows = append(s.rows, modelDetailCells(r, d))
	}
	s = s.only(columnsOf("figure booking transaction channel type date currency turnover share e1")...)
	s.columns[0].title = "BEHIND"
	f.print(p, s, r.Items.Total, "No details.")
	return nil
}

func modelDetailColumns() []column {
	return columnsOf("figure booking transaction payment channel_id channel type date currency turnover share e1")
}

func modelDetailCells(r report.ModelDetailsReport, d estimate.ModelDetail) []cell {
	cells := []cell{
		words(d.Figure), ident(d.BookingID), ident(d.TransactionID), ident(d.PaymentID), ident(d.ChannelID), words(r.ChannelNames[d.ChannelID]),
		{}, {}, words(string(d.Currency)), {}, {}, {},
	}
	if d.Figure == estimate.FigureE1 {
		cells[11] = amount(d.E1, d.Currency)
		return cells
	}
	share := d.Share.FloatString(reports.ShareDecimals)
	cells[6], cells[7] = words(string(d.Type)), dayCell(d.Day)
	cells[9], cells[10] = amount(d.Turnover, d.Currency), figures(share, share)
	return cells
}
