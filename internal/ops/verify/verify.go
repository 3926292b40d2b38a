// Package verify checks a whole book: it compares what is stored with what follows from the facts. It only reads, and
// is above all rooms whose tables it reads. It owns verify_*, the requested runs. Start at Verify.Run. The checks are
// listed in checks.go.
package verify

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/ops/factchain"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Verify checks books.
type Verify struct {
	*sites.DB
	Rulepacks protection.Rulepacks // the dispute windows (R5)
	Log       *slog.Logger
}

// Finding is one thing that is not as it should be.
type Finding struct {
	Check  string `json:"check"`
	Site   string `json:"site"`  // path; "" for data without a site
	Table  string `json:"table"` // its position
	ID     int64  `json:"id"`    // of the row; of a table without ids, of what the row is about
	Field  string `json:"field"`
	Stored string `json:"stored"`
	Should string `json:"should"`
}

// Line is the result of a check on one site.
type Line struct {
	Site     string `json:"site"`
	Check    string `json:"check"`
	Rows     int64  `json:"rows"` // that it looked at
	Findings int64  `json:"findings"`
}

// Report is the outcome of a run.
type Report struct {
	Lines    []Line
	Findings []Finding // the first ones of each check of each site, up to the limit
	Total    int64     // findings in all
	Heads    []factchain.Head
}

// Query says what to check.
type Query struct {
	Sites   []merchant.Site  // none: all, and data without a site
	Limit   int              // findings of one check of one site that the report holds; the others are counted
	Against []factchain.Head // heads that were kept outside: the chains must still hold them
	Hash    string           // a hash that was kept outside: some chain must still hold it

	onStep func(text string) // receives the progress; may be nil
}

// Run checks the sites, each in one read transaction, so that all figures are consistent while others write. Memory
// does not grow with the book. It needs the permission ReadAudit. It returns an error if the check could not be made;
// problems of the book are in the report.
func (v *Verify) Run(ctx context.Context, actor access.Actor, q Query) (Report, error) {
	var report Report
	if err := actor.Require(access.ReadAudit); err != nil {
		return report, err
	}
	list, err := v.sitesOf(ctx, actor, q)
	if err != nil {
		return report, err
	}
	kept := newKept(q)
	for i, s := range list {
		err := v.ReportBy(ctx, sites.Clock{SiteID: s.ID, Ahead: s.ClockAhead}, func(tx *store.Tx) error {
			return checkSite(tx, v.Rulepacks, s, q.Limit, kept, &report, q.stepsOf(i, len(list), s))
		})
		if err != nil {
			return report, fmt.Errorf("site %q: %w", s.Path, err)
		}
	}
	report.add(kept.rest(q.Limit))
	return report, nil
}

// stepsOf returns the function that reports the progress of a site: the site and its current step.
func (q Query) stepsOf(at, all int, s merchant.Site) func(step string) {
	return func(step string) {
		if q.onStep != nil {
			name := s.Path
			if s.ID == 0 {
				name = "data without a site"
			}
			q.onStep(fmt.Sprintf("%d of %d: %s, %s", at+1, all, name, step))
		}
	}
}

// sites are the sites to check. Id 0 means data that belongs to none.
func (v *Verify) sitesOf(ctx context.Context, actor access.Actor, q Query) ([]merchant.Site, error) {
	if actor.SiteID != 0 && (len(q.Sites) != 1 || q.Sites[0].ID != actor.SiteID) {
		return nil, errs.New(errs.Forbidden, "Only the operator can check other sites.")
	}
	if len(q.Sites) > 0 {
		return q.Sites, nil
	}
	list := []merchant.Site{{}}
	err := v.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		list = list[:1]
		return tx.Query(`SELECT id, path, sandbox, clock_ahead FROM sites ORDER BY id`, nil,
			func(scan func(dest ...any) error) error {
				var s merchant.Site
				var ahead int64
				err := scan(&s.ID, &s.Path, &s.Sandbox, &ahead)
				s.ClockAhead = sites.Microseconds(ahead)
				list = append(list, s)
				return err
			})
	})
	return list, err
}

