package api

import (
	"net/http"

	"holdfast/internal/auth"
	"holdfast/internal/travel"
)

// tokenShape is an API token on the wire.
type tokenShape struct {
	ID            int64    `json:"id"`
	TokenableType string   `json:"tokenable_type"`
	TokenableID   int64    `json:"tokenable_id"`
	Name          string   `json:"name"`
	Abilities     []string `json:"abilities"` // empty: a token may do what its creator may do
	Addresses     []string `json:"addresses"` // empty: it may be used from anywhere
	LastUsedAt    *string  `json:"last_used_at"`
	ExpiresAt     *string  `json:"expires_at"`
	CreatedAt     string   `json:"created_at"`
	UpdatedAt     string   `json:"updated_at"`
}

// createdToken is the answer to the creation of a token. It is the only answer that shows the token.
type createdToken struct {
	Token     string  `json:"token"`
	ExpiresAt *string `json:"expires_at"`
}

type message struct {
	Message string `json:"message"`
}

// ShowToken gives the shape of an API token without its secret, to be encoded as JSON.
func ShowToken(t auth.APIToken) any { return showToken(t) }

func showToken(t auth.APIToken) tokenShape {
	return tokenShape{
		ID: t.ID, TokenableType: "site", TokenableID: t.SiteID, Name: t.Name, Abilities: t.Abilities.Names(), Addresses: t.NetworkTexts(),
		LastUsedAt: maybeISO(t.LastUsedAt), ExpiresAt: maybeISO(t.ExpiresAt),
		CreatedAt: t.CreatedAt.Format(isoMicros), UpdatedAt: t.UpdatedAt.Format(isoMicros),
	}
}

// listTokens answers with all tokens. A site has two at most, so there are no pages.
func (s *server) listTokens(c *call) error {
	found, err := s.app.Tokens.List(c.ctx, c.actor)
	if err != nil {
		return err
	}
	shapes := []tokenShape{}
	for _, t := range found {
		shapes = append(shapes, showToken(t))
	}
	c.json(http.StatusOK, shapes)
	return nil
}

// createToken takes no idempotency key: the answer to a repeated request would have to show the token again, and only
// its hash is stored.
func (s *server) createToken(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := travel.TokenFields{Name: in.text("name"), Expires: in.dayOrNone("expires_at"), Abilities: in.texts("abilities"), Addresses: in.texts("addresses")}
	fields.Problems = in.problems.Clone()
	made, text, err := s.app.Tokens.Create(c.ctx, c.actor, fields)
	if err != nil {
		return err
	}
	return s.created(c, object{id: made.ID, secret: true, body: createdToken{Token: text, ExpiresAt: maybeISO(made.ExpiresAt)}})
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
