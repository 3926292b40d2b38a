package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// duellist is one of the two builds, with its copy of a book.
type duellist struct {
	house
	kinds []kind
	cpu   []float64 // processor time per request in each turn, in microseconds
	rate  []float64 // requests per second in each turn
}

// duel alternates two builds of the product on the same requests. Each has a separate book, because their schemas may
// differ. A machine may be twice as fast in one hour as in the next; here both builds run at the same time. The other
// build is in the folder of -against, which is the -dir of a run in another checkout.
func duel(ctx context.Context, b *bench) (err error) {
	if b.against == "" || b.engine != "sqlite" {
		return errors.New("-only duel requires -engine sqlite and -against DIR, which is the -dir of a run in another checkout")
	}
	other, err := b.kept(b.against)
	if err != nil {
		return fmt.Errorf("-against: %w", err)
	}
	if err := b.open(ctx); err != nil {
		return err
	}
	var both [2]*duellist
	for i, h := range []*house{other, b.house} {
		d := &duellist{house: *h}
		copied := filepath.Join(b.dir, fmt.Sprintf("duel-%d", i))
		defer func() { err = errors.Join(err, os.RemoveAll(copied)) }() // after its server has ended
		if err := d.copyBook(copied); err != nil {
			return err
		}
		if err := d.begin(ctx, settings...); err != nil {
			return err
		}
		defer d.server.end()
		v := &visitor{h: &d.house, run: fmt.Sprintf("r%sd%d", time.Now().UTC().Format("150405"), i)}
		if err := v.prepare(ctx); err != nil {
			return err
		}
		d.kinds = v.kinds(b.callers, b.many)
		both[i] = d
	}
	for k, of := range both[0].kinds {
		if !b.chosen.MatchString(of.name) {
			continue
		}
		if err := b.duelOf(ctx, both, k); err != nil {
			return err
		}
	}
	return nil
}

// duelOf compares one kind. The builds take turns going first; the first turn does not count.
func (b *bench) duelOf(ctx context.Context, both [2]*duellist, k int) error {
	var cpu, rate []float64 // ratios by turn
	syscall.Sync()
	for _, d := range both {
		if err := warm(d.dir); err != nil { // otherwise the first kind reads one copy from disk
			return err
		}
	}
	for turn := range b.turns + 1 {
		for i := range both {
			if err := both[(turn+i)%2].turn(ctx, k, b.lasts, turn > 0); err != nil {
				return err
			}
		}
		if turn > 0 {
			cpu = append(cpu, both[0].cpu[turn-1]/both[1].cpu[turn-1])
			rate = append(rate, both[1].rate[turn-1]/both[0].rate[turn-1])
		}
	}
	of := both[0].kinds[k]
	b.result.fact(fmt.Sprintf("%s, %d callers", of.name, of.callers), "", "%.0f µs vs. %.0f, ratio %.2f; %.0f a second vs. %.0f, ratio %.2f; peak %.0f MB vs. %.0f",
		median(both[0].cpu), median(both[1].cpu), median(cpu), median(both[0].rate), median(both[1].rate), median(rate),
		megabytes(both[0].server.cmd.Process.Pid, "VmHWM"), megabytes(both[1].server.cmd.Process.Pid, "VmHWM"))
	last := b.result.Facts[len(b.result.Facts)-1]
	b.say("%s: %s", last.What, last.Value)
	for _, d := range both {
		d.cpu, d.rate = nil, nil
	}
	return nil
}

func (d *duellist) turn(ctx context.Context, k int, lasts time.Duration, counts bool) error {
	before, _ := d.processorTimes()
	l, err := drive(ctx, d.server.address, d.kinds[k], lasts)
	if err != nil {
		return err
	}
	if after, _ := d.processorTimes(); counts {
		d.cpu = append(d.cpu, micros(after-before)/float64(len(l.took)))
		d.rate = append(d.rate, float64(len(l.took))/l.lasted.Seconds())
	}
	return nil
}

// copyBook copies the book, which must not be in use, and its keys into a new folder.
func (d *duellist) copyBook(to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(d.dir, "holdfast.*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := copyFile(file, filepath.Join(to, filepath.Base(file))); err != nil {
			return err
		}
	}
	d.database, d.dir = strings.ReplaceAll(d.database, d.dir, to), to
	return nil
}

// copyFile copies a file of any size.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	made, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(made, source)
	return errors.Join(err, made.Close())
}
