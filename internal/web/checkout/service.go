package checkout

import (
	"context"
	"time"

	"holdfast/client"
)

// now is the time of the site's clock. A real merchant uses the real time: only a sandbox's clock can differ.
func (s *Shop) now(ctx context.Context) (time.Time, error) {
	clock, err := s.API.Clock.Get(ctx)
	if err != nil {
		return time.Time{}, err
	}
	return clock.Now.Time()
}

// sign creates the auth string of the fields.
func (s *Shop) sign(ctx context.Context, fields client.Fields) (string, error) {
	at, err := s.now(ctx)
	if err != nil {
		return "", err
	}
	secret, err := s.secret(ctx)
	if err != nil {
		return "", err
	}
	return client.AuthString(secret, fields, at)
}

// channelSecret reads the merchant's secret.
func (s *Shop) channelSecret(ctx context.Context) (string, error) {
	c, err := s.Channels.Get(ctx, s.As, s.Channel)
	if err != nil {
		return "", err
	}
	return s.Channels.Secret(c)
}

// find looks up the result of a payment as the API's description advises: it reads the booking, then its last transaction.
func (s *Shop) find(ctx context.Context, booking int64) (Outcome, error) {
	b, err := s.API.Bookings.Get(ctx, booking)
	if err != nil || len(b.TransactionIDs) == 0 {
		return Outcome{Booking: b.ID}, err
	}
	t, err := s.API.Transactions.Get(ctx, b.TransactionIDs[len(b.TransactionIDs)-1])
	return Outcome{Booking: b.ID, Transaction: t.ID, Status: string(t.Status), Content: t.Content}, err
}
