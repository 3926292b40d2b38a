package office

import (
	"holdfast/internal/core"
	"holdfast/internal/web/shell"
)

// jobView is a job on the page of all jobs.
type jobView struct {
	Name  string
	Error string
	Facts []shell.Fact
}

// jobs shows all background work: the jobs that fail first, each with a button to try it now.
func (p *pages) jobs(v *shell.Visit) error {
	list, err := p.app.Work.States(v.R.Context(), v.Actor)
	if err != nil {
		return err
	}
	t := shell.Table{
		Name: "jobs", Caption: "Background work",
		Columns: []shell.Column{
			{Name: "job", Title: "Job"}, {Name: "state", Title: "State"}, {Name: "last", Title: "Last good run"},
			{Name: "next", Title: "Next run", Minor: true}, {Name: "failures", Title: "Failures since", Figure: true},
			{Name: "error", Title: "Error", Hidden: true},
		},
		Empty: shell.Empty{Title: "No job has run yet", Text: "Jobs run in the program that serves, each every few seconds to hours."},
	}
	var failing []jobView
	now := p.frame.Clock()
	for _, j := range list {
		t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{
			shell.Words(j.Name), jobState(j, j.Running(now)), shell.AtInstant(j.LastRunAt), shell.AtInstant(j.DueAt),
			shell.Number(j.Attempts), shell.Words(j.LastError),
		}})
		if j.Attempts > 0 {
			failing = append(failing, jobView{Name: j.Name, Error: j.LastError, Facts: []shell.Fact{
				{Text: "Failures since the last good run", Value: shell.Count(j.Attempts), Figure: true},
				{Text: "Last good run", Value: shell.Instant(j.LastRunAt)}, {Text: "Tried again", Value: shell.Instant(j.DueAt)},
			}})
		}
	}
	made := v.Table(t)
	if sent, err := v.File(made); sent || err != nil {
		return err
	}
	return v.Show(p.Pages, "jobs.html", shell.Page{Title: "Jobs", Menu: "/jobs", Data: struct {
		Failing []jobView
		List    *shell.Table
	}{failing, made}})
}

func jobState(j core.JobState, running bool) shell.Cell {
	switch {
	case j.Attempts > 0:
		return shell.State("fails", "bad")
	case running:
		return shell.State("running", "warn")
	}
	return shell.State("good", "good")
}

// runJob has a job tried now.
func (p *pages) runJob(v *shell.Visit) error {
	if _, err := v.Form(); err != nil {
		return err
	}
	name := v.R.PathValue("name")
	if err := p.app.Work.RunSoon(v.R.Context(), v.Actor, name); err != nil {
		return err
	}
	return v.Done(shell.Path+"/jobs", "The job %s runs within a few seconds.", name)
}
