package ledger_test

import (
	"slices"
	"testing"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"

	"pgregory.net/rapid"
)

// TestCubesSayWhatDeltasSay: the changes of deltas, collected in blocks, packed and unpacked, add up to the deltas on
// every day.
func TestCubesSayWhatDeltasSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := func(from, days int, name string) civil.Day {
			return civil.Day(from + rapid.IntRange(0, days).Draw(t, name))
		}
		var deltas []exposure.Delta
		for range rapid.IntRange(1, 12).Draw(t, "deltas") {
			end := day(-40, 120, "end")
			deltas = append(deltas, exposure.Delta{
				Day: day(-40, 100, "day"), Count: rapid.Int64Range(-2, 2).Draw(t, "count"),
				Amount: rapid.Int64Range(-500, 500).Draw(t, "amount"), Locked: rapid.Int64Range(-500, 500).Draw(t, "locked"),
				Bucket: exposure.Bucket{
					ChannelID: rapid.Int64Range(1, 2).Draw(t, "channel"), Currency: "EUR", Category: exposure.Covered,
					Start: end - civil.Day(rapid.IntRange(0, 9).Draw(t, "nights")), End: end,
					LastDay: end + civil.Day(rapid.IntRange(-20, 60).Draw(t, "window")),
				},
			})
		}
		for _, v := range exposure.Views {
			blocks := map[exposure.BlockKey]*exposure.Block{}
			v.Gather(deltas, blocks)
			for on := civil.Day(-50); on < 160; on += 7 {
				got, want := map[exposure.Cell]exposure.Tally{}, map[exposure.Cell]exposure.Tally{}
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

// upTo unpacks a block and adds it up like a report.
func upTo(t *rapid.T, number int64, b exposure.Block, on civil.Day) exposure.Tally {
	read, err := readBlock(ledger.PackDays(b))
	if err != nil || read.Sum != b.Sum {
		t.Fatalf("%x: %v, sum %+v, want %+v", ledger.PackDays(b), err, read.Sum, b.Sum)
	}
	switch {
	case number < exposure.BlockOf(on):
		return b.Sum
	case number > exposure.BlockOf(on):
		return exposure.Tally{}
	}
	var sum exposure.Tally
	for _, d := range read.Days {
		if d.Day <= on {
			sum.Add(d.Tally)
		}
	}
	return sum
}

// TestPacksSayWhatDeltasSay: packed deltas are unpacked in order, and the pack knows its days.
func TestPacksSayWhatDeltasSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := rapid.Custom(func(t *rapid.T) civil.Day { return civil.Day(rapid.Int64Range(-1000, 90000).Draw(t, "day")) })
		text := rapid.SampledFrom([]string{"", "EUR", "é", "1,2,3", "covered"})
		deltas := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) exposure.Delta {
			return exposure.Delta{
				Day: day.Draw(t, "day"), Count: rapid.Int64().Draw(t, "count"), Amount: rapid.Int64().Draw(t, "amount"),
				Locked: rapid.Int64().Draw(t, "locked"), Known: rapid.Int64Range(0, 1<<60).Draw(t, "known"), Bucket: exposure.Bucket{
					ChannelID: rapid.Int64().Draw(t, "channel"), Currency: money.Currency(text.Draw(t, "currency")),
					Scheme: card.Scheme(text.Draw(t, "scheme")), Country: text.Draw(t, "country"),
					Suppliers: text.Draw(t, "suppliers"), Category: exposure.Category(text.Draw(t, "standing")),
					ValuedIn: money.Currency(text.Draw(t, "valued in")), Start: day.Draw(t, "start"),
					End: day.Draw(t, "end"), LastDay: day.Draw(t, "last day"),
				},
			}
		}), 1, 9).Draw(t, "deltas")
		p := ledger.PackDeltas(deltas)
		var read []exposure.Delta
		err := ledger.EachDelta(p.Deltas, p.Known, func(d exposure.Delta) { read = append(read, d) })
		if err != nil || !slices.Equal(read, deltas) {
			t.Fatalf("%v\n%+v\n%+v", err, read, deltas)
		}
		for _, d := range deltas {
			if d.Day < p.FirstDay || d.Day > p.FinalDay || d.LastDay > p.LastDay || d.Known > p.FinalKnown {
				t.Fatalf("%+v is not within %+v", d, p)
			}
		}
		if err := ledger.EachDelta(p.Deltas[:len(p.Deltas)-1], nil, func(exposure.Delta) {}); err == nil {
			t.Fatal("a pack that was cut off was read")
		}
	})
}

func TestABrokenPieceIsAnError(t *testing.T) {
	for name, packed := range map[string][]byte{"cut off": {2, 4}, "an endless number": {255}, "texts that are not there": {8, 200}} {
		if _, err := readBlock(packed); err == nil {
			t.Errorf("%s: read as a block", name)
		}
		if err := ledger.EachDelta(packed, nil, func(exposure.Delta) {}); err == nil {
			t.Errorf("%s: read as deltas", name)
		}
	}
}

// readBlock reads what PackDays wrote.
func readBlock(packed []byte) (b exposure.Block, err error) {
	err = ledger.EachDay(packed, b.Add)
	return b, err
}
