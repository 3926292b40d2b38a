// Command mutants is a mutation tester: it puts small faults into the program, one at a time, and runs the tests that should
// catch them. A fault that no test catches survives: a gap in the tests. The faults are listed in list.txt.
//
// It never changes the working tree: go test reads the changed file through its -overlay flag.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
)

//go:embed list.txt
var list string

// options are the flags.
type options struct {
	only  *regexp.Regexp // faults by name; all by default
	check bool           // only check that the list matches the source
	every bool           // run every test of the packages, not just the listed ones
	limit string         // timeout of one run of go test
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var opts options
	only := flag.String("only", "", "regular expression: only run faults whose name matches")
	flag.BoolVar(&opts.check, "check", false, "only check that the list matches the source, without running tests")
	flag.BoolVar(&opts.every, "every", false, "run all tests of the packages that contain the listed tests")
	flag.StringVar(&opts.limit, "timeout", "10m", "timeout for the tests of a package")
	flag.Parse()
	var err error
	if opts.only, err = regexp.Compile(*only); err == nil {
		err = run(ctx, list, opts, ".", os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run tries the faults of a list on the tree under root and prints the verdict on each. It is an error if one is not killed.
func run(ctx context.Context, list string, opts options, root string, out io.Writer) error {
	faults, err := parseList(list)
	if err != nil {
		return err
	}
	src, err := readTree(root)
	if err != nil {
		return err
	}
	var plans []plan
	t := tally{out: out}
	for _, f := range faults {
		if !opts.only.MatchString(f.name) {
			continue
		}
		p, err := src.plan(f)
		if err != nil {
			t.say(f, stale, err.Error())
			continue
		}
		plans = append(plans, p)
	}
	if opts.check {
		fmt.Fprintf(out, "%d faults match the source, %d do not\n", len(plans), t.counts[stale])
		return t.err()
	}
	dir, err := os.MkdirTemp("", "holdfast-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := runner{opts: opts, src: src, dir: dir}
	// Tests that already fail would kill every fault.
	if err := r.withoutFault(ctx, plans); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d faults match the source, and their tests pass without them\n", len(plans))
	for _, p := range plans {
		verdict, why, err := r.try(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		t.say(p.fault, verdict, why)
	}
	fmt.Fprintf(out, "%d faults: %d killed, %d survived, %d did not build, %d stale\n", len(plans)+t.counts[stale],
		t.counts[killed], t.counts[survived], t.counts[noBuild], t.counts[stale])
	return t.err()
}

// verdict is the result of a fault.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "SURVIVED"
	noBuild  verdict = "NO BUILD" // the changed source does not compile
	stale    verdict = "STALE"    // the list no longer matches the source
)

// tally prints verdicts and counts them.
type tally struct {
	out    io.Writer
	counts map[verdict]int
}

func (t *tally) say(f fault, v verdict, why string) {
	if t.counts == nil {
		t.counts = map[verdict]int{}
	}
	t.counts[v]++
	fmt.Fprintf(t.out, "%-9s %-34s %s\n", v, f.name, why)
	if v != killed {
		fmt.Fprintf(t.out, "%-9s %s\n", "", f.what)
	}
}

func (t *tally) err() error {
	if t.counts[survived]+t.counts[noBuild]+t.counts[stale] > 0 {
		return errors.New("some faults were not killed: write the missing tests, or fix scripts/mutants/list.txt")
	}
	return nil
}

// inTree returns the path of a file relative to the root.
func inTree(root, file string) string {
	if short, err := filepath.Rel(root, file); err == nil {
		return filepath.ToSlash(short)
	}
	return file
}
