package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/reports"
	"holdfast/internal/api/view"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/report"
	"holdfast/internal/store"
)

func (s *server) getExposureDetails(c *call) error {
	q := c.query()
	in := report.DetailsQuery{ExposureQuery: input.ExposureQuery(q), Bands: q.List("bands"), Page: q.Part()}
	if on := q.Day("on"); on != civil.NoDay {
		in.On = &on
	}
	in.Problems = q.Problems
	report, err := s.app.Exposure.Details(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	return answerDetails(s, c, in.Page, report.Items, report.Query, reports.ShowDetails(report))
}

func (s *server) getMovementDetails(c *call) error {
	q := c.query()
	in := input.MovementQuery(q)
	page := q.Part()
	in.Problems = q.Problems
	report, err := s.app.Exposure.MovementDetails(c.ctx, c.actor, in, page)
	if err != nil {
		return err
	}
	return answerDetails(s, c, page, report.Items, report.Query.ReportQuery, reports.ShowMovementDetails(report))
}

// answerDetails answers a page. The links to other pages name the moment of this one, so that all pages fit together.
func answerDetails[T any](
	s *server, c *call, page store.Page, items store.List[T], q exposure.ReportQuery, shape any,
) error {
	at := c.r.URL.Query()
	if !at.Has("to") {
		at.Set("as_of", q.AsOf.String())
	}
	at.Set("known_at", q.KnownAt.UTC().Format(view.ISOMicros))
	c.r.URL.RawQuery = at.Encode()
	if err := paging(s, c, page, items); err != nil {
		return err
	}
	c.json(http.StatusOK, shape)
	return nil
}
