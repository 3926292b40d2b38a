package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// tree is the unchanged source.
type tree struct {
	root  string
	files map[string]string   // text by path: the Go files under internal and client, without tests
	tests map[string][]string // names of tests by directory
	rapid map[string]bool     // the directories with tests that use rapid
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(\w+ \*testing\.T\)`)

func readTree(root string) (tree, error) {
	t := tree{root: root, files: map[string]string{}, tests: map[string][]string{}, rapid: map[string]bool{}}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := entry.Name(); entry.IsDir() && name != root && (base[0] == '.' || base[0] == '_' || base == "testdata") {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !strings.HasSuffix(name, "_test.go") {
			if path := inTree(root, name); strings.HasPrefix(path, "internal/") || strings.HasPrefix(path, "client/") {
				t.files[name] = string(text)
			}
			return nil
		}
		dir := filepath.Dir(name)
		t.rapid[dir] = t.rapid[dir] || strings.Contains(string(text), `"pgregory.net/rapid"`)
		for _, found := range testFunction.FindAllStringSubmatch(string(text), -1) {
			t.tests[dir] = append(t.tests[dir], found[1])
		}
		return nil
	})
	return t, err
}

// plan is a fault with its place in the source and the tests that should catch it.
type plan struct {
	fault
	file    string
	line    int
	changed string
	tests   []selection
}

// selection is some tests of a package, as go test -run takes them.
type selection struct {
	dir string
	run []string
}

// plan finds a fault's place and its tests.
func (t tree) plan(f fault) (plan, error) {
	p := plan{fault: f}
	var err error
	count := 0
	for name, text := range t.files {
		changed, line, found, err := f.apply(text)
		if err != nil {
			return p, err
		}
		count += found
		if changed != "" {
			p.file, p.line, p.changed = name, line, changed
		}
	}
	if count != 1 {
		return p, fmt.Errorf("found %d times in the source, not once: %s", count, f.find)
	}
	if p.tests, err = t.selections(f.tests); err != nil {
		return p, err
	}
	// Tests in the same package come first: they are the quickest to build.
	own := filepath.Dir(p.file)
	slices.SortFunc(p.tests, func(a, b selection) int {
		if (a.dir == own) != (b.dir == own) {
			if a.dir == own {
				return -1
			}
			return 1
		}
		return strings.Compare(a.dir, b.dir)
	})
	return p, nil
}

// selections finds the tests of a fault. Each word is a regular expression for whole names, with subtests after slashes.
func (t tree) selections(words string) ([]selection, error) {
	byDir := map[string][]string{}
	for each := range strings.FieldsSeq(words) {
		name, inner, _ := strings.Cut(each, "/")
		wanted, err := regexp.Compile("^(?:" + name + ")$")
		if err != nil {
			return nil, err
		}
		found := false
		for dir, names := range t.tests {
			for _, name := range names {
				if wanted.MatchString(name) {
					byDir[dir], found = append(byDir[dir], whole(name, inner)), true
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("no test matches %s", name)
		}
	}
	var list []selection
	for dir, run := range byDir {
		slices.Sort(run)
		list = append(list, selection{dir, run})
	}
	return list, nil
}

// whole is the argument of go test -run for a test and its subtests.
func whole(name, inner string) string {
	run := "^" + name + "$"
	if inner == "" {
		return run
	}
	for part := range strings.SplitSeq(inner, "/") {
		run += "/"
		if part != "" {
			run += "^" + part + "$"
		}
	}
	return run
}
