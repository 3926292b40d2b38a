package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// starts is the number of starts of which the median is taken.
const starts = 7

// start measures how soon the program responds after it is started, its memory when idle, and its size.
func start(ctx context.Context, b *bench) error {
	if err := b.open(ctx); err != nil {
		return err
	}
	h := b.house
	var took, resident []float64
	for range starts {
		began := time.Now()
		if err := h.begin(ctx); err != nil {
			return err
		}
		_, err := ask(ctx, h.server.address, http.MethodGet, (&visitor{h: h}).path("bookings/1"), h.Token, nil, http.StatusOK)
		took = append(took, ms(time.Since(began)))
		if err == nil && len(resident) < 2 { // the jobs have run once by then
			until(ctx, time.Now().Add(b.lasts))
			resident = append(resident, megabytes(h.server.cmd.Process.Pid, "VmRSS"))
		}
		h.server.end()
		if err != nil {
			return err
		}
	}
	file, err := os.Stat(h.program)
	if err != nil {
		return err
	}
	b.result.fact("from exec to the first booking read", "150 ms", "%.0f ms, at most %.0f ms", median(took), slices.Max(took))
	b.result.fact(fmt.Sprintf("resident memory when idle, %s after the start", b.lasts), "80 MB", "%.0f MB", slices.Max(resident))
	b.result.fact("binary size", "", "%.2f MB", float64(file.Size())/1e6)
	return ctx.Err()
}

// offered is the load in the part overload, as a multiple of the product's capacity.
const offered = 10

// overload sends ten times as many requests as the product can handle, with default settings except the limit for one
// caller. It measures what is rejected, what is served, and how soon the product recovers.
func overload(ctx context.Context, b *bench) error {
	if err := b.open(ctx); err != nil {
		return err
	}
	h := b.house
	if err := h.start(ctx, "--requests-per-caller", "100000"); err != nil {
		return err
	}
	defer h.server.end()
	v := &visitor{h: h, run: "r" + time.Now().UTC().Format("150405")}
	if err := v.prepare(ctx); err != nil {
		return err
	}
	for _, of := range []struct {
		name string
		make func(r *rand.Rand, into []byte) []byte
		done int
	}{
		{createBooking, v.booking, http.StatusCreated},
		{listFirst, v.kinds(b.callers, 0)[2].make, http.StatusOK},
	} {
		usual := kind{name: of.name, callers: b.callers, status: of.done, make: of.make}
		if _, err := drive(ctx, h.server.address, usual, b.warmUp()); err != nil {
			return err
		}
		before, err := drive(ctx, h.server.address, usual, b.lasts)
		if err != nil {
			return err
		}
		rate := float64(len(before.took)) / before.lasted.Seconds()
		crowd := usual
		// Enough callers that those waiting for responses never lower the rate to the product's capacity.
		crowd.callers = 1000
		crowd.every = time.Duration(float64(time.Second) * float64(crowd.callers) / (offered * rate))
		during, err := drive(ctx, h.server.address, crowd, b.lasts)
		if err != nil {
			return err
		}
		peak := megabytes(h.server.cmd.Process.Pid, "VmHWM")
		at := time.Now()
		if _, err := ask(ctx, h.server.address, http.MethodGet, v.path("bookings/1"), h.Token, nil, http.StatusOK); err != nil {
			return err
		}
		back := time.Since(at)
		after, err := drive(ctx, h.server.address, usual, b.lasts)
		if err != nil {
			return err
		}
		b.recordOverload(of.name, before, during, after, back, peak)
	}
	return nil
}

