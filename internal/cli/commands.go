package cli

import (
	"cmp"
	"io"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// commandLine is all commands and flags of the program. Its help texts are one line each, so that the whole list fits
// one screen; a noun's help names its verbs.
type commandLine struct {
	Config `group:"settings"`

	Serve   serveCmd   `cmd:"" group:"service" help:"Serve the API, the payment modal and the jobs."`
	Demo    demoCmd    `cmd:"" group:"service" help:"Make a sandbox with made-up data, and serve it."`
	Migrate migrateCmd `cmd:"" group:"service" help:"Bring the schema of the database up to date."`
	Backup  backupCmd  `cmd:"" group:"service" help:"Write the whole database into one file, while the service runs."`
	Restore restoreCmd `cmd:"" group:"service" help:"Make a new database from a backup."`
	Show    configCmd  `cmd:"" name:"config" group:"service" help:"Show all settings, and where each value comes from."`
	Version versionCmd `cmd:"" group:"service" help:"Show the version of this program."`
	Help    helpCmd    `cmd:"" group:"service" help:"Show the help of a command."`

	Completion completionCmd `cmd:"" group:"service" help:"Print a script that completes commands: bash, zsh, fish."`

	ShowVersion versionFlag `name:"version" help:"Show the version of this program."`

	Site     siteCmd     `cmd:"" group:"operator" help:"Sites: create, list."`
	User     userCmd     `cmd:"" group:"operator" help:"Users: create, list, password, access, two-factor."`
	Token    tokenCmd    `cmd:"" group:"operator" help:"API tokens: create, list, delete."`
	Channel  channelCmd  `cmd:"" group:"operator" help:"Channels of merchants: create, list, mode, set, gateway, secret."`
	Supplier supplierCmd `cmd:"" group:"operator" help:"Suppliers: create, set, list, delete."`
	Webhook  webhookCmd  `cmd:"" group:"operator" help:"Webhooks: create, set, list, delete, rotate, test, log, replay."`
	Forward  listenCmd   `cmd:"" name:"listen" group:"operator" help:"Forward the events of a sandbox to a program on this machine."`
	Keys     keysCmd     `cmd:"" group:"operator" help:"Keys for logins and secrets: make, list, rotate, revoke."`

	As       string        `placeholder:"USERNAME" help:"Act as this operator. The password is read from the terminal or from standard input (default: act as the program itself)."`
	Proposal proposalCmd   `cmd:"" group:"operator" help:"Changes that wait for a second operator: list, show."`
	Approve  approveCmd    `cmd:"" group:"operator" help:"Approve a change, which makes it."`
	Reject   rejectCmd     `cmd:"" group:"operator" help:"Reject a change that another operator proposed."`
	Withdraw withdrawCmd   `cmd:"" group:"operator" help:"Take back a change that you proposed."`
	Mail     mailCmd       `cmd:"" group:"operator" help:"Receipts and other mails: list, show, resend, test."`
	Reports  reportMailCmd `cmd:"" name:"report-mail" group:"operator" help:"Reports by mail, each week or month: list, order, change, pause, resume, send, end."`
	Audit    auditCmd      `cmd:"" group:"operator" help:"The record of all changes: list."`
	Events   eventsCmd     `cmd:"" group:"operator" help:"What happened on a site: list."`
	Verify   verifyCmd     `cmd:"" group:"operator" help:"Check the whole book: sums, reports, statements, and that nobody altered it."`
	Clock    clockCmd      `cmd:"" group:"operator" help:"The clock of a sandbox: show, set."`

	Import     importCmd      `cmd:"" group:"money" help:"Import payments from a CSV file: payments."`
	Rates      ratesCmd       `cmd:"" group:"money" help:"Exchange rates: import, fetch, quote."`
	Exposure   exposureCmd    `cmd:"" group:"money" help:"Show what is lost if the merchants fail now."`
	RunOff     runOffCmd      `cmd:"" name:"run-off" group:"money" help:"Show how much is still at risk on later days."`
	Ageing     ageingCmd      `cmd:"" group:"money" help:"Show how soon the trips at risk end."`
	Movement   movementCmd    `cmd:"" group:"money" help:"Show why the exposure changed between two days."`
	Policy     policyCmd      `cmd:"" group:"money" help:"The terms of a site, such as its rate card: show, set."`
	Booking    bookingCmd     `cmd:"" group:"money" help:"Bookings: list, show."`
	Cert       certificateCmd `cmd:"" name:"certificate" group:"money" help:"The page for a traveller: the link of a booking's certificate."`
	Txn        transactionCmd `cmd:"" name:"transaction" group:"money" help:"Transactions: list, show."`
	Premium    premiumCmd     `cmd:"" group:"money" help:"The premium ledger: list, correct."`
	Statements statementsCmd  `cmd:"" group:"money" help:"Statements: list, show, pdf, pay, issue."`
	Bordereau  bordereauCmd   `cmd:"" group:"money" help:"The report to the underwriter: premium, contract."`
	Explain    explainCmd     `cmd:"" group:"money" help:"Explain a figure: transaction, booking, statement."`
	Limits     limitsCmd      `cmd:"" group:"money" help:"Limits and their use: list, set, events, over."`
	Collateral collateralCmd  `cmd:"" group:"money" help:"Security that merchants gave: list, add."`
	Model      modelCmd       `cmd:"" name:"exposure-model" group:"money" help:"Estimate the exposure from card turnover alone."`
	WhatIf     whatIfCmd      `cmd:"" name:"what-if" group:"money" help:"Show what is lost if chosen merchants fail on a day."`
	Record     recordCmd      `cmd:"" name:"track-record" group:"money" help:"Show what has become of a merchant's card payments."`
}

// settingsOf names the commands whose help shows every setting. The help of the others shows their own flags, and of the
// settings only the database: the rest would be in the way.
var settingsOf = map[string]bool{"serve": true, "demo": true, "config": true}

// newParser knows every command. With words it may know only the one that they begin with: to build the others takes longer
// than most commands do.
func newParser(line *commandLine, stdout io.Writer, words ...string) (*kong.Kong, error) {
	return kong.New(line,
		kong.IgnoreFields(others(words)...),
		kong.Name("holdfast"),
		kong.Description("Chargeback protection for travel payments: keeps bookings and payments, and says what is protected."),
		kong.Writers(stdout, stdout),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, NoExpandSubcommands: true, WrapUpperBound: 110}),
		kong.ValueFormatter(kong.DefaultHelpValueFormatter),
		kong.Help(printHelp),
		vars,
		readers(),
		kong.ExplicitGroups([]kong.Group{
			{Key: "service", Title: "The service"},
			{Key: "operator", Title: "Sites, people and merchants"},
			{Key: "money", Title: "Payments and protection"},
			{Key: "settings", Title: "Settings (each is an environment variable, too)"},
		}),
	)
}

// others is a pattern of the fields of all commands but the one that words begin with. Where they begin with none there is no
// pattern. It fits fields of Config, too, so that a command's field has none of their names.
func others(words []string) (pattern []string) {
	var names []string
	found := false
	for field := range reflect.TypeFor[commandLine]().Fields() {
		if _, command := field.Tag.Lookup("cmd"); !command {
			continue
		}
		if len(words) > 0 && words[0] == cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)) {
			found = true
		} else {
			names = append(names, field.Name)
		}
	}
	if !found {
		return nil
	}
	return []string{`^commandLine\.(` + strings.Join(names, "|") + ")$"}
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
	if selected != nil {
		if err := printExamples(ctx.Stdout, selected); err != nil {
			return err
		}
	}
	if selected == nil || !settingsOf[selected.Path()] {
		_, err := io.WriteString(ctx.Stdout, "\nRun \"holdfast config --help\" for all settings.\n")
		return err
	}
	return nil
}
