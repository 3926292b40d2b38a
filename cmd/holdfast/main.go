// Command holdfast is the whole service in one program: it serves the API, and it is the operator's command line for
// everything that has no button yet. README.md shows a first tour, `holdfast --help` the commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"holdfast/internal/fault"
)

// What the program answers its shell with. A script can tell a file of which some rows were refused from a command
// that did nothing.
const (
	exitFailure = 1
	exitUsage   = 2
	exitRefused = 3
)

// errRefused ends an import that refused rows: everything has been said already.
var errRefused = errors.New("some rows were refused")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// From the first signal on the next one ends the program at once: whoever presses Ctrl-C twice means it.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program without its process: it reads the command line, does what it says, and answers the exit code.
func run(ctx context.Context, args []string, stdin *os.File, stdout, stderr io.Writer) int {
	var line commandLine
	parser, err := newParser(&line, stdout)
	if err != nil {
		fmt.Fprintf(stderr, "holdfast: %v\n", err)
		return exitFailure
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return usageError(stderr, parser, err)
	}
	p := &program{Config: line.Config, as: line.As, stdin: stdin, stdout: stdout, stderr: stderr}
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(p)
	if closing := p.Close(); err == nil {
		err = closing
	}
	return exitCode(stderr, err)
}

// usageError tells in two lines what was wrong with the command line and where to read on; a page of help would
// scroll the reason away.
func usageError(stderr io.Writer, parser *kong.Kong, err error) int {
	usage, path := parser.Model.Name+parser.Model.Summary(), parser.Model.Name
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context != nil {
		if node := parse.Context.Selected(); node != nil {
			usage, path = parser.Model.Name+" "+node.Summary(), node.FullPath()
		}
	}
	fmt.Fprintf(stderr, "holdfast: %v\nUsage: %s\nRun \"%s --help\" for more.\n", err, usage, path)
	return exitUsage
}

// exitCode says what went wrong, if anything did.
func exitCode(stderr io.Writer, err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errRefused):
		return exitRefused
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "holdfast: interrupted")
		return exitFailure
	}
	fmt.Fprintf(stderr, "holdfast: %v\n", err)
	if f, ok := errors.AsType[*fault.Error](err); ok {
		for _, field := range slices.Sorted(maps.Keys(f.Params)) {
			fmt.Fprintf(stderr, "  %s: %s\n", strings.ReplaceAll(field, "_", "-"), f.Params[field])
		}
	}
	return exitFailure
}
