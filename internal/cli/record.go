package cli

import (
	"context"
	"time"

	"holdfast/internal/api/reports"
	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/report"
)

// recordCmd prints the track record of a merchant's payments.
type recordCmd struct {
	siteFlag
	Merchant int64     `arg:"" field:"channels" help:"Merchant id."`
	AsOf     dayFlag   `name:"as-of" placeholder:"YYYY-MM-DD" help:"As of the end of this day (default: today)."`
	KnownAt  time.Time `name:"known-at" placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Use only what was known at this time, in GMT (default: now)."`
	formFlags
	orderFlags
}

// Run computes the report and prints it.
func (c recordCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	channel, err := p.app.Channels.Get(ctx, actor, c.Merchant)
	if err != nil {
		return err
	}
	r, err := p.app.Exposure.Vintages(ctx, actor, report.VintageQuery{
		Moment: ledger.Moment{AsOf: c.AsOf.day, KnownAt: c.KnownAt}, ChannelID: c.Merchant,
	})
	if err != nil {
		return err
	}
	page := &reportPage{
		query: exposure.ReportQuery{AsOf: r.AsOf, KnownAt: r.KnownAt}, shape: reports.ShowRecord(r, channel.ID, channel.Name),
		parts: []sheet{recordSheet(r)},
	}
	page.table = func() {
		p.printf("Card payments of %s at the end of %s,\nas known at %s GMT\n\n", channel.Name, r.AsOf, civil.FormatInstant(r.KnownAt))
		if len(r.Rows) == 0 {
			p.printf("There are no card payments.\n")
			return
		}
		p.printTable(page.parts[0], "")
	}
	return p.printReport(c.formFlags, c.orderFlags, page)
}

// recordSheet has a row per month of payment, and the totals.
func recordSheet(r report.VintageReport) sheet {
	s := sheet{columns: columnsOf("month currency payments disputed total refunded charged_back reversed policy_currency premium earned")}
	cells := func(name string, v estimate.Vintage) []cell {
		return []cell{
			words(name), words(string(v.Currency)), count(v.Payments), count(v.Disputed), amount(v.Allocated, v.Currency),
			amount(v.Refunded, v.Currency), amount(v.ChargedBack, v.Currency), amount(v.Reversed, v.Currency), words(string(v.Policy)),
			amount(v.Booked, v.Policy), amount(v.Earned, v.Policy),
		}
	}
	for _, v := range r.Rows {
		s.rows = append(s.rows, cells(v.Month, v))
	}
	for _, v := range r.Totals {
		s.foot = append(s.foot, cells("total", v))
	}
	return s
}
