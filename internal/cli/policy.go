package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"holdfast/internal/api"
	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
)

// policyCmd groups the policy commands.
type policyCmd struct {
	Show policyShowCmd `cmd:"" help:"Show the policy in force on a day."`
	Set  policySetCmd  `cmd:"" help:"Add a policy from a JSON file. Figures computed under earlier policies do not change."`
}

// policyShowCmd shows a policy.
type policyShowCmd struct {
	siteFlag
	On   dayFlag `placeholder:"YYYY-MM-DD" help:"Policy in force on this day (default: today)."`
	JSON bool    `name:"json" xor:"form" help:"Print JSON in the format that \"policy set\" reads, with amounts in minor units."`
	CSV  bool    `name:"csv" xor:"form" help:"Print CSV, with amounts in major units, such as 12.34."`
}

// Run prints it.
func (c policyShowCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	found, err := p.app.Policies.On(ctx, actor, c.On.day)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		return p.printJSON(view.ShowPolicy(found))
	case c.CSV:
		return p.printCSV(policySheet(found), cmp.Or(c.On.text(), civil.DayOf(p.now(actor)).String()))
	}
	p.policyTable(found)
	return nil
}

// policySetCmd adds a policy.
type policySetCmd struct {
	siteFlag
	File string `arg:"" help:"JSON file in the format of \"policy show --json\", or - for standard input. \"from\" is required; omitted fields keep their values."`
}

// Run adds it.
func (c policySetCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	text, err := p.readFile(c.File)
	if err != nil {
		return fmt.Errorf("cannot read the policy file: %w", err)
	}
	in, err := input.ReadInput(text)
	if err != nil {
		return err
	}
	api.RefuseUnknown("createPolicy", in)
	fields := input.PolicyFields(in)
	made, err := p.app.Policies.Set(ctx, actor, fields)
	if err != nil {
		return err
	}
	if made.Proposal != nil {
		return p.waits(*made.Proposal)
	}
	p.printf("Added policy %d, in force from %s\n", made.ID, made.FromDay)
	if len(made.LimitsNotCounting) > 0 {
		p.printf("From that day, these limits no longer apply, because they are not in %s: %s. Set them again in that currency.\n",
			made.Currency, made.NamesOfLimits())
	}
	return nil
}

// readFile reads a file or standard input.
func (p *program) readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(p.stdin)
	}
	return os.ReadFile(name)
}

// policySheet is a policy as CSV: a row per term and rate card line.
func policySheet(y terms.Policy) sheet {
	s := sheet{columns: columnsOf("term channel lead_from lead_to value currency")}
	term := func(name string, value cell, currency money.Currency) {
		s.rows = append(s.rows, []cell{words(name), {}, {}, {}, value, words(string(currency))})
	}
	term("id", ident(y.ID), "")
	term("from", dayCell(y.FromDay), "")
	term("currency", words(string(y.Currency)), "")
	term("recognition", words(string(y.Recognition)), "")
	term("late_log_days", count(y.LateLogDays), "")
	term("max_fixing_age_days", count(y.MaxFixingAgeDays), "")
	term("premium_refundable", yesNo(y.PremiumRefundable), "")
	term("minimum_per_line", amount(y.MinimumPerLine, y.Currency), y.Currency)
	term("minimum_per_month", amount(y.MinimumPerMonth, y.Currency), y.Currency)
	for _, tax := range y.TaxCodes {
		term("tax "+tax.Code, count(tax.RatePPM), "")
	}
	term("statement_period", words(y.StatementPeriod), "")
	term("payment_terms_days", count(y.PaymentTermsDays), "")
	c := y.Cover
	term("deductible", amount(c.Deductible, y.Currency), y.Currency)
	term("coinsurance_ppm", count(c.CoinsurancePPM), "")
	term("merchant_limit", amount(c.MerchantLimit, y.Currency), y.Currency)
	term("aggregate_limit", amount(c.AggregateLimit, y.Currency), y.Currency)
	term("notify_within", count(c.NotifyWithin), "")
	term("two_signatures", amount(c.TwoSignatures, y.Currency), y.Currency)
	term("development_ppm", count(c.DevelopmentPPM), "")
	term("other_protection_first", words(strings.Join(c.OtherProtectionFirst, " ")), "")
	term("recovery_order", words(bearers(c.RecoveryOrder)), "")
	for _, l := range y.RateCard {
		to := count(l.To)
		if l.To == terms.NoEnd {
			to = cell{}
		}
		s.rows = append(s.rows, []cell{words("rate_card"), ident(l.ChannelID), count(l.From), to, count(l.PPM)})
	}
	return s
}

