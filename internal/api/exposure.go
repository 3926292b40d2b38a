package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"holdfast/internal/civil"
	"holdfast/internal/ledger"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/reports"
)

// exposureShape is an exposure report on the wire. Amounts are minor units: e1 to e5 in the currency of the row, the
// others in the currency of the report.
type exposureShape struct {
	AsOf        civil.Day            `json:"as_of"`
	KnownAt     string               `json:"known_at"`
	Final       bool                 `json:"final"`
	Currency    money.Currency       `json:"currency"`
	Valuation   protection.Valuation `json:"valuation"`
	By          string               `json:"by"`
	Rows        []exposureRowShape   `json:"rows"`
	Total       exposureTotalShape   `json:"total"`
	Rounding    roundingShape        `json:"rounding"`
	Net         netShape             `json:"net"`
	PendingRate []apartShape         `json:"pending_rate"`
	Uncovered   []uncoveredShape     `json:"uncovered"`
	Instalments []instalmentsShape   `json:"instalments"`
}

type exposureRowShape struct {
	Key         exposureKeyShape `json:"key"`
	Currencies  money.Currency   `json:"currencies"`
	Allocations int64            `json:"allocations"`
	E1          int64            `json:"e1"`
	E2          int64            `json:"e2"`
	E3          int64            `json:"e3"`
	E4          int64            `json:"e4"`
	E5          int64            `json:"e5"`
	E1Report    int64            `json:"e1_report"`
	E2Report    int64            `json:"e2_report"`
	E3Report    int64            `json:"e3_report"`
	memoShape
}

// memoShape has null if there is no value: in a locked valuation, and without a fixing.
type memoShape struct {
	E4Report *int64 `json:"e4_report"`
	E5Report *int64 `json:"e5_report"`
}

// exposureKeyShape has the fields of the report's dimensions.
type exposureKeyShape struct {
	Channel   *namedShape `json:"channel,omitempty"`
	Month     *string     `json:"month,omitempty"`
	Currency  *string     `json:"currency,omitempty"`
	Scheme    *string     `json:"scheme,omitempty"`
	Country   *string     `json:"country,omitempty"` // "" if the bookings name none
	Suppliers *[]int64    `json:"suppliers,omitempty"`
}

type namedShape struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type exposureTotalShape struct {
	Currencies  money.Currency `json:"currencies"`
	Allocations int64          `json:"allocations"`
	E1          int64          `json:"e1"`
	E2          int64          `json:"e2"`
	E3          int64          `json:"e3"`
	E1Report    int64          `json:"e1_report"`
	E2Report    int64          `json:"e2_report"`
	E3Report    int64          `json:"e3_report"`
	memoShape
}

type roundingShape struct {
	E1 int64 `json:"e1_report"`
	E2 int64 `json:"e2_report"`
}

// netShape is e1 less the collateral, in the currency of the report.
type netShape struct {
	E1          int64             `json:"e1_report"`
	Held        int64             `json:"held"`
	Net         int64             `json:"net"`
	Channels    []channelNetShape `json:"channels"`
	PendingRate []heldShape       `json:"pending_rate"`
}

type channelNetShape struct {
	Channel namedShape `json:"channel"`
	E1      int64      `json:"e1_report"`
	Held    int64      `json:"held"`
	Net     int64      `json:"net"`
}

type heldShape struct {
	ChannelID  *int64         `json:"channel_id"`
	Currencies money.Currency `json:"currencies"`
	Amount     int64          `json:"amount"`
}

type apartShape struct {
	Currencies  money.Currency `json:"currencies"`
	Allocations int64          `json:"allocations"`
	E1          int64          `json:"e1"`
	E2          int64          `json:"e2"`
}

type uncoveredShape struct {
	Currencies  money.Currency `json:"currencies"`
	Allocations int64          `json:"allocations"`
	E5          int64          `json:"e5"`
}

type instalmentsShape struct {
	Currencies money.Currency `json:"currencies"`
	Bookings   int64          `json:"bookings"`
	E4         int64          `json:"e4"`
}

