package checkout

import (
	"context"
	"time"

	"holdfast/client"
)

// now is the time by the site's clock. A merchant takes the real time: only the clock of a sandbox can be another.
func (s *Shop) now(ctx context.Context) (time.Time, error) {
	clock, err := s.Clock(ctx)
	if err != nil {
		return time.Time{}, err
	}
	return clock.Now.Time()
}

// sign makes the auth string of the fields.
func (s *Shop) sign(ctx context.Context, fields client.Fields) (string, error) {
	at, err := s.now(ctx)
	if err != nil {
		return "", err
	}
	secret, err := s.Secret(ctx)
	if err != nil {
		return "", err
	}
	return client.AuthString(secret, fields, at)
}

// find finds the result of a payment as the API's description advises: it reads the booking, and then the last of its
// transactions.
func (s *Shop) find(ctx context.Context, booking int64) (Outcome, error) {
	b, err := s.Booking(ctx, booking)
	if err != nil || len(b.TransactionIDs) == 0 {
		return Outcome{Booking: b.ID}, err
	}
	t, err := s.Transaction(ctx, b.TransactionIDs[len(b.TransactionIDs)-1])
	return Outcome{Booking: b.ID, Transaction: t.ID, Status: string(t.Status), Content: t.Content}, err
}