// recordOverload records the results of an overload.
func (b *bench) recordOverload(name string, before, during, after load, back time.Duration, peak float64) {
	second := func(n int, l load) float64 { return float64(n) / l.lasted.Seconds() }
	all := len(during.took) + during.failed
	b.result.fact(name+": requests per second before", "", "%.0f; p99 %s", second(len(before.took), before), shown(part(before.took, 0.99)))
	b.result.fact(name+": requests per second offered", "", "%.0f, %.1f times as many", second(all, during),
		second(all, during)/second(len(before.took), before))
	b.result.fact(name+": served", "", "%.0f a second; p50 %s, p99 %s, longest %s", second(len(during.took), during),
		shown(part(during.took, 0.5)), shown(part(during.took, 0.99)), shown(part(during.took, 1)))
	b.result.fact(name+": rejected with 429 or 503", "", "%.0f a second; p50 %s, p99 %s; %d without Retry-After", second(len(during.refused), during),
		shown(part(during.refused, 0.5)), shown(part(during.refused, 0.99)), during.silent)
	b.result.fact(name+": any other response", "0", "%d", during.failed-len(during.refused))
	b.result.fact(name+": first response afterwards", "", "%s", shown(back))
	b.result.fact(name+": requests per second afterwards", "", "%.0f; p99 %s; %d failed", second(len(after.took), after), shown(part(after.took, 0.99)), after.failed)
	b.result.fact(name+": peak resident memory", "", "%.0f MB", peak)
}

func shown(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }

// soakParts is the number of intervals that a soak is divided into.
const soakParts = 10

// soak runs a mix of requests for a long time to find leaks and slow growth.
func soak(ctx context.Context, b *bench) error {
	if err := b.open(ctx); err != nil {
		return err
	}
	h := b.house
	if err := h.start(ctx, settings...); err != nil {
		return err
	}
	defer h.server.end()
	v := &visitor{h: h, run: "r" + time.Now().UTC().Format("150405")}
	if err := v.prepare(ctx); err != nil {
		return err
	}
	kinds := v.kinds(b.callers, 0)
	// Out of a hundred requests, roughly as often as clients send them.
	weights := map[string]int{getBooking: 40, getTransaction: 20, listByEmail: 10, listFirst: 4, byChannel: 1, createBooking: 10, logPayments: 15}
	var draw []func(r *rand.Rand, into []byte) []byte
	for _, k := range kinds {
		for range weights[k.name] {
			draw = append(draw, k.make)
		}
	}
	// Any success counts: the mix has responses with both statuses.
	mixed := kind{name: "mixed", callers: b.callers, status: anySuccess, make: func(r *rand.Rand, into []byte) []byte {
		return draw[r.IntN(len(draw))](r, into)
	}}
	for n := range soakParts {
		l, err := drive(ctx, h.server.address, mixed, b.lasts/soakParts)
		if err != nil {
			return err
		}
		c, err := h.counters(ctx)
		if err != nil {
			return err
		}
		pid := h.server.cmd.Process.Pid
		b.result.fact(fmt.Sprintf("%s to %s", b.lasts*time.Duration(n)/soakParts, b.lasts*time.Duration(n+1)/soakParts), "",
			"%.0f a second, p50 %s, p99 %s, %d failed; %.0f MB, %d goroutines, %d threads, %d files and connections",
			float64(len(l.took))/l.lasted.Seconds(), shown(part(l.took, 0.5)), shown(part(l.took, 0.99)), l.failed,
			megabytes(pid, "VmRSS"), c.goroutines, threads(pid), descriptors(pid))
		b.say("%s: %s", b.result.Facts[n].What, b.result.Facts[n].Value)
	}
	return nil
}

// processes runs several processes of the product on one PostgreSQL, all logging payments for one channel.
func processes(ctx context.Context, b *bench) error {
	b.engine, b.result.Engine = "postgres", "postgres"
	if err := b.open(ctx); err != nil {
		return err
	}
	for turn := range b.turns {
		for _, n := range []int{1, 2, 4} {
			f, err := b.together(ctx, n, fmt.Sprintf("r%st%dp%d", time.Now().UTC().Format("150405"), turn, n))
			if err != nil {
				return err
			}
			f.Subject = strconv.Itoa(n) + " processes"
			b.progress(turn, f)
			b.result.Figures = append(b.result.Figures, f)
		}
	}
	turns := b.result.Figures
	b.result.Figures = nil
	b.result.add(turns)
	for _, f := range b.result.Figures {
		b.result.fact(f.Subject+": retried writes per commit", "", "%.4f", *f.Again / *f.Commits)
	}
	return nil
}

