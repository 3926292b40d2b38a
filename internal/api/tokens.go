package api

import (
	"net/http"

	"holdfast/internal/account/tokens"
	"holdfast/internal/api/view"
)

type message struct {
	Message string `json:"message"`
}

// listTokens answers with all tokens. A site has two at most, so there are no pages.
func (s *server) listTokens(c *call) error {
	found, err := s.app.Tokens.List(c.ctx, c.actor)
	if err != nil {
		return err
	}
	shown := []view.Token{}
	for _, t := range found {
		shown = append(shown, view.ShowToken(t))
	}
	c.json(http.StatusOK, shown)
	return nil
}

// createToken takes no idempotency key: the response to a repeated request would have to show the token again, and only
// its hash is stored.
func (s *server) createToken(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := tokens.TokenFields{Name: in.Text("name"), Expires: in.DayOrNone("expires_at"), Abilities: in.Texts("abilities"), Addresses: in.Texts("addresses")}
	fields.Problems = in.Problems.Clone()
	made, text, err := s.app.Tokens.Create(c.ctx, c.actor, fields)
	if err != nil {
		return err
	}
	return s.created(c, object{id: made.ID, secret: true, body: view.CreatedToken{Token: text, ExpiresAt: view.MaybeISO(made.ExpiresAt)}})
}

func (s *server) deleteToken(c *call) error {
	if err := s.app.Tokens.Delete(c.ctx, c.actor, c.id); err != nil {
		return err
	}
	c.json(http.StatusOK, message{"Token deleted."})
	return nil
}

func (s *server) deleteAllTokens(c *call) error {
	if err := s.app.Tokens.DeleteAll(c.ctx, c.actor); err != nil {
		return err
	}
	c.json(http.StatusOK, message{"All tokens deleted."})
	return nil
}
