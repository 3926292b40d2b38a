package postgres

import (
	"math"
	"testing"
)

// TestHash has values of Citus's worker_hash. A cluster compares more of them in TestHashOfASite of package store.
func TestHash(t *testing.T) {
	t.Parallel()
	for site, want := range map[int64]int32{
		0: -272711505, 1: -1905060026, 2: 1134484726, 99_999: 1065924364, 1 << 40: 1851357687, -1: 385747274, math.MaxInt64: -1524351049,
	} {
		if got := Hash(site); got != want {
			t.Errorf("site %d: %d, want %d", site, got, want)
		}
	}
}

// TestTheNodeOfASite: the node with the shard that contains its hash, both ends included.
func TestTheNodeOfASite(t *testing.T) {
	t.Parallel()
	coordinator, first, second := &Node{Address: "coordinator"}, &Node{Address: "first"}, &Node{Address: "second"}
	c := &Cluster{coordinator: coordinator}
	of := func(site int64, shards ...shard) *Node {
		c.state.Store(&placement{shards: shards})
		return c.Of(site)
	}
	for _, site := range []int64{1, 2, 99_999} {
		at := Hash(site)
		for name, got := range map[string]struct{ on, want *Node }{
			"the least of the second": {of(site, shard{math.MinInt32, at - 1, first}, shard{at, math.MaxInt32, second}), second},
			"the most of the first":   {of(site, shard{math.MinInt32, at, first}, shard{at + 1, math.MaxInt32, second}), first},
			"before distribution":     {of(site), coordinator},
		} {
			if got.on != got.want {
				t.Errorf("site %d, %s: %s", site, name, got.on.Address)
			}
		}
	}
	c.state.Store(&placement{nodes: []*Node{coordinator, first}, shards: []shard{{math.MinInt32, math.MaxInt32, first}}})
	if got := c.Answering(); got != coordinator {
		t.Errorf("%s answers for the deployment", got.Address)
	}
	coordinator.SetAway(true)
	if got := c.Answering(); got != first {
		t.Errorf("%s answers for the deployment while the coordinator does not", got.Address)
	}
}
