package office

import (
	"fmt"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/report"
	"holdfast/internal/web/kit"
)

// quietRates is how many days without rates are normal: a long weekend.
const quietRates = 5

// system shows the status of the deployment.
func (p *pages) system(v *kit.Visit) error {
	s, err := p.app.System.Report(v.R.Context(), v.Actor)
	if err != nil {
		return err
	}
	engine := map[string]string{"sqlite": "SQLite", "postgres": "PostgreSQL", "postgresql": "PostgreSQL"}[s.Engine]
	if engine == "" {
		engine = s.Engine
	}
	mails := kit.Fact{Text: "Mail server", Value: "Configured", Tone: "good"}
	if p.app.Mails.Transport == nil {
		mails = kit.Fact{Text: "Mail server", Value: "None: e-mails are only shown", Tone: "warn"}
	}
	facts := []kit.Fact{
		{Text: "Version", Value: p.frame.Version}, {Text: "Profile", Value: kit.Say(p.frame.Profile)}, {Text: "Address", Value: p.frame.Base},
		{Text: "Database", Value: engine}, {Text: "Size", Value: size(s.Bytes), Figure: true}, {Text: "Last migration", Value: s.Schema},
		lastRates(s.LastECB, civil.DayOf(s.At)), mails, standby(s), {Text: "As of", Value: kit.Instant(s.At)},
	}
	return v.Show(p.Pages, "system.html", kit.Page{
		Title: "System", Menu: "/system", Acts: []kit.Link{{Text: "Check the book", Href: verifyAt, Plain: true}, {Text: "Jobs", Href: kit.Path + "/jobs", Plain: true}},
		Data: struct {
			Facts, Queues, Process []kit.Fact
			Moved                  *kit.Table
		}{present(facts), queueFacts(s.Queues), processFacts(s), movedTable(v, s.Moved)},
	})
}

// processFacts are the statistics of this process since its start. bench finds them by label.
func processFacts(s report.SystemReport) []kit.Fact {
	return []kit.Fact{
		{Text: "SQL statements", Value: kit.Count(s.Work.Statements), Figure: true},
		{Text: "Commits", Value: kit.Count(s.Work.Commits), Figure: true},
		{Text: "Write retries", Value: kit.Count(s.Work.Again), Figure: true},
		{Text: "Goroutines", Value: kit.Count(int64(s.Goroutines)), Figure: true},
	}
}

// standby shows the status of the standby that long reports are read from.
func standby(s report.SystemReport) kit.Fact {
	f := kit.Fact{Text: "Standby for reports"}
	if !s.Following {
		return f
	}
	read := fmt.Sprintf("; %s reports read from it, %s from the primary instead", kit.Count(s.Replica.Reports), kit.Count(s.Replica.Instead))
	switch state := s.Replica.String(); state {
	case "following", "behind":
		f.Value, f.Tone = fmt.Sprintf("%s, %s behind%s", kit.Say(state), s.Replica.Behind.Round(time.Millisecond), read), "good"
		if state == "behind" {
			f.Tone = "warn"
		}
	case "away":
		f.Value, f.Tone = "Unavailable"+read, "bad"
	default:
		f.Value, f.Tone = "Not checked yet", "warn"
	}
	return f
}

// size formats bytes as MB.
func size(bytes int64) string { return fmt.Sprintf("%d.%d MB", bytes/1_000_000, bytes/100_000%10) }

func lastRates(last, today civil.Day) kit.Fact {
	f := kit.Fact{Text: "ECB rates", Value: "None on file", Tone: "warn"}
	if last != civil.NoDay {
		f.Value, f.Tone = "up to "+kit.Day(last), "good"
		if today-last > quietRates {
			f.Tone = "bad"
		}
	}
	return f
}

func queueFacts(list []report.Queue) (facts []kit.Fact) {
	for _, q := range list {
		value := kit.Count(q.Rows)
		if q.Rows == report.MostCounted {
			value += " or more"
		}
		facts = append(facts, kit.Fact{Text: q.Name, Value: value, Figure: true})
	}
	return facts
}

func movedTable(v *kit.Visit, list []report.MovedClock) *kit.Table {
	t := kit.Table{
		Name: "clocks", Bare: true, Caption: "Sites with a moved clock",
		Columns: []kit.Column{{Name: "site", Title: "Site"}, {Name: "shows", Title: "Site time"}, {Name: "ahead", Title: "Ahead by", Figure: true}},
		Empty:   kit.Empty{Title: "No moved clocks", Text: "Only sandbox clocks can be moved forward. All other sites show the real time."},
	}
	for _, m := range list {
		t.Rows = append(t.Rows, kit.Row{Href: kit.Path + "/sites/" + m.Path + "/settings", Cells: []kit.Cell{
			kit.Words(m.Name), kit.AtInstant(v.Now().Add(m.Ahead)), kit.Words(kit.Plural(int64(m.Ahead/(24*time.Hour)), "day", "days")),
		}})
	}
	return v.Table(t)
}

// present returns the facts that are not empty.
func present(facts []kit.Fact) (list []kit.Fact) {
	for _, f := range facts {
		if f.Value != "" {
			list = append(list, f)
		}
	}
	return list
}
