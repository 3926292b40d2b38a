package office

import (
	"holdfast/internal/platform/leases"
	"holdfast/internal/web/kit"
)

// jobView is a job on the jobs page.
type jobView struct {
	Name  string
	Error string
	Facts []kit.Fact
}

// jobs shows all background jobs: failing jobs first, each with a button to run it now.
func (p *pages) jobs(v *kit.Visit) error {
	list, err := p.app.Work.States(v.R.Context(), v.Actor)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "jobs", Caption: "Background jobs",
		Columns: []kit.Column{
			{Name: "job", Title: "Job"}, {Name: "state", Title: "Status"}, {Name: "last", Title: "Last success"},
			{Name: "next", Title: "Next run", Minor: true}, {Name: "failures", Title: "Failures since then", Figure: true},
			{Name: "error", Title: "Error", Hidden: true},
		},
		Empty: kit.Empty{Title: "No jobs have run yet", Text: "Jobs run inside the server, at intervals from a few seconds to hours."},
	}
	var failing []jobView
	now := p.frame.Clock()
	for _, j := range list {
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.Words(j.Name), jobState(j, j.Running(now)), kit.AtInstant(j.LastRunAt), kit.AtInstant(j.DueAt),
			kit.Number(j.Attempts), kit.Words(j.LastError),
		}})
		if j.Attempts > 0 {
			failing = append(failing, jobView{Name: j.Name, Error: j.LastError, Facts: []kit.Fact{
				{Text: "Failures since last success", Value: kit.Count(j.Attempts), Figure: true},
				{Text: "Last success", Value: kit.Instant(j.LastRunAt)}, {Text: "Next retry", Value: kit.Instant(j.DueAt)},
			}})
		}
	}
	made := v.Table(t)
	return v.ShowTable(p.Pages, "jobs.html", made, kit.Page{Title: "Jobs", Menu: "/jobs", Data: struct {
		Failing []jobView
		List    *kit.Table
	}{failing, made}})
}

func jobState(j leases.JobState, running bool) kit.Cell {
	switch {
	case j.Attempts > 0:
		return kit.State("fails", "bad")
	case running:
		return kit.State("running", "warn")
	}
	return kit.State("good", "good")
}

// runJob runs a job now.
func (p *pages) runJob(v *kit.Visit) error {
	if _, err := v.Form(); err != nil {
		return err
	}
	name := v.R.PathValue("name")
	if err := p.app.Work.RunSoon(v.R.Context(), v.Actor, name); err != nil {
		return err
	}
	return v.Done(kit.Path+"/jobs", "Job %s will run within a few seconds.", name)
}