// ShowExposure gives an exposure report in the shape of the wire, to be encoded as JSON. The command line prints it,
// too.
func ShowExposure(r reports.ExposureReport) any {
	by := string(r.Query.By)
	if r.Query.Across != "" {
		by += "," + string(r.Query.Across)
	}
	shape := exposureShape{
		AsOf: r.Query.AsOf, KnownAt: r.Query.KnownAt.UTC().Format(isoMicros), Final: r.Final,
		Currency: r.Query.Currency, Valuation: r.Query.Valuation, By: by,
		Rows: make([]exposureRowShape, len(r.Rows)),
		Total: exposureTotalShape{
			Currencies: r.Query.Currency, Allocations: r.Total.Allocations,
			E1: r.Total.E1, E2: r.Total.E2, E3: r.Total.E1 + r.Total.E2,
			E1Report: r.Total.E1, E2Report: r.Total.E2, E3Report: r.Total.E1 + r.Total.E2,
			memoShape: showMemo(r.Memo),
		},
		Rounding:    roundingShape{E1: r.RoundingE1, E2: r.RoundingE2},
		Net:         showNet(r),
		PendingRate: make([]apartShape, len(r.PendingRate)),
		Uncovered:   make([]uncoveredShape, len(r.Uncovered)),
		Instalments: make([]instalmentsShape, len(r.Instalments)),
	}
	for i, row := range r.Rows {
		shape.Rows[i] = exposureRowShape{
			Key: showExposureKey(r, row.Key), Currencies: row.Currency, Allocations: row.Allocations,
			E1: row.E1, E2: row.E2, E3: row.E1 + row.E2, E4: row.E4, E5: row.E5,
			E1Report: row.E1Report, E2Report: row.E2Report, E3Report: row.E1Report + row.E2Report,
			memoShape: showMemo(row.Report),
		}
	}
	for i, p := range r.PendingRate {
		shape.PendingRate[i] = apartShape{Currencies: p.Currency, Allocations: p.Allocations, E1: p.E1, E2: p.E2}
	}
	for i, p := range r.Uncovered {
		shape.Uncovered[i] = uncoveredShape{Currencies: p.Currency, Allocations: p.Allocations, E5: p.E1}
	}
	for i, p := range r.Instalments {
		shape.Instalments[i] = instalmentsShape{Currencies: p.Currency, Bookings: p.Allocations, E4: p.E1}
	}
	return shape
}

func showMemo(b *protection.Memo) memoShape {
	if b == nil {
		return memoShape{}
	}
	return memoShape{E4Report: &b.E4, E5Report: &b.E5}
}

func showNet(r reports.ExposureReport) netShape {
	net := netShape{
		E1: r.Total.E1, Held: r.Net.Held, Net: r.Net.Net,
		Channels: []channelNetShape{}, PendingRate: make([]heldShape, len(r.Net.Pending)),
	}
	for _, id := range slices.Sorted(maps.Keys(r.Net.Channels)) {
		c := r.Net.Channels[id]
		net.Channels = append(net.Channels, channelNetShape{
			Channel: namedShape{ID: id, Name: r.ChannelNames[id]}, E1: c.E1, Held: c.Held, Net: c.Net,
		})
	}
	for i, h := range r.Net.Pending {
		net.PendingRate[i] = heldShape{Currencies: h.Currency, Amount: h.Amount}
		if h.ChannelID != 0 {
			net.PendingRate[i].ChannelID = &h.ChannelID
		}
	}
	return net
}

func showExposureKey(r reports.ExposureReport, k protection.Key) (shape exposureKeyShape) {
	for _, d := range []protection.Dimension{r.Query.By, r.Query.Across} {
		switch d {
		case protection.ByMonth:
			shape.Month = &k.Month
		case protection.ByCurrency:
			code := string(k.Currency)
			shape.Currency = &code
		case protection.ByScheme:
			shape.Scheme = &k.Scheme
		case protection.ByCountry:
			shape.Country = &k.Country
		case protection.BySupplier:
			ids := append([]int64{}, protection.SupplierIDs(k.Suppliers)...)
			shape.Suppliers = &ids
		case protection.ByChannel:
			shape.Channel = &namedShape{ID: k.ChannelID, Name: r.ChannelNames[k.ChannelID]}
		}
	}
	return shape
}

func (s *server) getExposure(c *call) error {
	q := c.query()
	in := q.exposure()
	in.By, in.Across = dimensions(q.text("by"))
	report, err := s.app.Exposure.Report(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, ShowExposure(report))
	return nil
}

// dimensions reads how the rows of a report are grouped: by one dimension, or by two with a comma. The report itself
// checks them.
func dimensions(text string) (by, across protection.Dimension) {
	first, second, _ := strings.Cut(text, ",")
	return protection.Dimension(strings.TrimSpace(first)), protection.Dimension(strings.TrimSpace(second))
}

// moment reads as_of and known_at. One that is absent or wrong is left zero, which stands for its default.
func (q *query) moment() (m ledger.Moment) {
	if day := q.day("as_of"); day != civil.NoDay {
		m.AsOf = &day
	}
	if at := q.instant("known_at"); at != nil {
		m.KnownAt = *at
	}
	return m
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}
