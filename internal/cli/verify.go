package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/ops/factchain"
	"holdfast/internal/ops/verify"
)

// verifyCmd verifies the whole book.
type verifyCmd struct {
	Site    string `placeholder:"PATH" help:"Site path (default: all sites, and data that belongs to no site)."`
	JSON    bool   `name:"json" xor:"form" help:"Print checks, findings and chain heads as JSON."`
	CSV     bool   `name:"csv" xor:"form" help:"Print CSV, with a row per check and per finding."`
	Limit   int    `default:"20" placeholder:"N" help:"Maximum number of findings to print per check (default: 20). All are counted."`
	Head    bool   `xor:"head" help:"Print the head of each chain as a line of JSON, to store elsewhere. Runs no checks."`
	MailTo  string `name:"mail-to" field:"to" placeholder:"ADDRESS" help:"With --head: also e-mail the heads to this address. The service sends it."`
	Against string `xor:"head" placeholder:"FILE|HASH" help:"Also check that the chains still contain the heads in this file, or this hash."`
}

// Help explains what is detected, and what is not.
func (verifyCmd) Help() string {
	return "Recomputes sums, states and reports from the payments and compares them with what is stored. Records carry a digest, " +
		"and a background job seals them in a chain about a minute after they are written. Someone with full write access to the " +
		"database could recompute digests and chains, or truncate a chain, without this command noticing. To detect that, store " +
		"the chain heads elsewhere (--head, --mail-to or the setting --anchor-file) and check against them. The command " +
		"changes nothing and can run while the service runs. The exit code is 0 if there are no findings, and 1 otherwise."
}

// errFindings is the error of a check with findings. They have been printed already.
var errFindings = errors.New("the book has errors")

// Run prints a line per check, and the findings.
func (c verifyCmd) Run(ctx context.Context, p *program) error {
	q := verify.Query{Limit: c.Limit}
	if c.Limit < 0 {
		return errs.WrongField("limit", "Enter a whole number, 0 or more.")
	}
	if c.MailTo != "" && !c.Head {
		return errs.WrongField("mail_to", "This requires --head.")
	}
	if err := c.readKept(&q); err != nil {
		return err
	}
	actor := access.System(0)
	if c.Site != "" {
		var err error
		if actor, err = p.operatorAt(ctx, c.Site); err != nil {
			return err
		}
		q.Sites = []merchant.Site{p.site}
		q.Against = of(q.Against, p.site.Path)
	} else if err := p.open(ctx); err != nil {
		return err
	}
	if c.Head {
		heads, err := p.app.Verify.Heads(ctx, actor, q.Sites)
		if err != nil {
			return err
		}
		return errors.Join(writeHeads(p.stdout, heads), c.mailHeads(ctx, p, heads))
	}
	began := p.clock.Now()
	report, err := p.app.Verify.Run(ctx, actor, q)
	if err != nil {
		return err
	}
	if err := c.print(p, report, began); err != nil {
		return err
	}
	if report.Total > 0 {
		return errFindings
	}
	return nil
}

// mailHeads queues a mail for each site, with its chain heads and those that belong to no site.
func (c verifyCmd) mailHeads(ctx context.Context, p *program, heads []factchain.Head) error {
	if c.MailTo == "" {
		return nil
	}
	printed := map[string]bool{"": true}
	for _, h := range heads {
		if printed[h.Site] {
			continue
		}
		printed[h.Site] = true
		actor, err := p.operatorAt(ctx, h.Site)
		if err != nil {
			return err
		}
		var lines strings.Builder
		if err := writeHeads(&lines, append(of(heads, ""), of(heads, h.Site)...)); err != nil {
			return err
		}
		if _, err := p.app.Mails.SendHeads(ctx, actor, c.MailTo, strings.Split(strings.TrimSpace(lines.String()), "\n")); err != nil {
			return err
		}
	}
	return nil
}

// readKept reads stored heads: a file, or one hash.
func (c verifyCmd) readKept(q *verify.Query) (err error) {
	if c.Against == "" {
		return nil
	}
	if sum, err := hex.DecodeString(c.Against); err == nil && len(sum) == 32 {
		q.Hash = c.Against
		return nil
	}
	file, err := os.Open(c.Against)
	if err != nil {
		return errs.WrongField("against", "This is neither a hash nor a readable file: %v", err)
	}
	defer file.Close()
	if q.Against, err = readHeads(file); err != nil {
		return errs.WrongField("against", "%s: %v", c.Against, err)
	}
	return nil
}

