package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTheListIsRead(t *testing.T) {
	faults, err := parseList("# a remark\n\nname: a\nwhat: w\nfind: x: y\ntests: T\n\nname: b\nwhat: w\nfind: x\nput: z\ntests: T U\n")
	want := []fault{{"a", "w", "x: y", "", "T"}, {"b", "w", "x", "z", "T U"}}
	if err != nil || !slices.Equal(faults, want) {
		t.Errorf("%+v, %v", faults, err)
	}
	for _, wrong := range []string{
		"name: a\nwhat: w\nfind: x",
		"name: a\nwhat: w\nfind: x\nput: x\ntests: T",
		"name: a\nwhat: w\nfind: x\ntests: T\n\nname: a\nwhat: w\nfind: y\ntests: T",
		"name: a\nname: b",
		"nothing",
	} {
		if faults, err := parseList(wrong); err == nil {
			t.Errorf("%q is parsed as %+v", wrong, faults)
		}
	}
}

func TestOwnListIsRead(t *testing.T) {
	if faults, err := parseList(list); err != nil || len(faults) < 30 {
		t.Errorf("%d faults, %v", len(faults), err)
	}
}

func TestAPieceIsFoundWhereverItWasMoved(t *testing.T) {
	f := fault{find: "if …Max <= n { return", put: "if …1Max < n { return"}
	for _, c := range []struct {
		source, want string
		found        int
	}{
		{"if a.b.Max <= n {\n\treturn 1", "if a.b.Max < n { return 1", 1},
		{"if Max <= n { return 1", "if Max < n { return 1", 1},
		{"if Max <= n { returned", "", 0},
		{"if Max <= n { return; if Max <= n { return", "", 2},
	} {
		got, line, found, err := f.apply(c.source)
		if got != c.want || found != c.found || err != nil || c.found == 1 && line != 1 {
			t.Errorf("%q becomes %q at line %d, found %d times, %v", c.source, got, line, found, err)
		}
	}
	swapped := fault{find: "…(…)", put: "…2(…1, …9)"}
	if got, _, _, _ := swapped.apply("a(b)"); got != "b(a, …9)" {
		t.Error(got)
	}
}

func TestTestsAreFoundByTheirNames(t *testing.T) {
	tr := tree{tests: map[string][]string{"a": {"TestOne", "TestOneMore"}, "b": {"TestTwo"}}}
	list, err := tr.selections("TestOne TestT.+/x//y")
	slices.SortFunc(list, func(a, b selection) int { return strings.Compare(a.dir, b.dir) })
	if err != nil || len(list) != 2 || !slices.Equal(list[0].run, []string{"^TestOne$"}) ||
		!slices.Equal(list[1].run, []string{"^TestTwo$/^x$//^y$"}) {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := tr.selections("TestOne TestThree"); err == nil {
		t.Errorf("%+v", list)
	}
}

// TestFaults tries faults on a small program.
func TestFaults(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":               "module small\n",
		"internal/a/a.go":      "package a\n\nfunc Less(a, b int) bool { return a < b }\n\nfunc Unseen() int { return 1 }\n",
		"internal/a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestLess(t *testing.T) {\n\tif Less(1, 1) {\n\t\tt.Fatal()\n\t}\n}\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const small = `
name: bound
what: w
find: a < b
put: a <= b
tests: TestLess

name: unseen
what: w
find: return 1
put: return 2
tests: TestLess

name: broken
what: w
find: return 1
put: return
tests: TestLess

name: gone
what: w
find: return 3
tests: TestLess
`
	var out bytes.Buffer
	err := run(t.Context(), small, options{only: regexp.MustCompile(""), limit: "1m"}, root, &out)
	if err == nil {
		t.Error("no error, although not all faults are killed")
	}
	for _, line := range []string{
		`killed +bound +by TestLess \(internal/a/a.go:3\)`, `SURVIVED +unseen +internal/a/a.go:5`, `NO BUILD +broken`,
		`STALE +gone +found 0 times`, `4 faults: 1 killed, 1 survived, 1 did not build, 1 stale`,
	} {
		if !regexp.MustCompile(line).MatchString(out.String()) {
			t.Errorf("no match for %s in\n%s", line, out.String())
		}
	}
}
