package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// The subjects.
const (
	product    = "holdfast"
	peer       = "PocketBase"
	syncedPeer = "PocketBase, synced"
)

// warmUp is how long each kind runs before it is measured: a fraction of the measured time.
func (b *bench) warmUp() time.Duration { return max(b.lasts/4, 300*time.Millisecond) }

// requests measures each kind of request with the product, the limits and the peer in turn.
func requests(ctx context.Context, b *bench) error {
	if err := b.open(ctx); err != nil {
		return err
	}
	var p *pocketBase
	var err error
	if b.peer {
		if p, err = b.newPeer(ctx); err != nil {
			return err
		}
	}
	var all []figures
	for turn := range b.turns {
		list, err := b.requestsTurn(ctx, turn, p)
		if err != nil {
			return err
		}
		all = append(all, list...)
	}
	b.result.add(all)
	return nil
}

// requestsTurn measures each kind with the product and right after it with the others, and then whatever needs no server
// or a different one.
func (b *bench) requestsTurn(ctx context.Context, turn int, p *pocketBase) ([]figures, error) {
	run := fmt.Sprintf("r%st%d", time.Now().UTC().Format("150405"), turn)
	list, err := b.serversTurn(ctx, turn, run, p)
	if err != nil {
		return nil, err
	}
	after := []func(ctx context.Context, turn int) ([]figures, error){
		func(ctx context.Context, turn int) ([]figures, error) { return b.productImport(ctx, turn, run) },
	}
	if b.limits {
		after = append(after, b.bulkTurn)
		if b.engine == "postgres" {
			after = append(after, b.pgbenchTurn)
		}
	}
	if p != nil {
		after = append(after, p.syncedTurn)
	}
	for _, measure := range after {
		syscall.Sync() // pending writes of one must not slow down the next
		more, err := measure(ctx, turn)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// serversTurn starts the product and the servers it is compared with. The product goes first for each kind, because the
// limits return responses of the same size.
func (b *bench) serversTurn(ctx context.Context, turn int, run string, p *pocketBase) (list []figures, err error) {
	var kinds []kind
	all := []opening{func(ctx context.Context) (s *subject, err error) {
		s, kinds, err = b.productSubject(ctx, run)
		return s, err
	}}
	if b.limits {
		database, remove, failed := b.copied(ctx)
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, remove()) }()
		all = append(all, b.bareSubject, func(ctx context.Context) (*subject, error) { return b.databaseSubject(ctx, database) })
	}
	if p != nil {
		all = append(all, p.subject)
	}
	subjects, err := openAll(ctx, all)
	if err != nil {
		return nil, err
	}
	defer endAll(subjects)
	for _, k := range kinds {
		if !b.chosen.MatchString(k.name) {
			continue
		}
		if err := b.warm(p); err != nil {
			return nil, err
		}
		for _, s := range subjects {
			own, has := s.of(k)
			if !has {
				continue
			}
			f, err := s.alone(ctx, own)
			if err != nil {
				return nil, err
			}
			if s.name == product {
				b.answers[f.Kind] = f.Bytes
			}
			b.progress(turn, f)
			list = append(list, f)
		}
	}
	return list, nil
}

// warm flushes pending writes to disk and reads all databases into memory.
func (b *bench) warm(p *pocketBase) error {
	syscall.Sync()
	err := warm(b.house.dir)
	if p != nil {
		err = errors.Join(err, warm(p.dir))
	}
	return err
}

// open builds the product and makes its book.
func (b *bench) open(ctx context.Context) error {
	if err := b.openEmpty(ctx); err != nil {
		return err
	}
	return b.house.furnish(ctx, b.size, b.say)
}

// openEmpty builds the product and opens its database, which is empty unless an earlier run has left a book in the folder.
func (b *bench) openEmpty(ctx context.Context) error {
	h := b.houseIn(b.dir)
	if err := buildProduct(ctx, h.program); err != nil {
		return err
	}
	if err := os.MkdirAll(h.dir, 0o755); err != nil {
		return err
	}
	switch b.engine {
	case "sqlite":
	case "postgres":
		if err := b.openPostgres(ctx, h); err != nil {
			return err
		}
	case "citus":
		if err := b.openPostgres(ctx, h); err != nil {
			return err
		}
		if err := b.distribute(ctx, h); err != nil {
			return err
		}
	default:
		return fmt.Errorf("-engine must be sqlite, postgres or citus, not %q", b.engine)
	}
	b.house = h
	return nil
}

