package merchants

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// supplierColumns are the columns of a supplier in the order in which scanSupplier reads them.
const supplierColumns = `site_id, id, name, url, category, country, version`

func scanSupplier(scan func(dest ...any) error) (merchant.Supplier, error) {
	var s merchant.Supplier
	err := scan(&s.SiteID, &s.ID, &s.Name, &s.URL, &s.Category, &s.Country, &s.Version)
	return s, err
}

// InsertSupplier stores a new supplier and returns it with its id and version.
func InsertSupplier(tx *store.Tx, s merchant.Supplier) (merchant.Supplier, error) {
	s.Version = 1
	var err error
	if s.ID, err = tx.NextID("suppliers", s.SiteID); err != nil {
		return s, err
	}
	_, err = tx.Exec(`INSERT INTO suppliers (site_id, id, name, name_folded, url, category, country, version, created_at, modified_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
		s.SiteID, s.ID, s.Name, sqltext.Folded(s.Name), s.URL, s.Category, s.Country, s.Version, store.Micros(tx.Now))
	return s, err
}

// Supplier reads one supplier of the site.
func Supplier(tx *store.Tx, siteID, id int64) (merchant.Supplier, error) {
	return scanSupplier(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+supplierColumns+` FROM suppliers WHERE site_id = $1 AND id = $2`, []any{siteID, id}, dest...)
	})
}

// lockSupplier locks the supplier for this write by counting up its version, and reads it. The version that callers know
// is one less than the version that it returns.
func lockSupplier(tx *store.Tx, siteID, id int64) (merchant.Supplier, error) {
	return scanSupplier(func(dest ...any) error {
		return tx.QueryRow(`UPDATE suppliers SET version = version + 1 WHERE site_id = $1 AND id = $2
			RETURNING `+supplierColumns, []any{siteID, id}, dest...)
	})
}

// leaveSupplier takes back the new version of lockSupplier in a write that changes nothing after all.
func leaveSupplier(tx *store.Tx, s merchant.Supplier) (merchant.Supplier, error) {
	s.Version--
	_, err := tx.Exec(`UPDATE suppliers SET version = $3 WHERE site_id = $1 AND id = $2`, s.SiteID, s.ID, s.Version)
	return s, err
}

// updateSupplier stores the fields of a locked supplier that can change.
func updateSupplier(tx *store.Tx, s merchant.Supplier) error {
	n, err := tx.Exec(`UPDATE suppliers SET name = $3, name_folded = $4, url = $5, category = $6, country = $7, modified_at = $8
		WHERE site_id = $1 AND id = $2`, s.SiteID, s.ID, s.Name, sqltext.Folded(s.Name), s.URL, s.Category, s.Country, store.Micros(tx.Now))
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// deleteSupplier removes a supplier. The error is store.ErrConflict when a channel or a booking, even a deleted one, refers
// to it by a foreign key.
func deleteSupplier(tx *store.Tx, siteID, id int64) error {
	if err := sites.Changed(tx, siteID); err != nil { // processes remember which suppliers there are
		return err
	}
	n, err := tx.Exec(`DELETE FROM suppliers WHERE site_id = $1 AND id = $2`, siteID, id)
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// errSomeUnknown: some of the suppliers do not exist. sites.Known does not remember errors, so a supplier made later is found.
var errSomeUnknown = errors.New("some suppliers are unknown")

// unknownSuppliers returns the ids that no supplier of the site has, sorted and without duplicates. Bookings name the same
// few lists of suppliers again and again, so the lists that are right are remembered.
func unknownSuppliers(tx *store.Tx, siteID int64, ids []int64) (unknown []int64, err error) {
	type suppliers struct {
		siteID int64
		ids    string
	}
	if len(ids) == 0 {
		return nil, nil
	}
	_, err = sites.Known(tx, siteID, suppliers{siteID, fmt.Sprint(ids)}, func() (all struct{}, err error) {
		unknown, err = unknownOf(tx, `SELECT id FROM suppliers WHERE `, siteID, ids)
		if err == nil && len(unknown) > 0 {
			err = errSomeUnknown
		}
		return all, err
	})
	if errors.Is(err, errSomeUnknown) {
		err = nil
	}
	return unknown, err
}

// unknownOf returns the ids that a query does not find on a site, sorted and without duplicates.
func unknownOf(tx *store.Tx, query string, siteID int64, ids []int64) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "id", ids)
	known, err := store.Ids(tx, query+w.Text.String(), w.Args...)
	if err != nil {
		return nil, err
	}
	unknown := slices.Compact(slices.Sorted(slices.Values(ids)))
	return slices.DeleteFunc(unknown, func(id int64) bool { return slices.Contains(known, id) }), nil
}

// CheckChannels notes a problem for the channels of a scope that the site does not have. A report about a channel that
// does not exist would else be empty, and look as if nothing was at risk.
func CheckChannels(tx *store.Tx, siteID int64, ids []int64, p *errs.Problems) error {
	unknown, err := unknownOf(tx, `SELECT id FROM channels WHERE `, siteID, ids)
	noteUnknown(p, "channels", "channel", unknown)
	return err
}

// KnownChannels returns an error that names the channels of a list's filter that the site does not have.
func KnownChannels(tx *store.Tx, siteID int64, ids []int64) error {
	var p errs.Problems
	if err := CheckChannels(tx, siteID, ids, &p); err != nil {
		return err
	}
	return p.Err()
}

// CheckSuppliers notes a problem for the suppliers of a scope that the site does not have.
func CheckSuppliers(tx *store.Tx, siteID int64, ids []int64, p *errs.Problems) error {
	unknown, err := unknownSuppliers(tx, siteID, ids)
	noteUnknown(p, "suppliers", "supplier", unknown)
	return err
}

func noteUnknown(p *errs.Problems, field, what string, ids []int64) {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	if len(ids) > 0 {
		p.Wrong(field, "%s %s not found.", strings.ToUpper(what[:1])+what[1:], strings.Join(texts, ", "))
	}
}

// andSearch adds the condition that a text is the id of a row, or a part of one of its columns in lower case.
func andSearch(w *sqltext.Where, text string, columns ...string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	var conditions []string
	var values []any
	for _, column := range columns {
		conditions, values = append(conditions, column+` LIKE ? ESCAPE '\'`), append(values, sqltext.Wildcard(text))
	}
	if id, err := strconv.ParseInt(text, 10, 64); err == nil {
		conditions, values = append(conditions, "id = ?"), append(values, id)
	}
	w.And(strings.Join(conditions, " OR "), values...)
}

// SuppliersPage reads one page of the site's suppliers.
func SuppliersPage(tx *store.Tx, siteID int64, f SupplierFilter, page store.Page) (store.List[merchant.Supplier], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	if f.Name != "" {
		w.And(`name_folded LIKE ? ESCAPE '\'`, sqltext.Wildcard(f.Name))
	}
	andSearch(&w, f.Search, "name_folded", "lower(url)")
	if f.URL != "" {
		// lower knows only some letters in SQLite. It works on both sides, so equal letters stay equal.
		w.And(`lower(url) LIKE lower(?) ESCAPE '\'`, "%"+sqltext.EscapeLike(f.URL)+"%")
	}
	sqltext.In(&w, "country", f.Countries)
	sqltext.In(&w, "category", f.Categories)
	return store.ListPage(tx, "suppliers", supplierColumns, &w, page, store.Orders{
		"modified": "modified_at", "name": `name_folded COLLATE "C"`, "url": `url COLLATE "C"`, "category": `category COLLATE "C"`,
		"country": `country COLLATE "C"`,
	}, scanSupplier)
}
