// Command torture does to holdfast what happens to programs in the world: it is killed, its disk fills, its database
// freezes, strangers send it nonsense. It checks what docs/reliability.md promises. Each part prints one line for each
// round, and at the end a table of figures. Begin reading at parts. `make torture` runs it.
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
	"slices"
	"strings"
	"syscall"
	"time"
)

// part is one way to torture the program.
type part struct {
	name, about string
	limit       time.Duration // how long it may take, unless -limit says otherwise
	// run breaks off with an error if it cannot go on. A promise that is not kept is a run.fail, and it goes on.
	run func(r *run) error
}

// parts are all ways, in the order in which they run. A new one is a function here, or a test with goTest.
func parts() []part {
	return []part{
		{"kills", "the program is killed on SQLite while clients write", 2 * time.Hour, killsOnSQLite},
		{"kills-postgres", "the program and PostgreSQL are killed while clients write", 2 * time.Hour, killsOnPostgres},
		{"backups", "backups are made while clients write, killed, and put on a full disk; each is restored", time.Hour, backups},
		{"failover", "the primary of PostgreSQL is lost while clients write, and its standby takes over", time.Hour, failover},
		{"patroni", "the same with Patroni and etcd: switchovers and fail-overs", time.Hour, patroni},
		{"replica", "long reports are read from a standby, which is stopped or kept from following", time.Hour, replica},
		{"pgbouncer", "PostgreSQL is reached through PgBouncer in transaction mode", time.Hour, pgbouncer},
		{"faults", "disk, descriptors, files and PostgreSQL are taken away and given back", 20 * time.Minute, faults},
		{"load", "large bodies, crowds of callers, long reports and logins, all at once", 20 * time.Minute, load},
		{"inputs", "every field, parameter and header of every operation gets what nobody should send", time.Hour,
			goTest("./internal/api", "TestHostileInputs|TestBodiesThatNeverEnd", 1_000_000)},
		{"access", "every route is asked by every kind of caller, and for things of another site", 10 * time.Minute,
			goTest("./internal/api", "TestAccessMatrix|TestForeignThingsLookAsIfTheyDidNotExist", 1)},
	}
}

// options are what the command line says.
type options struct {
	only   string
	seed   uint64
	first  int
	rounds int
	limit  time.Duration
	keep   bool
}

func main() {
	if len(os.Args) > 1 && helpers[os.Args[1]] != nil { // this command has started itself
		if err := helpers[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "torture: %s: %v\n", os.Args[1], err)
			os.Exit(1)
		}
		return
	}
	var o options
	list := flag.Bool("list", false, "print the parts and end")
	flag.StringVar(&o.only, "only", "", "the parts to run, with commas between them (default: all)")
	flag.Uint64Var(&o.seed, "seed", 1, "what all random choices follow from, except the moments at which the machine is busy")
	flag.IntVar(&o.first, "from", 1, "the first round: a round does not depend on the ones before it")
	flag.IntVar(&o.rounds, "n", 0, "rounds of each part (default: as many as the part needs)")
	flag.DurationVar(&o.limit, "limit", 0, "how long each part may take (default: the part's own limit)")
	flag.BoolVar(&o.keep, "keep", false, "keep the folders with databases and logs")
	flag.Parse()
	if *list {
		for _, p := range parts() {
			fmt.Printf("%-15s %s\n", p.name, p.about)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ok, err := torture(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// torture runs the chosen parts and prints the figures. It returns whether all promises were kept.
func torture(ctx context.Context, out io.Writer, o options) (ok bool, err error) {
	chosen, err := choose(o.only)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "holdfast-torture-")
	if err != nil {
		return false, err
	}
	// PostgreSQL runs as a user of its own, who goes through this folder to its data.
	if err := os.Chmod(dir, 0o755); err != nil {
		return false, err
	}
	if o.keep {
		fmt.Fprintln(out, "everything is kept in", dir)
	} else {
		defer func() { _ = os.RemoveAll(dir) }() // a folder that stays does no harm
	}
	built := &builder{}
	defer built.remove()
	var table []figure
	ok = true
	for _, p := range chosen {
		r := &run{part: p.name, options: o, out: out, builder: built, dir: filepath.Join(dir, p.name)}
		err := r.whole(ctx, p)
		ok = ok && err == nil && r.failures == 0
		table = append(table, r.figures...)
		if errors.Is(ctx.Err(), context.Canceled) {
			return false, errors.New("interrupted")
		}
	}
	printFigures(out, o, table)
	return ok, nil
}

// choose finds the parts that are named.
func choose(names string) ([]part, error) {
	all := parts()
	if names == "" {
		return all, nil
	}
	var chosen []part
	for name := range strings.SplitSeq(names, ",") {
		at := slices.IndexFunc(all, func(p part) bool { return p.name == strings.TrimSpace(name) })
		if at < 0 {
			return nil, fmt.Errorf("there is no part %q; -list prints them", name)
		}
		chosen = append(chosen, all[at])
	}
	return chosen, nil
}
