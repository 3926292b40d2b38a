package ledger

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
)

// A report on a large book reads some hundred thousand small numbers. Parsing them as text took most of its time. So
// blocks and buckets are stored as varints: a number near zero takes one byte, an amount three or four.

var errPacked = errors.New("stored exposure cannot be read")

// unpacking reads numbers one after the other. When one is missing it is broken, and returns zeros from then on. It
// keeps a position, because to cut the slice each time would cost more than to read.
type unpacking struct {
	packed []byte
	at     int
	broken bool
}

func (u *unpacking) more() bool { return !u.broken && u.at < len(u.packed) }

func (u *unpacking) int() int64 {
	if u.at < len(u.packed) && u.packed[u.at] < 1<<7 { // one byte, like most numbers
		n := int64(u.packed[u.at])
		u.at++
		return n>>1 ^ -(n & 1)
	}
	n, size := binary.Varint(u.packed[u.at:])
	if size <= 0 {
		u.at, u.broken = len(u.packed), true
		return 0
	}
	u.at += size
	return n
}

func (u *unpacking) text() string {
	size := u.int()
	if size < 0 || size > int64(len(u.packed)-u.at) {
		u.at, u.broken = len(u.packed), true
		return ""
	}
	from := u.at
	u.at += int(size)
	return string(u.packed[from:u.at])
}

// packDays writes the days of a block: for each its distance from the day before it, and the change.
func packDays(b exposure.Block) []byte {
	packed, before := make([]byte, 0, 24*len(b.Days)), civil.Day(0)
	for _, d := range b.Days {
		packed = binary.AppendVarint(packed, int64(d.Day-before))
		for _, n := range []int64{d.Count, d.Amount, d.End, d.Start, d.Locked, d.LockedEnd, d.LockedStart} {
			packed = binary.AppendVarint(packed, n)
		}
		before = d.Day
	}
	return packed
}

// EachDay reads what PackDays wrote, and calls each for every day. It is an error when the bytes cannot be read.
func EachDay(packed []byte, each func(civil.Day, exposure.Tally)) error {
	u, day := unpacking{packed: packed}, civil.Day(0)
	for u.more() {
		day += civil.Day(u.int())
		t := exposure.Tally{
			Count: u.int(), Amount: u.int(), End: u.int(), Start: u.int(), Locked: u.int(), LockedEnd: u.int(), LockedStart: u.int(),
		}
		if u.broken {
			return errPacked
		}
		each(day, t)
	}
	return nil
}

// Pack is a part of the deltas of a site, as it is stored, with the days that they span.
type Pack struct {
	FirstDay civil.Day // the first Day of a delta
	FinalDay civil.Day // the last Day of a delta
	LastDay  civil.Day // after it no delta counts
	Deltas   []byte
	// Known has when each was recorded, apart from the rest: most reports do not ask. FinalKnown is the last of them.
	Known      []byte
	FinalKnown int64
}

// PackDeltas packs deltas. There must be at least one. They share a few texts: each text is written once, and the
// deltas hold its index.
func PackDeltas(deltas []exposure.Delta) Pack {
	p := Pack{FirstDay: deltas[0].Day, FinalDay: deltas[0].Day, LastDay: deltas[0].LastDay}
	places, texts := map[string]int64{}, []string(nil)
	place := func(text string) int64 {
		at, found := places[text]
		if !found {
			at = int64(len(texts))
			places[text], texts = at, append(texts, text)
		}
		return at
	}
	var body []byte
	before := int64(0)
	for _, d := range deltas {
		p.Known, before = binary.AppendVarint(p.Known, d.Known-before), d.Known
		p.FinalKnown = max(p.FinalKnown, d.Known)
		p.FirstDay, p.FinalDay, p.LastDay = min(p.FirstDay, d.Day), max(p.FinalDay, d.Day), max(p.LastDay, d.LastDay)
		for _, n := range []int64{
			int64(d.Day), d.ChannelID, place(string(d.Currency)), place(string(d.Scheme)), place(d.Country),
			place(d.Suppliers), place(string(d.Category)), place(string(d.ValuedIn)), int64(d.Start - d.Day),
			int64(d.End - d.Day), int64(d.LastDay - d.Day), d.Count, d.Amount, d.Locked,
		} {
			body = binary.AppendVarint(body, n)
		}
	}
	p.Deltas = binary.AppendVarint(p.Deltas, int64(len(texts)))
	for _, text := range texts {
		p.Deltas = binary.AppendVarint(p.Deltas, int64(len(text)))
		p.Deltas = append(p.Deltas, text...)
	}
	p.Deltas = append(p.Deltas, body...)
	return p
}

// EachDelta reads what PackDeltas wrote, and calls each for every delta. Without the bytes of Known, the deltas do not have
// it. It is an error when the bytes cannot be read.
func EachDelta(packed, known []byte, each func(exposure.Delta)) error {
	u, at, recordedAt := unpacking{packed: packed}, unpacking{packed: known}, int64(0)
	var texts []string
	for left := u.int(); left > 0 && !u.broken; left-- {
		texts = append(texts, u.text())
	}
	if u.broken {
		return errPacked
	}
	text := func() string {
		at := u.int()
		if at < 0 || at >= int64(len(texts)) {
			u.broken = true
			return ""
		}
		return texts[at]
	}
	for u.more() {
		d := exposure.Delta{Day: civil.Day(u.int())}
		d.ChannelID = u.int()
		d.Currency, d.Scheme, d.Country = money.Currency(text()), card.Scheme(text()), text()
		d.Suppliers, d.Category, d.ValuedIn = text(), exposure.Category(text()), money.Currency(text())
		d.Start, d.End, d.LastDay = d.Day+civil.Day(u.int()), d.Day+civil.Day(u.int()), d.Day+civil.Day(u.int())
		d.Count, d.Amount, d.Locked = u.int(), u.int(), u.int()
		if len(known) > 0 {
			recordedAt += at.int()
			d.Known = recordedAt
		}
		if u.broken || at.broken {
			return errPacked
		}
		each(d)
	}
	return nil
}

// inOrder sorts deltas by Day, so that a pack spans few days.
func inOrder(deltas []exposure.Delta) {
	slices.SortStableFunc(deltas, func(a, b exposure.Delta) int { return cmp.Compare(a.Day, b.Day) })
}
