package merchants

import (
	"encoding/json"
	"errors"
	"fmt"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// microsPerDay divides an instant into days. From 1970 on, both engines round the quotient down to the day.
const microsPerDay = "86400000000"

// siteColumns are the columns of a site with its policy of today, in the order in which scanSite reads them. They have
// only the fields of the policy that most use cases need. PolicyOn reads all of them.
const siteColumns = `id, path, name, sandbox, permitted_urls, issuer, policyholder, version, created_at, modified_at, clock_ahead, channel_count,
	policy_id, from_day, recorded_at, currency, recognition, late_log_days, max_fixing_age_days, statement_period`

// sitesOn is the FROM clause for siteColumns: each site with its policy of today, by its own clock. now is the placeholder
// of the argument that has the time of the real clock in microseconds.
func sitesOn(now string) string {
	return `(SELECT s.id, s.path, s.name, s.sandbox, s.permitted_urls, s.issuer, s.policyholder, s.version, s.created_at,
		s.modified_at, s.clock_ahead,
		(SELECT COUNT(*) FROM channels c WHERE c.site_id = s.id) AS channel_count,
		p.id AS policy_id, p.from_day, p.recorded_at, p.currency, p.recognition, p.late_log_days, p.max_fixing_age_days,
		p.statement_period
		FROM sites s
		JOIN policies p ON p.site_id = s.id AND p.id = (
			SELECT q.id FROM policies q WHERE q.site_id = s.id AND q.from_day <= (` + now + ` + s.clock_ahead) / ` + microsPerDay + `
			ORDER BY q.from_day DESC, q.id DESC LIMIT 1)
	) AS sites_on`
}

func scanSite(scan func(dest ...any) error) (merchant.Site, error) {
	var s merchant.Site
	var urls, issuer, policyholder string
	var created, modified, recorded, ahead int64
	p := &s.Policy
	err := scan(&s.ID, &s.Path, &s.Name, &s.Sandbox, &urls, &issuer, &policyholder, &s.Version, &created, &modified, &ahead,
		&s.ChannelCount, &p.ID, &p.FromDay, &recorded, &p.Currency, &p.Recognition, &p.LateLogDays, &p.MaxFixingAgeDays,
		&p.StatementPeriod)
	if err != nil {
		return merchant.Site{}, err
	}
	s.ClockAhead = sites.Microseconds(ahead)
	s.CreatedAt, s.ModifiedAt, p.RecordedAt = store.Instant(created), store.Instant(modified), store.Instant(recorded)
	err = errors.Join(json.Unmarshal([]byte(urls), &s.PermittedURLs), json.Unmarshal([]byte(issuer), &s.Issuer),
		json.Unmarshal([]byte(policyholder), &s.Policyholder))
	if err != nil {
		return merchant.Site{}, fmt.Errorf("read site %d: %w", s.ID, err)
	}
	return s, nil
}

// Site reads a site by id, with the policy of today.
func Site(tx *store.Tx, id int64) (merchant.Site, error) { return siteWhere(tx, "id = $2", id) }

// SiteAt reads a site by its path, with the policy of today.
func SiteAt(tx *store.Tx, path string) (merchant.Site, error) {
	return siteWhere(tx, "path = $2", path)
}

func siteWhere(tx *store.Tx, condition string, value any) (merchant.Site, error) {
	return scanSite(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+siteColumns+` FROM `+sitesOn("$1")+` WHERE `+condition,
			[]any{store.Micros(sites.RealNow(tx)), value}, dest...)
	})
}

// SitesPage reads one page of the sites, each with the policy of today.
func SitesPage(tx *store.Tx, f SiteFilter, page store.Page) (store.List[merchant.Site], error) {
	var w sqltext.Where
	source := sitesOn(w.Arg(store.Micros(sites.RealNow(tx))))
	w.And("id > ?", 0) // always true: store.ListPage needs a condition
	if f.Only != 0 {
		w.And("id = ?", f.Only)
	}
	if f.Text != "" { // SQLite folds the letters a to z alone, so that others have to be written as they are in the name
		w.And(`lower(name) LIKE ? ESCAPE '\' OR path LIKE ? ESCAPE '\'`, sqltext.Wildcard(f.Text), sqltext.Wildcard(f.Text))
	}
	orders := store.Orders{"modified": "modified_at", "name": `name COLLATE "C"`, "path": `path COLLATE "C"`}
	return store.ListPage(tx, source, siteColumns, &w, page, orders, scanSite)
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
