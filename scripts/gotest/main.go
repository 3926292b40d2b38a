// Command gotest runs go test with the given arguments and prints its output. At the end it lists skipped tests and the
// reasons, which go test only prints with -v. With CI=true, a skipped test fails the run. The word "and" splits the arguments
// into several runs of go test, which run in parallel and share one report. The word "then" splits them into sequential
// runs, each of which starts even if the one before it fails.
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

// run returns the exit code of the first go test that failed, or 1 if a skipped test counts as a failure.
func run(args []string, out io.Writer) (int, error) {
	// Ctrl-C also reaches go test, which then exits on its own, and this program prints its last lines.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)

	// Test binaries share fixtures such as an empty database: see package dbtest.
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
	runs := parted(args, "and")
	codes, errs := make([][]int, len(runs)), make([]error, len(runs))
	for i, args := range runs {
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
		fmt.Fprintln(out, "FAIL: no test may be skipped with CI=true")
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

// tests runs go test sequentially and returns the exit codes.
func (r *report) tests(runs [][]string) (codes []int, err error) {
	for _, args := range runs {
		code, failed := r.test(args)
		codes, err = append(codes, code), errors.Join(err, failed)
	}
	return codes, err
}

// test runs one go test, reports its output and returns the exit code.
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
