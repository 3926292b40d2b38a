package store

import (
	"slices"

	"holdfast/internal/travel"
)

// supplierColumns are the columns of a supplier in the order in which scanSupplier reads them.
const supplierColumns = `site_id, id, name, url, category, country, version`

func scanSupplier(scan func(dest ...any) error) (travel.Supplier, error) {
	var s travel.Supplier
	err := scan(&s.SiteID, &s.ID, &s.Name, &s.URL, &s.Category, &s.Country, &s.Version)
	return s, err
}

// InsertSupplier stores a new supplier and returns it with its id and version.
func InsertSupplier(tx *Tx, s travel.Supplier) (travel.Supplier, error) {
	s.Version = 1
	err := tx.Row(`INSERT INTO suppliers (site_id, name, name_folded, url, category, country, version, created_at, modified_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) RETURNING id`,
		[]any{s.SiteID, s.Name, folded(s.Name), s.URL, s.Category, s.Country, s.Version, micros(tx.Now)}, &s.ID)
	return s, err
}

// Supplier reads one supplier of the site.
func Supplier(tx *Tx, siteID, id int64) (travel.Supplier, error) {
	return scanSupplier(func(dest ...any) error {
		return tx.Row(`SELECT `+supplierColumns+` FROM suppliers WHERE site_id = $1 AND id = $2`, []any{siteID, id}, dest...)
	})
}

// LockSupplier takes the supplier for this write by counting up its version, and returns it so: the version that
// callers know is one less.
func LockSupplier(tx *Tx, siteID, id int64) (travel.Supplier, error) {
	return scanSupplier(func(dest ...any) error {
		return tx.Row(`UPDATE suppliers SET version = version + 1 WHERE site_id = $1 AND id = $2
			RETURNING `+supplierColumns, []any{siteID, id}, dest...)
	})
}

// UpdateSupplier stores what can change of a supplier that LockSupplier gave.
func UpdateSupplier(tx *Tx, s travel.Supplier) error {
	n, err := tx.Exec(`UPDATE suppliers SET name = $3, name_folded = $4, url = $5, category = $6, country = $7, modified_at = $8
		WHERE site_id = $1 AND id = $2`, s.SiteID, s.ID, s.Name, folded(s.Name), s.URL, s.Category, s.Country, micros(tx.Now))
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// SupplierInUse reports whether a channel or a booking, one in the trash included, refers to the supplier.
func SupplierInUse(tx *Tx, siteID, id int64) (bool, error) {
	var inUse bool
	err := tx.Row(`SELECT EXISTS (SELECT 1 FROM channel_suppliers WHERE site_id = $1 AND supplier_id = $2)
		OR EXISTS (SELECT 1 FROM booking_suppliers WHERE site_id = $1 AND supplier_id = $2)`, []any{siteID, id}, &inUse)
	return inUse, err
}

// DeleteSupplier removes a supplier. Where something refers to it, a foreign key forbids it.
func DeleteSupplier(tx *Tx, siteID, id int64) error { return tx.Remove("suppliers", siteID, id) }

// UnknownSuppliers returns those of the ids under which the site has no supplier, in order, each once.
func UnknownSuppliers(tx *Tx, siteID int64, ids []int64) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var w where
	w.and("site_id = ?", siteID)
	in(&w, "id", ids)
	var known []int64
	err := tx.Each(`SELECT id FROM suppliers WHERE `+w.text.String(), w.args, func(scan func(dest ...any) error) error {
		var id int64
		err := scan(&id)
		known = append(known, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	unknown := slices.Compact(slices.Sorted(slices.Values(ids)))
	return slices.DeleteFunc(unknown, func(id int64) bool { return slices.Contains(known, id) }), nil
}

// Suppliers reads one page of the site's suppliers.
func Suppliers(tx *Tx, siteID int64, f travel.SupplierFilter, page travel.Page) (travel.List[travel.Supplier], error) {
	var w where
	w.and("site_id = ?", siteID)
	in(&w, "id", f.Include)
	notIn(&w, "id", f.Exclude)
	if f.Name != "" {
		w.and(`name_folded LIKE ? ESCAPE '\'`, wildcard(f.Name))
	}
	if f.URL != "" {
		// Both sides by the same lower: what it leaves alone it leaves alone twice.
		w.and(`lower(url) LIKE lower(?) ESCAPE '\'`, "%"+escapeLike(f.URL)+"%")
	}
	in(&w, "country", f.Countries)
	in(&w, "category", f.Categories)
	return listOf(tx, "suppliers", supplierColumns, &w, page, map[string]string{
		"id": "id", "name": `name_folded COLLATE "C"`, "url": `url COLLATE "C"`, "category": `category COLLATE "C"`,
		"country": `country COLLATE "C"`,
	}, f.Include, scanSupplier)
}
