package sessions

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"time"

	"holdfast/internal/account/credentials"
	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/store"
)

// ringLife is how long a process verifies with cached keys. Signing reads them again, and so does a process that
// verifies, if the key was revoked, so no process accepts or uses a key for longer than another.
const ringLife = time.Minute

// keys is the ring of JWT keys. It is stored in the database, so that all processes accept each other's tokens.
type keys struct {
	*people.Room
	mu     sync.Mutex
	known  credentials.Keyring
	readAt time.Time // zero: never
}

// ring returns the keys. It reads them again if the cache is stale or the caller requests it. The very first call makes a
// key.
func (k *keys) ring(ctx context.Context, reload bool) (credentials.Keyring, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.Clock()
	if !reload && !k.readAt.IsZero() && now.Sub(k.readAt).Abs() < ringLife {
		return k.known, nil
	}
	stored, err := k.stored(ctx)
	if err != nil {
		return credentials.Keyring{}, err
	}
	opened, err := openKeys(k.Room, stored)
	if err != nil {
		return credentials.Keyring{}, err
	}
	ring, err := credentials.NewKeyring(opened)
	if err != nil {
		return credentials.Keyring{}, err
	}
	k.known, k.readAt = ring, now
	return ring, nil
}

// stored reads the keys, and makes one if none may sign.
func (k *keys) stored(ctx context.Context) (list []StoredKey, err error) {
	read := func(tx *store.Tx) error {
		list, err = JWTKeys(tx)
		return err
	}
	if err := k.Store.Read(ctx, store.Deployment, read); err != nil || slices.ContainsFunc(list, signs) {
		return list, err
	}
	fresh, err := k.fresh()
	if err != nil {
		return nil, err
	}
	err = k.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		if err := read(tx); err != nil || slices.ContainsFunc(list, signs) { // another process was quicker
			return err
		}
		list = append(list, fresh)
		return InsertJWTKey(tx, fresh)
	})
	return list, err
}

// fresh makes a key, ready to be stored.
func (k *keys) fresh() (StoredKey, error) {
	key, err := credentials.NewKey(k.Random, k.Clock())
	if err != nil {
		return StoredKey{}, err
	}
	return sealKey(k.Room, key)
}

func signs(k StoredKey) bool { return k.RetiredAt.IsZero() }

// rotate retires all keys and makes a new one. Nobody is logged out: a retired key still verifies the tokens it has signed.
func (k *keys) rotate(ctx context.Context, actor access.Actor) error {
	fresh, err := k.fresh()
	if err != nil {
		return err
	}
	err = k.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		if err := errors.Join(RetireJWTKeys(tx), InsertJWTKey(tx, fresh)); err != nil {
			return err
		}
		return audit.Record(tx, audit.OfDeployment(actor), "keys.rotate", "key "+fresh.ID, nil, struct{}{})
	})
	if err != nil {
		return err
	}
	_, err = k.ring(ctx, true)
	return err
}

// revoke deletes a key, retired or not: the tokens it has signed become invalid immediately, in every process. If it
// was the signing key, a new one replaces it. If the key does not exist, the error names the field id.
func (k *keys) revoke(ctx context.Context, actor access.Actor, id string) error {
	fresh, err := k.fresh()
	if err != nil {
		return err
	}
	err = k.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		if n, err := tx.Exec(`DELETE FROM jwt_keys WHERE id = $1`, id); err != nil || n == 0 {
			return cmp.Or(err, errs.WrongField("id", "Unknown login key %q. To list the keys, run \"holdfast keys list\".", id))
		}
		left, err := JWTKeys(tx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(left, signs) {
			if err := InsertJWTKey(tx, fresh); err != nil {
				return err
			}
		}
		return audit.Record(tx, audit.OfDeployment(actor), "keys.revoke", "key "+id, nil, struct{}{})
	})
	if err != nil {
		return err
	}
	_, err = k.ring(ctx, true)
	return err
}

// jwtKeyIsValid reports whether a key is there still. A key that was revoked is not.
func jwtKeyIsValid(tx *store.Tx, id string) (bool, error) {
	return store.Exists(tx, `SELECT 1 FROM jwt_keys WHERE id = $1`, id)
}

// verify checks and reads a JWT. If it does not know the key, it reads the keys again: another process may just have
// rotated them.
func (k *keys) verify(ctx context.Context, token string, kind credentials.Kind) (credentials.Claims, error) {
	ring, err := k.ring(ctx, false)
	if err != nil {
		return credentials.Claims{}, err
	}
	claims, err := credentials.Verify(ring, token, kind, k.Clock())
	if !errors.Is(err, credentials.ErrUnknownKey) {
		return claims, err
	}
	if ring, err = k.ring(ctx, true); err != nil {
		return credentials.Claims{}, err
	}
	return credentials.Verify(ring, token, kind, k.Clock())
}

// StoredKey is a key as stored in the database: its secret is encrypted.
type StoredKey struct {
	credentials.Key // without Secret
	Sealed          string
}

// JWTKeys reads all keys that sign or verify JWTs, the oldest first.
func JWTKeys(tx *store.Tx) ([]StoredKey, error) {
	var keys []StoredKey
	err := tx.Query(`SELECT id, secret, created_at, retired_at FROM jwt_keys ORDER BY created_at, id`, nil,
		func(scan func(dest ...any) error) error {
			var k StoredKey
			var created int64
			var retired sql.NullInt64
			err := scan(&k.ID, &k.Sealed, &created, &retired)
			k.CreatedAt, k.RetiredAt = store.Instant(created), store.MaybeInstant(retired)
			keys = append(keys, k)
			return err
		})
	return keys, err
}

// InsertJWTKey stores a key that may sign.
func InsertJWTKey(tx *store.Tx, k StoredKey) error {
	_, err := tx.Exec(`INSERT INTO jwt_keys (id, secret, created_at) VALUES ($1, $2, $3)`, k.ID, k.Sealed, store.Micros(k.CreatedAt))
	return err
}

// RetireJWTKeys retires all keys: they still verify, but no longer sign.
func RetireJWTKeys(tx *store.Tx) error {
	_, err := tx.Exec(`UPDATE jwt_keys SET retired_at = $1 WHERE retired_at IS NULL`, store.Micros(tx.Now))
	return err
}
