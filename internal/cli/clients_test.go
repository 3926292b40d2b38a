package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// typeScript builds the TypeScript client, and returns node and the folder of the client. Linters and tests share one
// build. Without node or npm it returns nothing and logs this.
func typeScript(t *testing.T) (node, made string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil && os.Getenv("CI") != "true" {
		t.Log("the TypeScript client is not tried: node is not on this machine")
		return "", ""
	}
	var log strings.Builder
	build := exec.CommandContext(t.Context(), "../../scripts/clients/typescript")
	build.Stderr = &log
	said, err := build.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && failed.ExitCode() == 3 && os.Getenv("CI") != "true" {
		t.Log("the TypeScript client is not tried: its packages could not be fetched with npm")
		return "", ""
	}
	if err != nil {
		t.Fatalf("%v: %s", err, log.String())
	}
	return node, strings.TrimSpace(string(said))
}

// tryTypeScript tests the TypeScript client against a demo.
func tryTypeScript(t *testing.T, p *process) {
	t.Helper()
	node, made := typeScript(t)
	if made == "" {
		return
	}
	run := exec.CommandContext(t.Context(), node, filepath.Join(made, "dist/test/service.js"))
	run.Env = append(run.Environ(), "HOLDFAST_URL="+p.base, "HOLDFAST_TOKEN="+demoToken.FindStringSubmatch(p.said)[1],
		"HOLDFAST_PASSWORD="+demoAdmin.FindStringSubmatch(p.said)[2])
	if said, err := run.CombinedOutput(); err != nil || !strings.HasSuffix(string(said), "all is well\n") {
		t.Errorf("%v: the TypeScript client says\n%s", err, said)
	}
}

// TestTheExamplesOfClientsAreRun compares the code in docs/clients.md and in the clients' README with the examples and tests
// that run it.
func TestTheExamplesOfClientsAreRun(t *testing.T) {
	t.Parallel()
	runs := map[string]string{"go": "../../client/example_test.go", "ts": "../../clients/typescript/test/service.ts"}
	seen := map[string]int{}
	for _, page := range []string{"../../docs/clients.md", "../../clients/typescript/README.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?s)\n```(\\w+)\n(.*?)\n```").FindAllStringSubmatch(string(text), -1) {
			if m[1] == "sh" {
				continue // commands that get the packages
			}
			code, err := os.ReadFile(runs[m[1]])
			if err != nil {
				t.Errorf("%s: nothing runs a block of the language %q", page, m[1])
				continue
			}
			seen[m[1]]++
			if !strings.Contains(withoutIndent(string(code)), withoutIndent(m[2])) {
				t.Errorf("%s: %s does not run\n%s", page, runs[m[1]], m[2])
			}
		}
	}
	if seen["go"] < 5 || seen["ts"] < 6 {
		t.Errorf("the pages have these blocks: %v", seen)
	}
}

// withoutIndent removes indentation and empty lines.
func withoutIndent(text string) string {
	var made strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			made.WriteString(line + "\n")
		}
	}
	return made.String()
}
