package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/reports"
)

func (s *server) getModel(c *call) error {
	q := c.query()
	in := input.ModelQuery(q)
	in.Problems = q.Problems
	report, err := s.app.Exposure.Model(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowModel(report))
	return nil
}

func (s *server) getModelDetails(c *call) error {
	q := c.query()
	in, page := input.ModelQuery(q), q.Part()
	in.Problems = q.Problems
	report, err := s.app.Exposure.ModelDetails(c.ctx, c.actor, in, page)
	if err != nil {
		return err
	}
	return answerDetails(s, c, page, report.Items, report.Query, reports.ShowModelDetails(report))
}

func (s *server) getWhatIf(c *call) error {
	q := c.query()
	in := input.EstimateQuery(q)
	in.Problems = q.Problems
	report, err := s.app.Exposure.WhatIf(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowWhatIf(report))
	return nil
}
