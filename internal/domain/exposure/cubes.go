package exposure

import (
	"slices"
	"strconv"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
)

// View is the dimensions by which a cube adds up the buckets. Currency, category and the currency of the locked value
// always separate its cells as well. Second is "" for a cube with one dimension.
type View struct {
	First  Dimension
	Second Dimension
}

// cubed are the dimensions that a view can have, in their order in a view. Currency is in every view.
var cubed = []Dimension{ByChannel, ByMonth, ByScheme, ByCountry, BySupplier}

// Views are the cubes that are stored: each dimension alone, and pairs that have few cells. Cubes with many cells
// would make writes slow, so reports with other pairs add up the buckets.
var Views = []View{
	{First: ByChannel}, {First: ByMonth}, {First: ByScheme}, {First: ByCountry}, {First: BySupplier},
	{ByChannel, ByMonth}, {ByChannel, ByScheme}, {ByMonth, ByScheme}, {ByMonth, ByCountry}, {ByScheme, ByCountry},
}

// ChannelView is the cube with the subtotals that make the total of a spot valuation.
var ChannelView = View{First: ByChannel}

// String returns the dimensions of the view, with a comma between.
func (v View) String() string {
	if v.Second == "" {
		return string(v.First)
	}
	return string(v.First) + "," + string(v.Second)
}

// ViewFor picks the cube that has the rows of a report. ok is false when there is none. picked says that the report
// is about some channels only: then the cube must have the dimension channel.
func ViewFor(q ReportQuery, picked bool) (v View, ok bool) {
	wanted := []Dimension{}
	for _, d := range cubed {
		if d == q.By || d == q.Across || picked && d == ByChannel {
			wanted = append(wanted, d)
		}
	}
	switch len(wanted) {
	case 0: // currency alone, which every cube has
		return ChannelView, true
	case 1:
		v.First = wanted[0]
	case 2:
		v = View{wanted[0], wanted[1]}
	}
	return v, slices.Contains(Views, v)
}

// Cell names one cell of a cube.
type Cell struct {
	First    string // value of the first dimension, as text
	Second   string // value of the second one; "" without one
	Currency money.Currency
	Category Category
	ValuedIn money.Currency
}

// CellOf is the cell of a bucket in a view.
func (v View) CellOf(b Bucket) Cell {
	return Cell{b.text(v.First), b.text(v.Second), b.Currency, b.Category, b.ValuedIn}
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

// AddBucket adds a delta of a bucket to the rows of the report, when no cube has the rows.
func (e *Exposure) AddBucket(d Delta) {
	if d.Category != Instalments || !e.unprotected[d.ChannelID] {
		e.addBucket(d)
	}
}

func (e *Exposure) addBucket(d Delta) {
	var k Key
	for _, by := range []Dimension{e.query.By, e.query.Across} {
		if by == ByCurrency {
			k.Currency = d.Currency
		} else {
			k.set(by, d.text(by))
		}
	}
	e.takeRow(e.amountOf(Cell{Currency: d.Currency, Category: d.Category, ValuedIn: d.ValuedIn}, d.On(e.query.AsOf)), k)
}

// KeyOf is the key of a cell's row in a report.
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

// channelOf is the channel of a cell. ok is false if the view does not distinguish channels.
func (v View) channelOf(c Cell) (id int64, ok bool) {
	if v.First != ByChannel {
		return 0, false
	}
	var k Key
	k.set(ByChannel, c.First)
	return k.ChannelID, true
}

func (k *Key) set(d Dimension, text string) {
	switch d {
	case ByChannel:
		k.ChannelID, _ = strconv.ParseInt(text, 10, 64) // text above wrote it
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

// blockDays says how many days a block has: 2^5 = 32.
const blockDays = 5

// BlockOf is the number of the block that a day is in.
func BlockOf(day civil.Day) int64 { return int64(day >> blockDays) }

// Block is the changes of a cell on 32 days. Its sum is stored as well, so that a report reads the days of only one
// block, and the sums of earlier ones.
type Block struct {
	Sum  Tally
	Days []DayTally // in order, without days that change nothing
}

// DayTally is the change on a day.
type DayTally struct {
	Day civil.Day
	Tally
}

// Add adds a change on a day of the block.
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

// BlockKey names a block of a cell.
type BlockKey struct {
	Cell
	Block int64
}

// Gather adds the changes of deltas to the blocks of a view. It makes blocks that are missing.
func (v View) Gather(deltas []Delta, blocks map[BlockKey]*Block) {
	for _, d := range deltas {
		cell := v.CellOf(d.Bucket)
		d.Changes(func(day civil.Day, t Tally) {
			at(blocks, BlockKey{cell, BlockOf(day)}).Add(day, t)
		})
	}
}
