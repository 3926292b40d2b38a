package exposure

import (
	"maps"
	"slices"
	"time"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// WhatIf computes the loss if some merchants fail at the end of a day: it adds up their positions by channel, scheme
// and month of travel (R7).
type WhatIf struct {
	byChannel       *Exposure
	schemes, months map[string]*Exposure
	locked          map[int64]*Exposure // by channel, in the policy currency
	part, lock      func() *Exposure
}

// WhatIfReport is the loss, in total and by channel, scheme and month.
type WhatIfReport struct {
	Query     ReportQuery
	Channels  []WhatIfChannel
	Schemes   WhatIfRows
	Months    WhatIfRows        // of travel: of the end date
	Total     Figures           // E1 is the loss, in the report currency
	Gaps      Gaps              // of the total
	Net       NetTotal          // the loss less collateral
	Use       int64             // of the limits: E1 locked, in the policy currency
	UseGap    bool              // the use is not known: a part of it waits for its rate (R9)
	SiteLimit *protection.Limit // nil: none
	Pending   []Pending         // without a value in the report currency: the loss is then not known
	Unvalued  []HeldAmount      // collateral without a rate
}

// WhatIfRows is the loss by scheme or by month, in the report currency and in order of the keys. Each row is rounded
// by itself: Rounding is the total less all rows. It is unknown if the total is.
type WhatIfRows struct {
	Rows     []WhatIfRow
	Rounding Figures
}

// WhatIfRow is the loss in one scheme or month.
type WhatIfRow struct {
	Key string
	Figures
	Gaps Gaps
}

// WhatIfChannel is the loss of one merchant.
type WhatIfChannel struct {
	ChannelID int64
	Figures   // in the report currency
	Gaps      Gaps
	Net       NetTotal          // the loss less collateral for this channel alone
	Use       int64             // E1 locked, in the policy currency
	UseGap    bool              // the use is not known
	Limit     *protection.Limit // in force on the day; nil: none
}

// NewWhatIf starts a report in a spot valuation. rates are the fixings for it.
func NewWhatIf(q ReportQuery, rates *fx.Table) *WhatIf {
	by := func(v Valuation, c money.Currency) *Exposure {
		q := q
		q.By, q.Valuation, q.Currency = ByChannel, v, c
		return NewExposure(q, rates)
	}
	whole := func() *Exposure { return by(Spot, q.Currency) }
	part := func() *Exposure {
		e := whole()
		e.query.Scope = Scope{} // who adds to a part has looked already
		return e
	}
	return &WhatIf{
		byChannel: whole(), locked: map[int64]*Exposure{}, schemes: map[string]*Exposure{}, months: map[string]*Exposure{},
		part: part, lock: func() *Exposure { return by(Locked, q.Policy) },
	}
}

// Add adds a position of a failing merchant. The error is money.ErrRange.
func (w *WhatIf) Add(p Position) error {
	for _, e := range w.byMerchant(p.ChannelID) {
		if err := e.Add(p); err != nil {
			return err
		}
	}
	p.ChannelID = 0
	for _, e := range w.parts(p.Scheme, p.Terms.End.Month()) {
		if err := e.Add(p); err != nil {
			return err
		}
	}
	return nil
}

// AddBucket adds a delta of a bucket. It replaces Add for the positions in the bucket.
func (w *WhatIf) AddBucket(d Delta) {
	add := func(list []*Exposure) {
		for _, e := range list {
			e.AddBucket(d)
			e.AddTotal(ChannelView.CellOf(d.Bucket), d.On(e.query.AsOf))
		}
	}
	add(w.byMerchant(d.ChannelID))
	d.ChannelID = 0
	add(w.parts(d.Scheme, d.End.Month()))
}

// WhatIfViews are the cubes that have the sums of the report. picked says that it is about some channels only.
func WhatIfViews(picked bool) []View {
	if picked {
		return []View{ChannelView, {ByChannel, ByMonth}, {ByChannel, ByScheme}}
	}
	return []View{ChannelView, {First: ByMonth}, {First: ByScheme}}
}

// AddCell adds the subtotal of a cell of one of the WhatIfViews. The cells of all views together replace Add for all
// positions.
func (w *WhatIf) AddCell(v View, c Cell, t Tally) {
	sums, key := w.months, c.First
	switch {
	case v == ChannelView:
		channel, _ := v.channelOf(c)
		for _, e := range w.byMerchant(channel) {
			e.AddRows(v, c, t)
			e.AddTotal(c, t)
		}
		return
	case v.First == ByScheme || v.Second == ByScheme:
		sums = w.schemes
	}
	if v.Second != "" {
		key = c.Second
	}
	c.First = "0" // as an amount of no channel
	sumAt(sums, key, w.part).AddTotal(c, t)
}

// byMerchant are the sums to which an amount of a channel belongs, and parts those by scheme and month of travel, which
// do not distinguish channels: each is rounded once per currency, like the rows of an exposure report.
func (w *WhatIf) byMerchant(channel int64) []*Exposure {
	return []*Exposure{w.byChannel, sumAt(w.locked, channel, w.lock)}
}

func (w *WhatIf) parts(scheme card.Scheme, month string) []*Exposure {
	return []*Exposure{sumAt(w.schemes, string(scheme), w.part), sumAt(w.months, month, w.part)}
}

// sumAt is the sum of a key. begin makes the first one.
func sumAt[K comparable](sums map[K]*Exposure, key K, begin func() *Exposure) *Exposure {
	if sums[key] == nil {
		sums[key] = begin()
	}
	return sums[key]
}

// rowsOf makes the rows of one attribute. A sum of nothing has no row.
func rowsOf(parts map[string]*Exposure, total Figures) (WhatIfRows, error) {
	r := WhatIfRows{Rounding: Figures{E1: total.E1, E2: total.E2}}
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		report, err := parts[key].Report()
		if err != nil {
			return r, err
		}
		if report.Total.Allocations == 0 {
			continue
		}
		r.Rows = append(r.Rows, WhatIfRow{key, report.Total, report.Gaps})
		r.Rounding.E1 -= report.Total.E1
		r.Rounding.E2 -= report.Total.E2
	}
	return r, nil
}

