package api

import (
	"net/http"

	"holdfast/internal/civil"
	"holdfast/internal/exposure"
	"holdfast/internal/ledger"
	"holdfast/internal/money"
)

// collateralShape is a row of collateral in answers: a new record, or the correction of one. Amount is in minor units.
type collateralShape struct {
	ID         int64                   `json:"id"`
	Record     int64                   `json:"record"` // id of the first row of the record
	Kind       exposure.CollateralKind `json:"kind"`
	Channel    *int64                  `json:"channels"` // null: it covers all channels of the site
	Currency   money.Currency          `json:"currency"`
	Amount     int64                   `json:"amount"`
	From       civil.Day               `json:"from"`
	To         *civil.Day              `json:"to"` // null: until further notice
	Reference  string                  `json:"reference"`
	Note       string                  `json:"note"`
	Author     string                  `json:"author"`
	RecordedAt string                  `json:"recorded_at"`
}

// ShowCollateral gives the shape of a row of collateral, to be encoded as JSON.
func ShowCollateral(c exposure.Collateral) any { return showCollateral(c) }

func showCollateral(c exposure.Collateral) collateralShape {
	shape := collateralShape{
		ID: c.ID, Record: c.RecordID, Kind: c.Kind, Channel: orNull(c.ChannelID), Currency: c.Currency, Amount: c.Amount,
		From: c.FromDay, Reference: c.Reference, Note: c.Note, Author: c.Author,
		RecordedAt: c.RecordedAt.UTC().Format(isoMicros),
	}
	if c.ToDay != civil.NoDay {
		shape.To = &c.ToDay
	}
	return shape
}

func (s *server) listCollateral(c *call) error {
	q := c.query()
	page := q.page([]string{"id"})
	history := q.flag("history", false)
	channels, moment := q.ids("channels"), q.moment()
	if err := q.err(); err != nil {
		return err
	}
	// history asks for all rows ever written. Without it, the answer is the collateral held at a moment.
	if history {
		found, err := s.app.Collaterals.List(c.ctx, c.actor, channels, page)
		if err != nil {
			return err
		}
		return list(s, c, page, found, showCollateral)
	}
	found, err := s.app.Collaterals.Held(c.ctx, c.actor, moment, q.problems, channels, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, showCollateral)
}

func (s *server) getCollateral(c *call) error {
	found, err := s.findCollateral(c, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, found)
}

func (s *server) findCollateral(c *call, id int64) (object, error) {
	found, err := s.app.Collaterals.Get(c.ctx, c.actor, id)
	return object{id: found.ID, body: showCollateral(found)}, err
}

func (s *server) createCollateral(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, err := s.app.Collaterals.Add(c.ctx, c.actor, collateralFields(in))
		return object{id: made.ID, body: showCollateral(made)}, err
	})
}

func collateralFields(in *input) ledger.CollateralFields {
	f := ledger.CollateralFields{
		RecordID: in.integer("corrects"), Kind: word[exposure.CollateralKind](in, "kind"),
		ChannelID: in.integer("channels"), Currency: in.currency("currency"), Amount: in.integer("amount"),
		From: in.day("from"), To: in.day("to"), Reference: in.textOr("reference"), Note: in.textOr("note"),
	}
	f.Problems = *in.problems // now that all fields are read
	return f
}
