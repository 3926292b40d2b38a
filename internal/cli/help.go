package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// helpCmd shows the help of a command, like its --help flag.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command, such as statements pay."`
}

// Run prints the help.
func (c helpCmd) Run(p *program) error {
	var line commandLine
	parser, err := newParser(&line, p.stdout)
	if err != nil {
		return err
	}
	if _, err := parser.Parse(append(c.Command, "--help")); err != nil {
		usageError(p.stderr, parser, err)
		return errUsage
	}
	return nil
}

// versionFlag is --version.
type versionFlag bool

// BeforeReset prints the version and exits before the rest of the command line is parsed.
func (versionFlag) BeforeReset(ctx *kong.Context) error {
	if _, err := io.WriteString(ctx.Stdout, versionLine()); err != nil {
		return err
	}
	ctx.Exit(0)
	return nil
}

// IgnoreDefault makes the parser ignore the flag unless it is given.
func (versionFlag) IgnoreDefault() {}

// examples has one example for each command, to copy and paste.
var examples = map[string]string{
	"serve":                   "serve --listen 0.0.0.0:8080 --base-url https://protection.acme.example",
	"demo":                    "demo --day 2030-01-15",
	"migrate":                 "migrate --database sqlite:holdfast-data/holdfast.db",
	"backup":                  "backup holdfast.backup",
	"restore":                 "restore holdfast.backup --database sqlite:restored.db",
	"config":                  "config --listen 0.0.0.0:8080",
	"version":                 "version",
	"help":                    "help statements pay",
	"completion":              "completion bash",
	"mail list":               "mail list --state dead,unknown --site acme",
	"mail show":               "mail show 7 --site acme",
	"mail resend":             "mail resend 7 --site acme",
	"mail test":               "mail test ada@acme.example --site acme",
	"site create":             `site create acme --name "Acme Acquiring" --currency GBP`,
	"site list":               "site list",
	"site set":                `site set --site acme --issuer-name "Harbour Protection Ltd" --issuer-tax-number GB123`,
	"user create":             "user create ada --email ada@acme.example --role member_admin --site acme",
	"user list":               "user list --site acme",
	"user password":           "user password ada",
	"user address":            "user address ada ada@new.example",
	"user access":             "user access ada --role finance --site acme",
	"user two-factor":         "user two-factor ada",
	"token create":            "token create shop --user ada --site acme --abilities read,log_bookings",
	"token list":              "token list --site acme",
	"token delete":            "token delete 7 --site acme",
	"merchant create":         `merchant create "Azure Coast" --currency EUR --mode draft --site acme`,
	"merchant list":           "merchant list --site acme --sort name",
	"merchant show":           "merchant show 3 --site acme",
	"merchant mode":           `merchant mode 3 protection-only --reason "The contract is signed." --as ada`,
	"merchant set":            `merchant set 3 --locked --reason "The licence was withdrawn."`,
	"merchant gateway":        "merchant gateway 3 --processor stripe",
	"merchant secret":         "merchant secret 3",
	"supplier create":         `supplier create "Hotel Mar" --country PT --category HOT`,
	"supplier set":            "supplier set 1 --url https://mar.example",
	"supplier list":           "supplier list --csv",
	"webhook create":          "webhook create https://shop.example/webhooks --types booking.*,transaction.completed",
	"webhook set":             "webhook set 1 --types booking.*",
	"webhook list":            "webhook list",
	"webhook delete":          "webhook delete 1",
	"webhook rotate":          "webhook rotate 1",
	"webhook test":            "webhook test 1",
	"webhook log":             "webhook log 1",
	"webhook replay":          `webhook replay 1 --from "2026-07-01 00:00:00" --to "2026-07-02 00:00:00"`,
	"report-mail list":        "report-mail list",
	"report-mail order":       `report-mail order "/exposure?by=channel" --name Exposure --owner ada --to ada --weekly monday --format csv`,
	"report-mail change":      "report-mail change 1 --monthly 31 --to ada",
	"report-mail pause":       "report-mail pause 1",
	"report-mail resume":      "report-mail resume 1",
	"report-mail send":        "report-mail send 1",
	"report-mail end":         "report-mail end 1",
	"listen":                  "listen --site demo --token-file token --forward-to http://127.0.0.1:3000/webhooks",
	"supplier delete":         "supplier delete 1",
	"keys make":               "keys make --keys-file keys",
	"keys list":               "keys list --keys-file keys",
	"keys rotate":             "keys rotate --keys-file keys --only secrets",
	"keys revoke":             "keys revoke 4FZQ2K7M5XJ3NB6T",
	"proposal list":           "proposal list --all",
	"proposal show":           "proposal show 6",
	"approve":                 "approve 6 --as bob",
	"reject":                  `reject 6 --reason "The file is from last year." --as bob`,
	"withdraw":                "withdraw 6 --as ada",
	"audit list":              "audit list --action channel.change --sort -id --limit 20",
	"events list":             "events list --types booking.*,transaction.completed --after now",
	"verify":                  "verify --against heads.jsonl",
	"clock show":              "clock show --site demo",
	"clock set":               `clock set --to "2030-02-01 00:00:00" --site demo`,
	"import payments":         "import payments book.csv --mode protection-only --cover-start effective --dry-run",
	"rates import":            "rates import eurofxref-hist.csv",
	"rates fetch":             "rates fetch",
	"rates quote":             "rates quote AED 4.2103 --day 2024-06-28 --quote-id desk-17",
	"exposure":                "exposure --as-of 2024-06-30 --by merchant,month --csv",
	"run-off":                 "run-off --as-of 2024-06-30 --merchants 3,4",
	"ageing":                  "ageing --currency EUR --json",
	"movement":                "movement --from 2024-05-31 --to 2024-06-30",
	"policy show":             "policy show --on 2024-06-30",
	"policy set":              "policy set policy.json",
	"booking list":            "booking list --status unpaid --sort -total --limit 20",
	"booking show":            "booking show 17",
	"certificate":             "certificate 17 --revoke",
	"transaction list":        "transaction list --types refund,chargeback --csv",
	"transaction show":        "transaction show 17 --json",
	"premium list":            "premium list --merchants 3 --csv",
	"premium correct":         "premium correct --dry-run",
	"statements list":         "statements list --overdue",
	"statements show":         "statements show 1 --csv",
	"statements pdf":          "statements pdf 1 --output statement.pdf",
	"statements pay":          `statements pay 1 --amount "560.00 GBP" --date 2024-07-10 --reference BANK-4711`,
	"statements issue":        "statements issue",
	"bordereau premium":       "bordereau premium --period 2024-06",
	"bordereau claims":        "bordereau claims --period 2024-06",
	"bordereau present":       "bordereau present --period 2024-06",
	"bordereau contract list": "bordereau contract list",
	"bordereau contract set":  "bordereau contract set B0001TRAVEL2026 --year 2026 --commission 12.5 --from 2026-01-01",
	"explain transaction":     "explain 17 --as-of 2024-06-30",
	"explain booking":         "explain booking 17 --per-page 5",
	"explain statement":       "explain statement 1 closing",
	"limits list":             "limits list --over",
	"limits set":              `limits set merchant "50000.00 GBP" --merchant 3 --note "Until the summer."`,
	"limits events":           "limits events --sort -id --limit 10",
	"limits over":             "limits over",
	"collateral list":         "collateral list --as-of 2024-06-30",
	"collateral add":          `collateral add guarantee "5000.00 EUR" --merchant 3 --reference G-17`,
	"exposure-model":          "exposure-model --bands 30:400000,90:600000",
	"what-if":                 "what-if --merchants 3,4",
	"track-record":            "track-record 3",

	"import disputes":             "import disputes adyen-disputes.csv --dry-run",
	"dispute list":                "dispute list --status open --due-before 2026-07-01",
	"dispute show":                "dispute show 1",
	"dispute ratios":              "dispute ratios --period 2024-06",
	"dispute candidates":          "dispute candidates 1",
	"dispute match":               `dispute match 1 17 --reason "The traveller named it"`,
	"dispute unmatch":             `dispute unmatch 1 --reason "It was the other trip"`,
	"dispute assign":              "dispute assign 1 ana",
	"dispute note":                `dispute note 1 "The hotel has refunded the traveller"`,
	"dispute event":               "dispute event 1 lost --day 2026-06-30",
	"dispute accept":              "dispute accept 1",
	"dispute challenge":           `dispute challenge 1 --note "Answered in the acquirer's portal"`,
	"dispute attach":              "dispute attach 1 receipt.pdf",
	"dispute represent":           "dispute represent 1",
	"dispute representment":       "dispute representment 1 --output representment.pdf",
	"insolvency report":           `insolvency report 3 --kind liquidation --trigger "2026-07-01 09:00:00" --evidence "Notice of the court of 1 July"`,
	"insolvency confirm":          "insolvency confirm 1 --as bob",
	"insolvency withdraw":         `insolvency withdraw 1 --reason "Another company of that name"`,
	"insolvency list":             "insolvency list --state reported,confirmed,open",
	"insolvency show":             "insolvency show 1",
	"insolvency loss-ratio":       "insolvency loss-ratio --year 2024",
	"insolvency affected":         "insolvency affected 1 --xlsx affected.xlsx",
	"insolvency snapshot":         "insolvency snapshot 1",
	"insolvency close-claims":     "insolvency close-claims 1 --as ada",
	"insolvency close":            "insolvency close 1 --as ada",
	"insolvency reinstate":        `insolvency reinstate 1 --reason "New owners" --as ada`,
	"insolvency allow-processing": `insolvency allow-processing 1 --reason "The administrator pays" --as ada`,

	"insolvency figures": "insolvency figures 1",
	"rehearse":           "rehearse 3 --days 7",
	"claim list":         "claim list --insolvencies 1 --state open",
	"claim sums":         "claim sums --to-represent",
	"claim show":         "claim show 1",
	"claim assess":       "claim assess 1 --as ada",
	"claim approve":      "claim approve 1 --as bob",
	"claim reject":       `claim reject 1 --reason "The traveller was refunded by the bond" --as bob`,
	"claim withdraw":     `claim withdraw 1 --reason "Recorded twice" --as ada`,
	"claim reopen":       `claim reopen 1 --reason "New papers" --as bob`,
	"claim release":      `claim release 1 --reason "The bond does not pay" --as bob`,
	"payout list":        "payout list --state planned",
	"payout show":        "payout show 1",
	"payout pdf":         "payout pdf 1 --output payout.pdf",
	"payout sign":        "payout sign 1 --as ada",
	"payout paid":        "payout paid 1 --reference BANK-4711",
	"payout failed":      `payout failed 1 --reason "The account is closed"`,
	"recovery list":      "recovery list --insolvencies 1",
	"recovery add":       `recovery add 1 dividend "5000.00 EUR" --reference "First dividend"`,
	"recovery cancel":    `recovery cancel 1 --reason "It was of another estate"`,
}

// printExamples prints the example of a command, or those of the first commands in a group.
func printExamples(to io.Writer, node *kong.Node) error {
	const most = 3
	var lines []string
	for _, leaf := range leavesOf(node) {
		if example, ok := examples[leaf.Path()]; ok && len(lines) < most {
			lines = append(lines, "  holdfast "+example)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	title := "Example:"
	if len(lines) > 1 {
		title = "Examples:"
	}
	_, err := fmt.Fprintf(to, "\n%s\n%s\n", title, strings.Join(lines, "\n"))
	return err
}

// leavesOf returns the commands below a node, or the node itself.
func leavesOf(node *kong.Node) []*kong.Node {
	if len(node.Children) == 0 {
		return []*kong.Node{node}
	}
	return node.Leaves(true)
}
