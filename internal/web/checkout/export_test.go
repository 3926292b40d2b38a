package checkout

import "context"

// WithSecret gives the shop a merchant's secret instead of the one in the database.
func (s *Shop) WithSecret(secret string) *Shop {
	s.secret = func(context.Context) (string, error) { return secret, nil }
	return s
}
