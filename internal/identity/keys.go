package identity

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/db"
)

// ringLife is how long a process goes on signing with the keys it knows after another one has rotated them.
const ringLife = time.Minute

// keys is the ring of JWT keys, which live in the database: every process over it takes the others' tokens.
type keys struct {
	*core.Core
	mu     sync.Mutex
	known  auth.Keyring
	readAt time.Time // zero: never
}

// ring returns the keys, read anew when they are old or the caller asks for it. The first use of all makes one.
func (k *keys) ring(ctx context.Context, anew bool) (auth.Keyring, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.Clock()
	if !anew && !k.readAt.IsZero() && now.Sub(k.readAt).Abs() < ringLife {
		return k.known, nil
	}
	stored, err := k.stored(ctx)
	if err != nil {
		return auth.Keyring{}, err
	}
	ring, err := auth.NewKeyring(stored)
	if err != nil {
		return auth.Keyring{}, err
	}
	k.known, k.readAt = ring, now
	return ring, nil
}

// stored reads the keys, and makes one where none may sign.
func (k *keys) stored(ctx context.Context) (list []auth.Key, err error) {
	read := func(tx *db.Tx) error {
		list, err = JWTKeys(tx)
		return err
	}
	if err := k.Store.Read(ctx, read); err != nil || slices.ContainsFunc(list, signs) {
		return list, err
	}
	fresh, err := auth.NewKey(k.Random, k.Clock())
	if err != nil {
		return nil, err
	}
	err = k.Store.Write(ctx, func(tx *db.Tx) error {
		if err := read(tx); err != nil || slices.ContainsFunc(list, signs) { // another process was quicker
			return err
		}
		list = append(list, fresh)
		return InsertJWTKey(tx, fresh)
	})
	return list, err
}

func signs(k auth.Key) bool { return k.RetiredAt.IsZero() }

// rotate retires all keys and makes a new one. Nobody is logged out: retired keys go on verifying.
func (k *keys) rotate(ctx context.Context, actor auth.Actor) error {
	fresh, err := auth.NewKey(k.Random, k.Clock())
	if err != nil {
		return err
	}
	err = k.Store.Write(ctx, func(tx *db.Tx) error {
		if err := errors.Join(RetireJWTKeys(tx), InsertJWTKey(tx, fresh)); err != nil {
			return err
		}
		return core.Record(tx, core.OfDeployment(actor), "keys.rotate", "key "+fresh.ID, nil, struct{}{})
	})
	if err != nil {
		return err
	}
	_, err = k.ring(ctx, true)
	return err
}

// verify reads a JWT. One signed with a key that is not known here may come from a process that has just rotated.
func (k *keys) verify(ctx context.Context, token string, kind auth.Kind) (auth.Claims, error) {
	ring, err := k.ring(ctx, false)
	if err != nil {
		return auth.Claims{}, err
	}
	claims, err := auth.Verify(ring, token, kind, k.Clock())
	if !errors.Is(err, auth.ErrUnknownKey) {
		return claims, err
	}
	if ring, err = k.ring(ctx, true); err != nil {
		return auth.Claims{}, err
	}
	return auth.Verify(ring, token, kind, k.Clock())
}
