package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// event is one line of go test -json; `go doc test2json` describes it.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// test names a test of a package.
type test struct{ pkg, name string }

// report turns events into the text that go test prints without -json, and collects skipped tests.
type report struct {
	mu  sync.Mutex // runs may report concurrently
	out io.Writer
	// said holds the output of each unfinished test, which is only shown if the test fails.
	said map[test][]string
	// skipped lists the packages in which a test was skipped, by reason, one entry for each test.
	skipped map[string][]string
}

func newReport(out io.Writer) *report {
	return &report{out: out, said: map[test][]string{}, skipped: map[string][]string{}}
}

// read handles events until their end.
func (r *report) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadString('\n')
		r.take(line)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// take handles one line of a run. A line that is not an event comes from the go command itself.
func (r *report) take(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var e event
	switch {
	case line == "":
	case json.Unmarshal([]byte(line), &e) == nil:
		r.handle(e)
	default:
		fmt.Fprint(r.out, line)
	}
}

func (r *report) handle(e event) {
	t := test{e.Package, e.Test}
	switch {
	case e.Action == "build-output":
		fmt.Fprint(r.out, e.Output)
	case e.Action == "output" && e.Test == "":
		// A bare verdict precedes the line with the package name; printing one of them is enough.
		if e.Output != "PASS\n" && e.Output != "FAIL\n" {
			fmt.Fprint(r.out, e.Output)
		}
	case e.Action == "output":
		r.said[t] = append(r.said[t], e.Output)
	case e.Action == "fail" && e.Test == "":
		// A panic or a timeout ends a package with tests unfinished; they hold the trace.
		for _, t := range slices.SortedFunc(maps.Keys(r.said), byName) {
			if t.pkg == e.Package {
				r.print(t)
			}
		}
	case e.Action == "fail":
		r.print(t)
	case e.Action == "skip" && e.Test != "":
		reason := reasonOf(r.said[t])
		r.skipped[reason] = append(r.skipped[reason], e.Package)
		delete(r.said, t)
	case e.Action == "pass":
		delete(r.said, t)
	}
}

func byName(a, b test) int { return strings.Compare(a.name, b.name) }

// print prints the output of a test without its progress lines.
func (r *report) print(t test) {
	for _, line := range r.said[t] {
		if !strings.HasPrefix(line, "=== ") {
			fmt.Fprint(r.out, line)
		}
	}
	delete(r.said, t)
}

var position = regexp.MustCompile(`^\S+\.go:\d+: `)

// reasonOf extracts the reason from the output of a skipped test: the last line before the verdict.
func reasonOf(said []string) string {
	for _, line := range slices.Backward(said) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "===") {
			return position.ReplaceAllString(line, "")
		}
	}
	return "no reason given"
}

// skips prints the skipped tests by reason, and reports whether there are any.
func (r *report) skips() bool {
	for _, reason := range slices.Sorted(maps.Keys(r.skipped)) {
		pkgs := r.skipped[reason]
		tests := "tests"
		if len(pkgs) == 1 {
			tests = "test"
		}
		slices.Sort(pkgs)
		fmt.Fprintf(r.out, "skipped %d %s of %s: %s\n", len(pkgs), tests, strings.Join(slices.Compact(pkgs), ", "), reason)
	}
	return len(r.skipped) > 0
}
