package cli

import (
	"context"
	"strconv"

	"holdfast/internal/api/reports"
	"holdfast/internal/book/claims"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

// insolvencyLossRatioCmd shows a year of account.
type insolvencyLossRatioCmd struct {
	siteFlag
	formFlags
	Year int64 `placeholder:"YYYY" help:"Year of account (default: this year)."`
}

// Run prints it.
func (c insolvencyLossRatioCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	r, err := p.app.Claims.YearOfAccount(ctx, actor, c.Year, errs.Problems{})
	if err != nil {
		return err
	}
	s := lossRatioSheet(r)
	switch {
	case c.JSON:
		return p.printJSON(reports.ShowYear(r))
	case c.CSV:
		return p.printCSV(s, r.AsOf.String())
	case len(s.rows) == 0:
		p.printf("No premium and no insolvencies in %d.\n", r.Year)
		return nil
	}
	p.printTable(s, "")
	for _, a := range r.Accounts {
		if a.Limit != 0 {
			p.printf("\nAggregate limit: %s %s. Used: %s. Remaining: %s.\n", a.Currency, money.Format(a.Limit, a.Currency), money.Format(a.Covered, a.Currency), money.Format(a.Remaining(), a.Currency))
		}
	}
	return nil
}

// lossRatioSheet has a row per merchant, and one per policy currency.
func lossRatioSheet(r claims.YearReport) sheet {
	s := sheet{columns: columnsOf("year merchant name currency premium payable covered paid reserve incurred loss_ratio_percent")}
	add := func(id, name string, c money.Currency, a claim.Account) {
		ratio := ""
		if ppm, ok := a.LossRatio(); ok {
			ratio = money.FormatPercent(ppm)
		}
		s.rows = append(s.rows, []cell{
			words(strconv.Itoa(r.Year)), words(id), words(name), words(string(c)), amount(a.Premium, c), amount(a.Payable, c), amount(a.Covered, c),
			amount(a.Paid, c), amount(a.Reserve, c), amount(a.Incurred(), c), words(ratio),
		})
	}
	for _, a := range r.Accounts {
		for _, m := range a.Merchants {
			add(number(m.ChannelID), m.Merchant, a.Currency, m.Account)
		}
		add("", "all", a.Currency, a.Account)
	}
	return s
}