// of returns the heads of one site.
func of(heads []factchain.Head, path string) (list []factchain.Head) {
	for _, h := range heads {
		if h.Site == path {
			list = append(list, h)
		}
	}
	return list
}

// shownReport is a report as JSON.
type shownReport struct {
	Checks   []verify.Line    `json:"checks"`
	Findings []verify.Finding `json:"findings"`
	Total    int64            `json:"total"` // findings, including those not printed
	Heads    []factchain.Head `json:"heads"`
}

func (c verifyCmd) print(p *program, r verify.Report, at time.Time) error {
	if c.JSON {
		enc := json.NewEncoder(p.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(shownReport{r.Lines, append([]verify.Finding{}, r.Findings...), r.Total, r.Heads})
	}
	if c.CSV {
		return p.printCSV(verifySheet(r), civil.FormatInstant(at))
	}
	s := sheet{columns: columnsOf("site check rows findings")}
	for _, line := range r.Lines {
		s.rows = append(s.rows, []cell{siteCell(line.Site), words(line.Check), count(line.Rows), count(line.Findings)})
	}
	p.printTable(s, "")
	if len(r.Findings) > 0 {
		p.printf("\n")
		s = sheet{columns: columnsOf("site check table id field stored should_be")}
		for _, f := range r.Findings {
			s.rows = append(s.rows, []cell{
				siteCell(f.Site), words(f.Check), words(f.Table), ident(f.ID), words(f.Field), words(f.Stored), words(f.Should),
			})
		}
		p.printTable(s, "")
	}
	if r.Total == 0 {
		p.printf("\nNo errors found.\n")
		return nil
	}
	p.printf("\n%d findings", r.Total)
	if hidden := r.Total - int64(len(r.Findings)); hidden > 0 {
		p.printf("; %d not shown: use --limit to see more", hidden)
	}
	p.printf(".\n")
	return nil
}

// verifySheet has a row per check, and then a row per finding. The column "row" distinguishes them.
func verifySheet(r verify.Report) sheet {
	s := sheet{columns: columnsOf("row site check rows findings table id field stored should_be")}
	for _, line := range r.Lines {
		s.rows = append(s.rows, []cell{words("check"), words(line.Site), words(line.Check), count(line.Rows), count(line.Findings)})
	}
	for _, f := range r.Findings {
		s.rows = append(s.rows, []cell{
			words("finding"), words(f.Site), words(f.Check), {}, {}, words(f.Table), ident(f.ID), words(f.Field), words(f.Stored),
			words(f.Should),
		})
	}
	return s
}

// siteCell is a site's path, or a dash for data that belongs to no site.
func siteCell(path string) cell {
	if path == "" {
		return words("-")
	}
	return words(path)
}

// writeHeads writes heads as lines of JSON in a single write, so that lines of two processes do not mix.
func writeHeads(to io.Writer, heads []factchain.Head) error {
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	for _, h := range heads {
		if err := enc.Encode(h); err != nil {
			return err
		}
	}
	_, err := to.Write(lines.Bytes())
	return err
}

// maxHeads limits a file of heads: several years of hourly lines for ten sites.
const maxHeads = 1_000_000

// readHeads reads the output of writeHeads. Duplicates are checked once.
func readHeads(from io.Reader) (heads []factchain.Head, err error) {
	type link struct {
		site, chain, hash string
		count             int64
	}
	seen, dec := map[link]bool{}, json.NewDecoder(from)
	for range maxHeads {
		var h factchain.Head
		err := dec.Decode(&h)
		if errors.Is(err, io.EOF) {
			return heads, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Chain != factchain.ChainFacts && h.Chain != factchain.ChainAudit || h.Count < 0 {
			return nil, errors.New("a line is not a chain head")
		}
		if l := (link{h.Site, h.Chain, h.Hash, h.Count}); !seen[l] {
			seen[l] = true
			heads = append(heads, h)
		}
	}
	return nil, errors.New("the file has too many lines")
}

// anchor appends the heads of all chains to --anchor-file, and returns when they are on disk.
func (p *program) anchor(ctx context.Context) (more bool, err error) {
	heads, err := p.app.Verify.Heads(ctx, access.System(0), nil)
	if err != nil {
		return false, err
	}
	file, err := os.OpenFile(p.AnchorFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return false, err
	}
	err = writeHeads(file, heads)
	return false, errors.Join(err, file.Sync(), file.Close())
}
