package input

import (
	"strings"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/report"
)

// Moment reads as_of and known_at. One that is absent or wrong is left zero, which stands for its default.
func Moment(q *Query) (m ledger.Moment) {
	if day := q.Day("as_of"); day != civil.NoDay {
		m.AsOf = &day
	}
	if at := q.Instant("known_at"); at != nil {
		m.KnownAt = *at
	}
	return m
}

// ExposureQuery reads the parameters that all reports on exposure have. The result holds the problems noted so far.
func ExposureQuery(q *Query) report.ExposureQuery {
	in := report.ExposureQuery{
		Moment:    Moment(q),
		Valuation: exposure.Valuation(q.One("valuation", "", TextsOf(exposure.Valuations))),
		Scope:     scopeOf(q),
		Currency:  q.Currency("currency"),
	}
	in.Problems = q.Problems
	return in
}

// scopeOf reads the part of the book that a report is about. The report itself checks that all of it exists.
func scopeOf(q *Query) (s exposure.Scope) {
	s.Channels, s.Suppliers = q.Ids("channels"), q.Ids("suppliers")
	s.Countries, s.Months = q.Codes("countries"), q.List("months")
	for _, code := range q.Codes("currencies") {
		s.Currencies = append(s.Currencies, money.Currency(code))
	}
	for _, name := range q.List("schemes") {
		s.Schemes = append(s.Schemes, card.Scheme(strings.ToLower(name)))
	}
	return s
}

// MovementQuery reads the parameters of a movement. The result holds the problems noted so far.
func MovementQuery(q *Query) (in report.MovementQuery) {
	if day := q.Day("from"); day != civil.NoDay {
		in.From = &day
	}
	to := q.Day("to")
	in.ExposureQuery = ExposureQuery(q)
	in.By = exposure.Dimension(q.One("by", "", []string{string(exposure.ByCurrency), string(exposure.ByChannel)}))
	in.Problems = q.Problems
	if to != civil.NoDay { // else as_of is the last day, as in other reports
		in.AsOf = &to
	}
	return in
}

// ModelQuery reads the parameters of a model.
func ModelQuery(q *Query) report.EstimateQuery {
	in := EstimateQuery(q)
	if text := q.Text("bands"); text != "" {
		var err error
		if in.Bands, err = estimate.ParseBands(text); err != nil {
			q.Problems.Wrong("bands", "Invalid bands: %v.", err)
		}
	}
	return in
}

// EstimateQuery reads the parameters that both reports have. They are about whole channels: a narrower scope would be left
// out without a word.
func EstimateQuery(q *Query) report.EstimateQuery {
	for _, name := range []string{"suppliers", "schemes", "countries", "currencies", "months"} {
		if q.Text(name) != "" {
			q.Problems.Wrong(name, "This report covers whole channels. List them in channels.")
		}
	}
	return report.EstimateQuery{Moment: Moment(q), Channels: q.Ids("channels"), Currency: q.Currency("currency")}
}
