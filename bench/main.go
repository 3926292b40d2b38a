// Command bench benchmarks the product against an alternative (PocketBase) and upper limits (a bare handler, and the same
// rows in the same database without any other work). All run on the same machine with the same client, so that figures
// can be compared as ratios. `make bench` runs it; docs/performance.md has the latest run. Start reading at run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"holdfast/bench/book"
)

// options are the command-line flags.
type options struct {
	engine, only, kinds, dir, json, docs, against string
	size                                          book.Size
	sizes                                         string
	callers, many, turns, rows, sites             int
	lasts                                         time.Duration
	peer, limits                                  bool
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == limitCommand {
		exit(serveLimit(os.Args[2:]))
	}
	o := options{}
	flag.StringVar(&o.engine, "engine", "sqlite", "sqlite, postgres or citus")
	flag.StringVar(&o.only, "only", "requests", "what to measure: "+strings.Join(partNames(), ", "))
	flag.StringVar(&o.kinds, "kinds", "", "regular expression: only measure matching kinds of requests")
	flag.StringVar(&o.dir, "dir", "", "folder to keep the books for the next run (default: temporary)")
	flag.StringVar(&o.against, "against", "", "the -dir of a run in another checkout, for -only duel")
	flag.StringVar(&o.json, "json", "", "also write the figures to this file")
	flag.StringVar(&o.docs, "docs", "", "also write the tables to this page, such as docs/performance.md")
	flag.Int64Var(&o.size.Bookings, "bookings", 50_000, "number of bookings")
	flag.StringVar(&o.sizes, "sizes", "10000,1000000", "numbers of bookings to compare with -only growth")
	flag.Int64Var(&o.size.Payments, "payments", 1, "payments per booking")
	flag.IntVar(&o.callers, "callers", 32, "concurrent callers")
	flag.IntVar(&o.many, "many", 128, "concurrent callers for an additional write measurement; 0 skips it")
	flag.IntVar(&o.rows, "rows", 10_000, "rows per import")
	flag.IntVar(&o.sites, "sites", 10_000, "number of sites for -only idle")
	flag.IntVar(&o.turns, "turns", 3, "number of turns; results are medians")
	flag.DurationVar(&o.lasts, "for", 3*time.Second, "duration of each measurement, and of -only soak")
	flag.BoolVar(&o.peer, "peer", true, "also measure PocketBase")
	flag.BoolVar(&o.limits, "limits", true, "also measure the hardware limits")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, os.Stdout, o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// bench is one run.
type bench struct {
	options
	out     io.Writer
	chosen  *regexp.Regexp
	house   *house
	answers map[string]float64 // size of the product's responses, by kind
	result  result
}

// parts are the values of -only.
var parts = []struct {
	name string
	run  func(ctx context.Context, b *bench) error
}{
	{"requests", requests},
	{"start", start},
	{"overload", overload},
	{"soak", soak},
	{"processes", processes},
	{"growth", growth},
	{"duel", duel},
	{"idle", idle},
}

func partNames() (list []string) {
	for _, p := range parts {
		list = append(list, p.name)
	}
	return list
}

// run makes the book and runs the selected part.
func run(ctx context.Context, out io.Writer, o options) (err error) {
	b := &bench{options: o, out: out, answers: map[string]float64{}}
	if b.chosen, err = regexp.Compile(o.kinds); err != nil {
		return fmt.Errorf("-kinds: %w", err)
	}
	if o.size.Bookings < 1000 || o.size.Payments < 1 || o.callers < 1 || o.turns < 1 || o.lasts <= 0 {
		return errors.New("-bookings must be at least 1000; -payments, -callers, -turns and -for must be greater than 0")
	}
	if o.dir == "" {
		if b.dir, err = os.MkdirTemp("", "holdfast-bench-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	b.result = result{
		At: time.Now().UTC().Format(time.DateTime), Command: command(slices.Clone(os.Args[1:])), Machine: here(b.dir), Engine: o.engine,
		Bookings: o.size.Bookings, Payments: o.size.Bookings * o.size.Payments, Callers: o.callers,
	}
	for _, p := range parts {
		if p.name == o.only {
			if o.engine == "citus" && o.only == "requests" {
				p.run = overNodes
			}
			if err := p.run(ctx, b); err != nil {
				return err
			}
			return b.finish()
		}
	}
	return fmt.Errorf("-only must be one of %s", strings.Join(partNames(), ", "))
}

// places are the flags with local paths, which do not affect the figures.
var places = []string{"dir", "docs", "json", "against"}

// command returns the make command that starts the same run.
func command(args []string) string {
	var said []string
	for i := 0; i < len(args); i++ {
		name, _, valued := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if strings.HasPrefix(args[i], "-") && slices.Contains(places, name) {
			if !valued {
				i++
			}
			continue
		}
		if strings.ContainsAny(args[i], " |()*") {
			args[i] = "'" + args[i] + "'"
		}
		said = append(said, args[i])
	}
	if len(said) == 0 {
		return "make bench"
	}
	return fmt.Sprintf("make bench ARGS=%q", strings.Join(said, " "))
}

// finish prints the tables and writes them to the files given by flags.
func (b *bench) finish() error {
	b.result.print(b.out)
	if b.docs != "" {
		if err := b.record(b.docs); err != nil {
			return err
		}
	}
	if b.json == "" {
		return nil
	}
	return b.result.write(b.json)
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.out, format+"\n", args...) }
