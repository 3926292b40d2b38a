package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheSecurityPageNamesTests: each promise has an existing test. The commands of the page work.
func TestTheSecurityPageNamesTests(t *testing.T) {
	t.Parallel()
	page := docsPage(t, "security.md")
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range declared.FindAllStringSubmatch(string(source), -1) {
			there[found[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(page, -1)
	for _, name := range named {
		if !there[name[1]] {
			t.Errorf("docs/security.md names %s, and there is no such test", name[1])
		}
	}
	if len(named) < 20 {
		t.Errorf("docs/security.md names only %d tests", len(named))
	}
	s := onSQLite(t)
	s.must("site", "create", "acme", "--name", "Acme", "--currency", "GBP")
	_, block, _ := strings.Cut(page, "```\n")
	block, _, _ = strings.Cut(block, "```")
	lines := strings.Split(strings.TrimSpace(block), "\n")
	if len(lines) != 3 {
		t.Errorf("the page has the commands %q", lines)
	}
	for _, line := range lines {
		s.must(wordsOf(strings.TrimPrefix(line, "holdfast "))...)
	}
}