// pendingE1 reports whether something undelivered waits for its rate.
func pendingE1(list []Pending) bool {
	return slices.ContainsFunc(list, func(p Pending) bool { return p.E1 != 0 })
}

// Report ends the sums, and takes collateral off them. limits are those of the site, as known at now. The error is
// money.ErrRange.
func (w *WhatIf) Report(held *Netting, limits protection.Limits, now time.Time) (WhatIfReport, error) {
	channels, err := w.byChannel.Report()
	if err != nil {
		return WhatIfReport{}, err
	}
	r := WhatIfReport{
		Query: channels.Query, Total: channels.Total, Gaps: channels.Gaps, Net: held.Total(channels.Channels),
		Pending: channels.PendingRate, Unvalued: held.PendingRate,
	}
	if r.Schemes, err = rowsOf(w.schemes, r.Total); err != nil {
		return r, err
	}
	if r.Months, err = rowsOf(w.months, r.Total); err != nil {
		return r, err
	}
	rows := map[int64]*WhatIfChannel{}
	for _, row := range channels.Rows {
		of := at(rows, row.Key.ChannelID)
		of.add(Figures{Allocations: row.Allocations, E1: row.E1Report, E2: row.E2Report})
		of.Gaps.add(row.Gaps)
	}
	for channel, sum := range w.locked {
		locked, err := sum.Report()
		if err != nil {
			return r, err
		}
		if locked.Total.Allocations == 0 && len(locked.PendingRate) == 0 {
			continue
		}
		of := at(rows, channel)
		of.Use, of.UseGap = locked.Total.E1, locked.Gaps.E1 || pendingE1(locked.PendingRate)
		r.Use, r.UseGap = r.Use+of.Use, r.UseGap || of.UseGap
	}
	limitOf := func(scope protection.LimitScope, channel int64) *protection.Limit {
		if l, ok := limits.InForce(scope, channel, r.Query.AsOf, now); ok && l.Currency == r.Query.Policy {
			return &l
		}
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		c := rows[id]
		c.ChannelID, c.Limit = id, limitOf(protection.LimitChannel, id)
		c.Net = held.Channel(id, ChannelTotalE1{c.E1, c.Gaps.E1})
		r.Channels = append(r.Channels, *c)
	}
	r.SiteLimit = limitOf(protection.LimitSite, 0)
	return r, nil
}
