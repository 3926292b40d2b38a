package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/lib/tabular"
	"holdfast/internal/store"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// importCmd groups the imports.
type importCmd struct {
	Payments importPaymentsCmd `cmd:"" help:"Import bookings and payments from a CSV file."`
	Disputes importDisputesCmd `cmd:"" help:"Import disputes from a processor's file."`
}

// importPaymentsCmd imports the payments of another system.
type importPaymentsCmd struct {
	siteFlag
	File       string `arg:"" help:"CSV file with one payment per row, or - for standard input."`
	Mode       string `placeholder:"MODE" enum:",test,draft,protection-only,live,affiliate" default:"" help:"Create missing merchants in this mode: test, draft, protection-only, live or affiliate (default: reject rows of unknown merchants)."`
	CoverStart string `placeholder:"WHEN" enum:"recorded,effective" default:"recorded" help:"When cover starts. recorded (default): when the payment is imported. effective: when the payment was taken, for payments that were already covered."`
	Reason     string `help:"Reason, shown to the operator who approves the change if approval is needed."`
	DryRun     bool   `help:"Check every row and show what would be imported, without writing anything."`
	Refused    string `placeholder:"FILE.csv" help:"Write the line number and reason of every rejected row to this file. The terminal only shows the first 20."`
}

// Help describes the file.
func (importPaymentsCmd) Help() string {
	var b strings.Builder
	b.WriteString("The first line of the file names the columns, in any order. Columns that are not listed here are ignored. " +
		"Rows can be in any order. Each names its merchant in channel or channel_id. " +
		"Amounts are in minor units (cents). Dates have the format 2024-06-30, and times 2024-06-30 12:00:00, in GMT.\n\n")
	for _, required := range []bool{true, false} {
		title := "Required columns:\n\n"
		if !required {
			title = "\nOptional columns:\n\n"
		}
		b.WriteString(title)
		for _, c := range paymentfile.Columns {
			if c.Required == required {
				fmt.Fprintf(&b, "    %-19s %s\n", c.Name, c.Meaning)
			}
		}
	}
	b.WriteString("\nYou can import a file again: existing records do not change. If a row is invalid, only that row is " +
		"rejected. The exit code is 0 if all rows were imported, 3 if some were rejected, 4 if a " +
		"second operator must approve the import first, and 1 if it failed. " +
		"See docs/import.md for an example.")
	return b.String()
}

// refusalsShown is how many rejected rows are printed on the terminal.
const refusalsShown = 20

// Run imports the file.
func (c importPaymentsCmd) Run(ctx context.Context, p *program) error {
	file, err := c.open(p)
	if err != nil {
		return err
	}
	defer file.Close()
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	hash, err := hashOf(file)
	if err != nil {
		return err
	}
	refusals, err := newRefusals(p.stderr, c.Refused)
	if err != nil {
		return err
	}
	collectSeldom()
	if err := store.ForLongWrites(ctx, p.db); err != nil {
		return err
	}
	bar := p.progress(-1, "importing")
	var scan imports.Scan
	scanned := func(s imports.Scan) {
		scan = s
		bar.ChangeMax(s.Rows)
	}
	began := time.Now()
	report, err := p.app.Imports.Payments(ctx, actor, paymentfile.Read(file, scanned), imports.ImportOptions{
		Mode:               merchant.AccountMode(c.Mode),
		CoverFromEffective: c.CoverStart == "effective",
		SHA256:             hash,
		Reason:             c.Reason,
		DryRun:             c.DryRun,
		Progress:           func(rows int) { _ = bar.Set(rows) }, // drawing errors are not fatal
		Refused:            refusals.add,
	})
	_ = bar.Finish()
	if report.Proposal != nil {
		waits := p.waits(*report.Proposal)
		p.printf("\nThen run the same import again with the same file.\n")
		return cmp.Or(err, refusals.close(), waits)
	}
	if err == nil || report.Rows > 0 { // a failed import reports how far it got
		p.tellImport(report, scan, c.DryRun, time.Since(began))
	}
	if closing := refusals.close(); err == nil {
		err = closing
	}
	if err == nil && report.Refused > 0 {
		err = errRefused
	}
	return err
}

