package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// pgBench is the limit set by PostgreSQL's own benchmark: the rows of a request, inserted in one transaction.
const pgBench = "pgbench"

// pgBenchSamples is the number of sample requests that pgbench runs for one kind. Each is a script, which every caller
// prepares.
const pgBenchSamples = 10

// script is the pgbench script for one request: an INSERT for each row, with ids from a sequence.
func (s samples) script(request int) string {
	var to strings.Builder
	to.WriteString("\\set first random(0, 999999)\n\\set second random(0, 999999)\n\\set surname random(0, 4999)\nBEGIN;\n")
	number := "nextval('bench_numbers')"
	for i, t := range s.tables {
		for _, row := range s.requests[request][i] {
			var values []string
			for _, c := range row {
				values = append(values, c.literal(&number))
			}
			fmt.Fprintf(&to, "INSERT INTO %s (%s) VALUES (%s);\n", t.Name, strings.Join(t.Names(), ", "), strings.Join(values, ", "))
		}
	}
	to.WriteString("COMMIT;\n")
	return to.String()
}

// scriptWords are the words of a request in a script.
var scriptWords = words{"B-' || :first || 'a' || :second || '", "Lovelace' || :surname || '", "traveller' || :second || '"}

// literal formats a value as SQL. The first id draws the transaction's number from the sequence; the others reuse it.
func (c cell) literal(number *string) string {
	switch c.variety {
	case idOfRequest:
		drawn := *number
		*number = "currval('bench_numbers')"
		return fmt.Sprintf("%d + %d * %s", c.value, stride, drawn)
	case newUUID: // time-ordered, like the product's
		return "'00000000-0000-7000-8000-' || lpad(to_hex(" + *number + "), 12, '0')"
	case withWords:
		c.parts = slices.Clone(c.parts)
		for i, part := range c.parts {
			c.parts[i] = quoted(part)
		}
		return "'" + c.of(0, &scriptWords).(string) + "'"
	}
	switch v := c.value.(type) {
	case nil:
		return "NULL"
	case []byte:
		return fmt.Sprintf(`'\x%x'`, v)
	case string:
		return "'" + quoted(v) + "'"
	}
	return fmt.Sprint(c.value)
}

// quoted escapes text for use inside quotes. pgbench treats a colon before a letter as a variable.
func quoted(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "'", "''"), ":", "' || chr(58) || '")
}

var (
	tps       = regexp.MustCompile(`tps = ([0-9.]+)`)
	processed = regexp.MustCompile(`actually processed: ([1-9][0-9]*)`)
	latency   = regexp.MustCompile(`latency average = ([0-9.]+) ms`)
)

// pgbenchTurn runs PostgreSQL's own benchmark with the same rows.
func (b *bench) pgbenchTurn(ctx context.Context, _ int) (list []figures, err error) {
	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil || len(programs) == 0 {
		return nil, errors.Join(err, errors.New("pgbench is not installed. On Debian, install the package postgresql"))
	}
	l, err := learn(ctx, pgBenchSamples)
	if err != nil {
		return nil, err
	}
	database, remove, err := b.copied(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "CREATE SEQUENCE bench_numbers CACHE 1"); err != nil {
		return nil, err
	}
	for _, n := range writers(b.callers, b.many) {
		for _, of := range []struct {
			kind string
			rows samples
		}{{createBooking, l.bookings}, {logPayment, l.payments}} {
			if !b.chosen.MatchString(of.kind) {
				continue
			}
			f, err := b.pgbench(ctx, programs[len(programs)-1], database, of.rows, n)
			if err != nil {
				return nil, err
			}
			f.Kind = of.kind
			list = append(list, f)
		}
	}
	return list, conn.Close(ctx)
}

func (b *bench) pgbench(ctx context.Context, program, database string, rows samples, callers int) (figures, error) {
	args := []string{"-n", "-M", "prepared", "-c", strconv.Itoa(callers), "-j", "2"}
	for i := range rows.requests {
		path := filepath.Join(b.house.dir, fmt.Sprintf("pgbench-%d.sql", i))
		if err := os.WriteFile(path, []byte(rows.script(i)), 0o600); err != nil {
			return figures{}, err
		}
		args = append(args, "-f", path)
	}
	// pgbench's time includes connecting. If a busy machine uses it all up for that, pgbench runs again for longer.
	for seconds := max(2, int(b.lasts.Seconds())) + callers/32; ; seconds *= 2 {
		data := b.house.databaseTime()
		cmd := exec.CommandContext(ctx, program, append(args, "-T", strconv.Itoa(seconds), database)...)
		said, err := cmd.CombinedOutput()
		if err != nil {
			return figures{}, fmt.Errorf("pgbench: %w\n%s", err, tail(said))
		}
		rate, middle, count := tps.FindSubmatch(said), latency.FindSubmatch(said), processed.FindSubmatch(said)
		if rate == nil || middle == nil || count == nil {
			if seconds < 60 {
				continue
			}
			return figures{}, fmt.Errorf("unexpected pgbench output: %s", tail(said))
		}
		f := figures{Subject: pgBench, Callers: callers}
		f.PerSecond, _ = strconv.ParseFloat(string(rate[1]), 64) // they matched
		f.P50, _ = strconv.ParseFloat(string(middle[1]), 64)
		f.Requests, _ = strconv.Atoi(string(count[1]))
		used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		f.DataCPU = micros(b.house.databaseTime()-data) / float64(f.Requests)
		f.ClientCPU = micros(used) / float64(f.Requests)
		return f, nil
	}
}
