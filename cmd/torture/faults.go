package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The program's guarantees during a fault (docs/reliability.md), with slack for a busy machine.
const (
	answerWithin  = 6 * time.Second
	readyWithin   = 2 * time.Second
	suffers       = 8 * time.Second // how long a fault lasts: longer than any call may take
	recoverWithin = 30 * time.Second
)

// hardship is one fault: something that the program needs is taken away and given back.
type hardship struct {
	name     string
	postgres bool
	// prepare sets up what the fault needs, before the program starts. It may return errSkipped.
	prepare func(b *book) error
	take    func(b *book) error
	back    func(b *book) error
	down    bool // no write can be acknowledged during the fault, and GET /readyz must report not ready
	// scraps: a small write may still fit. It is checked afterwards like all acknowledged writes.
	scraps bool
	deaf   bool // the program accepts no connections during the fault, so its readiness cannot be checked
}

// errSkipped wraps the reason why a fault is skipped on this machine.
var errSkipped = errors.New("skipped")

func hardships() []hardship {
	return []hardship{
		{name: "full disk", prepare: ownDisk, take: fillDisk, back: emptyDisk, down: true, scraps: true},
		{name: "no descriptors", prepare: fewDescriptors, take: takeDescriptors, back: giveDescriptors, deaf: true},
		{name: "deleted database file", take: deleteFile, back: findFile, down: true},
		{name: "PostgreSQL frozen", postgres: true, down: true,
			take: func(b *book) error { return b.pg.freeze() }, back: func(b *book) error { return b.pg.thaw() }},
		{name: "PostgreSQL stopped and started", postgres: true, down: true,
			take: func(b *book) error { return b.pg.stop("fast") }, back: func(b *book) error { return b.pg.start() }},
		{name: "PostgreSQL restarted", postgres: true,
			take: func(b *book) error { return errors.Join(b.pg.stop("fast"), b.pg.start()) }, back: func(*book) error { return nil }},
		{name: "PostgreSQL read-only", postgres: true, down: true,
			take: func(b *book) error { return b.readOnly("on") }, back: func(b *book) error { return b.readOnly("off") }},
	}
}

