package exposure

import (
	"slices"
	"time"

	"holdfast/internal/domain/protection"
)

// Clone is a copy that does not change with this one.
func (b BookingRisk) Clone() BookingRisk {
	b.Totals, b.Allocations = slices.Clone(b.Totals), slices.Clone(b.Allocations)
	return b
}

// KnownAt is the risk as known at an instant: without later records.
func (b BookingRisk) KnownAt(at time.Time) BookingRisk {
	b.known = at
	later := func(recorded time.Time) bool { return recorded.After(at) }
	b.Allocations = slices.DeleteFunc(slices.Clone(b.Allocations), func(h protection.History) bool { return later(h.RecordedAt) })
	for i := range b.Allocations {
		h := &b.Allocations[i]
		h.Terms = slices.DeleteFunc(slices.Clone(h.Terms), func(t protection.DatedTerms) bool { return later(t.RecordedAt) })
		h.Events = slices.DeleteFunc(slices.Clone(h.Events), func(e protection.Event) bool { return later(e.RecordedAt) })
		if later(h.PricedAt) {
			h.PricedAt = time.Time{}
		}
	}
	return b
}

// RecordedAfter lists the instants after the given one at which something was recorded, in order.
func (b BookingRisk) RecordedAfter(at time.Time) (list []time.Time) {
	add := func(recorded time.Time) {
		if recorded.After(at) {
			list = append(list, recorded)
		}
	}
	for _, c := range b.Totals {
		add(c.At)
	}
	for _, h := range b.Allocations {
		add(h.RecordedAt)
		add(h.PricedAt)
		for _, t := range h.Terms {
			add(t.RecordedAt)
		}
		for _, e := range h.Events {
			add(e.RecordedAt)
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}

// OvertakenDeltas returns the deltas of a write that turns one risk into another after writes with later clocks. The
// new record then also changes what was known at their times: for each time, the deltas up to it match the records up
// to it. The error is money.ErrRange.
func OvertakenDeltas(before, after BookingRisk, now time.Time) (list []Delta, err error) {
	var reached []Delta // by how much both differ, as known at the instant before
	for _, at := range append([]time.Time{now}, after.RecordedAfter(now)...) {
		was, err := before.KnownAt(at).Deltas()
		if err != nil {
			return nil, err
		}
		is, err := after.KnownAt(at).Deltas()
		if err != nil {
			return nil, err
		}
		differ := Difference(was, is)
		for _, d := range Difference(reached, differ) {
			d.Known = at.UnixMicro()
			list = append(list, d)
		}
		reached = differ
	}
	return list, nil
}
