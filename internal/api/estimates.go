package api

import (
	"net/http"

	"holdfast/internal/api/shapes"
)

func (s *server) getModel(c *call) error {
	q := c.query()
	in := shapes.ModelQuery(q)
	in.Problems = q.Problems
	report, err := s.app.Exposure.Model(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, shapes.ShowModel(report))
	return nil
}

func (s *server) getModelDetails(c *call) error {
	q := c.query()
	in, page := shapes.ModelQuery(q), q.Part()
	in.Problems = q.Problems
	report, err := s.app.Exposure.ModelDetails(c.ctx, c.actor, in, page)
	if err != nil {
		return err
	}
	return answerDetails(s, c, page, report.Items, report.Query, shapes.ShowModelDetails(report))
}

func (s *server) getWhatIf(c *call) error {
	q := c.query()
	in := shapes.EstimateQuery(q)
	in.Problems = q.Problems
	report, err := s.app.Exposure.WhatIf(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, shapes.ShowWhatIf(report))
	return nil
}
