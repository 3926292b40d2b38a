package core

import (
	"encoding/json"

	"holdfast/internal/db"
	"holdfast/internal/travel"
)

// InsertSite stores a new site.
func InsertSite(tx *db.Tx, s travel.Site) (travel.Site, error) {
	urls, err := urlsText(s)
	if err != nil {
		return travel.Site{}, err
	}
	s.Version, s.CreatedAt, s.ModifiedAt = 1, tx.Now, tx.Now
	err = tx.Row(`INSERT INTO sites (path, name, sandbox, permitted_urls, version, created_at, modified_at)
		VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING id`,
		[]any{s.Path, s.Name, s.Sandbox, urls, s.Version, db.Micros(tx.Now)}, &s.ID)
	return s, err
}

// SiteAlone reads the path and the name of a site, whether it is a sandbox, and how far its clock is ahead. It reads no
// policy and no channels.
func SiteAlone(tx *db.Tx, id int64) (travel.Site, error) {
	type site struct{ id int64 }
	return Known(tx, id, site{id}, func() (travel.Site, error) {
		s := travel.Site{ID: id}
		var ahead int64
		err := tx.Row(`SELECT path, name, sandbox, clock_ahead FROM sites WHERE id = $1`, []any{id},
			&s.Path, &s.Name, &s.Sandbox, &ahead)
		s.ClockAhead = Microseconds(ahead)
		return s, err
	})
}

// LockSite locks the site for this write by counting up its version. The error is db.ErrNotFound when there is no such
// site.
func LockSite(tx *db.Tx, id int64) error {
	n, err := tx.Exec(`UPDATE sites SET version = version + 1 WHERE id = $1`, id)
	if err == nil && n == 0 {
		return db.ErrNotFound
	}
	return err
}

// UpdateSite stores the fields of a locked site that can change.
func UpdateSite(tx *db.Tx, s travel.Site) error {
	urls, err := urlsText(s)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE sites SET permitted_urls = $2, modified_at = $3 WHERE id = $1`, s.ID, urls, db.Micros(tx.Now))
	if err != nil {
		return err
	}
	return Changed(tx, s.ID)
}

func urlsText(s travel.Site) (string, error) {
	if s.PermittedURLs == nil {
		return "[]", nil
	}
	text, err := json.Marshal(s.PermittedURLs)
	return string(text), err
}
