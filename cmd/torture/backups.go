package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Rounds of the scenario on each engine.
const backupRounds = 20

// smallDisk is too small for the backup of a book with a hundred bookings.
const smallDisk = "size=16k"

// backups is the scenario: backups are made while clients write, and restored into a new database. Some are killed, and
// some run out of disk space.
func backups(r *run) error {
	if err := backupsOn(r, "SQLite", nil); err != nil {
		return err
	}
	return r.onPostgres("backups-postgres", func(pg *cluster) error { return backupsOn(r, "PostgreSQL", pg) })
}

// backupBook is a book that is backed up repeatedly.
type backupBook struct {
	*book
	folder                       string // of the backups
	killed, wholeAfterKill, full int
	noTmpfs                      error // why no small disk could be mounted
}

func backupsOn(r *run, engine string, pg *cluster) error {
	b := &backupBook{book: &book{r: r, name: engine, pg: pg}, folder: filepath.Join(r.dir, "backups-"+engine)}
	database := ""
	if pg != nil {
		if err := pg.sql("postgres", "CREATE DATABASE backups"); err != nil {
			return err
		}
		database = pg.url("backups")
	}
	var err error
	if b.house, err = r.newHouse("backups-house-"+engine, database); err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(b.folder, 0o700), b.begin()); err != nil {
		return err
	}
	defer func() { b.server.kill() }()
	if pg == nil { // restored databases are in other folders, and look for the keys here
		if err := os.Symlink(filepath.Join("holdfast-data", "holdfast.keys"), filepath.Join(b.house.dir, "keys")); err != nil {
			return err
		}
	}
	rounds := r.count(backupRounds)
	for round := r.first; round < r.first+rounds; round++ {
		if err := b.round(round); err != nil {
			return fmt.Errorf("%s, round %d: %w", engine, round, err)
		}
	}
	if err := b.whole(); err != nil {
		return err
	}
	r.figure(engine+": backups during writes, each restored", "%d", rounds)
	r.figure(engine+": writes acknowledged before the backup, all present exactly once", "%d", b.found)
	r.figure(engine+": killed backups; of these, already complete", "%d; %d", b.killed, b.wholeAfterKill)
	r.figure(engine+": backups to a full disk, none left behind", "%d", b.full)
	if b.noTmpfs != nil {
		r.figure(engine+": full disk", "skipped: %v", b.noTmpfs)
	}
	return nil
}

// round makes one complete backup, one that is killed, and one on a full disk, all while clients write.
func (b *backupBook) round(round int) error {
	random := b.r.random("backups "+b.name, round)
	hands, work, stop := b.hands(random, round)
	err := b.r.pause(time.Duration(random.IntN(600_000)) * time.Microsecond)
	// Everything acknowledged by now must be in every backup that starts later.
	var known []*write
	for _, w := range hands {
		known = append(known, w.known()...)
	}
	file := filepath.Join(b.folder, fmt.Sprintf("%d.backup", round))
	if err == nil {
		_, err = b.house.must("backup", file)
	}
	err = errors.Join(err, b.cut(round, random), b.fullDisk(round))
	close(stop)
	work.Wait()
	if err != nil {
		return err
	}
	for _, w := range hands {
		b.acknowledged += len(w.known())
		for _, asked := range w.asked {
			if asked.id == 0 {
				b.r.fail("%s, round %d: during backups, %s got no response: %s", b.name, round, asked.reference, asked.refused)
			}
		}
	}
	return b.restored(round, file, known)
}

// known are the writes acknowledged so far.
func (w *writer) known() (list []*write) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, asked := range w.asked {
		if asked.id != 0 {
			list = append(list, asked)
		}
	}
	return list
}

// restored restores a backup into a new database, serves it, and looks for the writes.
func (b *backupBook) restored(round int, file string, known []*write) error {
	name := fmt.Sprintf("restored_%d", round)
	database := "sqlite:" + filepath.Join(b.folder, name, "holdfast.db")
	if b.pg != nil && round%2 == 0 { // every second backup
		if err := b.pg.sql("postgres", "CREATE DATABASE "+name); err != nil {
			return err
		}
		database = b.pg.url(name)
	}
	h := &house{r: b.r, dir: b.house.dir, database: database}
	if _, err := h.must("restore", file); err != nil {
		return err
	}
	s, err := h.start("serve")
	if err != nil {
		return err
	}
	defer s.kill()
	c := s.caller(b.token)
	for _, asked := range known {
		there, err := asked.stored(c)
		if err != nil {
			return err
		}
		if len(there) != 1 || there[0] != asked.id {
			b.r.fail("%s, round %d: %s was acknowledged as %d before the backup, which contains %v", b.name, round, asked.reference, asked.id, there)
		}
	}
	b.found += len(known)
	again := &book{r: b.r, name: b.name + " restored", house: h, server: s}
	again.verify()
	b.r.say("%s, round %d: %d writes acknowledged before the backup, all checked after the restore", b.name, round, len(known))
	return nil
}

// cut kills a backup at a random moment. Its file must be complete or absent.
func (b *backupBook) cut(round int, random *rand.Rand) error {
	file := filepath.Join(b.folder, fmt.Sprintf("%d-cut.backup", round))
	ctx, stop := context.WithTimeout(b.r.ctx, time.Duration(random.IntN(300_000))*time.Microsecond)
	defer stop()
	cmd, err := b.house.command(ctx, "backup", file)
	if err != nil {
		return err
	}
	_ = cmd.Run() // it was killed, or finished in time
	b.killed++
	if _, err := os.Stat(file); err != nil {
		return nil
	}
	b.wholeAfterKill++
	if _, err := b.house.must("restore", "--check", file); err != nil {
		b.r.fail("%s, round %d: a killed backup left %s: %v", b.name, round, file, err)
	}
	return nil
}

// fullDisk makes a backup on a disk that is too small. The command must fail with the reason and leave nothing behind.
func (b *backupBook) fullDisk(round int) error {
	disk := filepath.Join(b.folder, "disk")
	if err := os.MkdirAll(disk, 0o700); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, smallDisk); err != nil {
		b.noTmpfs = err
		return nil
	}
	defer func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) }() // a leftover mount ends with the machine
	cmd, err := b.house.command(b.r.ctx, "backup", filepath.Join(disk, "a.backup"))
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	err = cmd.Run()
	left, _ := filepath.Glob(filepath.Join(disk, "*"))
	if err == nil || !bytes.Contains(said.Bytes(), []byte("no space left")) || len(left) != 0 {
		b.r.fail("%s, round %d: on a full disk: %v, %s; left: %v", b.name, round, err, lastOf(said.String()), left)
	}
	b.full++
	return nil
}
