package main

import (
	"io"

	"github.com/alecthomas/kong"
)

// commandLine is all that can be asked of the program.
type commandLine struct {
	Config `group:"settings"`

	Serve   serveCmd   `cmd:"" group:"service" help:"Serve the API until Ctrl-C."`
	Demo    demoCmd    `cmd:"" group:"service" help:"Make a sandbox to look at, and serve it until Ctrl-C."`
	Migrate migrateCmd `cmd:"" group:"service" help:"Bring the database's schema up to this program's."`
	Show    configCmd  `cmd:"" name:"config" group:"service" help:"Show the settings in force and where they come from."`
	Version versionCmd `cmd:"" group:"service" help:"Show which holdfast this is."`

	Site     siteCmd     `cmd:"" group:"operator" help:"Sites."`
	User     userCmd     `cmd:"" group:"operator" help:"Users and what they may do."`
	Token    tokenCmd    `cmd:"" group:"operator" help:"API tokens."`
	Channel  channelCmd  `cmd:"" group:"operator" help:"Channels: the merchants of a site."`
	Supplier supplierCmd `cmd:"" group:"operator" help:"Suppliers."`
	Keys     keysCmd     `cmd:"" group:"operator" help:"Keys that sign logins, and keys that seal secrets."`

	As        string       `placeholder:"USERNAME" help:"Act as this operator, whose password is read from the terminal or standard input; without it as the program itself."`
	Proposals proposalsCmd `cmd:"" group:"operator" help:"What waits for a second operator."`
	Approve   approveCmd   `cmd:"" group:"operator" help:"Approve what another operator proposed, and carry it out."`
	Reject    rejectCmd    `cmd:"" group:"operator" help:"Reject what somebody proposed."`
	Withdraw  withdrawCmd  `cmd:"" group:"operator" help:"Take back what you proposed."`
	Audit     auditCmd     `cmd:"" group:"operator" help:"The record of who changed what."`
	Clock     clockCmd     `cmd:"" group:"operator" help:"The clock of a sandbox site."`

	Import     importCmd     `cmd:"" group:"money" help:"Take over books of other systems."`
	Rates      ratesCmd      `cmd:"" group:"money" help:"Exchange rates."`
	Exposure   exposureCmd   `cmd:"" group:"money" help:"Show what would be lost if merchants failed."`
	RunOff     runOffCmd     `cmd:"" name:"run-off" group:"money" help:"Show what is still at risk on each later day."`
	Ageing     ageingCmd     `cmd:"" group:"money" help:"Show how soon what is at risk is delivered."`
	Movement   movementCmd   `cmd:"" group:"money" help:"Show why the exposure of two days differs."`
	Policy     policyCmd     `cmd:"" group:"money" help:"Policies: recognition, rate card, premium, taxes, terms."`
	Premium    premiumCmd    `cmd:"" group:"money" help:"The premium ledger."`
	Statements statementsCmd `cmd:"" group:"money" help:"Statements: what channels owe for a period, and what was paid."`
	Bordereau  bordereauCmd  `cmd:"" group:"money" help:"Report to the underwriter."`
	Explain    explainCmd    `cmd:"" group:"money" help:"Explain the protection of a transaction, a booking or a line of a statement, step by step."`
	Limits     limitsCmd     `cmd:"" group:"money" help:"Limits: what payments, bookings, channels and the site may come to."`
	Collateral collateralCmd `cmd:"" group:"money" help:"Collateral: what is held against a loss."`
	Model      modelCmd      `cmd:"" name:"exposure-model" group:"money" help:"Compare the estimate from card turnover alone with the exposure."`
	WhatIf     whatIfCmd     `cmd:"" name:"what-if" group:"money" help:"Show what is lost if merchants fail on a day."`
}

// settingsOf names the commands whose help shows every setting. The others are asked for their own flags; all but the
// database would only be in the way there.
var settingsOf = map[string]bool{"serve": true, "demo": true, "config": true}

func newParser(line *commandLine, stdout io.Writer) (*kong.Kong, error) {
	return kong.New(line,
		kong.Name("holdfast"),
		kong.Description("Chargeback protection for travel payments: logs bookings and payments, and says what is protected."),
		kong.Writers(stdout, stdout),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 110}),
		kong.ValueFormatter(kong.DefaultHelpValueFormatter),
		kong.Help(printHelp),
		vars,
		kong.ExplicitGroups([]kong.Group{
			{Key: "service", Title: "The service"},
			{Key: "operator", Title: "Sites, people and merchants"},
			{Key: "money", Title: "Payments and protection"},
			{Key: "settings", Title: "Settings, each also an environment variable"},
		}),
	)
}

func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	selected := ctx.Selected()
	for _, flag := range ctx.Model.Flags {
		setting := flag.Group != nil && flag.Group.Key == "settings"
		if setting && flag.Name != "database" && (selected == nil || !settingsOf[selected.Path()]) {
			flag.Hidden = true
		}
	}
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	if selected == nil || !settingsOf[selected.Path()] {
		_, err := io.WriteString(ctx.Stdout, "\nRun \"holdfast config --help\" for the other settings.\n")
		return err
	}
	return nil
}
