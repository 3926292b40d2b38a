package audit

import (
	"errors"

	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const auditColumns = `site_id, id, at, real_at, user_id, username, role, token_id, address, request_id, action, object,
	before_state, after_state, previous_hash, hash`

func scanAudit(scan func(dest ...any) error) (Entry, error) {
	var r Entry
	var at, realAt int64
	err := scan(&r.SiteID, &r.ID, &at, &realAt, &r.UserID, &r.Username, &r.Role, &r.TokenID, &r.Address, &r.RequestID,
		&r.Action, &r.Object, &r.Before, &r.After, &r.PreviousHash, &r.Hash)
	r.At, r.RealAt = store.Instant(at), store.Instant(realAt)
	return r, err
}

// Append stores a record at the end of its site's chain. It locks the end of the chain, so a write calls it last:
// then other writes wait for it only a short time.
func Append(tx *store.Tx, r Entry) error {
	head, err := takeAuditHead(tx, r.SiteID)
	if errors.Is(err, store.ErrNotFound) {
		_, err = tx.Exec(`INSERT INTO audit_heads (site_id, id, hash) VALUES ($1, 0, '') ON CONFLICT (site_id) DO NOTHING`,
			r.SiteID)
		if err != nil {
			return err
		}
		head, err = takeAuditHead(tx, r.SiteID)
	}
	if err != nil {
		return err
	}
	r.ID, r.PreviousHash = head.ID, head.Hash
	r.Hash = r.Sum()
	_, err = tx.Exec(`INSERT INTO audit_records (`+auditColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		r.SiteID, r.ID, store.Micros(r.At), store.Micros(r.RealAt), r.UserID, r.Username, r.Role, r.TokenID, r.Address, r.RequestID,
		r.Action, r.Object, r.Before, r.After, r.PreviousHash, r.Hash)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE audit_heads SET hash = $2 WHERE site_id = $1`, r.SiteID, r.Hash)
	return err
}

// takeAuditHead locks the end of a chain. It returns the id of the next record and the hash of the last one.
func takeAuditHead(tx *store.Tx, siteID int64) (head Head, err error) {
	err = tx.QueryRow(`UPDATE audit_heads SET id = id + 1 WHERE site_id = $1 RETURNING id, hash`,
		[]any{siteID}, &head.ID, &head.Hash)
	return head, err
}

// HeadOf reads the end of a site's chain. It is the zero value when the chain has no records.
func HeadOf(tx *store.Tx, siteID int64) (head Head, err error) {
	err = tx.QueryRow(`SELECT id, hash FROM audit_heads WHERE site_id = $1`, []any{siteID}, &head.ID, &head.Hash)
	if errors.Is(err, store.ErrNotFound) {
		return Head{}, nil
	}
	return head, err
}

// Entries reads one page of a site's audit records.
func Entries(tx *store.Tx, siteID int64, f Filter, page store.Page) (store.List[Entry], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "action", f.Actions)
	sqltext.In(&w, "username", f.Usernames)
	sqltext.In(&w, "object", f.Objects)
	store.Within(&w, "at", f.At)
	return store.ListPage(tx, "audit_records", auditColumns, &w, page, store.Orders{"modified": "at"}, scanAudit)
}

// auditRecord reads one record. The error is store.ErrNotFound when the site has no such record.
func auditRecord(tx *store.Tx, siteID, id int64) (Entry, error) {
	return scanAudit(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+auditColumns+` FROM audit_records WHERE site_id = $1 AND id = $2`, []any{siteID, id}, dest...)
	})
}

// Each calls visit for the records of a site in the order of their ids.
func Each(tx *store.Tx, siteID int64, visit func(Entry)) error {
	return tx.Query(`SELECT `+auditColumns+` FROM audit_records WHERE site_id = $1 ORDER BY id`, []any{siteID},
		func(scan func(dest ...any) error) error {
			r, err := scanAudit(scan)
			if err == nil {
				visit(r)
			}
			return err
		})
}
