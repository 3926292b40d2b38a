package tokens

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

const tokenColumns = `site_id, id, user_id, name, secret_hash, expires_at, created_at, updated_at, abilities, addresses`

func scanToken(scan func(dest ...any) error) (APIToken, error) {
	var t APIToken
	var expires sql.NullInt64
	var created, updated int64
	var limits Limits
	err := scan(&t.SiteID, &t.ID, &t.UserID, &t.Name, &t.SecretHash, &expires, &created, &updated,
		&limits.Abilities, &limits.Addresses)
	if err == nil {
		err = limits.Read(&t)
	}
	t.ExpiresAt = store.MaybeInstant(expires)
	t.CreatedAt, t.UpdatedAt = store.Instant(created), store.Instant(updated)
	return t, err
}

// Limits are the columns with the limits of a token.
type Limits struct{ Abilities, Addresses string }

// Read sets the limits of a token.
func (l Limits) Read(t *APIToken) error {
	t.Abilities = access.ParseAbilities(l.Abilities)
	for _, text := range strings.Fields(l.Addresses) {
		network, ok := access.ParseNetwork(text)
		if !ok {
			return fmt.Errorf("the addresses of API token %d cannot be read", t.ID)
		}
		t.Networks = append(t.Networks, network)
	}
	return nil
}

// InsertToken stores a new API token and returns it with its id. The schema does not limit how many tokens a site has,
// so the caller has locked the site (sites.Lock) and counted them.
func InsertToken(tx *store.Tx, t APIToken) (APIToken, error) {
	t.CreatedAt, t.UpdatedAt = tx.Now, tx.Now
	var err error
	if t.ID, err = tx.NextID("api_tokens", t.SiteID); err != nil {
		return t, err
	}
	_, err = tx.Exec(`INSERT INTO api_tokens (site_id, id, user_id, name, secret_hash, expires_at, created_at, updated_at,
			abilities, addresses)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9)`,
		t.SiteID, t.ID, t.UserID, t.Name, t.SecretHash, store.MaybeMicros(t.ExpiresAt), store.Micros(tx.Now),
		t.Abilities.String(), strings.Join(t.NetworkTexts(), " "))
	return t, err
}

// CountTokens counts the API tokens of a site, expired ones included.
func CountTokens(tx *store.Tx, siteID int64) (n int, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM api_tokens WHERE site_id = $1`, []any{siteID}, &n)
	return n, err
}

// TokensOf reads all API tokens of a site, in order of their ids.
func TokensOf(tx *store.Tx, siteID int64) ([]APIToken, error) {
	var tokens []APIToken
	err := tx.Query(`SELECT `+tokenColumns+` FROM api_tokens WHERE site_id = $1 ORDER BY id`, []any{siteID},
		func(scan func(dest ...any) error) error {
			t, err := scanToken(scan)
			tokens = append(tokens, t)
			return err
		})
	if err != nil {
		return nil, err
	}
	err = tx.Query(`SELECT token_id, used_at FROM token_uses WHERE site_id = $1`, []any{siteID}, func(scan func(dest ...any) error) error {
		var id, used int64
		err := scan(&id, &used)
		for i := range tokens {
			if tokens[i].ID == id {
				tokens[i].LastUsedAt = store.Instant(used)
			}
		}
		return err
	})
	return tokens, err
}

// SiteOfToken finds the site that an API token is for, or returns store.ErrNotFound.
func SiteOfToken(tx *store.Tx, id int64) (siteID int64, err error) {
	err = tx.QueryRow(`SELECT site_id FROM api_tokens WHERE id = $1`, []any{id}, &siteID)
	return siteID, err
}

// DeleteTokensOfUser removes the API tokens of a site that act as a user, and returns their ids in order.
func DeleteTokensOfUser(tx *store.Tx, siteID, userID int64) (ids []int64, err error) {
	err = tx.Query(`DELETE FROM api_tokens WHERE site_id = $1 AND user_id = $2 RETURNING id`, []any{siteID, userID},
		func(scan func(dest ...any) error) error {
			var id int64
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	slices.Sort(ids)
	if err == nil && len(ids) > 0 {
		err = sites.Changed(tx, siteID)
	}
	return ids, err
}

// DeleteTokensEverywhere removes the API tokens that act as a user on all sites, and returns them in order of their ids.
func DeleteTokensEverywhere(tx *store.Tx, userID int64) (ended []APIToken, err error) {
	if err := ChangedForTokensOf(tx, userID); err != nil {
		return nil, err
	}
	err = tx.Query(`DELETE FROM api_tokens WHERE user_id = $1 RETURNING `+tokenColumns, []any{userID},
		func(scan func(dest ...any) error) error {
			t, err := scanToken(scan)
			ended = append(ended, t)
			return err
		})
	slices.SortFunc(ended, func(a, b APIToken) int { return cmp.Compare(a.ID, b.ID) })
	return ended, err
}

// deleteToken removes one API token of a site, or returns store.ErrNotFound.
func deleteToken(tx *store.Tx, siteID, id int64) error {
	n, err := tx.Exec(`DELETE FROM api_tokens WHERE site_id = $1 AND id = $2`, siteID, id)
	if err != nil {
		return err
	}
	if n == 0 {
		return store.ErrNotFound
	}
	return sites.Changed(tx, siteID)
}

// deleteTokens removes all API tokens of a site.
func deleteTokens(tx *store.Tx, siteID int64) error {
	if _, err := tx.Exec(`DELETE FROM api_tokens WHERE site_id = $1`, siteID); err != nil {
		return err
	}
	return sites.Changed(tx, siteID)
}

// TouchToken records when a token was used, unless a use after unlessAfter is already recorded, or the token has been
// deleted.
func TouchToken(tx *store.Tx, siteID, id int64, used, unlessAfter time.Time) error {
	var there int
	err := tx.QueryRow(`SELECT COUNT(*) FROM api_tokens WHERE site_id = $1 AND id = $2`, []any{siteID, id}, &there)
	if err != nil || there == 0 {
		return err
	}
	_, err = tx.Exec(`INSERT INTO token_uses (site_id, token_id, used_at) VALUES ($1, $2, $3)
		ON CONFLICT (site_id, token_id) DO UPDATE SET used_at = excluded.used_at WHERE token_uses.used_at <= $4`,
		siteID, id, store.Micros(used), store.Micros(unlessAfter))
	return err
}

// ChangedForTokensOf is sites.Changed for all sites on which API tokens act as a user.
func ChangedForTokensOf(tx *store.Tx, userID int64) error {
	var ids []int64
	err := tx.Query(`SELECT DISTINCT site_id FROM api_tokens WHERE user_id = $1 ORDER BY site_id`, []any{userID}, func(scan func(dest ...any) error) error {
		var id int64
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	for _, id := range ids {
		if err == nil {
			err = sites.Changed(tx, id)
		}
	}
	return err
}
