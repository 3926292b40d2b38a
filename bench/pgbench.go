package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// pgBench is the limit that PostgreSQL's own benchmark finds: the rows that a request inserts, in one transaction.
const pgBench = "pgbench"

// script is what pgbench runs: an INSERT for each row, with ids from a sequence.
func (p pattern) script() string {
	var s strings.Builder
	s.WriteString("BEGIN;\n")
	number := "nextval('bench_numbers')"
	for _, t := range p {
		for _, row := range t.rows {
			var names, values []string
			for i, value := range row {
				names = append(names, t.table.Columns[i].Name)
				values = append(values, literal(value, &number))
			}
			fmt.Fprintf(&s, "INSERT INTO %s (%s) VALUES (%s);\n", t.table.Name, strings.Join(names, ", "), strings.Join(values, ", "))
		}
	}
	s.WriteString("COMMIT;\n")
	return s.String()
}

// literal writes a value. The first id draws the number of the transaction, and the others use it again.
func literal(value any, number *string) string {
	switch v := value.(type) {
	case nil:
		return "NULL"
	case int64:
		if v > firstID && v < firstID+1000*apart {
			drawn := *number
			*number = "currval('bench_numbers')"
			return fmt.Sprintf("%d + %d * %s", v, stride, drawn)
		}
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case []byte:
		return fmt.Sprintf(`'\x%x'`, v)
	case string:
		switch {
		case uuidText.MatchString(v):
			return "gen_random_uuid()"
		case strings.Contains(v, sample):
			return "'" + strings.ReplaceAll(strings.ReplaceAll(v, "'", "''"), sample, "S-' || currval('bench_numbers') || '") + "'"
		}
		// pgbench reads a colon before a letter as a variable.
		return "'" + strings.ReplaceAll(strings.ReplaceAll(v, "'", "''"), ":", "' || chr(58) || '") + "'"
	}
	return fmt.Sprint(value)
}

var (
	tps       = regexp.MustCompile(`tps = ([0-9.]+)`)
	processed = regexp.MustCompile(`actually processed: ([1-9][0-9]*)`)
	latency   = regexp.MustCompile(`latency average = ([0-9.]+) ms`)
)

// pgbenchTurn measures what PostgreSQL's own benchmark does with the same rows.
func (b *bench) pgbenchTurn(ctx context.Context, _ int) (list []figures, err error) {
	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil || len(programs) == 0 {
		return nil, errors.Join(err, errors.New("pgbench is missing: Debian has it in the package postgresql"))
	}
	l, err := learn(ctx)
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
			rows pattern
		}{{createBooking, l.booking}, {logPayment, l.payment}} {
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

func (b *bench) pgbench(ctx context.Context, program, database string, rows pattern, callers int) (figures, error) {
	path := filepath.Join(b.house.dir, "pgbench.sql")
	if err := os.WriteFile(path, []byte(rows.script()), 0o600); err != nil {
		return figures{}, err
	}
	// Its time begins before it connects. Where a busy machine takes all of it for that, pgbench runs again for longer.
	for seconds := max(2, int(b.lasts.Seconds())) + callers/32; ; seconds *= 2 {
		data := b.house.databaseTime()
		cmd := exec.CommandContext(ctx, program, "-n", "-M", "prepared", "-c", strconv.Itoa(callers), "-j", "2",
			"-T", strconv.Itoa(seconds), "-f", path, database)
		said, err := cmd.CombinedOutput()
		if err != nil {
			return figures{}, fmt.Errorf("pgbench: %w\n%s", err, tail(said))
		}
		rate, middle, count := tps.FindSubmatch(said), latency.FindSubmatch(said), processed.FindSubmatch(said)
		if rate == nil || middle == nil || count == nil {
			if seconds < 60 {
				continue
			}
			return figures{}, fmt.Errorf("pgbench says: %s", tail(said))
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
