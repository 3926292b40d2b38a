package api

import (
	"net/http"

	"holdfast/internal/app"
	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/protection"
)

// exposureShape is an exposure report on the wire. Amounts are minor units: e1 and e2 of the row's currencies, the
// others of the report's currency.
type exposureShape struct {
	AsOf        civil.Day            `json:"as_of"`
	KnownAt     string               `json:"known_at"`
	Final       bool                 `json:"final"`
	Currency    money.Currency       `json:"currency"`
	Valuation   protection.Valuation `json:"valuation"`
	By          protection.Dimension `json:"by"`
	Rows        []exposureRowShape   `json:"rows"`
	Total       exposureTotalShape   `json:"total"`
	Rounding    roundingShape        `json:"rounding"`
	PendingRate []apartShape         `json:"pending_rate"`
	Uncovered   []uncoveredShape     `json:"uncovered"`
}

type exposureRowShape struct {
	Key exposureKeyShape `json:"key"`
	exposureTotalShape
}

// exposureKeyShape has one field, by the report's dimension.
type exposureKeyShape struct {
	Channel  *namedShape `json:"channel,omitempty"`
	Month    string      `json:"month,omitempty"`
	Currency string      `json:"currency,omitempty"`
	Scheme   string      `json:"scheme,omitempty"`
	Country  string      `json:"country,omitempty"`
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
	E1Report    int64          `json:"e1_report"`
	E2Report    int64          `json:"e2_report"`
}

type roundingShape struct {
	E1 int64 `json:"e1_report"`
	E2 int64 `json:"e2_report"`
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

// ShowExposure gives an exposure report in the shape of the wire, to be encoded as JSON: over HTTP and by the command
// line alike.
func ShowExposure(r app.ExposureReport) any {
	shape := exposureShape{
		AsOf: r.Query.AsOf, KnownAt: r.Query.KnownAt.UTC().Format(isoMicros), Final: r.Final,
		Currency: r.Query.Currency, Valuation: r.Query.Valuation, By: r.Query.By,
		Rows: make([]exposureRowShape, len(r.Rows)),
		Total: exposureTotalShape{
			Currencies: r.Query.Currency, Allocations: r.Total.Allocations,
			E1: r.Total.E1, E2: r.Total.E2, E1Report: r.Total.E1, E2Report: r.Total.E2,
		},
		Rounding:    roundingShape{E1: r.RoundingE1, E2: r.RoundingE2},
		PendingRate: make([]apartShape, len(r.PendingRate)),
		Uncovered:   make([]uncoveredShape, len(r.Uncovered)),
	}
	for i, row := range r.Rows {
		shape.Rows[i] = exposureRowShape{Key: showExposureKey(r, row.Key), exposureTotalShape: exposureTotalShape{
			Currencies: row.Currency, Allocations: row.Allocations,
			E1: row.E1, E2: row.E2, E1Report: row.E1Report, E2Report: row.E2Report,
		}}
	}
	for i, p := range r.PendingRate {
		shape.PendingRate[i] = apartShape{Currencies: p.Currency, Allocations: p.Allocations, E1: p.E1, E2: p.E2}
	}
	for i, p := range r.Uncovered {
		shape.Uncovered[i] = uncoveredShape{Currencies: p.Currency, Allocations: p.Allocations, E5: p.E1}
	}
	return shape
}

func showExposureKey(r app.ExposureReport, k protection.Key) exposureKeyShape {
	switch r.Query.By {
	case protection.ByMonth:
		return exposureKeyShape{Month: k.Text}
	case protection.ByCurrency:
		return exposureKeyShape{Currency: k.Text}
	case protection.ByScheme:
		return exposureKeyShape{Scheme: k.Text}
	case protection.ByCountry:
		return exposureKeyShape{Country: k.Text}
	default:
		return exposureKeyShape{Channel: &namedShape{ID: k.ChannelID, Name: r.ChannelNames[k.ChannelID]}}
	}
}

func (s *server) getExposure(c *call) error {
	q := c.query()
	in := app.ExposureQuery{
		Moment:    q.moment(),
		Valuation: protection.Valuation(q.one("valuation", "", texts(protection.Valuations))),
		By:        protection.Dimension(q.one("by", "", texts(protection.Dimensions))),
		Channels:  q.ids("channels"),
	}
	if code := q.text("currency"); code != "" {
		var err error
		if in.Currency, err = money.ParseCurrency(code); err != nil {
			q.problems.Wrong("currency", "This is not an ISO 4217 currency.")
		}
	}
	in.Problems = q.problems
	report, err := s.app.Exposure.Report(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, ShowExposure(report))
	return nil
}

// moment reads what a report is about; what is absent or wrong is left to its default.
func (q *query) moment() (m app.Moment) {
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