// houseIn is the product in a folder given by -dir.
func (b *bench) houseIn(folder string) *house {
	dir := filepath.Join(folder, fmt.Sprintf("%s-%d-%d", b.engine, b.size.Bookings, b.size.Payments))
	return &house{program: filepath.Join(folder, "holdfast"), dir: dir, database: "sqlite:" + filepath.Join(dir, "holdfast.db")}
}

// kept is the product and its book that an earlier run, perhaps in another checkout, left in a folder.
func (b *bench) kept(folder string) (*house, error) {
	h := b.houseIn(folder)
	text, err := os.ReadFile(h.kept())
	if err != nil {
		return nil, fmt.Errorf("no book of %d bookings is kept in %s: %w", b.size.Bookings, folder, err)
	}
	return h, json.Unmarshal(text, h)
}

// ready starts the product and waits until it can be measured. The caller must end the server.
func (h *house) ready(ctx context.Context, run string) (*visitor, error) {
	if err := h.start(ctx, settings...); err != nil {
		return nil, err
	}
	v := &visitor{h: h, run: run}
	err := v.prepare(ctx)
	if err == nil {
		err = h.rest(ctx) // background work of the previous turn must not count
	}
	if err != nil {
		h.server.end()
	}
	return v, err
}

// productImport measures an import, if it is selected.
func (b *bench) productImport(ctx context.Context, turn int, run string) ([]figures, error) {
	if !b.chosen.MatchString(importRows) {
		return nil, nil
	}
	f, err := b.importTurn(ctx, run)
	b.progress(turn, f)
	return []figures{f}, err
}

// productSubject is the product on its book, with its kinds.
func (b *bench) productSubject(ctx context.Context, run string) (*subject, []kind, error) {
	v, err := b.house.ready(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	s := &subject{name: product, server: b.house.server, of: func(k kind) (kind, bool) { return k, true }, measure: b.measure}
	return s, v.kinds(b.callers, b.many), nil
}

// progress prints a progress line.
func (b *bench) progress(turn int, f figures) {
	b.say("turn %d  %-18s %-28s %4d callers %9s a second  p50 %s ms  p99 %s ms  %d failed %s", turn+1, f.Subject, f.Kind, f.Callers,
		number(f.PerSecond), fine(f.P50), fine(f.P99), f.Failures, f.Failure)
}

// measure measures one kind with the product.
func (b *bench) measure(ctx context.Context, k kind) (figures, error) {
	h := b.house
	// Background work of earlier writes must not count. On a cluster it is never idle: each question to all sites takes milliseconds.
	if k.status != http.StatusOK && b.engine != "citus" {
		if err := h.rest(ctx); err != nil {
			return figures{}, err
		}
	}
	if _, err := drive(ctx, h.server.address, k, b.warmUp()); err != nil {
		return figures{}, err
	}
	// The System page runs statements itself: the difference between two requests shows how many.
	idle, err := h.counters(ctx)
	if err != nil {
		return figures{}, err
	}
	before, err := h.counters(ctx)
	if err != nil {
		return figures{}, err
	}
	server, data := h.processorTimes()
	coordinator := h.coordinatorTime()
	l, err := drive(ctx, h.server.address, k, b.lasts)
	if err != nil {
		return figures{}, err
	}
	server2, data2 := h.processorTimes()
	coordinator2 := h.coordinatorTime()
	after, err := h.counters(ctx)
	if err != nil {
		return figures{}, err
	}
	f, n, pid := l.of(product, k), float64(len(l.took)), h.server.cmd.Process.Pid
	f.ServerCPU, f.DataCPU, f.CPUSeconds = micros(server2-server)/n, micros(data2-data)/n, (server2 - server).Seconds()
	f.CoordinatorCPU = micros(coordinator2-coordinator) / n
	f.Resident, f.Peak = megabytes(pid, "VmRSS"), megabytes(pid, "VmHWM")
	statements := float64(after.statements-before.statements-(before.statements-idle.statements)) / n
	commits, again := float64(after.commits-before.commits)/n, float64(after.again-before.again)/n
	f.Statements, f.Commits, f.Again = &statements, &commits, &again
	return f, nil
}
