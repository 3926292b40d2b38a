package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// runner runs tests.
type runner struct {
	opts options
	src  tree
	dir  string // for temporary files
}

// withoutFault runs all tests of the plans on the unchanged source. They must pass.
func (r runner) withoutFault(ctx context.Context, plans []plan) error {
	wanted := map[string][]string{}
	for _, p := range plans {
		for _, s := range p.tests {
			wanted[s.dir] = append(wanted[s.dir], s.run...)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(wanted)) {
		names := slices.Compact(slices.Sorted(slices.Values(wanted[dir])))
		o, err := r.test(ctx, "", selection{dir, names})
		if err != nil {
			return err
		}
		if !o.passed {
			return fmt.Errorf("the tests of %s fail without any fault. Fix them first:\n%s", inTree(r.src.root, dir), o.text)
		}
	}
	return nil
}

// try applies a fault and runs its tests until one fails.
func (r runner) try(ctx context.Context, p plan) (verdict, string, error) {
	file, err := filepath.Abs(p.file)
	if err != nil {
		return "", "", err
	}
	changed := filepath.Join(r.dir, filepath.Base(p.file))
	overlay := filepath.Join(r.dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		return "", "", err
	}
	if err := errors.Join(os.WriteFile(changed, []byte(p.changed), 0o600), os.WriteFile(overlay, text, 0o600)); err != nil {
		return "", "", err
	}
	place := fmt.Sprintf("%s:%d", inTree(r.src.root, p.file), p.line)
	for _, s := range p.tests {
		o, err := r.test(ctx, overlay, s)
		switch {
		case err != nil:
			return "", "", err
		case o.noBuild:
			return noBuild, place + "\n" + o.text, nil
		case !o.passed:
			return killed, fmt.Sprintf("by %s (%s)", o.failed, place), nil
		}
	}
	return survived, place, nil
}

// outcome is the result of a run of go test.
type outcome struct {
	passed  bool
	noBuild bool
	failed  string // the first test that failed
	text    string
}

// test runs some tests of a package, with an overlay if there is one.
func (r runner) test(ctx context.Context, overlay string, s selection) (outcome, error) {
	args := []string{"test", "-json", "-vet=off", "-count=1", "-failfast", "-timeout=" + r.opts.limit}
	if overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	if !r.opts.every {
		args = append(args, "-run="+strings.Join(s.run, "|"))
	}
	args = append(args, "./"+inTree(r.src.root, s.dir))
	if r.src.rapid[s.dir] { // rapid would leave a file in the tree, and try it first the next time
		args = append(args, "-args", "-rapid.nofailfile")
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = r.src.root
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	o := read(&said)
	o.passed = err == nil
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return o, err
	} else if ok && o.failed == "" && !o.noBuild {
		return o, fmt.Errorf("go test: %w\n%s", exit, o.text)
	}
	return o, nil
}

// progress matches the lines of go test about tests that start, pause and pass.
var progress = regexp.MustCompile(`^(===|\s*--- (PASS|SKIP))`)

// read finds the first failed test and the text in the output of go test -json.
func read(said *bytes.Buffer) (o outcome) {
	var all []string
	ran := "" // the last test that started
	lines := bufio.NewScanner(said)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct{ Action, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			all = append(all, lines.Text())
			continue
		}
		switch e.Action {
		case "run":
			ran = e.Test
		case "output", "build-output":
			if !progress.MatchString(e.Output) {
				all = append(all, strings.TrimRight(e.Output, "\n"))
			}
		case "build-fail":
			o.noBuild = true
		case "fail":
			// A subtest is reported before its parent. A panic may end a package without naming the test.
			if o.failed == "" && !o.noBuild {
				o.failed = cmp.Or(e.Test, ran, "its package")
			}
		}
	}
	o.text = strings.Join(all[max(0, len(all)-40):], "\n")
	return o
}
