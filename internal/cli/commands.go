package cli

import (
	"cmp"
	"io"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// commandLine has all commands and flags. Each help text is one line, so that the list fits on one screen. The help of a
// noun names its verbs.
type commandLine struct {
	Config `group:"settings"`

	Serve   serveCmd   `cmd:"" group:"service" help:"Serve the API and the payment modal, and run background jobs."`
	Demo    demoCmd    `cmd:"" group:"service" help:"Create a sandbox with sample data and serve it."`
	Migrate migrateCmd `cmd:"" group:"service" help:"Migrate the database schema to the latest version."`
	Backup  backupCmd  `cmd:"" group:"service" help:"Back up the database to a file while the service runs."`
	Restore restoreCmd `cmd:"" group:"service" help:"Create a new database from a backup."`
	Show    configCmd  `cmd:"" name:"config" group:"service" help:"Show all settings and where each value comes from."`
	Version versionCmd `cmd:"" group:"service" help:"Show the version."`
	Help    helpCmd    `cmd:"" group:"service" help:"Show help for a command."`

	Completion completionCmd `cmd:"" group:"service" help:"Print a shell completion script: bash, zsh or fish."`

	ShowVersion versionFlag `name:"version" help:"Show the version."`

	Site     siteCmd     `cmd:"" group:"operator" help:"Manage sites: create, list, set."`
	User     userCmd     `cmd:"" group:"operator" help:"Manage users: create, list, password, address, access, two-factor."`
	Token    tokenCmd    `cmd:"" group:"operator" help:"Manage API tokens: create, list, delete."`
	Merchant merchantCmd `cmd:"" group:"operator" help:"Manage merchants: create, list, mode, set, gateway, secret."`
	Supplier supplierCmd `cmd:"" group:"operator" help:"Manage suppliers: create, set, list, delete."`
	Webhook  webhookCmd  `cmd:"" group:"operator" help:"Manage webhooks: create, set, list, delete, rotate, test, log, replay."`
	Forward  listenCmd   `cmd:"" name:"listen" group:"operator" help:"Forward a sandbox's events to a local program."`
	Keys     keysCmd     `cmd:"" group:"operator" help:"Manage signing and encryption keys: make, list, rotate, revoke."`

	As       string        `placeholder:"USERNAME" help:"Act as this operator (default: the system). The password, and the two-factor code if there is one, are read from the terminal or as the first lines of standard input."`
	Proposal proposalCmd   `cmd:"" group:"operator" help:"Review changes that need a second operator's approval: list, show."`
	Approve  approveCmd    `cmd:"" group:"operator" help:"Approve a proposed change and apply it."`
	Reject   rejectCmd     `cmd:"" group:"operator" help:"Reject a change proposed by another operator."`
	Withdraw withdrawCmd   `cmd:"" group:"operator" help:"Withdraw a change that you proposed."`
	Mail     mailCmd       `cmd:"" group:"operator" help:"Manage receipts and other e-mails: list, show, resend, test."`
	Reports  reportMailCmd `cmd:"" name:"report-mail" group:"operator" help:"Manage scheduled reports: list, order, change, pause, resume, send, end."`
	Audit    auditCmd      `cmd:"" group:"operator" help:"View the audit log: list."`
	Events   eventsCmd     `cmd:"" group:"operator" help:"View a site's events: list."`
	Verify   verifyCmd     `cmd:"" group:"operator" help:"Check the integrity of the book: sums, reports, statements and audit chains."`
	Clock    clockCmd      `cmd:"" group:"operator" help:"Manage a sandbox's clock: show, set."`

	Import     importCmd      `cmd:"" group:"money" help:"Import bookings and payments, or disputes: payments, disputes."`
	Rates      ratesCmd       `cmd:"" group:"money" help:"Manage exchange rates: import, fetch, quote."`
	Exposure   exposureCmd    `cmd:"" group:"money" help:"Show the exposure: the loss if the merchants failed now."`
	RunOff     runOffCmd      `cmd:"" name:"run-off" group:"money" help:"Show how the exposure runs off over time."`
	Ageing     ageingCmd      `cmd:"" group:"money" help:"Show the exposure by time until the trips end."`
	Movement   movementCmd    `cmd:"" group:"money" help:"Explain the change in exposure between two days."`
	Policy     policyCmd      `cmd:"" group:"money" help:"Manage a site's terms, such as its rate card: show, set."`
	Booking    bookingCmd     `cmd:"" group:"money" help:"View bookings: list, show."`
	Cert       certificateCmd `cmd:"" name:"certificate" group:"money" help:"Print the link to a booking's certificate."`
	Txn        transactionCmd `cmd:"" name:"transaction" group:"money" help:"View transactions: list, show."`
	Premium    premiumCmd     `cmd:"" group:"money" help:"Manage the premium ledger: list, correct."`
	Statements statementsCmd  `cmd:"" group:"money" help:"Manage statements: list, show, pdf, pay, issue."`
	Bordereau  bordereauCmd   `cmd:"" group:"money" help:"Report to the underwriter: premium, contract."`
	Explain    explainCmd     `cmd:"" group:"money" help:"Explain how a figure was computed: transaction, booking, statement."`
	Limits     limitsCmd      `cmd:"" group:"money" help:"Manage exposure limits: list, set, events, over."`
	Collateral collateralCmd  `cmd:"" group:"money" help:"Manage merchants' collateral: list, add."`
	Dispute    disputeCmd     `cmd:"" group:"money" help:"Work on disputes: list, show, candidates, match, unmatch, assign, note, event, accept, challenge, attach, represent."`
	Insolvency insolvencyCmd  `cmd:"" group:"money" help:"Handle the failure of a merchant: report, confirm, withdraw, list, show, affected, close-claims, close."`
	Claim      claimCmd       `cmd:"" group:"money" help:"Review the claims of insolvent merchants: list, show, assess, approve, reject, withdraw, reopen, release."`
	Payout     payoutCmd      `cmd:"" group:"money" help:"Manage payouts of claims: list, show, pdf, sign, paid, failed."`
	Recovery   recoveryCmd    `cmd:"" group:"money" help:"Manage money that came back after an insolvency: list, add, cancel."`
	Rehearse   rehearseCmd    `cmd:"" group:"money" help:"Rehearse the failure of a merchant in a sandbox, from the first dispute to the last payout."`
	Model      modelCmd       `cmd:"" name:"exposure-model" group:"money" help:"Estimate the exposure from card turnover."`
	WhatIf     whatIfCmd      `cmd:"" name:"what-if" group:"money" help:"Show the loss if selected merchants fail on a given day."`
	Record     recordCmd      `cmd:"" name:"track-record" group:"money" help:"Show the outcome of a merchant's card payments."`
}

// settingsOf names the commands whose help shows every setting. The help of other commands shows only their own flags and
// --database.
var settingsOf = map[string]bool{"serve": true, "demo": true, "config": true}

// newParser builds the parser. Given the words of a command line, it builds only the command that they start with: building
// all of them takes longer than most commands run.
func newParser(line *commandLine, stdout io.Writer, words ...string) (*kong.Kong, error) {
	return kong.New(line,
		kong.IgnoreFields(others(words)...),
		kong.Name("holdfast"),
		kong.Description("Chargeback protection for travel payments: records bookings and payments, and shows what is protected."),
		kong.Writers(stdout, stdout),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, NoExpandSubcommands: true, WrapUpperBound: 110}),
		kong.ValueFormatter(kong.DefaultHelpValueFormatter),
		kong.Help(printHelp),
		vars,
		readers(),
		kong.ExplicitGroups([]kong.Group{
			{Key: "service", Title: "Service"},
			{Key: "operator", Title: "Sites, people and merchants"},
			{Key: "money", Title: "Payments and protection"},
			{Key: "settings", Title: "Settings (also available as environment variables)"},
		}),
	)
}

// others returns a pattern that matches the fields of all commands except the one that words start with, or nil if they start
// with none. The pattern also matches fields of Config, so a command's field must not share a name with one of them.
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
		_, err := io.WriteString(ctx.Stdout, "\nRun \"holdfast config --help\" to see all settings.\n")
		return err
	}
	return nil
}
