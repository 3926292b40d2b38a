package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"holdfast/internal/domain/card"
	"holdfast/internal/psp/sandbox"

	"github.com/alecthomas/kong"
)

// docsPage reads a page of the documentation.
func docsPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestThePagesListSettingsAndCommands checks docs/settings.md and docs/command-line.md: each setting with its variable
// and default, each command.
func TestThePagesListSettingsAndCommands(t *testing.T) {
	settings, commands := docsPage(t, "settings.md"), docsPage(t, "command-line.md")
	var line commandLine
	parser, err := newParser(&line, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if n := reflect.TypeFor[Config]().NumField(); n != strings.Count(settings, "| `HOLDFAST_") {
		t.Errorf("docs/settings.md lists %d settings, the program has %d", strings.Count(settings, "| `HOLDFAST_"), n)
	}
	for _, flag := range parser.Model.Flags {
		if len(flag.Envs) == 0 {
			continue
		}
		row := "| `--" + flag.Name + "` | `" + flag.Envs[0] + "` |"
		if !strings.Contains(settings, row) {
			t.Errorf("docs/settings.md lacks %s", row)
		}
		if flag.Default != "" && flag.Name != "ecb-url" && !strings.Contains(settings, row+" `"+flag.Default+"`") {
			t.Errorf("docs/settings.md names another default of --%s than %s", flag.Name, flag.Default)
		}
	}
	for _, command := range parser.Model.Leaves(true) {
		if !hasRow(commands, command) {
			t.Errorf("docs/command-line.md lacks the command %s", command.Path())
		}
	}
}

// hasRow looks for a command, or for its noun and verb in one row.
func hasRow(text string, command *kong.Node) bool {
	words := strings.Fields(command.Path())
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| `") && strings.Contains(line, words[0]) && strings.Contains(line, words[len(words)-1]) {
			return true
		}
	}
	return false
}

// TestModalPageListsTestCards checks docs/modal.md: each test card with its outcome.
func TestModalPageListsTestCards(t *testing.T) {
	_, table, _ := strings.Cut(docsPage(t, "modal.md"), "| number | scheme | the card |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(strings.TrimSpace(table), "\n")[1:]
	if len(rows) != len(sandbox.Cards) {
		t.Errorf("docs/modal.md lists %d cards, there are %d", len(rows), len(sandbox.Cards))
	}
	for i, c := range sandbox.Cards[:min(len(rows), len(sandbox.Cards))] {
		cells := strings.Split(rows[i], " | ")
		if strings.NewReplacer("|", "", " ", "").Replace(cells[0]) != c.Number || cells[1] != card.Scheme(c.Scheme).Label() || cells[2] != c.What+" |" {
			t.Errorf("docs/modal.md has %s in place of %s %s %s", rows[i], c.Number, c.Scheme, c.What)
		}
	}
}
