package view

import "holdfast/internal/account/tokens"

// Token is an API token on the wire.
type Token struct {
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

// CreatedToken is the answer to the creation of a token. It is the only answer that shows the token.
type CreatedToken struct {
	Token     string  `json:"token"`
	ExpiresAt *string `json:"expires_at"`
}

// ShowToken gives the shape of an API token without its secret, to be encoded as JSON.
func ShowToken(t tokens.APIToken) Token {
	return Token{
		ID: t.ID, TokenableType: "site", TokenableID: t.SiteID, Name: t.Name, Abilities: t.Abilities.Names(), Addresses: t.NetworkTexts(),
		LastUsedAt: MaybeISO(t.LastUsedAt), ExpiresAt: MaybeISO(t.ExpiresAt),
		CreatedAt: t.CreatedAt.Format(ISOMicros), UpdatedAt: t.UpdatedAt.Format(ISOMicros),
	}
}