// together drives several processes at once, each with its share of the callers.
func (b *bench) together(ctx context.Context, n int, run string) (f figures, err error) {
	houses := make([]*house, n)
	for i := range houses {
		h := *b.house
		houses[i] = &h
		if err := h.start(ctx, settings...); err != nil {
			return f, err
		}
		defer houses[i].server.end()
	}
	v := &visitor{h: houses[0], run: run}
	if err := v.prepare(ctx); err != nil {
		return f, err
	}
	if err := houses[0].rest(ctx); err != nil { // background work of the previous turn must not count
		return f, err
	}
	k := kind{name: logPayment, callers: b.callers / n, status: http.StatusCreated, make: func(r *rand.Rand, into []byte) []byte {
		return v.payment(r, into, v.one, true)
	}}
	all := func(lasts time.Duration) (sum load, err error) {
		loads, errs := make([]load, n), make([]error, n)
		var work sync.WaitGroup
		for i, h := range houses {
			work.Go(func() { loads[i], errs[i] = drive(ctx, h.server.address, k, lasts) })
		}
		work.Wait()
		for _, l := range loads {
			sum.took, sum.failed, sum.bytes = append(sum.took, l.took...), sum.failed+l.failed, sum.bytes+l.bytes
			sum.lasted, sum.client = max(sum.lasted, l.lasted), max(sum.client, l.client)
			if sum.failure == "" {
				sum.failure = l.failure
			}
		}
		slices.Sort(sum.took)
		return sum, errors.Join(errs...)
	}
	if _, err := all(b.warmUp()); err != nil {
		return f, err
	}
	before, server, data, err := states(ctx, houses)
	if err != nil {
		return f, err
	}
	l, err := all(b.lasts)
	if err != nil {
		return f, err
	}
	after, server2, data2, err := states(ctx, houses)
	if err != nil {
		return f, err
	}
	k.callers *= n
	f = l.of("", k)
	count := float64(len(l.took))
	statements, commits := float64(after.statements-before.statements)/count, float64(after.commits-before.commits)/count
	again := float64(after.again-before.again) / count
	f.Statements, f.Commits, f.Again = &statements, &commits, &again
	f.ServerCPU, f.DataCPU, f.CPUSeconds = micros(server2-server)/count, micros(data2-data)/count, (server2 - server).Seconds()
	return f, nil
}

// states adds up the counters and processor times of several processes. data is the processor time of the database.
func states(ctx context.Context, houses []*house) (sum counters, server, data time.Duration, err error) {
	for _, h := range houses {
		c, err := h.counters(ctx)
		if err != nil {
			return sum, 0, 0, err
		}
		sum.statements, sum.commits, sum.again = sum.statements+c.statements, sum.commits+c.commits, sum.again+c.again
		server += processorTime(h.server.cmd.Process.Pid, false)
	}
	return sum, server, houses[0].databaseTime(), nil
}

// growth measures the same kinds on books of several sizes, in turn, and the disk space for each booking and payment.
func growth(ctx context.Context, b *bench) error {
	var houses []*house
	for text := range strings.SplitSeq(b.sizes, ",") {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1000 {
			return fmt.Errorf("-sizes must be comma-separated numbers of bookings, at least 1000 each, not %q", text)
		}
		b.size.Bookings = n
		if err := b.open(ctx); err != nil {
			return err
		}
		houses = append(houses, b.house)
	}
	all, err := b.grown(ctx, houses)
	if err != nil {
		return err
	}
	for turn := range b.turns {
		for _, b.house = range houses {
			if !b.chosen.MatchString(importRows) {
				continue
			}
			if err := warm(b.house.dir); err != nil {
				return err
			}
			f, err := b.importTurn(ctx, fmt.Sprintf("r%sg%d", time.Now().UTC().Format("150405"), turn))
			if err != nil {
				return err
			}
			f.Subject = b.house.title()
			b.progress(turn, f)
			all = append(all, f)
		}
	}
	b.result.add(all)
	for _, f := range b.result.Figures {
		small, ok := b.result.find(houses[0].title(), f.Kind, f.Callers)
		if ok && f.Subject != small.Subject {
			b.result.fact(fmt.Sprintf("%s, %d callers: %s vs. %s", f.Kind, f.Callers, f.Subject, small.Subject), "80 % of the requests per second",
				"%.0f %% of the requests per second, %.2f times the processor time", 100*f.PerSecond/small.PerSecond,
				(f.ServerCPU+f.DataCPU)/(small.ServerCPU+small.DataCPU))
		}
	}
	for _, b.house = range houses {
		if err := b.recordBytes(ctx, b.house.title()); err != nil {
			return err
		}
	}
	return nil
}

