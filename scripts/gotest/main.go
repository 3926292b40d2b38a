// Command gotest runs go test with the given arguments and prints its output. At the end it lists the skipped tests and the
// reasons, which go test prints only with -v. Under CI=true a skipped test fails the run, so that everybody notices.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		code = 1
	}
	os.Exit(code)
}

// run returns the exit code: that of go test, or 1 where a skipped test counts as a failure.
func run(args []string, out io.Writer) (int, error) {
	// Ctrl-C reaches go test, too. It then ends by itself, and this program prints its last lines.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)

	test := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	test.Stderr = os.Stderr
	events, err := test.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := test.Start(); err != nil {
		return 0, err
	}
	rep := newReport(out)
	if err := rep.read(events); err != nil {
		return 0, err
	}
	if err := test.Wait(); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			return 0, err
		}
		rep.skips()
		fmt.Fprintln(out, "FAIL")
		return exit.ExitCode(), nil
	}
	if rep.skips() && os.Getenv("CI") == "true" {
		fmt.Fprintln(out, "FAIL: under CI=true nothing may be skipped")
		return 1, nil
	}
	return 0, nil
}
