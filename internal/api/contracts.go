package api

import (
	"net/http"
	"time"

	"holdfast/internal/api/view"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
)

// listContracts answers with all contracts: a site has 200 at most.
func (s *server) listContracts(c *call) error {
	q := c.query()
	page := q.Page(nil)
	if err := q.Err(); err != nil {
		return err
	}
	all, err := s.app.Contracts.List(c.ctx, c.actor)
	if err != nil {
		return err
	}
	found := store.PageOf(all, page, func(e terms.Contract) (int64, time.Time) { return e.ID, e.RecordedAt })
	return list(s, c, page, found, view.ShowContract)
}

func (s *server) getContract(c *call) error {
	found, err := s.app.Contracts.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{id: found.ID, body: view.ShowContract(found)})
}

func (s *server) createContract(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	f := terms.ContractFields{
		From: in.Day("from"), Reference: in.Text("reference"), Year: in.Integer("year_of_account"), CommissionPPM: in.Integer("commission_ppm"),
	}
	f.Problems = *in.Problems // now that all fields are read
	return s.create(c, func() (object, error) {
		made, err := s.app.Contracts.Set(c.ctx, c.actor, f)
		return object{id: made.ID, body: view.ShowContract(made)}, err
	})
}
