package office

import (
	"fmt"
	"strconv"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/ops/verify"
	"holdfast/internal/web/kit"
)

// addVerify adds the pages for checking the book.
func (p *pages) addVerify(f *kit.Frame) {
	f.Office("GET /verify", access.ManageSites, p.checks)
	f.Office("POST /verify", access.ManageSites, p.askCheck)
	f.Office("GET /verify/{id}", access.ManageSites, p.check)
	f.Office("POST /verify/{id}/stop", access.ManageSites, p.stopCheck)
}

const verifyAt = kit.Path + "/verify"

func checkAt(id int64) string { return verifyAt + "/" + strconv.FormatInt(id, 10) }

// runState is the status of a run, with its colour.
func runState(r verify.AskedRun) kit.Cell {
	switch {
	case r.State == verify.RunDone && r.Total == 0:
		return kit.Cell{Text: "No problems found", Plain: "done", Tone: "good"}
	case r.State == verify.RunDone:
		return kit.Cell{Text: kit.Plural(r.Total, "finding", "findings"), Plain: "done", Tone: "bad"}
	}
	return kit.State(string(r.State), map[verify.RunState]string{verify.RunFailed: "bad", verify.Running: "warn", verify.RunAsked: "warn"}[r.State])
}

// took is the duration of a run, in words.
func took(r verify.AskedRun) string {
	if r.BeganAt.IsZero() || r.EndedAt.IsZero() {
		return ""
	}
	if d := r.EndedAt.Sub(r.BeganAt).Round(time.Second); d >= time.Minute {
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	} else {
		return kit.Plural(int64(d/time.Second), "second", "seconds")
	}
}

// checks lists past checks of the book, with a button to start another.
func (p *pages) checks(v *kit.Visit) error { return p.showChecks(v, kit.Filled()) }

func (p *pages) showChecks(v *kit.Visit, form *kit.Form) error {
	list, err := p.app.Verify.Runs(v.R.Context(), v.Actor)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "checks", Caption: "Book checks", Bare: true,
		Columns: []kit.Column{
			{Name: "asked", Title: "Requested"}, {Name: "by", Title: "By"}, {Name: "state", Title: "Outcome"}, {Name: "took", Title: "Took", Figure: true},
		},
		Empty: kit.Empty{Title: "No checks yet", Text: "The command holdfast verify runs the same check, and can compare with chain heads stored elsewhere."},
	}
	open := false
	for _, r := range list {
		open = open || r.State == verify.RunAsked || r.State == verify.Running
		t.Rows = append(t.Rows, kit.Row{Href: checkAt(r.ID), Cells: []kit.Cell{
			kit.AtInstant(r.AskedAt), kit.Words(r.AskedBy), runState(r), kit.Words(took(r)),
		}})
	}
	return v.Show(p.Pages, "checks.html", kit.Page{
		Title: "Check the book", Menu: "/system", Path: []kit.Link{{Text: "System", Href: kit.Path + "/system"}}, Data: struct {
			Form *kit.Form
			List *kit.Table
			Open bool
			Send string
		}{form, v.Table(t), open, verifyAt},
	})
}

// askCheck starts a check of the book.
func (p *pages) askCheck(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	made, err := p.app.Verify.Ask(v.R.Context(), v.Actor)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.showChecks(v, form)
	}
	return v.Go(checkAt(made.ID))
}

// check shows one check: its progress or findings.
func (p *pages) check(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	r, err := p.app.Verify.RunWith(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	state := runState(r)
	open := r.State == verify.RunAsked || r.State == verify.Running
	facts := present([]kit.Fact{
		{Text: "Status", Value: state.Text, Tone: state.Tone}, {Text: "Requested by", Value: r.AskedBy}, {Text: "Started", Value: kit.Instant(r.BeganAt)},
		{Text: "Current step", Value: r.Progress}, {Text: "Ended", Value: kit.Instant(r.EndedAt)}, {Text: "Took", Value: took(r)},
	})
	found, lines := findingsTable(v, r), linesTable(v, r)
	return v.ShowTable(p.Pages, "check.html", found, kit.Page{
		Title: "Book check", Menu: "/system", Refresh: open, Wide: len(r.Result.Findings) > 0,
		Path: []kit.Link{{Text: "System", Href: kit.Path + "/system"}, {Text: "Check the book", Href: verifyAt}}, Data: struct {
			Facts        []kit.Fact
			Problem      string
			Open, Done   bool
			Found, Lines *kit.Table
			Hidden       int64
			Stop         string
		}{facts, r.Problem, open, r.State == verify.RunDone, found, lines, r.Total - int64(len(r.Result.Findings)), checkAt(id) + "/stop"},
	})
}

// findingsTable lists the findings by site and row.
func findingsTable(v *kit.Visit, r verify.AskedRun) *kit.Table {
	t := kit.Table{
		Name: "findings", Caption: "Findings",
		Columns: []kit.Column{
			{Name: "site", Title: "Site"}, {Name: "check", Title: "Check"}, {Name: "table", Title: "Table"}, {Name: "id", Title: "Row", Figure: true},
			{Name: "field", Title: "Field"}, {Name: "stored", Title: "Stored"}, {Name: "should_be", Title: "Expected"},
		},
		Empty: kit.Empty{Title: "No problems found", Text: "All sums, states and chains match the payments."},
	}
	for _, f := range r.Result.Findings {
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.Words(f.Site), kit.Words(f.Check), kit.Words(f.Table), kit.Ident(f.ID), kit.Words(f.Field), kit.Words(f.Stored), kit.Words(f.Should),
		}})
	}
	return v.Table(t)
}

// linesTable has a row per check.
func linesTable(v *kit.Visit, r verify.AskedRun) *kit.Table {
	t := kit.Table{
		Name: "lines", Bare: true, Caption: "Checks",
		Columns: []kit.Column{
			{Name: "check", Title: "Check"}, {Name: "rows", Title: "Rows checked", Figure: true}, {Name: "findings", Title: "Findings", Figure: true},
		},
	}
	for _, line := range r.Result.Lines {
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{kit.Words(line.Check), kit.Number(line.Rows), kit.Number(line.Findings)}})
	}
	return v.Table(t)
}

// stopCheck stops a running check.
func (p *pages) stopCheck(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	if _, err := v.Form(); err != nil {
		return err
	}
	if err := p.app.Verify.Stop(v.R.Context(), v.Actor, id); err != nil {
		return err
	}
	return v.Done(checkAt(id), "The check will stop within seconds.")
}
