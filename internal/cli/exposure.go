package cli

import (
	"context"

	"holdfast/internal/api/reports"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/report"
)

// exposureCmd prints an exposure report.
type exposureCmd struct {
	reportFlags
	AsOf dayFlag  `name:"as-of" placeholder:"YYYY-MM-DD" help:"As of the end of this day (default: today)."`
	By   []string `enum:"merchant,month,currency,scheme,country,supplier" default:"merchant" placeholder:"WHAT" help:"Group by merchant (the default), month (of the end date), currency, scheme, country or supplier, or by two of them, such as merchant,month."`
}

// Run computes the report and prints it.
func (c exposureCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	query := c.query(c.AsOf)
	switch len(c.By) {
	case 2:
		query.Across = exposure.Dimension(onTheWire(c.By[1]))
		fallthrough
	case 1:
		query.By = exposure.Dimension(onTheWire(c.By[0]))
	default:
		query.Problems.Wrong("by", "Enter one dimension, or two separated by a comma, such as merchant,month.")
	}
	if c.Details {
		return p.exposureDetails(ctx, actor, report.DetailsQuery{ExposureQuery: query}, c.detailFlags, c.formFlags, c.orderFlags)
	}
	report, err := p.app.Exposure.Report(ctx, actor, query)
	if err != nil {
		return err
	}
	page := &reportPage{query: report.Query, shape: reports.ShowExposure(report), parts: []sheet{exposureSheet(report)}}
	page.table = func() { p.exposureTable(report, page.parts[0]) }
	return p.printReport(c.formFlags, c.orderFlags, page)
}
