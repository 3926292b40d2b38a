package cli

import (
	"context"
	"slices"

	"holdfast/internal/api/reports"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/report"
)

// disputeRatiosCmd shows the dispute ratios of a month.
type disputeRatiosCmd struct {
	siteFlag
	formFlags
	Period string `required:"" placeholder:"YYYY-MM" help:"Month, such as 2024-06."`
}

// Run prints them.
func (c disputeRatiosCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	r, err := p.app.Exposure.Ratios(ctx, actor, report.RatioQuery{Month: c.Period})
	if err != nil {
		return err
	}
	s := ratioSheet(r)
	switch {
	case c.JSON:
		return p.printJSON(reports.ShowRatios(r))
	case c.CSV:
		return p.printCSV(s, r.AsOf.String())
	}
	p.printTable(s, "")
	return nil
}

// ratioSheet has a row per merchant and base currency, and those of the site with and without insolvent merchants.
func ratioSheet(r report.RatioReport) sheet {
	s := sheet{columns: columnsOf("row merchant name insolvent payments disputes ratio_percent threshold_percent currency total disputed amount_ratio_percent")}
	var t dispute.Thresholds
	if r.Thresholds != nil {
		t = *r.Thresholds
	}
	add := func(row, id, name, insolvent string, v dispute.Volume, reached int64) {
		threshold := ""
		if reached != 0 {
			threshold = money.FormatPercent(reached)
		}
		head := []cell{
			words(row), words(id), words(name), words(insolvent), count(v.Payments), count(v.Disputes), percentOf(v.Ratio()), words(threshold),
		}
		if len(v.Amounts) == 0 {
			s.rows = append(s.rows, append(head, words(""), words(""), words(""), words("")))
		}
		for _, a := range v.Amounts {
			s.rows = append(s.rows, append(slices.Clone(head), words(string(a.Currency)), amount(a.Paid, a.Currency), amount(a.Disputed, a.Currency),
				percentOf(a.Ratio())))
		}
	}
	for _, m := range r.Merchants {
		add("merchant", number(m.ChannelID), m.Merchant, yesNo(m.Insolvent).text, m.Volume, t.OfMerchant(m.Volume))
	}
	add("without_insolvent", "", "", "", r.Sound, t.OfSite(r.Sound))
	add("all", "", "", "", r.All, t.OfSite(r.All))
	return s
}

// percentOf is a ratio in percent, empty if there is none.
func percentOf(ppm int64, ok bool) cell {
	if !ok {
		return words("")
	}
	return words(money.FormatPercent(ppm))
}
