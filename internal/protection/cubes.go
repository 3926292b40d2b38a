package protection

import (
	"slices"
	"strconv"

	"holdfast/internal/civil"
	"holdfast/internal/money"
)

// View names a cube: by what its cells are told apart, besides currency, standing and the currency of the locked value.
// The second dimension is "" where there is one only.
type View struct {
	First  Dimension
	Second Dimension
}

// cubed are the dimensions that a view can have, in the order in which it names them. The currency is in all.
var cubed = []Dimension{ByChannel, ByMonth, ByScheme, ByCountry, BySupplier}

// Views are the cubes that are kept: of every dimension, and of those two that have few cells together. Each cube that a
// book is spread widely over makes folding dearer; what is crossed otherwise is added up from the buckets.
var Views = []View{
	{First: ByChannel}, {First: ByMonth}, {First: ByScheme}, {First: ByCountry}, {First: BySupplier},
	{ByChannel, ByMonth}, {ByChannel, ByScheme}, {ByMonth, ByScheme}, {ByMonth, ByCountry}, {ByScheme, ByCountry},
}

// ChannelView is the cube whose subtotals a spot total is the sum of.
var ChannelView = View{First: ByChannel}

// String names the view.
func (v View) String() string {
	if v.Second == "" {
		return string(v.First)
	}
	return string(v.First) + "," + string(v.Second)
}

// ViewFor picks the cube that has the rows of a report; ok is false where there is none. Where channels are picked out
// the cube must know them.
func ViewFor(q ReportQuery, picked bool) (v View, ok bool) {
	wanted := []Dimension{}
	for _, d := range cubed {
		if d == q.By || d == q.Across || picked && d == ByChannel {
			wanted = append(wanted, d)
		}
	}
	switch len(wanted) {
	case 0: // by currency alone
		return ChannelView, true
	case 1:
		v.First = wanted[0]
	case 2:
		v = View{wanted[0], wanted[1]}
	}
	return v, slices.Contains(Views, v)
}

// Cell is one cell of a cube.
type Cell struct {
	First    string // value of the view's dimensions, as text
	Second   string
	Currency money.Currency
	Standing Standing
	ValuedIn money.Currency
}

// CellOf is where a bucket is counted in a view.
func (v View) CellOf(b Bucket) Cell {
	return Cell{b.text(v.First), b.text(v.Second), b.Currency, b.Standing, b.ValuedIn}
}

func (b Bucket) text(d Dimension) string {
	switch d {
	case ByChannel:
		return strconv.FormatInt(b.ChannelID, 10)
	case ByMonth:
		return b.End.Month()
	case ByScheme:
		return string(b.Scheme)
	case ByCountry:
		return b.Country
	case BySupplier:
		return b.Suppliers
	default:
		return ""
	}
}

// AddBucket takes what a delta of a bucket counts for into the rows of the report, where no cube has them.
func (e *Exposure) AddBucket(d Delta) {
	var k Key
	for _, by := range []Dimension{e.query.By, e.query.Across} {
		if by == ByCurrency {
			k.Currency = d.Currency
		} else {
			k.set(by, d.text(by))
		}
	}
	e.takeRow(e.amountOf(Cell{Currency: d.Currency, Standing: d.Standing, ValuedIn: d.ValuedIn}, d.On(e.query.AsOf)), k)
}

// KeyOf reads a cell back: the key that a report has for it.
func (v View) KeyOf(c Cell, q ReportQuery) Key {
	var k Key
	for _, d := range []Dimension{q.By, q.Across} {
		switch d {
		case ByCurrency:
			k.Currency = c.Currency
		case v.First:
			k.set(d, c.First)
		case v.Second:
			k.set(d, c.Second)
		}
	}
	return k
}

func (k *Key) set(d Dimension, text string) {
	switch d {
	case ByChannel:
		k.ChannelID, _ = strconv.ParseInt(text, 10, 64) // written by text above
	case ByMonth:
		k.Month = text
	case ByScheme:
		k.Scheme = text
	case ByCountry:
		k.Country = text
	case BySupplier:
		k.Suppliers = text
	}
}

// blockDays is how many days share a block, as a power of two.
const blockDays = 5

// BlockOf is the number of the block that a day is in.
func BlockOf(day civil.Day) int64 { return int64(day >> blockDays) }

// Block is what changes in a cell on the days of one block. Its sum is kept beside it, so that a report reads the days
// of one block and of the earlier ones the sums only.
type Block struct {
	Sum  Tally
	Days []DayTally // in order, those without a change left out
}

// DayTally is what changes on a day.
type DayTally struct {
	Day civil.Day
	Tally
}

// Add adds a change to a day of the block.
func (b *Block) Add(day civil.Day, t Tally) {
	b.Sum.Add(t)
	i, found := slices.BinarySearchFunc(b.Days, day, func(d DayTally, day civil.Day) int { return int(d.Day - day) })
	if !found {
		b.Days = slices.Insert(b.Days, i, DayTally{Day: day})
	}
	b.Days[i].Add(t)
	if b.Days[i].Tally == (Tally{}) {
		b.Days = slices.Delete(b.Days, i, i+1)
	}
}

// BlockKey names a block of a cell of one view.
type BlockKey struct {
	Cell
	Block int64
}

// Gather adds what deltas change in the blocks of a view.
func (v View) Gather(deltas []Delta, blocks map[BlockKey]*Block) {
	for _, d := range deltas {
		cell := v.CellOf(d.Bucket)
		d.Changes(func(day civil.Day, t Tally) {
			at(blocks, BlockKey{cell, BlockOf(day)}).Add(day, t)
		})
	}
}
