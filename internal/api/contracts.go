package api

import (
	"net/http"

	"holdfast/internal/civil"
	"holdfast/internal/travel"
)

// namedContract is a contract with the underwriter on the wire, as it was added.
type namedContract struct {
	ID         int64     `json:"id"`
	From       civil.Day `json:"from"`
	Reference  string    `json:"reference"`
	Year       *int64    `json:"year_of_account"`
	Commission int64     `json:"commission_ppm"`
	Author     string    `json:"author"`
	RecordedAt string    `json:"recorded_at"`
}

// ShowContract gives the shape of a contract, to be encoded as JSON.
func ShowContract(c travel.Contract) any { return showNamedContract(c) }

func showNamedContract(c travel.Contract) namedContract {
	return namedContract{
		ID: c.ID, From: c.FromDay, Reference: c.Reference, Year: orNull(c.Year), Commission: c.CommissionPPM,
		Author: c.RecordedBy, RecordedAt: c.RecordedAt.UTC().Format(isoMicros),
	}
}

// listContracts answers with all contracts: a site has 200 at most, so there are no pages.
func (s *server) listContracts(c *call) error {
	found, err := s.app.Contracts.List(c.ctx, c.actor)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, shapes(found, showNamedContract))
	return nil
}

func (s *server) getContract(c *call) error {
	found, err := s.app.Contracts.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{id: found.ID, body: showNamedContract(found)})
}

func (s *server) createContract(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	f := travel.ContractFields{
		From: in.day("from"), Reference: in.text("reference"), Year: in.integer("year_of_account"), CommissionPPM: in.integer("commission_ppm"),
	}
	f.Problems = *in.problems // now that all fields are read
	return s.create(c, func() (object, error) {
		made, err := s.app.Contracts.Set(c.ctx, c.actor, f)
		return object{id: made.ID, body: showNamedContract(made)}, err
	})
}
