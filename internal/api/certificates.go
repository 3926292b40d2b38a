package api

import (
	"holdfast/internal/api/reports"
	"net/http"
)

func (s *server) getCertificate(c *call) error {
	found, err := s.app.Certificates.Of(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowCertificate(found, s.cfg.BaseURL))
	return nil
}

func (s *server) revokeCertificate(c *call) error {
	if err := s.app.Certificates.Revoke(c.ctx, c.actor, c.id); err != nil {
		return err
	}
	c.json(http.StatusOK, reports.Revoked{Revoked: true, Booking: c.id})
	return nil
}
