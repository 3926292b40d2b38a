package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// sections are the headings of the parts in docs/performance.md. Requests and growth have one for each engine.
var sections = map[string]string{
	"requests": "Requests", "start": "Start", "overload": "Overload", "soak": "Soak", "processes": "Many processes", "growth": "Growth",
}

// section is the heading of this run.
func (b *bench) section() string {
	name := sections[b.only]
	if b.only == "requests" || b.only == "growth" {
		name += map[string]string{"sqlite": " on SQLite", "postgres": " on PostgreSQL"}[b.engine]
	}
	return name
}

// record writes the tables of the run into a page. They replace everything under the heading from the line "Run of" on.
func (b *bench) record(path string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var tables bytes.Buffer
	b.result.print(&tables)
	made, err := replaced(string(page), b.section(), "Run of "+b.result.At+" GMT:\n"+tables.String())
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(made), 0o644)
}

// replaced returns a page with new figures under a heading. The handwritten text above the line "Run of" is kept.
func replaced(page, heading, figures string) (string, error) {
	start := strings.Index(page, "\n### "+heading+"\n")
	if start < 0 {
		return "", fmt.Errorf("heading %q not found", heading)
	}
	end := len(page)
	if next := strings.Index(page[start+1:], "\n##"); next >= 0 {
		end = start + 1 + next
	}
	under := page[start:end]
	if old := strings.Index(under, "\nRun of "); old >= 0 {
		under = under[:old]
	}
	return page[:start] + strings.TrimRight(under, "\n") + "\n\n" + strings.TrimRight(figures, "\n") + "\n" + page[end:], nil
}
