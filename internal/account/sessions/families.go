package sessions

import (
	"context"
	"errors"

	"holdfast/internal/account/credentials"
	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/store"
)

// maxFamilies is the maximum number of concurrent logins with rotation per user. A further one ends the one unused for the
// longest time.
const maxFamilies = 100

// beginFamily creates the family of a login that requests rotation.
func (s *Sessions) beginFamily(ctx context.Context, user people.User) (family, error) {
	secret, err := credentials.NewFamilySecret(s.Random)
	if err != nil {
		return family{}, err
	}
	f := family{ID: secrets.HashSecret(secret), Secret: secret, Number: 1}
	err = s.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		f.RotatedAt = tx.Now
		if err := makeRoom(tx, user.ID, tx.Now.Add(-credentials.FamilyLifetime), maxFamilies-1); err != nil {
			return err
		}
		return insertFamily(tx, user.ID, f)
	})
	return f, err
}

// rotate makes the next token of a family the present one. claims are those of the refresh token that was sent. The token
// before the current one returns the current one again, for a short time: its response was lost, or two requests sent it concurrently.
// Any other token shows that two parties have the family: it ends. The error has the kind errs.JWTInvalid then.
func (s *Sessions) rotate(ctx context.Context, user people.User, claims credentials.Claims) (f family, err error) {
	if claims.FamilyID() == "" {
		return family{}, nil
	}
	var refused error
	err = s.Store.Write(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		refused = nil
		// The lock comes first: of two requests with the same token, in any process, the second sees the result of the first.
		f, err = lockFamily(tx, user.ID, claims.FamilyID())
		if errors.Is(err, store.ErrNotFound) {
			refused = errJWTInvalid()
			return nil
		}
		if err != nil {
			return err
		}
		unused := tx.Now.Sub(f.RotatedAt)
		switch {
		case unused >= credentials.FamilyLifetime:
			refused = errJWTInvalid()
			return endFamily(tx, user.ID, f.ID)
		case claims.Number == f.Number:
			f.Number, f.RotatedAt = f.Number+1, tx.Now
			return setFamily(tx, user.ID, f)
		case claims.Number == f.Number-1 && unused <= credentials.RotationGrace:
			return nil
		}
		// A number that is too high means that the database has been restored since: later uses are lost.
		refused = errJWTInvalid()
		if err := endFamily(tx, user.ID, f.ID); err != nil {
			return err
		}
		by := access.Actor{UserID: user.ID, Username: user.Username, DisplayName: user.DisplayName}
		return audit.Record(tx, by, "session.reused", "user "+user.Username, nil, struct{}{})
	})
	f.Secret = claims.Secret
	return f, errors.Join(err, refused)
}