// hashOf returns the hash of the rest of a file, because an operator approves the import of exactly this content. It is "" for input that
// can be read only once.
func hashOf(file *os.File) (string, error) {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	begin, err := file.Seek(0, io.SeekCurrent) // standard input may start with a password
	if err != nil {
		return "", fmt.Errorf("payments file: %w", err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("payments file: %w", err)
	}
	if _, err := file.Seek(begin, io.SeekStart); err != nil {
		return "", fmt.Errorf("payments file: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (c importPaymentsCmd) open(p *program) (*os.File, error) {
	if c.File == "-" {
		return p.stdin, nil
	}
	file, err := os.Open(c.File)
	if err != nil {
		return nil, fmt.Errorf("cannot open the payments file: %w", err)
	}
	return file, nil
}

func (p *program) tellImport(r imports.ImportReport, scan imports.Scan, dryRun bool, took time.Duration) {
	verb := "created"
	if dryRun {
		verb = "would be created"
	}
	p.printf("%d rows in %s\n", r.Rows, took.Round(time.Millisecond))
	for _, line := range []struct {
		noun  string
		tally imports.Tally
	}{{"bookings", r.Bookings}, {"payments", r.Payments}} {
		p.printf("  %-9s %6d %s, %6d already exist\n", line.noun, line.tally.Created, verb, line.tally.AlreadyThere)
	}
	if len(r.Channels) > 0 {
		p.printf("  %-9s %6d %s: %s\n", "merchants", len(r.Channels), verb, strings.Join(r.Channels, ", "))
	}
	p.printf("  %-9s %6d\n", "rejected", r.Refused)
	if len(r.Totals) > 0 {
		p.printf("Totals: %s\n", textOf(r.Totals))
	}
	if len(scan.Schemes) > 0 {
		p.printf("Unknown card types: %s. The scheme is taken from bin_number.\n", strings.Join(scan.Schemes, ", "))
	}
	if len(scan.Unused) > 0 {
		p.printf("Unused columns: %s\n", textOf(scan.Unused))
	}
	if dryRun {
		p.printf("Dry run: nothing was written.\n")
	}
}

func textOf[T fmt.Stringer](list []T) string {
	texts := make([]string, len(list))
	for i, one := range list {
		texts[i] = one.String()
	}
	return strings.Join(texts, "; ")
}

// progress returns a progress bar, drawn only on a terminal.
func (p *program) progress(most int64, what string) *progressbar.ProgressBar {
	file, ok := p.stderr.(*os.File)
	watched := ok && term.IsTerminal(int(file.Fd()))
	return progressbar.NewOptions64(most,
		progressbar.OptionSetWriter(p.stderr), progressbar.OptionSetVisibility(watched), progressbar.OptionSetDescription(what),
		progressbar.OptionThrottle(50*time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionFullWidth(),
	)
}

// refusals prints the first rejected rows of the file at the end, and writes all of them to the --refused file as they occur.
// An import does not process rows in line order.
type refusals struct {
	to    io.Writer
	count int
	first []imports.Refusal // in line order
	name  string
	file  *os.File
	out   *csv.Writer
}

func newRefusals(to io.Writer, name string) (*refusals, error) {
	r := &refusals{to: to, name: name}
	if name == "" {
		return r, nil
	}
	var err error
	if r.file, err = os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("cannot write the file of rejected rows: %w", err)
	}
	r.out = csv.NewWriter(r.file)
	return r, r.out.Write([]string{"line", "reason"})
}

func (r *refusals) add(refusal imports.Refusal) {
	r.count++
	if r.out != nil {
		_ = r.out.Write([]string{strconv.Itoa(refusal.Line), tabular.PlainCell(refusal.Reason)}) // close returns the error
	}
	at, _ := slices.BinarySearchFunc(r.first, refusal, func(a, b imports.Refusal) int { return cmp.Compare(a.Line, b.Line) })
	r.first = slices.Insert(r.first, at, refusal)
	r.first = r.first[:min(len(r.first), refusalsShown)]
}

func (r *refusals) close() error {
	for _, refusal := range r.first {
		fmt.Fprintf(r.to, "line %d rejected: %s\n", refusal.Line, refusal.Reason)
	}
	if more := r.count - refusalsShown; more > 0 {
		where := "use --refused FILE.csv to list them all"
		if r.out != nil {
			where = "see " + r.name
		}
		fmt.Fprintf(r.to, "and %d more: %s\n", more, where)
	}
	if r.out == nil {
		return nil
	}
	r.out.Flush()
	if err := r.out.Error(); err != nil {
		return fmt.Errorf("file of rejected rows: %w", err)
	}
	return r.file.Close()
}
