package sites

import (
	"encoding/json"
	"errors"
	"time"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/store"
)

// Insert stores a new site.
func Insert(tx *store.Tx, s merchant.Site) (merchant.Site, error) {
	texts, err := textsOf(s)
	if err != nil {
		return merchant.Site{}, err
	}
	s.Version, s.CreatedAt, s.ModifiedAt = 1, tx.Now, tx.Now
	known, err := store.Ids(tx, `SELECT id FROM sites`)
	if err != nil {
		return s, err
	}
	if s.ID, err = tx.NextSite(known); err != nil {
		return s, err
	}
	_, err = tx.Exec(`INSERT INTO sites (id, path, name, sandbox, version, created_at, modified_at, permitted_urls, issuer, policyholder)
		VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9)`,
		append([]any{s.ID, s.Path, s.Name, s.Sandbox, s.Version, store.Micros(tx.Now)}, texts...)...)
	if err != nil {
		return s, err
	}
	_, err = tx.Exec(`INSERT INTO site_places (site_id) VALUES ($1)`, s.ID)
	return s, err
}

// IDAt finds the site with a path, or returns store.ErrNotFound.
func IDAt(tx *store.Tx, path string) (id int64, err error) {
	err = tx.QueryRow(`SELECT id FROM sites WHERE path = $1`, []any{path}, &id)
	return id, err
}

// Alone reads the path and the name of a site, whether it is a sandbox, and how far its clock is ahead, but no policy
// or channels.
func Alone(tx *store.Tx, id int64) (merchant.Site, error) {
	type site struct{ id int64 }
	return Known(tx, id, site{id}, func() (merchant.Site, error) {
		s := merchant.Site{ID: id}
		var ahead int64
		var permitted string
		err := tx.QueryRow(`SELECT path, name, sandbox, clock_ahead, permitted_urls FROM sites WHERE id = $1`, []any{id},
			&s.Path, &s.Name, &s.Sandbox, &ahead, &permitted)
		if err != nil {
			return s, err
		}
		s.ClockAhead = Microseconds(ahead)
		return s, json.Unmarshal([]byte(permitted), &s.PermittedURLs)
	})
}

// Lock locks the site for this write. Its version stays the same: objects that are only counted on a site, such as its tokens, change nothing of
// the site itself, so a form of it that is open elsewhere can still be saved. The error is store.ErrNotFound when there is no such site.
func Lock(tx *store.Tx, id int64) error {
	n, err := tx.Exec(`UPDATE sites SET version = version WHERE id = $1`, id)
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// Update stores the fields of a locked site that can change, as its next version.
func Update(tx *store.Tx, s merchant.Site) error {
	texts, err := textsOf(s)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE sites SET version = version + 1, modified_at = $2, permitted_urls = $3, issuer = $4, policyholder = $5, name = $6
		WHERE id = $1`, append(append([]any{s.ID, store.Micros(tx.Now)}, texts...), s.Name)...)
	if err != nil {
		return err
	}
	return Changed(tx, s.ID)
}

// NoteName keeps a name that a site has had until an instant of its clock.
func NoteName(tx *store.Tx, id int64, name string, until time.Time) error {
	_, err := tx.Exec(`INSERT INTO site_names (site_id, until, name) VALUES ($1, $2, $3) ON CONFLICT (site_id, until) DO NOTHING`,
		id, store.Micros(until), name)
	return err
}

// NameAt is the name that a site had at an instant of its clock; now is the name that it has now.
func NameAt(tx *store.Tx, id int64, at time.Time, now string) (name string, err error) {
	err = tx.QueryRow(`SELECT name FROM site_names WHERE site_id = $1 AND until > $2 ORDER BY until LIMIT 1`, []any{id, store.Micros(at)}, &name)
	if errors.Is(err, store.ErrNotFound) {
		return now, nil
	}
	return name, err
}

// textsOf encodes the fields that are stored as JSON: the permitted URLs, the issuer and the policyholder.
func textsOf(s merchant.Site) (texts []any, err error) {
	for _, value := range []any{append([]string{}, s.PermittedURLs...), s.Issuer, s.Policyholder} {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	return texts, nil
}
