package protection_test

import (
	"testing"

	"pgregory.net/rapid"

	"holdfast/internal/civil"
	"holdfast/internal/protection"
)

// TestCubesSayWhatDeltasSay: the changes of deltas, gathered into blocks, written down and read back, come on every day
// to what the deltas count for.
func TestCubesSayWhatDeltasSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := func(from, days int, name string) civil.Day {
			return civil.Day(from + rapid.IntRange(0, days).Draw(t, name))
		}
		var deltas []protection.Delta
		for range rapid.IntRange(1, 12).Draw(t, "deltas") {
			end := day(-40, 120, "end")
			deltas = append(deltas, protection.Delta{
				Day: day(-40, 100, "day"), Count: rapid.Int64Range(-2, 2).Draw(t, "count"),
				Amount: rapid.Int64Range(-500, 500).Draw(t, "amount"), Locked: rapid.Int64Range(-500, 500).Draw(t, "locked"),
				Bucket: protection.Bucket{
					ChannelID: rapid.Int64Range(1, 2).Draw(t, "channel"), Currency: "EUR", Standing: protection.Covered,
					Start: end - civil.Day(rapid.IntRange(0, 9).Draw(t, "nights")), End: end,
					LastDay: end + civil.Day(rapid.IntRange(-20, 60).Draw(t, "window")),
				},
			})
		}
		for _, v := range protection.Views {
			blocks := map[protection.BlockKey]*protection.Block{}
			v.Gather(deltas, blocks)
			for on := civil.Day(-50); on < 160; on += 7 {
				got, want := map[protection.Cell]protection.Tally{}, map[protection.Cell]protection.Tally{}
				for _, d := range deltas {
					sum := want[v.CellOf(d.Bucket)]
					sum.Add(d.On(on))
					want[v.CellOf(d.Bucket)] = sum
				}
				for key, b := range blocks {
					sum := got[key.Cell]
					sum.Add(upTo(t, key.Block, *b, on))
					got[key.Cell] = sum
				}
				for cell := range want {
					if got[cell] != want[cell] {
						t.Fatalf("%s %+v on %d: blocks %+v, deltas %+v", v, cell, on, got[cell], want[cell])
					}
				}
			}
		}
	})
}

// upTo reads a block back from its text and counts it as a report does.
func upTo(t *rapid.T, number int64, b protection.Block, on civil.Day) protection.Tally {
	read, err := protection.ParseBlock(b.Text())
	if err != nil || read.Sum != b.Sum {
		t.Fatalf("%q: %v, sum %+v, want %+v", b.Text(), err, read.Sum, b.Sum)
	}
	switch {
	case number < protection.BlockOf(on):
		return b.Sum
	case number == protection.BlockOf(on):
		return read.UpTo(on)
	default:
		return protection.Tally{}
	}
}

func TestABrokenBlockIsAnError(t *testing.T) {
	for _, text := range []string{"1 2", "1 2 3 4 5 6 7 x", ";"} {
		if _, err := protection.ParseBlock(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestSupplierKeys(t *testing.T) {
	if key := protection.SupplierKey([]int64{7, 3, 7}); key != "3,7" || len(protection.SupplierIDs(key)) != 2 {
		t.Errorf("%q, %v", key, protection.SupplierIDs(key))
	}
	if key := protection.SupplierKey(nil); key != "" || protection.SupplierIDs(key) != nil {
		t.Errorf("%q, %v", key, protection.SupplierIDs(key))
	}
}