// faults is the scenario.
func faults(r *run) error {
	for round := r.first; round < r.first+r.count(1); round++ {
		for _, f := range hardships() {
			err := r.suffer(f, round)
			if errors.Is(err, errSkipped) || errors.Is(err, errNoPostgres) {
				r.say("%s: %v", f.name, err)
				r.figure(f.name, "%v", err)
			} else if err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	return r.readOnlyFile()
}

// suffer has clients write before, during and after a fault, and checks every response.
func (r *run) suffer(f hardship, round int) error {
	b, err := r.bookFor(f, round)
	if b != nil {
		defer b.end()
	}
	if err != nil {
		return err
	}
	watch := &watcher{book: b}
	stop := make(chan struct{})
	var work sync.WaitGroup
	var hands []*writer
	random := r.random(f.name, round)
	for i := range writers {
		w := newWriter(b, fmt.Sprintf("F%d-%d-%d", r.seed, round, i), random)
		w.goesOn = true
		hands = append(hands, w)
		work.Go(func() { w.write(stop) })
	}
	work.Go(func() { watch.run(stop) })
	halt := func() { close(stop); work.Wait() }
	if err := r.pause(time.Second); err != nil {
		halt()
		return err
	}
	taken := time.Now()
	if err := f.take(b); err != nil {
		halt()
		return err
	}
	gone := time.Now()
	err = r.pause(suffers)
	back := time.Now()
	if err = errors.Join(err, f.back(b)); err != nil {
		halt()
		return err
	}
	given := time.Now()
	_, late := b.server.ready(recoverWithin)
	recovered := time.Since(given)
	if late != nil {
		r.fail("%s: no automatic recovery: %v", f.name, late)
	}
	err = r.pause(time.Second)
	halt()
	if err != nil {
		return err
	}
	if late != nil { // only another process can now read what it acknowledged
		b.server.kill()
		if b.server, err = b.house.start("serve"); err != nil {
			return err
		}
	}
	b.judge(f, hands, watch, taken, gone, back, recovered)
	return b.check(round, "given back", hands)
}

// bookFor creates the sandbox for a fault.
func (r *run) bookFor(f hardship, round int) (b *book, err error) {
	b = &book{r: r, name: f.name, taken: map[string]any{}}
	name := fmt.Sprintf("%s-%d", strings.ReplaceAll(strings.ToLower(f.name), " ", "-"), round)
	database := ""
	if f.postgres {
		if b.pg, err = r.newCluster(name+"-cluster", "fsync = off", "max_connections = 50"); err != nil {
			return b, err
		}
		if err := b.pg.sql("postgres", "CREATE DATABASE faults"); err != nil {
			return b, err
		}
		database = b.pg.url("faults")
	}
	if b.house, err = r.newHouse(name, database); err != nil {
		return b, err
	}
	if f.prepare != nil {
		if err := f.prepare(b); err != nil {
			return b, err
		}
	}
	return b, b.begin()
}

// end stops everything that a book has started.
func (b *book) end() {
	if b.server != nil {
		b.server.kill()
	}
	if b.pg != nil {
		_ = b.pg.thaw() // it may not be frozen
		b.pg.remove()
	}
	if dir, ok := b.taken["mount"].(string); ok {
		_ = syscall.Unmount(dir, syscall.MNT_DETACH) // the folder is removed later, if it is not in use
	}
}

// judge compares the responses with the guarantees, and adds the figures.
func (b *book) judge(f hardship, hands []*writer, watch *watcher, taken, gone, back time.Time, recovered time.Duration) {
	meanwhile, unavailable, slowest := 0, 0, time.Duration(0)
	for _, w := range hands {
		for _, asked := range w.asked {
			slowest = max(slowest, asked.took)
			// A request that began before the fault may be acknowledged, because it may have been committed.
			inside := asked.began.After(gone.Add(time.Second)) && asked.began.Add(asked.took).Before(back)
			if inside && asked.id != 0 {
				meanwhile++
			}
			if asked.began.After(taken) && asked.id == 0 {
				unavailable++
			}
		}
	}
	no, slowReady := watch.seen(gone, back)
	if f.down && meanwhile > 0 && !f.scraps {
		b.r.fail("%s: %d writes were acknowledged during the fault", f.name, meanwhile)
	}
	if f.down && no == 0 {
		b.r.fail("%s: GET /readyz always reported ready", f.name)
	}
	if slowest > answerWithin {
		b.r.fail("%s: a write got a response after %s", f.name, slowest)
	}
	if slowReady > readyWithin && !f.deaf {
		b.r.fail("%s: GET /readyz responded after %s", f.name, slowReady)
	}
	b.r.figure(f.name, "acknowledged %d, not acknowledged %d; slowest response %s, of /readyz %s; ready again after %s", meanwhile, unavailable,
		slowest.Round(time.Millisecond), slowReady.Round(time.Millisecond), recovered.Round(time.Millisecond))
}

// watcher polls whether the program is ready.
type watcher struct {
	book  *book
	mu    sync.Mutex
	polls []readiness
}

type readiness struct {
	at     time.Time
	took   time.Duration
	status int // 0 without a response
}

func (w *watcher) run(stop <-chan struct{}) {
	server := w.book.server
	for {
		select {
		case <-stop:
			return
		case <-time.After(100 * time.Millisecond):
		}
		began := time.Now()
		answer, _ := server.caller("").ask(http.MethodGet, "/readyz", nil, nil) // without a response, the status is 0
		w.mu.Lock()
		w.polls = append(w.polls, readiness{began, time.Since(began), answer.status})
		w.mu.Unlock()
	}
}

// seen returns how often the program was not ready between two moments, and how long the slowest response took.
func (w *watcher) seen(from, to time.Time) (no int, slowest time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.polls {
		if one.at.After(from) && one.at.Before(to) {
			slowest = max(slowest, one.took)
			if one.status != http.StatusOK {
				no++
			}
		}
	}
	return no, slowest
}

// ownDisk puts the program's folder on a separate disk.
func ownDisk(b *book) error {
	if os.Getuid() != 0 {
		return fmt.Errorf("%w: a small disk needs root", errSkipped)
	}
	// The clients write until the end, so the disk must have room for everything they write before it is filled.
	if err := syscall.Mount("tmpfs", b.house.dir, "tmpfs", 0, "size=256m"); err != nil {
		return fmt.Errorf("%w: a small disk cannot be mounted: %w", errSkipped, err)
	}
	b.taken["mount"] = b.house.dir
	return nil
}

// fillDisk writes until the disk is full.
func fillDisk(b *book) error {
	file, err := os.Create(filepath.Join(b.house.dir, "ballast"))
	if err != nil {
		return err
	}
	for size := 1 << 20; size > 0; size /= 2 { // down to the last byte
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			return errors.Join(err, file.Close())
		}
	}
	return file.Close()
}

func emptyDisk(b *book) error { return os.Remove(filepath.Join(b.house.dir, "ballast")) }

// descriptors is the limit of the program's open files and connections.
const descriptors = 60

func fewDescriptors(b *book) error {
	b.house.descriptors = descriptors
	return nil
}

// takeDescriptors opens connections until the program can accept no more.
func takeDescriptors(b *book) error {
	address := strings.TrimPrefix(b.server.base, "http://")
	var open []net.Conn
	for range 2 * descriptors {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			break // the system's backlog is full
		}
		open = append(open, conn)
	}
	b.taken["connections"] = open
	return nil
}