// Heads reads the heads of the chains of some sites; without any, of all.
func (v *Verify) Heads(ctx context.Context, actor access.Actor, some []merchant.Site) (heads []factchain.Head, err error) {
	if err := actor.Require(access.ReadAudit); err != nil {
		return nil, err
	}
	list, err := v.sitesOf(ctx, actor, Query{Sites: some})
	if err != nil {
		return nil, err
	}
	err = v.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		heads = nil
		for _, s := range list {
			of, err := factchain.Heads(tx, s.ID, s.Path)
			if err != nil {
				return err
			}
			heads = append(heads, of...)
		}
		return nil
	})
	return heads, err
}

// look is the check of one site, inside its reading transaction.
type look struct {
	tx    *store.Tx
	site  merchant.Site
	packs protection.Rulepacks
	limit int
	lines []*Line
	found []Finding
	kept  *kept
	// unread: a step has ended early, so sums over all its rows are unknown.
	unread bool

	policies map[int64]terms.Policy
	rates    rateMemory
	limits   limitBook
	exposure exposureSums
	starts   map[string]int64 // the last id of each table that may have no digest
	// insolvencies are those of each channel, in order of their ids.
	insolvencies map[int64][]insolvency
}

func checkSite(tx *store.Tx, packs protection.Rulepacks, site merchant.Site, limit int, kept *kept, report *Report, onStep func(step string)) error {
	l := &look{
		tx: tx, site: site, packs: packs, limit: limit, kept: kept, policies: map[int64]terms.Policy{},
		exposure: newExposureSums(),
	}
	if err := l.begin(); err != nil {
		return err
	}
	for _, step := range steps {
		if site.ID == 0 && !step.everywhere {
			continue
		}
		onStep(step.name)
		if err := l.step(step); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	heads, err := factchain.Heads(tx, site.ID, site.Path)
	report.Heads = append(report.Heads, heads...)
	report.add(l.lines, l.found)
	return err
}

// step runs one step. Unreadable data due to corrupt values is a finding, and the other steps
// continue. A database failure ends the check.
func (l *look) step(s step) error {
	err := s.run(l)
	if err == nil {
		return nil
	}
	var one int64
	if failed := l.tx.QueryRow(`SELECT 1`, nil, &one); failed != nil {
		return err
	}
	l.wrong(place{check: s.name}, "read", err, "rows that can be read")
	l.unread = true
	return nil
}

func (r *Report) add(lines []*Line, found []Finding) {
	r.Findings = append(r.Findings, found...)
	for _, line := range lines {
		r.Lines = append(r.Lines, *line)
		r.Total += line.Findings
	}
}

// line is the line of a check, which it begins where there is none.
func (l *look) line(check string) *Line {
	for _, line := range l.lines {
		if line.Check == check {
			return line
		}
	}
	line := &Line{Site: l.site.Path, Check: check}
	l.lines = append(l.lines, line)
	return line
}

// place is where a finding is.
type place struct {
	check string
	table string
	id    int64
}

// wrong notes a finding.
func (l *look) wrong(at place, field string, stored, should any) {
	line := l.line(at.check)
	if line.Findings++; line.Findings <= int64(l.limit) {
		l.found = append(l.found, Finding{
			at.check, l.site.Path, at.table, at.id, field, show(stored), show(should),
		})
	}
}

// same notes a finding unless two values are equal.
func same[T comparable](l *look, at place, field string, stored, should T) {
	if stored != should {
		l.wrong(at, field, stored, should)
	}
}

// show writes a value of a finding. A time has its microseconds: a change by one must be seen.
func show(v any) string {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05.000000")
	case sql.NullBool:
		if !v.Valid {
			return nothing
		}
		return strconv.FormatBool(v.Bool)
	default:
		return fmt.Sprint(v)
	}
}

// nothing represents a missing row or value.
const nothing = "nothing"
