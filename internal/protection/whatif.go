package protection

import (
	"maps"
	"slices"
	"time"

	"holdfast/internal/fx"
	"holdfast/internal/money"
)

// WhatIf answers what is lost if a set of merchants fails at the end of a day: the same positions, summed up by channel,
// scheme and month of travel.
type WhatIf struct {
	byChannel, byScheme, byMonth, locked *Exposure
}

// WhatIfReport is the loss, by what it is asked for.
type WhatIfReport struct {
	Query     ReportQuery
	Channels  []WhatIfChannel
	ByScheme  Report
	ByMonth   Report
	Total     Figures // E1 is the loss, in the report's currency
	Held      int64   // collateral that can be set against it
	Net       int64
	Use       int64 // of the limits: E1 locked in the policy currency
	SiteLimit *Limit
	Pending   []Pending    // what has no value in the report's currency: in no figure above
	Unvalued  []HeldAmount // collateral without a rate
}

// WhatIfChannel is what one of the merchants brings.
type WhatIfChannel struct {
	ChannelID int64
	Figures         // in the report's currency
	Held      int64 // collateral for this channel alone
	Net       int64
	Use       int64  // E1 locked in the policy currency
	Limit     *Limit // in force on the day; nil: none
}

// NewWhatIf starts a report at spot values; rates hold what it converts by.
func NewWhatIf(q ReportQuery, rates *fx.Table) *WhatIf {
	by := func(d Dimension, v Valuation, c money.Currency) *Exposure {
		q := q
		q.By, q.Valuation, q.Currency = d, v, c
		return NewExposure(q, rates)
	}
	return &WhatIf{
		byChannel: by(ByChannel, Spot, q.Currency), byScheme: by(ByScheme, Spot, q.Currency),
		byMonth: by(ByMonth, Spot, q.Currency), locked: by(ByChannel, Locked, q.Policy),
	}
}

// Add takes one position of a failing merchant into the report.
func (w *WhatIf) Add(p Position) error {
	for _, e := range []*Exposure{w.byChannel, w.byScheme, w.byMonth, w.locked} {
		if err := e.Add(p); err != nil {
			return err
		}
	}
	return nil
}

// Report closes the sums and sets them against collateral and limits.
func (w *WhatIf) Report(held *Netting, limits Limits, now time.Time) (WhatIfReport, error) {
	channels, err := w.byChannel.Report()
	if err != nil {
		return WhatIfReport{}, err
	}
	r := WhatIfReport{Query: channels.Query, Total: channels.Total, Pending: channels.PendingRate, Unvalued: held.PendingRate}
	if r.ByScheme, err = w.byScheme.Report(); err != nil {
		return r, err
	}
	if r.ByMonth, err = w.byMonth.Report(); err != nil {
		return r, err
	}
	locked, err := w.locked.Report()
	if err != nil {
		return r, err
	}
	rows := map[int64]*WhatIfChannel{}
	losses := map[int64]int64{}
	for _, row := range channels.Rows {
		at(rows, row.Key.ChannelID).add(Figures{Allocations: row.Allocations, E1: row.E1Report, E2: row.E2Report})
		losses[row.Key.ChannelID] += row.E1Report
	}
	for _, row := range locked.Rows {
		at(rows, row.Key.ChannelID).Use += row.E1Report
		r.Use += row.E1Report
	}
	limitOf := func(scope LimitScope, channel int64) *Limit {
		if l, ok := limits.InForce(scope, channel, r.Query.AsOf, now); ok && l.Currency == r.Query.Policy {
			return &l
		}
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		c := rows[id]
		c.ChannelID, c.Limit = id, limitOf(LimitChannel, id)
		c.Held, c.Net = held.Channel(id, c.E1)
		r.Channels = append(r.Channels, *c)
	}
	r.SiteLimit = limitOf(LimitSite, 0)
	r.Held, r.Net = held.Total(losses)
	return r, nil
}
