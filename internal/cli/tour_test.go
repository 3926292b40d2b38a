package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// tourFile is a document whose commands are run. A block has commands after "$ holdfast" and their output; a line "…"
// stands for omitted lines.
const tourFile = "../../docs/protection.md"

// tourTime matches times in the output, which differ in each run.
var tourTime = regexp.MustCompile(`(as known at|recorded|issued|at) (20[23]\d-\d\d-\d\d) \d\d:\d\d:\d\d GMT`)

// TestTheDocumentedTour runs every command of the document on the demo's book and compares the output: readers get
// exactly these numbers.
func TestTheDocumentedTour(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(tourFile)
	if err != nil {
		t.Fatal(err)
	}
	s := onSQLite(t)
	blocks := strings.Split(string(text), "```")
	if len(blocks) < 9 || len(blocks)%2 == 0 {
		t.Fatalf("%s has %d parts around its fences", tourFile, len(blocks))
	}
	for i := 1; i < len(blocks); i += 2 {
		if !strings.HasPrefix(blocks[i], "console\n$ holdfast ") {
			continue
		}
		command, answer, _ := strings.Cut(strings.TrimPrefix(blocks[i], "console\n$ holdfast "), "\n")
		args := wordsOf(command)
		if args[0] == "demo" {
			s.start(args...).stop()
			continue
		}
		got := tourTime.ReplaceAllString(strings.TrimRight(s.must(args...), "\n")+"\n", "$1 $2 09:00:05 GMT")
		got = tidy(got)
		if *rewrite {
			blocks[i] = "console\n$ holdfast " + command + "\n" + abridged(got, answer)
			continue
		}
		if want := answer; abridged(got, want) != want {
			t.Errorf("holdfast %s prints\n%s\ninstead of\n%s", command, got, want)
		}
	}
	if *rewrite {
		if err := os.WriteFile(tourFile, []byte(strings.Join(blocks, "```")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tidy removes trailing spaces, as editors do.
func tidy(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// abridged omits the same lines of a text as the document: it keeps as many lines before and after "…" as there are
// now.
func abridged(got, like string) string {
	head, tail, cut := strings.Cut(like, "…\n")
	if !cut {
		return got
	}
	lines := strings.SplitAfter(got, "\n")
	before, after := strings.Count(head, "\n"), strings.Count(tail, "\n")
	if before+after >= len(lines)-1 {
		return got
	}
	return strings.Join(lines[:before], "") + "…\n" + strings.Join(lines[len(lines)-1-after:], "")
}

// wordsOf splits a command line at its spaces; text in double quotes is one word.
func wordsOf(line string) (list []string) {
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			list = append(list, part)
			continue
		}
		list = append(list, strings.Fields(part)...)
	}
	return list
}
