package office

import (
	"fmt"
	"strconv"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/verify"
	"holdfast/internal/web/shell"
)

// addVerify adds the pages on which the whole book is checked.
func (p *pages) addVerify(f *shell.Frame) {
	f.Office("GET /verify", auth.ManageSites, p.checks)
	f.Office("POST /verify", auth.ManageSites, p.askCheck)
	f.Office("GET /verify/{id}", auth.ManageSites, p.check)
	f.Office("POST /verify/{id}/stop", auth.ManageSites, p.stopCheck)
}

const verifyAt = shell.Path + "/verify"

func checkAt(id int64) string { return verifyAt + "/" + strconv.FormatInt(id, 10) }

// runState is how far a run is, with a mark.
func runState(r verify.AskedRun) shell.Cell {
	switch {
	case r.State == verify.RunDone && r.Total == 0:
		return shell.Cell{Text: "Nothing is wrong", Plain: "done", Tone: "good"}
	case r.State == verify.RunDone:
		return shell.Cell{Text: shell.Plural(r.Total, "finding", "findings"), Plain: "done", Tone: "bad"}
	}
	return shell.State(string(r.State), map[verify.RunState]string{verify.RunFailed: "bad", verify.Running: "warn", verify.RunAsked: "warn"}[r.State])
}

// took is how long a run took, in words.
func took(r verify.AskedRun) string {
	if r.BeganAt.IsZero() || r.EndedAt.IsZero() {
		return ""
	}
	if d := r.EndedAt.Sub(r.BeganAt).Round(time.Second); d >= time.Minute {
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	} else {
		return shell.Plural(int64(d/time.Second), "second", "seconds")
	}
}

// checks lists the checks of the book that were made, and asks for another one.
func (p *pages) checks(v *shell.Visit) error { return p.showChecks(v, shell.Filled()) }

func (p *pages) showChecks(v *shell.Visit, form *shell.Form) error {
	list, err := p.app.Verify.Runs(v.R.Context(), v.Actor)
	if err != nil {
		return err
	}
	t := shell.Table{
		Name: "checks", Caption: "Checks of the book", Bare: true,
		Columns: []shell.Column{
			{Name: "asked", Title: "Requested"}, {Name: "by", Title: "By"}, {Name: "state", Title: "Outcome"}, {Name: "took", Title: "Took", Figure: true},
		},
		Empty: shell.Empty{Title: "No check was made here yet", Text: "The command holdfast verify makes the same check, and can compare with heads that were kept elsewhere."},
	}
	open := false
	for _, r := range list {
		open = open || r.State == verify.RunAsked || r.State == verify.Running
		t.Rows = append(t.Rows, shell.Row{Href: checkAt(r.ID), Cells: []shell.Cell{
			shell.AtInstant(r.AskedAt), shell.Words(r.AskedBy), runState(r), shell.Words(took(r)),
		}})
	}
	return v.Show(p.Pages, "checks.html", shell.Page{
		Title: "Is the book right?", Menu: "/system", Path: []shell.Link{{Text: "System", Href: shell.Path + "/system"}}, Data: struct {
			Form *shell.Form
			List *shell.Table
			Open bool
			Send string
		}{form, v.Table(t), open, verifyAt},
	})
}

// askCheck has the whole book checked.
func (p *pages) askCheck(v *shell.Visit) error {
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

// check shows one check: how far it is, or what it has found.
func (p *pages) check(v *shell.Visit) error {
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
	facts := present([]shell.Fact{
		{Text: "State", Value: state.Text, Tone: state.Tone}, {Text: "Asked by", Value: r.AskedBy}, {Text: "Began", Value: shell.Instant(r.BeganAt)},
		{Text: "Now at", Value: r.Progress}, {Text: "Ended", Value: shell.Instant(r.EndedAt)}, {Text: "Took", Value: took(r)},
	})
	found, lines := findingsTable(v, r), linesTable(v, r)
	if sent, err := v.File(found); sent || err != nil {
		return err
	}
	return v.Show(p.Pages, "check.html", shell.Page{
		Title: "Check of the book", Menu: "/system", Refresh: open, Wide: len(r.Result.Findings) > 0,
		Path: []shell.Link{{Text: "System", Href: shell.Path + "/system"}, {Text: "Is the book right?", Href: verifyAt}}, Data: struct {
			Facts        []shell.Fact
			Problem      string
			Open, Done   bool
			Found, Lines *shell.Table
			Hidden       int64
			Stop         string
		}{facts, r.Problem, open, r.State == verify.RunDone, found, lines, r.Total - int64(len(r.Result.Findings)), checkAt(id) + "/stop"},
	})
}

// findingsTable says what is not as it should be, and where.
func findingsTable(v *shell.Visit, r verify.AskedRun) *shell.Table {
	t := shell.Table{
		Name: "findings", Caption: "What was found",
		Columns: []shell.Column{
			{Name: "site", Title: "Site"}, {Name: "check", Title: "Check"}, {Name: "table", Title: "Table"}, {Name: "id", Title: "Row", Figure: true},
			{Name: "field", Title: "Field"}, {Name: "stored", Title: "Stored"}, {Name: "should_be", Title: "Should be"},
		},
		Empty: shell.Empty{Title: "Nothing is wrong", Text: "All sums, states and chains are as they follow from the payments."},
	}
	for _, f := range r.Result.Findings {
		t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{
			shell.Words(f.Site), shell.Words(f.Check), shell.Words(f.Table), shell.Ident(f.ID), shell.Words(f.Field), shell.Words(f.Stored), shell.Words(f.Should),
		}})
	}
	return v.Table(t)
}

// linesTable has a row for each check.
func linesTable(v *shell.Visit, r verify.AskedRun) *shell.Table {
	t := shell.Table{
		Name: "lines", Bare: true, Caption: "What was checked",
		Columns: []shell.Column{
			{Name: "check", Title: "Check"}, {Name: "rows", Title: "Rows looked at", Figure: true}, {Name: "findings", Title: "Findings", Figure: true},
		},
	}
	for _, line := range r.Result.Lines {
		t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{shell.Words(line.Check), shell.Number(line.Rows), shell.Number(line.Findings)}})
	}
	return v.Table(t)
}

// stopCheck ends a check that runs.
func (p *pages) stopCheck(v *shell.Visit) error {
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
	return v.Done(checkAt(id), "The check ends within seconds.")
}
