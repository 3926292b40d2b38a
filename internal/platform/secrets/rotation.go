package secrets

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// sealedPerWrite is how many secrets one write seals.
const sealedPerWrite = 100

// Rotation counts the secrets that are sealed in the database, and seals them anew with other keys.
type Rotation struct {
	*sites.DB
	Vault *Vault
}

// SealingKeys counts the sealed secrets in the database by the id of their key. Secrets that are not sealed count for "".
func (s *Rotation) SealingKeys(ctx context.Context, actor access.Actor) (counts map[string]int, err error) {
	if err := actor.Require(access.ManageSites); err != nil {
		return nil, err
	}
	err = s.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		counts, err = sealingKeys(tx, s.Vault.Columns())
		return err
	})
	return counts, err
}

// Check returns an error when the database has secrets that were sealed with a key which is missing now, and when there is
// no key to seal new ones with.
func (s *Rotation) Check(ctx context.Context) error {
	keys, err := s.Vault.SealKeys()
	if err != nil {
		return fmt.Errorf("the secrets of this service need keys: %w", err)
	}
	used, err := s.SealingKeys(ctx, access.System(0))
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(used)) {
		if id != "" && !slices.Contains(keys.IDs(), id) {
			return errs.New(errs.Invalid, "%d secrets in the database are encrypted with the key %s, which is not in HOLDFAST_KEYS_FILE. That file has %v.",
				used[id], id, keys.IDs())
		}
	}
	return nil
}

// SealAnew seals every secret in the database with the first key, and returns how many secrets it sealed. It passes over a
// secret that somebody changes at the same time, because that one is sealed with the first key anyway.
func (s *Rotation) SealAnew(ctx context.Context, actor access.Actor) (sealed int, err error) {
	if err := actor.Require(access.ManageSites); err != nil {
		return 0, err
	}
	keys, err := s.Vault.SealKeys()
	if err != nil {
		return 0, err
	}
	first := keys.IDs()[0]
	for _, column := range s.Vault.Columns() {
		n, err := s.sealColumn(ctx, column, func(text string) bool { return SealedWith(text) != first })
		sealed += n
		if err != nil {
			return sealed, err
		}
	}
	return sealed, s.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		return audit.Record(tx, audit.OfDeployment(actor), "keys.reseal", "key "+first, nil, struct{}{})
	})
}

// SealPlain seals the plain texts of columns that the program has not sealed yet. It is called at every start; after the
// first it is one short read. Where it is interrupted, the next start goes on.
func (s *Rotation) SealPlain(ctx context.Context) error {
	var done []string
	err := s.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		done, err = columnsSealed(tx)
		return err
	})
	var fresh []string
	for _, column := range s.Vault.Columns() {
		if err != nil || slices.Contains(done, column.Name()) {
			continue
		}
		_, err = s.sealColumn(ctx, column, func(text string) bool { return !IsSealed(text) })
		fresh = append(fresh, column.Name())
	}
	if err != nil || len(fresh) == 0 {
		return err
	}
	return s.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error { return markSealed(tx, fresh) })
}

// sealColumn seals the texts of a column that are wanted, page by page, and returns how many it sealed.
func (s *Rotation) sealColumn(ctx context.Context, column SealedColumn, wanted func(text string) bool) (n int, err error) {
	var after []any
	for {
		var page, list []sealedText
		err := s.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
			page, err = sealedPage(tx, column, after, sealedPerWrite)
			return err
		})
		if err != nil || len(page) == 0 {
			return n, err
		}
		after = page[len(page)-1].key
		for _, text := range page {
			if text.text != "" && wanted(text.text) {
				list = append(list, text)
			}
		}
		if len(list) == 0 {
			continue
		}
		done := 0
		if err := s.Store.Write(ctx, store.Deployment, func(tx *store.Tx) (err error) {
			done, err = s.sealAgain(tx, column, list)
			return err
		}); err != nil {
			return n, err
		}
		n += done
	}
}

// sealAgain seals texts with the first key, unless they were changed meanwhile. It returns how many it sealed.
func (s *Rotation) sealAgain(tx *store.Tx, column SealedColumn, list []sealedText) (done int, err error) {
	keys, err := s.Vault.SealKeys()
	if err != nil {
		return 0, err
	}
	changed := map[int64]bool{}
	for _, was := range list {
		place, plain := PlaceOf(column.Field, was.key...), []byte(was.text)
		if IsSealed(was.text) {
			if plain, err = keys.Open(was.text, place); err != nil {
				return 0, fmt.Errorf("%s: %w", column.Name(), err)
			}
		}
		sealed, err := keys.Seal(s.Vault.Random, plain, place)
		if err != nil {
			return 0, err
		}
		replaced, err := replaceSealed(tx, column, was, sealed)
		if err != nil {
			return 0, err
		}
		if !replaced {
			continue
		}
		if done++; column.Remembered {
			site, _ := was.key[0].(int64)
			changed[site] = true
		}
	}
	for _, site := range slices.Sorted(maps.Keys(changed)) {
		if err := sites.Changed(tx, site); err != nil {
			return 0, err
		}
	}
	return done, nil
}
