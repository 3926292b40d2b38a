package protection

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// What a report reads of a large book is some hundred thousand small numbers. As text, parsing them took most of its
// time, so blocks and buckets are kept as varints: numbers near zero in one byte, those of amounts in three or four.

var errPacked = errors.New("a packed piece of exposure cannot be read")

// unpacking reads numbers one after the other. After the first that is not there it gives zeros, and is broken. It
// counts how far it is: to cut off what is read would cost more than to read it.
type unpacking struct {
	packed []byte
	at     int
	broken bool
}

func (u *unpacking) more() bool { return !u.broken && u.at < len(u.packed) }

func (u *unpacking) int() int64 {
	if u.at < len(u.packed) && u.packed[u.at] < 1<<7 { // in one byte, as most
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

// Bytes writes the days of the block down: of each, how far it is from the one before, and what changes.
func (b Block) Bytes() []byte {
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

// EachDay calls each for the days of a block that Bytes wrote.
func EachDay(packed []byte, each func(civil.Day, Tally)) error {
	u, day := unpacking{packed: packed}, civil.Day(0)
	for u.more() {
		day += civil.Day(u.int())
		t := Tally{u.int(), u.int(), u.int(), u.int(), u.int(), u.int(), u.int()}
		if u.broken {
			return errPacked
		}
		each(day, t)
	}
	return nil
}

// ReadBlock reads back what Bytes wrote.
func ReadBlock(packed []byte) (b Block, err error) {
	err = EachDay(packed, func(day civil.Day, t Tally) {
		b.Days = append(b.Days, DayTally{day, t})
		b.Sum.Add(t)
	})
	return b, err
}

// Pack is a piece of the buckets of a site as it is kept: deltas, and between which days they lie.
type Pack struct {
	FirstDay civil.Day // from which on the first of them counts
	FinalDay civil.Day // from which on all of them do
	LastDay  civil.Day // after which none of them does
	Deltas   []byte
}

// PackDeltas packs deltas, of which there is at least one. Their texts are few and often the same: each is written
// down once, and the deltas have its place.
func PackDeltas(deltas []Delta) Pack {
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
	for _, d := range deltas {
		p.FirstDay, p.FinalDay, p.LastDay = min(p.FirstDay, d.Day), max(p.FinalDay, d.Day), max(p.LastDay, d.LastDay)
		for _, n := range []int64{
			int64(d.Day), d.ChannelID, place(string(d.Currency)), place(string(d.Scheme)), place(d.Country),
			place(d.Suppliers), place(string(d.Standing)), place(string(d.ValuedIn)), int64(d.Start - d.Day),
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

// EachDelta calls each for the deltas that PackDeltas packed.
func EachDelta(packed []byte, each func(Delta)) error {
	u := unpacking{packed: packed}
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
		d := Delta{Day: civil.Day(u.int())}
		d.ChannelID = u.int()
		d.Currency, d.Scheme, d.Country = money.Currency(text()), travel.Scheme(text()), text()
		d.Suppliers, d.Standing, d.ValuedIn = text(), Standing(text()), money.Currency(text())
		d.Start, d.End, d.LastDay = d.Day+civil.Day(u.int()), d.Day+civil.Day(u.int()), d.Day+civil.Day(u.int())
		d.Count, d.Amount, d.Locked = u.int(), u.int(), u.int()
		if u.broken {
			return errPacked
		}
		each(d)
	}
	return nil
}

// InOrder puts deltas in order of the days from which on they count, so that a pack spans few of them.
func InOrder(deltas []Delta) {
	slices.SortStableFunc(deltas, func(a, b Delta) int { return cmp.Compare(a.Day, b.Day) })
}