// title names the book of a house in tables.
func (h *house) title() string { return strconv.FormatInt(h.Book.Bookings, 10) + " bookings" }

// grown measures each kind of request on all books before the next kind, because the speed of a machine varies from
// minute to minute.
func (b *bench) grown(ctx context.Context, houses []*house) (all []figures, err error) {
	var kinds [][]kind
	for i, h := range houses {
		v, err := h.ready(ctx, fmt.Sprintf("r%sb%d", time.Now().UTC().Format("150405"), i))
		if err != nil {
			return nil, err
		}
		defer h.server.end()
		h.server.standStill()
		kinds = append(kinds, v.kinds(b.callers, b.many))
	}
	for k, of := range kinds[0] {
		if !b.chosen.MatchString(of.name) {
			continue
		}
		for _, h := range houses {
			if err := warm(h.dir); err != nil {
				return nil, err
			}
		}
		for turn := range b.turns {
			for i, h := range houses {
				b.house = h
				h.server.goOn()
				f, err := b.measure(ctx, kinds[i][k])
				h.server.standStill()
				if err != nil {
					return nil, err
				}
				f.Subject = h.title()
				b.progress(turn, f)
				all = append(all, f)
			}
		}
	}
	return all, nil
}

// grownBy is the minimum number of requests over which the growth of a database is measured, if time permits.
const grownBy = 5000

// recordBytes records how much the database grows for each booking, and then for each payment.
func (b *bench) recordBytes(ctx context.Context, size string) error {
	v := &visitor{h: b.house, run: "r" + time.Now().UTC().Format("150405") + "s"}
	if _, err := b.served(ctx, func() (int, error) { return 0, v.prepare(ctx) }); err != nil {
		return err
	}
	for _, k := range v.kinds(b.callers, 0) {
		if k.name != createBooking && k.name != logPayments {
			continue
		}
		before, err := b.databaseBytes(ctx)
		if err != nil {
			return err
		}
		n, err := b.served(ctx, func() (n int, err error) {
			for began := time.Now(); err == nil && n < grownBy && time.Since(began) < patience; {
				var l load
				l, err = drive(ctx, b.house.server.address, k, b.warmUp())
				n += len(l.took)
			}
			return n, err
		})
		if err != nil {
			return err
		}
		after, err := b.databaseBytes(ctx)
		if err != nil {
			return err
		}
		b.result.fact(fmt.Sprintf("%s: bytes on disk per request, %s", size, k.name), "", "%.0f, over %d",
			float64(after-before)/float64(n), n)
	}
	whole, err := b.databaseBytes(ctx)
	if err != nil {
		return err
	}
	b.result.fact(size+": database size", "", "%d MB", whole/1_000_000)
	return nil
}

// served starts the product, runs do, and stops the product, so that everything is in the database file.
func (b *bench) served(ctx context.Context, do func() (int, error)) (int, error) {
	if err := b.house.start(ctx, settings...); err != nil {
		return 0, err
	}
	defer b.house.server.end()
	return do()
}

// databaseBytes is the size of the product's database, which must not be in use.
func (b *bench) databaseBytes(ctx context.Context) (bytes int64, err error) {
	if b.engine == "sqlite" {
		info, err := os.Stat(filepath.Join(b.house.dir, "holdfast.db"))
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	conn, err := pgx.Connect(ctx, b.house.database)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&bytes)
	return bytes, err
}
