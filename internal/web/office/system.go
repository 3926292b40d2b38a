package office

import (
	"fmt"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/reports"
	"holdfast/internal/web/shell"
)

// quietRates is how many days without a rate are as usual: a long weekend.
const quietRates = 5

// system shows how the whole deployment stands.
func (p *pages) system(v *shell.Visit) error {
	s, err := p.app.System.Report(v.R.Context(), v.Actor)
	if err != nil {
		return err
	}
	engine := map[string]string{"sqlite": "SQLite", "postgres": "PostgreSQL", "postgresql": "PostgreSQL"}[s.Engine]
	if engine == "" {
		engine = s.Engine
	}
	mails := shell.Fact{Text: "Mail server", Value: "Set", Tone: "good"}
	if p.app.Mails.Transport == nil {
		mails = shell.Fact{Text: "Mail server", Value: "None: mails are only shown", Tone: "warn"}
	}
	facts := []shell.Fact{
		{Text: "Version", Value: p.frame.Version}, {Text: "Profile", Value: shell.Say(p.frame.Profile)}, {Text: "Address", Value: p.frame.Base},
		{Text: "Database", Value: engine}, {Text: "Size", Value: size(s.Bytes), Figure: true}, {Text: "Last migration", Value: s.Schema},
		lastRates(s.LastECB, civil.DayOf(s.At)), mails, standby(s), {Text: "Read at", Value: shell.Instant(s.At)},
	}
	return v.Show(p.Pages, "system.html", shell.Page{
		Title: "System", Menu: "/system", Acts: []shell.Link{{Text: "Check the book", Href: verifyAt, Plain: true}, {Text: "Jobs", Href: shell.Path + "/jobs", Plain: true}},
		Data: struct {
			Facts, Queues, Process []shell.Fact
			Moved                  *shell.Table
		}{present(facts), queueFacts(s.Queues), processFacts(s), movedTable(v, s.Moved)},
	})
}

// processFacts are what the process that answers has done since it started. bench reads them by their texts.
func processFacts(s reports.SystemReport) []shell.Fact {
	return []shell.Fact{
		{Text: "SQL statements", Value: shell.Count(s.Work.Statements), Figure: true},
		{Text: "Commits", Value: shell.Count(s.Work.Commits), Figure: true},
		{Text: "Writes run again", Value: shell.Count(s.Work.Again), Figure: true},
		{Text: "Goroutines", Value: shell.Count(int64(s.Goroutines)), Figure: true},
	}
}

// standby says how the copy stands from which long reports are read.
func standby(s reports.SystemReport) shell.Fact {
	f := shell.Fact{Text: "Standby for reports"}
	if !s.Following {
		return f
	}
	read := fmt.Sprintf("; %s reports read there, %s here instead", shell.Count(s.Replica.Reports), shell.Count(s.Replica.Instead))
	switch state := s.Replica.String(); state {
	case "following", "behind":
		f.Value, f.Tone = fmt.Sprintf("%s, %s behind%s", shell.Say(state), s.Replica.Behind.Round(time.Millisecond), read), "good"
		if state == "behind" {
			f.Tone = "warn"
		}
	case "away":
		f.Value, f.Tone = "Away"+read, "bad"
	default:
		f.Value, f.Tone = "Not asked yet", "warn"
	}
	return f
}

// size writes a number of bytes in MB.
func size(bytes int64) string { return fmt.Sprintf("%d.%d MB", bytes/1_000_000, bytes/100_000%10) }

func lastRates(last, today civil.Day) shell.Fact {
	f := shell.Fact{Text: "Rates of the ECB", Value: "None on file", Tone: "warn"}
	if last != civil.NoDay {
		f.Value, f.Tone = "up to "+shell.Day(last), "good"
		if today-last > quietRates {
			f.Tone = "bad"
		}
	}
	return f
}

func queueFacts(list []reports.Queue) (facts []shell.Fact) {
	for _, q := range list {
		value := shell.Count(q.Rows)
		if q.Rows == reports.MostCounted {
			value += " or more"
		}
		facts = append(facts, shell.Fact{Text: q.Name, Value: value, Figure: true})
	}
	return facts
}

func movedTable(v *shell.Visit, list []reports.MovedClock) *shell.Table {
	t := shell.Table{
		Name: "clocks", Bare: true, Caption: "Sites whose clock was moved",
		Columns: []shell.Column{{Name: "site", Title: "Site"}, {Name: "shows", Title: "Its clock shows"}, {Name: "ahead", Title: "Ahead by", Figure: true}},
		Empty:   shell.Empty{Title: "No clock was moved", Text: "The clock of a sandbox can be moved forward. All others show the real time."},
	}
	for _, m := range list {
		t.Rows = append(t.Rows, shell.Row{Href: shell.Path + "/sites/" + m.Path + "/settings", Cells: []shell.Cell{
			shell.Words(m.Name), shell.AtInstant(v.Now().Add(m.Ahead)), shell.Words(shell.Plural(int64(m.Ahead/(24*time.Hour)), "day", "days")),
		}})
	}
	return v.Table(t)
}

// present are the facts that say something.
func present(facts []shell.Fact) (list []shell.Fact) {
	for _, f := range facts {
		if f.Value != "" {
			list = append(list, f)
		}
	}
	return list
}
