package main

import (
	"context"
	"fmt"
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

// warmUp is how long each kind runs before it is measured: a part of the time that it is measured.
func (b *bench) warmUp() time.Duration { return max(b.lasts/4, 300*time.Millisecond) }

// requests measures each kind of request: at the product, the limits and the peer in turn.
func requests(ctx context.Context, b *bench) error {
	if err := b.open(ctx); err != nil {
		return err
	}
	subjects := []func(ctx context.Context, turn int) ([]figures, error){b.productTurn}
	more, err := b.others(ctx)
	if err != nil {
		return err
	}
	subjects = append(subjects, more...)
	var all []figures
	for turn := range b.turns {
		for _, subject := range subjects {
			syscall.Sync() // what one has left to be written must not keep the disk from the next
			list, err := subject(ctx, turn)
			if err != nil {
				return err
			}
			all = append(all, list...)
		}
	}
	b.result.add(all)
	return nil
}

// others are the subjects besides the product.
func (b *bench) others(ctx context.Context) (list []func(ctx context.Context, turn int) ([]figures, error), err error) {
	if b.limits {
		list = append(list, b.bareTurn, b.databaseTurn, b.bulkTurn)
		if b.engine == "postgres" {
			list = append(list, b.pgbenchTurn)
		}
	}
	if b.peer {
		p, err := b.newPeer(ctx)
		if err != nil {
			return nil, err
		}
		list = append(list, p.turn)
	}
	return list, nil
}

// open builds the product and makes its book.
func (b *bench) open(ctx context.Context) error {
	program := filepath.Join(b.dir, "holdfast")
	if err := buildProduct(ctx, program); err != nil {
		return err
	}
	h := &house{program: program, dir: filepath.Join(b.dir, fmt.Sprintf("%s-%d-%d", b.engine, b.size.Bookings, b.size.Payments))}
	if err := os.MkdirAll(h.dir, 0o755); err != nil {
		return err
	}
	switch b.engine {
	case "sqlite":
		h.database = "sqlite:" + filepath.Join(h.dir, "holdfast.db")
	case "postgres":
		if err := b.openPostgres(ctx, h); err != nil {
			return err
		}
	default:
		return fmt.Errorf("-engine takes sqlite or postgres, not %q", b.engine)
	}
	b.house = h
	return h.furnish(ctx, b.size, b.say)
}

// productTurn measures all kinds at the product, which starts for it, and then an import.
func (b *bench) productTurn(ctx context.Context, turn int) (list []figures, err error) {
	run := fmt.Sprintf("r%st%d", time.Now().UTC().Format("150405"), turn)
	if list, err = b.serverTurn(ctx, turn, run); err != nil || !b.chosen.MatchString(importRows) {
		return list, err
	}
	f, err := b.importTurn(ctx, run)
	b.tell(turn, f)
	return append(list, f), err
}

// ready starts the product and waits until it can be measured. Who calls it ends the server.
func (h *house) ready(ctx context.Context, run string) (*visitor, error) {
	if err := h.start(ctx, settings...); err != nil {
		return nil, err
	}
	v := &visitor{h: h, run: run}
	err := v.prepare(ctx)
	if err == nil {
		err = h.rest(ctx) // what follows from the turn before is no part of this one
	}
	if err == nil {
		err = warm(h.dir)
	}
	if err != nil {
		h.server.end()
	}
	return v, err
}

func (b *bench) serverTurn(ctx context.Context, turn int, run string) ([]figures, error) {
	v, err := b.house.ready(ctx, run)
	if err != nil {
		return nil, err
	}
	defer b.house.server.end()
	var list []figures
	for _, k := range v.kinds(b.callers, b.many) {
		if !b.chosen.MatchString(k.name) {
			continue
		}
		f, err := b.measure(ctx, k)
		if err != nil {
			return nil, err
		}
		b.tell(turn, f)
		b.answers[f.Kind] = f.Bytes
		list = append(list, f)
	}
	return list, nil
}

// tell prints a line while the run goes on.
func (b *bench) tell(turn int, f figures) {
	b.say("turn %d  %-18s %-28s %4d callers %9s a second  p50 %s ms  p99 %s ms  %d failed %s", turn+1, f.Subject, f.Kind, f.Callers,
		number(f.PerSecond), fine(f.P50), fine(f.P99), f.Failures, f.Failure)
}

// measure drives one kind at the product.
func (b *bench) measure(ctx context.Context, k kind) (figures, error) {
	h := b.house
	if _, err := drive(ctx, h.server.address, k, b.warmUp()); err != nil {
		return figures{}, err
	}
	// The page System runs statements itself: the difference of two looks says how many.
	idle, err := h.counters(ctx)
	if err != nil {
		return figures{}, err
	}
	before, err := h.counters(ctx)
	if err != nil {
		return figures{}, err
	}
	server, data := h.processorTimes()
	l, err := drive(ctx, h.server.address, k, b.lasts)
	if err != nil {
		return figures{}, err
	}
	server2, data2 := h.processorTimes()
	after, err := h.counters(ctx)
	if err != nil {
		return figures{}, err
	}
	f, n, pid := l.of(product, k), float64(len(l.took)), h.server.cmd.Process.Pid
	f.ServerCPU, f.DataCPU, f.CPUSeconds = micros(server2-server)/n, micros(data2-data)/n, (server2 - server).Seconds()
	f.Resident, f.Peak = megabytes(pid, "VmRSS"), megabytes(pid, "VmHWM")
	statements := float64(after.statements-before.statements-(before.statements-idle.statements)) / n
	commits, again := float64(after.commits-before.commits)/n, float64(after.again-before.again)/n
	f.Statements, f.Commits, f.Again = &statements, &commits, &again
	return f, nil
}
