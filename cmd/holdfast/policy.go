package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"text/tabwriter"

	"holdfast/internal/api"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// policyCmd groups the commands about policies.
type policyCmd struct {
	Show policyShowCmd `cmd:"" help:"Show the policy that is in force on a day."`
	Set  policySetCmd  `cmd:"" help:"Add a policy from a JSON file. Figures computed under older policies stay as they are."`
}

// policyShowCmd shows a policy.
type policyShowCmd struct {
	siteFlag
	On   dayFlag `placeholder:"YYYY-MM-DD" help:"The policy of this day (default: today)."`
	JSON bool    `name:"json" help:"Print JSON, in the form that \"policy set\" reads, with amounts in minor units."`
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
	if c.JSON {
		return p.printJSON(api.ShowPolicy(found))
	}
	return p.policyTable(found)
}

// policySetCmd adds a policy.
type policySetCmd struct {
	siteFlag
	File string `arg:"" help:"JSON file in the form of \"policy show --json\", or - for standard input. It must have \"from\"; fields that it leaves out stay as they are."`
}

// Run adds it.
func (c policySetCmd) Run(ctx context.Context, p *program) error {
	text, err := p.readFile(c.File)
	if err != nil {
		return fmt.Errorf("the file of the policy cannot be read: %w", err)
	}
	fields, err := api.ReadPolicy(text)
	if err != nil {
		return err
	}
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	made, err := p.app.Policies.Set(ctx, actor, fields)
	if err != nil {
		return err
	}
	if made.Proposal != nil {
		p.waits(c.Site, *made.Proposal)
		return nil
	}
	p.printf("policy %d is added, in force from %s\n", made.ID, made.FromDay)
	if len(made.LimitsNotCounting) > 0 {
		p.printf("from that day on, these limits no longer count, because they are not in %s: %s; set them again in that currency\n",
			made.Currency, made.NamesOfLimits())
	}
	return nil
}

// readFile reads a whole file, or standard input.
func (p *program) readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(p.stdin)
	}
	return os.ReadFile(name)
}

// printJSON prints the same JSON as the API, so that a program can use either.
func (p *program) printJSON(body any) error {
	out := json.NewEncoder(p.stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(body)
}

// printLine prints one item of a list as JSON on one line.
func (p *program) printLine(body any) {
	// An error means that standard output is closed, and then nobody reads a message.
	_ = json.NewEncoder(p.stdout).Encode(body)
}

// policyTable prints a policy for people.
func (p *program) policyTable(y travel.Policy) error {
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(out, name+"\t"+format+"\n", args...) }
	line("policy", "%d, in force from %s", y.ID, y.FromDay)
	line("currency", "%s", y.Currency)
	line("recognition", "%s", y.Recognition)
	line("late after", "%d days", y.LateLogDays)
	line("fixings count for", "%d days", y.MaxFixingAgeDays)
	line("premium returns", "%t", y.PremiumRefundable)
	line("minimum per line", "%s %s", y.Currency, money.Format(y.MinimumPerLine, y.Currency))
	line("minimum per month", "%s %s", y.Currency, money.Format(y.MinimumPerMonth, y.Currency))
	for _, tax := range y.TaxCodes {
		line("tax", "%s, %d ppm, %s", tax.Code, tax.RatePPM, tax.Label)
	}
	line("statements", "each %s for new channels, due after %d business days", y.StatementPeriod, y.PaymentTermsDays)
	fmt.Fprintln(out, "\nCHANNEL\tLEAD\tPPM")
	for _, l := range y.RateCard {
		channel, end := "all", "and more"
		if l.ChannelID != 0 {
			channel = strconv.FormatInt(l.ChannelID, 10)
		}
		if l.To != travel.NoEnd {
			end = fmt.Sprintf("to %d", l.To)
		}
		fmt.Fprintf(out, "%s\t%d %s days\t%d\n", channel, l.From, end, l.PPM)
	}
	return out.Flush()
}
