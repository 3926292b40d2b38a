package merchants

import (
	"encoding/json"
	"errors"
	"fmt"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// siteColumns are the columns of a site, in the order in which scanSite reads them.
const siteColumns = `id, path, name, sandbox, permitted_urls, issuer, policyholder, version, created_at, modified_at, clock_ahead`

func scanSite(scan func(dest ...any) error) (merchant.Site, error) {
	var s merchant.Site
	var urls, issuer, policyholder string
	var created, modified, ahead int64
	err := scan(&s.ID, &s.Path, &s.Name, &s.Sandbox, &urls, &issuer, &policyholder, &s.Version, &created, &modified, &ahead)
	if err != nil {
		return merchant.Site{}, err
	}
	s.ClockAhead = sites.Microseconds(ahead)
	s.CreatedAt, s.ModifiedAt = store.Instant(created), store.Instant(modified)
	err = errors.Join(json.Unmarshal([]byte(urls), &s.PermittedURLs), json.Unmarshal([]byte(issuer), &s.Issuer),
		json.Unmarshal([]byte(policyholder), &s.Policyholder))
	if err != nil {
		return merchant.Site{}, fmt.Errorf("read site %d: %w", s.ID, err)
	}
	return s, nil
}

// readSiteParts sets the number of channels and today's policy of some sites, by their own clocks. The policies have only the fields that
// most use cases need. PolicyOn reads all of them.
func readSiteParts(tx *store.Tx, list []merchant.Site) error {
	if len(list) == 0 {
		return nil
	}
	at := map[int64]*merchant.Site{}
	var w sqltext.Where
	ids := make([]int64, len(list))
	for i := range list {
		at[list[i].ID], ids[i] = &list[i], list[i].ID
	}
	if len(ids) == 1 {
		w.And("site_id = ?", ids[0]) // so that a cluster queries one node
	} else {
		sqltext.In(&w, "site_id", ids)
	}
	err := tx.Query(`SELECT site_id, COUNT(*) FROM channels WHERE `+w.Text.String()+` GROUP BY site_id`, w.Args,
		func(scan func(dest ...any) error) error {
			var id, n int64
			err := scan(&id, &n)
			if s := at[id]; s != nil {
				s.ChannelCount = n
			}
			return err
		})
	if err != nil {
		return err
	}
	now := sites.RealNow(tx)
	return tx.Query(`SELECT site_id, id, from_day, recorded_at, currency, recognition, late_log_days, max_fixing_age_days, statement_period
		FROM policies WHERE `+w.Text.String()+` ORDER BY site_id, from_day, id`, w.Args, func(scan func(dest ...any) error) error {
		var p terms.Policy
		var id, recorded int64
		err := scan(&id, &p.ID, &p.FromDay, &recorded, &p.Currency, &p.Recognition, &p.LateLogDays, &p.MaxFixingAgeDays,
			&p.StatementPeriod)
		p.RecordedAt = store.Instant(recorded)
		if s := at[id]; s != nil && p.FromDay <= civil.DayOf(now.Add(s.ClockAhead)) {
			s.Policy = p // the last one is in force
		}
		return err
	})
}

// Site reads a site by id, with the policy of today.
func Site(tx *store.Tx, id int64) (merchant.Site, error) { return siteWhere(tx, "id = $1", id) }

// SiteAt reads a site by its path, with the policy of today.
func SiteAt(tx *store.Tx, path string) (merchant.Site, error) {
	return siteWhere(tx, "path = $1", path)
}

func siteWhere(tx *store.Tx, condition string, value any) (merchant.Site, error) {
	s, err := scanSite(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+siteColumns+` FROM sites WHERE `+condition, []any{value}, dest...)
	})
	if err != nil {
		return s, err
	}
	list := []merchant.Site{s}
	if err = readSiteParts(tx, list); err == nil && list[0].Policy.ID == 0 {
		err = store.ErrNotFound // its first policy starts later
	}
	return list[0], err
}

// SitesPage reads one page of the sites, each with the policy of today.
func SitesPage(tx *store.Tx, f SiteFilter, page store.Page) (store.List[merchant.Site], error) {
	var w sqltext.Where
	w.And("id > ?", 0) // always true: store.ListPage needs a condition
	if f.Only != 0 {
		w.And("id = ?", f.Only)
	}
	if f.Text != "" { // SQLite only folds the letters a to z, so other letters must match exactly
		w.And(`lower(name) LIKE ? ESCAPE '\' OR path LIKE ? ESCAPE '\'`, sqltext.Wildcard(f.Text), sqltext.Wildcard(f.Text))
	}
	orders := store.Orders{"modified": "modified_at", "name": `name COLLATE "C"`, "path": `path COLLATE "C"`}
	list, err := store.ListPage(tx, "sites", siteColumns, &w, page, orders, scanSite)
	if err != nil {
		return list, err
	}
	return list, readSiteParts(tx, list.Items)
}

// SiteInForce reads a site as sites.Alone does, with its whole policy of today. It is faster than Site: most often the
// process remembers both (see sites.Known).
func SiteInForce(tx *store.Tx, id int64) (merchant.Site, error) {
	s, err := sites.Alone(tx, id)
	if err != nil {
		return s, err
	}
	s.Policy, err = PolicyOn(tx, id, civil.DayOf(tx.Now))
	return s, err
}
