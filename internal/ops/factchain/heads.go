package factchain

import (
	"errors"
	"time"

	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// The chains of a site.
const (
	ChainFacts = "facts" // the seals of Facts
	ChainAudit = "audit" // the records of who changed what
)

// Head is the end of a chain at a moment. Stored outside the database, it shows later whether the chain was cut or
// rewritten: a chain only grows, so it must still have this hash at this position.
type Head struct {
	Site  string    `json:"site"` // the path; "" for what belongs to no site
	Chain string    `json:"chain"`
	Count int64     `json:"count"` // of links
	Hash  string    `json:"hash"`  // of the last link; "" for an empty chain
	At    time.Time `json:"at"`    // when it was read, by the real clock
}

// Heads reads the heads of a site's chains, the facts first.
func Heads(tx *store.Tx, siteID int64, path string) ([]Head, error) {
	at := sites.RealNow(tx)
	facts := Head{Site: path, Chain: ChainFacts, At: at}
	err := tx.QueryRow(`SELECT number, hash FROM fact_heads WHERE site_id = $1`, []any{siteID}, &facts.Count, &facts.Hash)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	audit, err := audit.HeadOf(tx, siteID)
	return []Head{facts, {Site: path, Chain: ChainAudit, Count: audit.ID, Hash: audit.Hash, At: at}}, err
}

// HashAt reads the hash of a link of a chain. It returns "" where the chain has no such link.
func HashAt(tx *store.Tx, siteID int64, chain string, count int64) (hash string, err error) {
	query := `SELECT hash FROM fact_seals WHERE site_id = $1 AND number = $2`
	if chain == ChainAudit {
		query = `SELECT hash FROM audit_records WHERE site_id = $1 AND id = $2`
	}
	err = tx.QueryRow(query, []any{siteID, count}, &hash)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return hash, err
}

// PlaceOf finds the chain of a site that has a link with a hash. ok is false where none has.
func PlaceOf(tx *store.Tx, siteID int64, hash string) (chain string, count int64, ok bool, err error) {
	for chain, query := range map[string]string{
		ChainFacts: `SELECT number FROM fact_seals WHERE site_id = $1 AND hash = $2`,
		ChainAudit: `SELECT id FROM audit_records WHERE site_id = $1 AND hash = $2`,
	} {
		err := tx.QueryRow(query, []any{siteID, hash}, &count)
		if err == nil || !errors.Is(err, store.ErrNotFound) {
			return chain, count, err == nil, err
		}
	}
	return "", 0, false, nil
}
