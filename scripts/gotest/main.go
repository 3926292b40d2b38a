// Command gotest runs go test with the given arguments and prints its output. At the end it lists the skipped tests and the
// reasons, which go test prints only with -v. Under CI=true a skipped test fails the run, so that everybody notices. The word
// "and" between arguments parts them into several runs of go test, which go on at the same time and share one report. The
// word "then" parts them into runs that follow each other, whether the first one passes or not.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		code = 1
	}
	os.Exit(code)
}

// run returns the exit code: that of the first go test that failed, or 1 where a skipped test counts as a failure.
func run(args []string, out io.Writer) (int, error) {
	// Ctrl-C reaches go test, too. It then ends by itself, and this program prints its last lines.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)

	// Test programs share what all of them would make for themselves, such as an empty database: package dbtest says how.
	shared, err := os.MkdirTemp("", "holdfast-tests")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(shared) }()
	if err := os.Setenv("HOLDFAST_TEST_SHARED", shared); err != nil {
		return 0, err
	}

	rep := newReport(out)
	var all sync.WaitGroup
	lanes := parted(args, "and")
	codes, errs := make([][]int, len(lanes)), make([]error, len(lanes))
	for i, args := range lanes {
		all.Go(func() { codes[i], errs[i] = rep.tests(parted(args, "then")) })
	}
	all.Wait()
	skipped := rep.skips()
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	ended := slices.Concat(codes...)
	if failed := slices.IndexFunc(ended, func(code int) bool { return code != 0 }); failed >= 0 {
		fmt.Fprintln(out, "FAIL")
		return ended[failed], nil
	}
	if skipped && os.Getenv("CI") == "true" {
		fmt.Fprintln(out, "FAIL: under CI=true nothing may be skipped")
		return 1, nil
	}
	return 0, nil
}

// parted splits arguments at each word.
func parted(args []string, word string) (runs [][]string) {
	for {
		i := slices.Index(args, word)
		if i < 0 {
			return append(runs, args)
		}
		runs, args = append(runs, args[:i]), args[i+1:]
	}
}

// tests runs one go test after the other. It returns the exit code of each.
func (r *report) tests(runs [][]string) (codes []int, err error) {
	for _, args := range runs {
		code, failed := r.test(args)
		codes, err = append(codes, code), errors.Join(err, failed)
	}
	return codes, err
}

// test runs one go test, and reports what it says. It returns the exit code.
func (r *report) test(args []string) (int, error) {
	test := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	test.Stderr = os.Stderr
	events, err := test.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := test.Start(); err != nil {
		return 0, err
	}
	if err := r.read(events); err != nil {
		return 0, err
	}
	err = test.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}
