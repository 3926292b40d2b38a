package main

import (
	"context"
	"errors"
	"os"
	"time"

	"holdfast/bench/book"
	"holdfast/internal/domain/civil"
	"holdfast/internal/jobs"
)

// paidSites is the share of the sites of -only idle that have a payment: one in ten.
const paidSites = 10

// idle measures the processor time of the background jobs while none of many sites has any work, in all and by job.
func idle(ctx context.Context, b *bench) error {
	if err := b.openEmpty(ctx); err != nil {
		return err
	}
	h := b.house
	key, err := h.makeKeys()
	if err != nil {
		return err
	}
	store, service, err := open(ctx, h.database, key, time.Now)
	if err != nil {
		return err
	}
	began := time.Now()
	_, err = book.MakeSites(ctx, service, civil.DayOf(began), b.sites, paidSites, 1)
	if err == nil {
		b.say("  %d sites in %s", b.sites, time.Since(began).Round(time.Second))
		err = catchUp(ctx, b, jobs.New(service, service.Config.Log).Jobs())
	}
	if err == nil {
		err = b.idleByJob(ctx, jobs.New(service, service.Config.Log).Jobs())
	}
	service.Close()
	if err := errors.Join(err, store.Close()); err != nil {
		return err
	}
	return b.idleProgram(ctx)
}

// catchUp runs the jobs until delayed work is done, too: facts are sealed after ten seconds, and exposure is folded after a
// minute.
func catchUp(ctx context.Context, b *bench, list []jobs.Job) error {
	began := time.Now()
	for last := false; !last && ctx.Err() == nil; {
		last = time.Since(began) > 75*time.Second
		for _, job := range list {
			for more := true; more; {
				var err error
				if more, err = job.Run(ctx); err != nil {
					return err
				}
			}
		}
		until(ctx, time.Now().Add(time.Second))
	}
	b.say("  background jobs idle after %s", time.Since(began).Round(time.Second))
	return ctx.Err()
}

// idleByJob runs each job a few times, in this program, and records the processor time of one minute of its runs.
func (b *bench) idleByJob(ctx context.Context, list []jobs.Job) error {
	for _, job := range list {
		runs, own, data := 0, ownTime(), b.house.databaseTime()
		for began := time.Now(); runs < 3 || time.Since(began) < time.Second/2; runs++ {
			if _, err := job.Run(ctx); err != nil {
				return err
			}
		}
		each := float64(time.Minute) / float64(job.Every) / float64(runs)
		program, database := (ownTime()-own).Seconds()*each/60, (b.house.databaseTime()-data).Seconds()*each/60
		if program+database > 0.0005 {
			b.result.fact(job.Name+", every "+job.Every.String(), "", "%.2f %% of a core, %.2f %% by the program and %.2f %% by the database", 100*(program+database), 100*program, 100*database)
			b.say("  %s: %s", job.Name, b.result.Facts[len(b.result.Facts)-1].Value)
		}
	}
	return nil
}

// idleProgram runs the program for a minute, without any request.
func (b *bench) idleProgram(ctx context.Context) error {
	h := b.house
	if err := h.begin(ctx); err != nil {
		return err
	}
	defer h.server.end()
	// The first run after a start: the jobs that run each hour, and the rates of each sandbox, which are checked once a day.
	server, data := h.processorTimes()
	if err := h.rest(ctx); err != nil {
		return err
	}
	server2, data2 := h.processorTimes()
	b.result.fact("processor time of the first runs after a start", "", "%.0f s", (server2 - server + data2 - data).Seconds())
	server, data = server2, data2
	until(ctx, time.Now().Add(time.Minute))
	server2, data2 = h.processorTimes()
	program, database := (server2-server).Seconds()/60, (data2-data).Seconds()/60
	b.result.fact("a minute of all jobs", "5 %", "%.1f %% of a core, %.1f %% by the program and %.1f %% by the database", 100*(program+database), 100*program, 100*database)
	b.result.fact("sites", "", "%d, of which %d have a payment", b.sites, (b.sites+paidSites-1)/paidSites)
	return errors.Join(ctx.Err(), os.RemoveAll(h.dir))
}
