package factchain

import (
	"errors"
	"strings"

	"holdfast/internal/store"
)

// query selects the rows of a fact in a range of ids: the id, the digest that they carry, and the facts. own and joined
// are the numbers of columns after these two.
func (f Fact) query() (text string, own, joined int) {
	columns := names("f", f.Columns)
	own = len(columns)
	stored, from := "f.digest", f.Table+" f"
	if !f.Digest {
		stored = "NULL"
	}
	if f.Also.Table != "" {
		also := names("a", f.Also.Columns)
		joined = len(also)
		columns = append(columns, also...)
		from += " LEFT JOIN " + f.Also.Table + " a ON a.site_id = f.site_id AND a.id = f." + f.Also.Key
	}
	return `SELECT f.id, ` + stored + `, ` + strings.Join(columns, ", ") + ` FROM ` + from + `
		WHERE f.site_id = $1 AND f.id > $2 AND f.id <= $3 ORDER BY f.id`, own, joined
}

// names are the columns of a list, with the name of their table before them.
func names(table, columns string) []string {
	list := strings.Split(columns, ",")
	for i, c := range list {
		list[i] = table + "." + strings.TrimSpace(c)
	}
	return list
}

// sitesUnsealed lists the sites with unsealed facts, in one statement for all sites: it reads the marks of each site
// and looks once into each table.
func sitesUnsealed(tx *store.Tx) ([]int64, error) {
	var sealed, unsealed []string
	for _, f := range Facts {
		sealed = append(sealed, `COALESCE(MAX(CASE WHEN name = '`+f.Table+`' THEN sealed_to END), 0) AS `+f.Table)
		unsealed = append(unsealed, `EXISTS (SELECT 1 FROM `+f.Table+` f WHERE f.site_id = p.site_id AND f.id > COALESCE(m.`+f.Table+`, 0))`)
	}
	return store.Ids(tx, `SELECT p.site_id FROM site_places p
		LEFT JOIN (SELECT site_id, `+strings.Join(sealed, ", ")+` FROM fact_marks GROUP BY site_id) m ON m.site_id = p.site_id
		WHERE `+strings.Join(unsealed, " OR ")+` ORDER BY p.site_id`)
}

// readMarks reads the marks of a site, and the last id of each table, by one statement.
func readMarks(tx *store.Tx, siteID int64) ([]mark, error) {
	var parts []string
	for _, f := range Facts {
		parts = append(parts, `SELECT '`+f.Table+`' AS name, MAX(id) AS last FROM `+f.Table+` WHERE site_id = $1`)
	}
	var list []mark
	err := tx.Query(`SELECT t.name, COALESCE(t.last, 0), COALESCE(m.sealed_to, 0), COALESCE(m.seen_to, 0), COALESCE(m.seen_at, 0)
		FROM (`+strings.Join(parts, " UNION ALL ")+`) AS t
		LEFT JOIN fact_marks m ON m.site_id = $1 AND m.name = t.name`, []any{siteID},
		func(scan func(dest ...any) error) error {
			m := mark{siteID: siteID}
			var name string
			var seenAt int64
			err := scan(&name, &m.last, &m.sealed, &m.seen, &seenAt)
			m.seenAt = store.Instant(seenAt)
			m.fact, _ = FactOf(name)
			list = append(list, m)
			return err
		})
	return list, err
}

// see notes the last id of a table that is visible, unless another process has noted one since.
func see(tx *store.Tx, m mark) error {
	_, err := tx.Exec(`INSERT INTO fact_marks (site_id, name, sealed_to, seen_to, seen_at) VALUES ($1, $2, 0, 0, 0)
		ON CONFLICT (site_id, name) DO NOTHING`, m.siteID, m.fact.Table)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE fact_marks SET seen_to = $3, seen_at = $4
		WHERE site_id = $1 AND name = $2 AND sealed_to = $5 AND seen_to <= $5`,
		m.siteID, m.fact.Table, m.last, store.Micros(tx.Now), m.sealed)
	return err
}

// appendSeal moves a mark on and appends the seal to the chain of its site, unless another process has moved the mark.
func appendSeal(tx *store.Tx, m mark, s Seal) error {
	n, err := tx.Exec(`UPDATE fact_marks SET sealed_to = $3 WHERE site_id = $1 AND name = $2 AND sealed_to = $4`,
		m.siteID, m.fact.Table, s.UpTo, m.sealed)
	if err != nil || n == 0 {
		return err
	}
	_, err = tx.Exec(`INSERT INTO fact_heads (site_id, number, hash, sealed_at) VALUES ($1, 0, '', 0)
		ON CONFLICT (site_id) DO NOTHING`, m.siteID)
	if err != nil {
		return err
	}
	err = tx.QueryRow(`UPDATE fact_heads SET number = number + 1, sealed_at = $2 WHERE site_id = $1 RETURNING number, hash`,
		[]any{m.siteID, store.Micros(tx.Now)}, &s.Number, &s.PreviousHash)
	if err != nil {
		return err
	}
	s.SealedAt = tx.Now
	if s.Hash, err = s.Sum(); err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO fact_seals (`+sealColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		s.SiteID, s.Number, s.Table, s.After, s.UpTo, s.Rows, s.Digest, store.Micros(s.SealedAt), s.PreviousHash, s.Hash)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE fact_heads SET hash = $2 WHERE site_id = $1`, s.SiteID, s.Hash)
	return err
}

const sealColumns = `site_id, number, name, after_id, up_to, counted, digest, sealed_at, previous_hash, hash`

// After reads the seals of a site with numbers greater than after, in order, at most limit of them.
func After(tx *store.Tx, siteID, after int64, limit int) (list []Seal, err error) {
	err = tx.Query(`SELECT `+sealColumns+` FROM fact_seals WHERE site_id = $1 AND number > $2 ORDER BY number LIMIT $3`,
		[]any{siteID, after, limit}, func(scan func(dest ...any) error) error {
			var s Seal
			var at int64
			err := scan(&s.SiteID, &s.Number, &s.Table, &s.After, &s.UpTo, &s.Rows, &s.Digest, &at, &s.PreviousHash, &s.Hash)
			s.SealedAt = store.Instant(at)
			list = append(list, s)
			return err
		})
	return list, err
}

// SealedTo reads up to which id the rows of a table of a site are sealed.
func SealedTo(tx *store.Tx, siteID int64, table string) (id int64, err error) {
	err = tx.QueryRow(`SELECT sealed_to FROM fact_marks WHERE site_id = $1 AND name = $2`, []any{siteID, table}, &id)
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	return id, err
}
