// Command torture tests holdfast under real-world faults: it kills the program, fills its disk, freezes its database and sends
// garbage, and checks the guarantees in docs/reliability.md. Each scenario prints one line per round, and a table of figures at
// the end. Start reading at parts. Run it with `make torture`.
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

// part is one torture scenario.
type part struct {
	name, about string
	limit       time.Duration // time limit, unless set by -limit
	// run returns an error if it cannot continue. A broken guarantee is a run.fail, and the scenario continues.
	run func(r *run) error
}

// parts are all scenarios, in the order in which they run. Add a new one as a function, or as a test with goTest.
func parts() []part {
	return []part{
		{"kills", "kill the program on SQLite while clients write", 2 * time.Hour, killsOnSQLite},
		{"kills-postgres", "kill the program and PostgreSQL while clients write", 2 * time.Hour, killsOnPostgres},
		{"backups", "back up while clients write, kill backups, and back up to a full disk; restore each backup", time.Hour, backups},
		{"failover", "lose PostgreSQL's primary while clients write, and fail over to the standby", time.Hour, failover},
		{"patroni", "the same with Patroni and etcd: switchovers and failovers", time.Hour, patroni},
		{"replica", "read long reports from a standby that is stopped or falls behind", time.Hour, replica},
		{"pgbouncer", "connect to PostgreSQL through PgBouncer in transaction mode", time.Hour, pgbouncer},
		{"citus", "kill the servers of a Citus cluster and move sites between them while clients write", time.Hour, citus},
		{"faults", "take away and restore disk space, file descriptors, files and PostgreSQL", 20 * time.Minute, faults},
		{"load", "send large bodies, many concurrent requests, long reports and logins", 20 * time.Minute, load},
		{"inputs", "send invalid values in every field, parameter and header of every operation", time.Hour,
			goTest("./internal/api", "TestHostileInputs|TestBodiesThatNeverEnd", 1_000_000)},
		{"access", "call every route as every kind of caller, and for objects of another site", 10 * time.Minute,
			goTest("./internal/api", "TestAccessMatrix|TestForeignThingsLookAsIfTheyDidNotExist", 1)},
	}
}

// options are the command-line flags.
type options struct {
	only   string
	seed   uint64
	first  int
	rounds int
	limit  time.Duration
	keep   bool
}

func main() {
	if len(os.Args) > 1 && helpers[os.Args[1]] != nil { // this command was started by itself
		if err := helpers[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "torture: %s: %v\n", os.Args[1], err)
			os.Exit(1)
		}
		return
	}
	var o options
	list := flag.Bool("list", false, "list the scenarios and exit")
	flag.StringVar(&o.only, "only", "", "comma-separated scenarios to run (default: all)")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of all random choices; timing still depends on the machine")
	flag.IntVar(&o.first, "from", 1, "first round to run; rounds are independent")
	flag.IntVar(&o.rounds, "n", 0, "rounds per scenario (default: the scenario's own number)")
	flag.DurationVar(&o.limit, "limit", 0, "time limit per scenario (default: the scenario's own limit)")
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

// torture runs the selected scenarios and prints the figures. It reports whether all guarantees were kept.
func torture(ctx context.Context, out io.Writer, o options) (ok bool, err error) {
	chosen, err := choose(o.only)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "holdfast-torture-")
	if err != nil {
		return false, err
	}
	// PostgreSQL runs as a separate user that needs to traverse this folder to reach its data.
	if err := os.Chmod(dir, 0o755); err != nil {
		return false, err
	}
	if o.keep {
		fmt.Fprintln(out, "files kept in", dir)
	} else {
		defer func() { _ = os.RemoveAll(dir) }() // a leftover folder is harmless
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

// choose returns the scenarios with the given names.
func choose(names string) ([]part, error) {
	all := parts()
	if names == "" {
		return all, nil
	}
	var chosen []part
	for name := range strings.SplitSeq(names, ",") {
		at := slices.IndexFunc(all, func(p part) bool { return p.name == strings.TrimSpace(name) })
		if at < 0 {
			return nil, fmt.Errorf("unknown scenario %q; see -list", name)
		}
		chosen = append(chosen, all[at])
	}
	return chosen, nil
}
