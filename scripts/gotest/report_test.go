package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// stream writes events as go test -json does.
func stream(t *testing.T, events ...event) string {
	t.Helper()
	var out strings.Builder
	for _, e := range events {
		if err := json.NewEncoder(&out).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// said is the event of a test that prints a line, or of its package if test is empty.
func said(pkg, test, line string) event { return event{"output", pkg, test, line + "\n"} }

func show(t *testing.T, events string) (text string, skipped bool) {
	t.Helper()
	var out strings.Builder
	rep := newReport(&out)
	if err := rep.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	skipped = rep.skips()
	return out.String(), skipped
}

func TestPassingTestsAreSilent(t *testing.T) {
	text, skipped := show(t, stream(t,
		said("a", "TestX", "=== RUN   TestX"),
		said("a", "TestX", "    x_test.go:3: only worth reading on failure"),
		event{Action: "pass", Package: "a", Test: "TestX"},
		said("a", "", "PASS"),
		said("a", "", "ok  \ta\t0.1s"),
		event{Action: "pass", Package: "a"},
	))
	if want := "ok  \ta\t0.1s\n"; text != want || skipped {
		t.Errorf("printed %q, skipped %v; want %q and nothing skipped", text, skipped, want)
	}
}

func TestFailingTestsSayWhatTheySaid(t *testing.T) {
	text, _ := show(t, stream(t,
		said("a", "TestX", "=== RUN   TestX"),
		said("a", "TestX", "    x_test.go:3: wrong"),
		said("a", "TestX", "--- FAIL: TestX (0.00s)"),
		event{Action: "fail", Package: "a", Test: "TestX"},
		said("a", "", "FAIL"),
		said("a", "", "FAIL\ta\t0.1s"),
		event{Action: "fail", Package: "a"},
	))
	if want := "    x_test.go:3: wrong\n--- FAIL: TestX (0.00s)\nFAIL\ta\t0.1s\n"; text != want {
		t.Errorf("printed %q, want %q", text, want)
	}
}

func TestATraceOfAnUnfinishedTestIsShown(t *testing.T) {
	text, _ := show(t, stream(t,
		said("a", "TestX", "panic: test timed out"),
		said("b", "TestY", "another package, still running"),
		event{Action: "fail", Package: "a"},
	))
	if want := "panic: test timed out\n"; text != want {
		t.Errorf("printed %q, want %q", text, want)
	}
}

func TestWhatDoesNotBuildIsShown(t *testing.T) {
	text, _ := show(t, stream(t, event{"build-output", "", "", "x.go:1: undefined: y\n"})+"not an event\n")
	if want := "x.go:1: undefined: y\nnot an event\n"; text != want {
		t.Errorf("printed %q, want %q", text, want)
	}
}

func TestSkippedTestsAreCountedByReason(t *testing.T) {
	skip := func(pkg, test, line string) string {
		return stream(t,
			said(pkg, test, "=== RUN   "+test), said(pkg, test, line), said(pkg, test, "--- SKIP: "+test+" (0.00s)"),
			event{Action: "skip", Package: pkg, Test: test})
	}
	text, skipped := show(t, skip("b", "TestX", "    x_test.go:3: no server: it is off")+
		skip("a", "TestX", "    y_test.go:4: no server: it is off")+
		skip("a", "TestY", "    y_test.go:5: no server: it is off")+
		skip("a", "TestZ", "=== NAME  TestZ")+
		// A package without tests does not count as a skipped test.
		stream(t, event{Action: "skip", Package: "c"}))
	want := "skipped 1 test of a: no reason given\nskipped 3 tests of a, b: no server: it is off\n"
	if text != want || !skipped {
		t.Errorf("printed %q, skipped %v; want %q", text, skipped, want)
	}
}

func TestRunsArePartedByAnd(t *testing.T) {
	got := parted([]string{"-race", "./a", "and", "./b"}, "and")
	if len(got) != 2 || len(got[0]) != 2 || len(got[1]) != 1 || got[1][0] != "./b" || len(parted(nil, "and")) != 1 {
		t.Errorf("parted into %q", got)
	}
}
