// Command holdfast is the whole service in one program: it serves the API and is the operator's command line. See README.md
// for its purpose, and `holdfast --help` for the commands. Start reading at commands.go.
package cli

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

	"holdfast/internal/errs"

	"github.com/alecthomas/kong"
)

// Exit codes. They let a script distinguish a failed command from an import that rejected some rows, and from a change that
// was not made.
const (
	exitFailure    = 1
	exitUsage      = 2
	exitRefused    = 3
	exitNothingYet = 4
)

// errRefused is the error of an import that rejected rows. They have been printed already.
var errRefused = errors.New("some rows were rejected")

// errNothingYet is the error of a command whose change was not made, because it needs a second person's approval or the user
// said no. This has been printed already.
var errNothingYet = errors.New("nothing has changed yet")

// errUsage is the error of an invalid command line. The reason has been printed already.
var errUsage = errors.New("invalid command line")

// Main runs the command line until it finishes or a signal interrupts it, and returns the exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal shuts down gracefully, the second one immediately.
	context.AfterFunc(ctx, stop)
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// run is Main without the process state, so that tests can call it. It returns the exit code.
func run(ctx context.Context, args []string, stdin *os.File, stdout, stderr io.Writer) int {
	var line commandLine
	parser, err := newParser(&line, stdout, args...)
	if err != nil {
		fmt.Fprintf(stderr, "holdfast: %v\n", err)
		return exitFailure
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if args[0] == completeCommand {
		if err := complete(stdout, args[1:]); err != nil {
			return exitFailure
		}
		return 0
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
	return exitCode(stderr, parsed, err)
}

// usageError explains in three lines the problem with the command line and where to find help. A full page of help
// would push the reason off the screen.
func usageError(stderr io.Writer, parser *kong.Kong, err error) int {
	usage, path := parser.Model.Name+parser.Model.Summary(), parser.Model.Name
	// The parser includes the empty value of an optional flag.
	said := strings.NewReplacer(`"",`, "", `,""`, "").Replace(err.Error())
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context != nil {
		if node := parse.Context.Selected(); node != nil {
			usage, path = parser.Model.Name+" "+node.Summary(), node.FullPath()
		}
		said = meant(said, parse.Context)
	}
	fmt.Fprintf(stderr, "holdfast: %s\nUsage: %s\nRun \"%s --help\" for more.\n", said, usage, path)
	return exitUsage
}

// exitCode prints the error, if any, and returns its exit code.
func exitCode(stderr io.Writer, parsed *kong.Context, err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFindings), errors.Is(err, errNotSent):
		return exitFailure
	case errors.Is(err, errRefused):
		return exitRefused
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.Is(err, errNothingYet):
		return exitNothingYet
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "holdfast: interrupted")
		return exitFailure
	}
	if f, ok := errors.AsType[*errs.Error](err); ok && len(f.Params)+len(f.Absent) > 0 {
		return wrongValues(stderr, parsed, f)
	}
	fmt.Fprintf(stderr, "holdfast: %v\n", err)
	return exitFailure
}

// wrongValues explains the problem with each value, by its name on the command line. Values that are not on the command
// line come from a file or standard input; then the command line itself was valid.
func wrongValues(stderr io.Writer, parsed *kong.Context, f *errs.Error) int {
	code := exitUsage
	var lines []string
	add := func(field, message string) {
		name, given := onCommandLine(parsed.Selected(), field)
		if !given {
			code = exitFailure
		}
		lines = append(lines, name+": "+message)
	}
	for _, field := range slices.Sorted(maps.Keys(f.Params)) {
		add(field, f.Params[field])
	}
	for _, field := range f.Absent {
		add(field, "This field is required.")
	}
	if len(lines) == 1 {
		fmt.Fprintf(stderr, "holdfast: %s\n", lines[0])
	} else {
		fmt.Fprintf(stderr, "holdfast: invalid values:\n  %s\n", strings.Join(lines, "\n  "))
	}
	if code == exitUsage {
		fmt.Fprintf(stderr, "Run \"%s --help\" for more.\n", parsed.Selected().FullPath())
	}
	return code
}

// onCommandLine finds the flag or argument of a command for a field. If their names differ, the tag "field" has the names of
// the fields.
func onCommandLine(command *kong.Node, field string) (name string, found bool) {
	list, _, _ := strings.Cut(field, "[") // list items are in the list's flag
	gives := func(v *kong.Value) bool {
		return strings.ReplaceAll(v.Name, "-", "_") == list || slices.Contains(strings.Split(v.Tag.Get("field"), ","), field)
	}
	for _, arg := range command.Positional {
		if gives(arg) {
			return "<" + arg.Name + ">", true
		}
	}
	for _, group := range command.AllFlags(false) {
		for _, flag := range group {
			if gives(flag.Value) {
				return "--" + flag.Name, true
			}
		}
	}
	return field, false
}
