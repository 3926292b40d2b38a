package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestReadmeListsSettingsAndCommands keeps README.md true: each setting with its variable and default, each command.
func TestReadmeListsSettingsAndCommands(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	var line commandLine
	parser, err := newParser(&line, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if n := reflect.TypeFor[Config]().NumField(); n != strings.Count(readme, "| `HOLDFAST_") {
		t.Errorf("README.md lists %d settings, the program has %d", strings.Count(readme, "| `HOLDFAST_"), n)
	}
	for _, flag := range parser.Model.Flags {
		if len(flag.Envs) == 0 {
			continue
		}
		row := "| `--" + flag.Name + "` | `" + flag.Envs[0] + "` |"
		if !strings.Contains(readme, row) {
			t.Errorf("README.md lacks %s", row)
		}
		if flag.Default != "" && flag.Name != "ecb-url" && !strings.Contains(readme, row+" `"+flag.Default+"`") {
			t.Errorf("README.md names another default of --%s than %s", flag.Name, flag.Default)
		}
	}
	for _, command := range parser.Model.Leaves(true) {
		if !readmeHas(readme, command) {
			t.Errorf("README.md lacks the command %s", command.Path())
		}
	}
}

// readmeHas looks for a command, or for its noun and verb in one row.
func readmeHas(readme string, command *kong.Node) bool {
	words := strings.Fields(command.Path())
	for line := range strings.Lines(readme) {
		if strings.HasPrefix(line, "| `") && strings.Contains(line, words[0]) && strings.Contains(line, words[len(words)-1]) {
			return true
		}
	}
	return false
}