func giveDescriptors(b *book) error {
	open, _ := b.taken["connections"].([]net.Conn)
	for _, conn := range open {
		_ = conn.Close() // the program may have closed it
	}
	return nil
}

// databaseFiles are SQLite's files. The program keeps another one next to them, which records that there is a database.
func databaseFiles(b *book) (found []string) {
	for _, name := range []string{"holdfast.db", "holdfast.db-wal", "holdfast.db-shm"} {
		file := filepath.Join(b.house.dir, "holdfast-data", name)
		if _, err := os.Stat(file); err == nil {
			found = append(found, file)
		}
	}
	return found
}

// deleteFile moves the files out of their folder. To the program this looks like rm, but they can be restored.
func deleteFile(b *book) error {
	away := filepath.Join(b.house.dir, "away")
	err := os.MkdirAll(away, 0o700)
	for _, file := range databaseFiles(b) {
		err = errors.Join(err, os.Rename(file, filepath.Join(away, filepath.Base(file))))
	}
	return err
}

// findFile kills the program, checks that it does not start with an empty database, and puts the files back.
func findFile(b *book) error {
	b.server.kill()
	if s, err := b.house.start("serve"); err == nil {
		b.r.fail("%s: a restart creates an empty database", b.name)
		s.kill()
	}
	for _, file := range databaseFiles(b) { // files that the second start may have created
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	found, err := filepath.Glob(filepath.Join(b.house.dir, "away", "holdfast.db*"))
	for _, file := range found {
		err = errors.Join(err, os.Rename(file, filepath.Join(b.house.dir, "holdfast-data", filepath.Base(file))))
	}
	if err != nil {
		return err
	}
	b.server, err = b.house.start("serve")
	return err
}

// readOnly makes PostgreSQL reject writes, like a standby, or accept them again.
func (b *book) readOnly(how string) error {
	return errors.Join(
		b.pg.sql("postgres", "ALTER SYSTEM SET default_transaction_read_only = "+how),
		b.pg.sql("postgres", "SELECT pg_reload_conf()"))
}

// readOnlyFile starts the program on a database that it may not write to.
func (r *run) readOnlyFile() error {
	credential, err := owner()
	if err != nil || credential == nil {
		r.figure("read-only file", "%v: this needs another user, and therefore root", errSkipped)
		return nil
	}
	b := &book{r: r, name: "read-only file", taken: map[string]any{}}
	if b.house, err = r.newHouse("read-only-file", ""); err != nil {
		return err
	}
	defer b.end()
	if err := b.begin(); err != nil {
		return err
	}
	if err := b.server.interrupt(); err != nil {
		return err
	}
	for _, path := range append(databaseFiles(b), filepath.Join(b.house.dir, "holdfast-data"), b.house.dir) {
		if err := os.Chmod(path, 0o555); err != nil {
			return err
		}
	}
	b.house.as = credential
	s, err := b.house.start("serve")
	if err != nil {
		r.say("read-only file: does not start: %s", lastOf(err.Error()))
		r.figure("read-only file", "does not start, with a clear error")
		return nil
	}
	b.server = s
	w := newWriter(b, "R", r.random("read-only file", 1))
	asked := w.next()
	_, err = asked.ask(w.caller)
	if !errors.Is(err, errUnknown) {
		r.fail("read-only file: a write got %v", err)
	}
	ready, _ := s.caller("").ask(http.MethodGet, "/readyz", nil, nil)
	if ready.status == http.StatusOK {
		r.fail("read-only file: GET /readyz reports ready")
	}
	r.figure("read-only file", "starts; writes get 503, GET /readyz %d", ready.status)
	return nil
}
