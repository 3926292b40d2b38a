package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/reports"
	"holdfast/internal/report"
)

func (s *server) getTrackRecord(c *call) error {
	q := c.query()
	in := report.VintageQuery{Moment: input.Moment(q), ChannelID: c.id}
	in.Problems = q.Problems
	channel, err := s.app.Channels.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	report, err := s.app.Exposure.Vintages(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowRecord(report, channel.ID, channel.Name))
	return nil
}