// policyTable prints a policy as text and a table.
func (p *program) policyTable(y terms.Policy) {
	line := p.policyLine
	line("policy", "%d, in force from %s", y.ID, y.FromDay)
	line("currency", "%s", y.Currency)
	line("recognition", "%s", y.Recognition)
	line("late after", "%d days", y.LateLogDays)
	line("fixings valid for", "%d days", y.MaxFixingAgeDays)
	line("premium returns", "%s", yesNo(y.PremiumRefundable).text)
	line("minimum per line", "%s %s", y.Currency, money.Format(y.MinimumPerLine, y.Currency))
	line("minimum per month", "%s %s", y.Currency, money.Format(y.MinimumPerMonth, y.Currency))
	for _, tax := range y.TaxCodes {
		line("tax", "%s, %d ppm, %s", tax.Code, tax.RatePPM, tax.Label)
	}
	line("statements", "every %s for new merchants, due after %d business days", y.StatementPeriod, y.PaymentTermsDays)
	p.coverTable(y)
	p.printf("\n")
	card := sheet{columns: []column{{name: "channel"}, {name: "lead_from", title: "LEAD FROM (DAYS)"}, {name: "lead_to", title: "TO (DAYS)"}, {name: "ppm"}}}
	for _, l := range y.RateCard {
		channel, to := words("all"), count(l.To)
		if l.ChannelID != 0 {
			channel = ident(l.ChannelID)
		}
		if l.To == terms.NoEnd {
			to = cell{text: "and more", figure: true}
		}
		card.rows = append(card.rows, []cell{channel, count(l.From), to, count(l.PPM)})
	}
	p.printTable(card, "")
}

func (p *program) policyLine(name, format string, args ...any) {
	p.printf("%-19s%s\n", name, oneLine(fmt.Sprintf(format, args...)))
}

// coverTable prints the terms of cover of a policy. Terms that it does not have are left out.
func (p *program) coverTable(y terms.Policy) {
	c := y.Cover
	for _, amount := range []struct {
		name  string
		value int64
	}{
		{"deductible", c.Deductible}, {"merchant limit", c.MerchantLimit}, {"aggregate limit", c.AggregateLimit},
		{"two signatures", c.TwoSignatures},
	} {
		if amount.value != 0 {
			p.policyLine(amount.name, "%s %s", y.Currency, money.Format(amount.value, y.Currency))
		}
	}
	if c.CoinsurancePPM != 0 {
		p.policyLine("coinsurance", "%s %%", money.FormatPercent(c.CoinsurancePPM))
	}
	p.policyLine("notify within", "%d months", c.NotifyWithin)
	p.policyLine("development", "%s %%", money.FormatPercent(c.DevelopmentPPM))
	if len(c.OtherProtectionFirst) > 0 {
		p.policyLine("pays after", "%s", strings.Join(c.OtherProtectionFirst, ", "))
	}
	p.policyLine("recoveries to", "%s", strings.ReplaceAll(bearers(c.RecoveryOrder), " ", ", "))
}

func bearers(list []terms.Bearer) string {
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = string(b)
	}
	return strings.Join(names, " ")
}
