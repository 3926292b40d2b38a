package main

import (
	"context"
	"fmt"
)

// subject is a server under measurement: the product, a limit or the peer.
type subject struct {
	name    string
	server  *process
	of      func(k kind) (kind, bool) // the kind that corresponds to the product's k
	measure func(ctx context.Context, k kind) (figures, error)
}

// opening starts a subject.
type opening func(ctx context.Context) (*subject, error)

// openAll starts subjects one by one. Each is paused until it is measured.
func openAll(ctx context.Context, all []opening) (list []*subject, err error) {
	for _, open := range all {
		s, err := open(ctx)
		if err != nil {
			endAll(list)
			return nil, err
		}
		s.server.standStill()
		list = append(list, s)
	}
	return list, nil
}

func endAll(list []*subject) {
	for _, s := range list {
		s.server.end()
	}
}

// alone measures a kind with a subject while the others are paused.
func (s *subject) alone(ctx context.Context, k kind) (figures, error) {
	s.server.goOn()
	defer s.server.standStill()
	f, err := s.measure(ctx, k)
	if err != nil {
		return f, fmt.Errorf("%s: %w", s.name, err)
	}
	return f, nil
}

// other is a subject other than the product, without statement counts. Its processor time is that of its server, plus
// PostgreSQL's.
func (b *bench) other(name string, server *process, of func(k kind) (kind, bool)) *subject {
	measure := func(ctx context.Context, k kind) (figures, error) {
		if _, err := drive(ctx, server.address, k, b.warmUp()); err != nil {
			return figures{}, err
		}
		pid := server.cmd.Process.Pid
		before, data := processorTime(pid, false), b.house.databaseTime()
		l, err := drive(ctx, server.address, k, b.lasts)
		if err != nil {
			return figures{}, err
		}
		f, used := l.of(name, k), processorTime(pid, false)-before
		f.ServerCPU, f.CPUSeconds = micros(used)/float64(len(l.took)), used.Seconds()
		f.DataCPU = micros(b.house.databaseTime()-data) / float64(len(l.took))
		f.Resident, f.Peak = megabytes(pid, "VmRSS"), megabytes(pid, "VmHWM")
		return f, nil
	}
	return &subject{name, server, of, measure}
}
