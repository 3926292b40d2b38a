// Package factchain chains the facts of a site: it seals written rows in order of their ids, and returns the end of
// each chain, which can be stored elsewhere. It owns fact_*. Start at Seals.Seal. docs/decisions/0005-verify.md
// explains the design.
package factchain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"holdfast/internal/book/disputes"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/payment"
	"holdfast/internal/lib/digest"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Fact is a table of facts: rows with columns that never change.
type Fact struct {
	Table   string
	Columns string // that never change
	Digest  bool   // whether a row carries the digest of these columns
	// Also are the facts of the row of another table that is written with this one and has no place of its own in the
	// order of ids: an allocation has the id of its payment, which may be much older. Only a seal holds them.
	Also Joined
}

// Joined is a further table of a Fact.
type Joined struct {
	Table   string
	Columns string
	Key     string // the column of the Fact's table that is the id of the row
}

// Facts are the tables that are sealed. Each has a site_id and an id that grows.
var Facts = []Fact{
	{Table: "transactions", Columns: payment.TransactionFacts, Digest: true},
	{Table: "payments", Columns: payment.PaymentFacts, Digest: true},
	{Table: "allocation_terms", Columns: ledger.TermsFacts, Digest: true,
		Also: Joined{"allocations", ledger.AllocationFacts, "allocation_id"}},
	{Table: "allocation_events", Columns: ledger.EventFacts, Digest: true},
	{Table: "premium_lines", Columns: ledger.PremiumFacts, Digest: true},
	{Table: "booking_totals", Columns: ledger.TotalFacts, Digest: true},
	{Table: "statements", Columns: statements.StatementFacts, Digest: true},
	{Table: "statement_payments", Columns: statements.PaymentFacts, Digest: true},
	{Table: "dispute_events", Columns: disputes.EventFacts, Digest: true},
	{Table: "dispute_postings", Columns: disputes.PostingFacts, Digest: true},
	{Table: "dispute_evidence", Columns: disputes.EvidenceFacts, Digest: true},
	{Table: "policies", Columns: `site_id, from_day, recorded_at, currency, recognition, late_log_days, max_fixing_age_days,
		premium_refundable, minimum_per_line, minimum_per_month, tax_codes, statement_period, payment_terms_days,
		deductible, coinsurance_ppm, merchant_limit, aggregate_limit, notify_within, two_signatures, development_ppm,
		protected_first, recovery_order`},
	{Table: "rate_card_lines", Columns: `site_id, policy_id, channel_id, lead_from, lead_to, ppm`},
	{Table: "fixings", Columns: `site_id, provider, currency, day, rate, recorded_at, expires_at, quote_id`},
	{Table: "limits", Columns: `site_id, scope, channel_id, from_day, amount, currency, note, author_id, author, recorded_at`},
	{Table: "limit_events", Columns: `site_id, scope, object_id, channel_id, percent, use_amount, limit_amount, currency,
		limit_id, transaction_id, crossed_at, recorded_at`},
	{Table: "collateral", Columns: `site_id, record_id, kind, channel_id, currency, amount, from_day, to_day, reference, note,
		author_id, author, recorded_at`},
	{Table: "claim_events", Columns: `site_id, claim_id, action, state, disputed, payable, value, first_day, by_id, by_name, reason, recorded_at`},
	{Table: "claim_bordereaux", Columns: `site_id, first_day, row_count, sha256, presented_by_id, presented_by, presented_at`},
	{Table: "payouts", Columns: `site_id, number, channel_id, policy_currency, value, currency, amount, from_rate, to_rate, beneficiary,
		planned_at`},
	{Table: "payout_events", Columns: `site_id, payout_id, action, state, by_id, by_name, note, recorded_at`},
	{Table: "payout_lines", Columns: `site_id, payout_id, claim_id, value`},
	{Table: "recoveries", Columns: `site_id, insolvency_id, channel_id, kind, day, currency, amount, policy_currency, value, reference,
		recorded_by, recorded_at`},
	{Table: "insolvency_events", Columns: `site_id, insolvency_id, channel_id, action, state, trigger_at, by_id, by_name, reason, recorded_at`},
	{Table: "insolvency_snapshots", Columns: `site_id, insolvency_id, channel_id, trigger_at, confirmed_at, lines, sha256, made_at`},
	{Table: "insolvency_lines", Columns: `site_id, insolvency_id, allocation_id, transaction_id, booking_id, currency, remaining,
		undelivered, last_day, policy_currency, from_rate, to_rate, not_eligible`},
}

// FactOf finds the fact of a table. ok is false when its rows are not sealed.
func FactOf(table string) (f Fact, ok bool) {
	for _, f := range Facts {
		if f.Table == table {
			return f, true
		}
	}
	return Fact{}, false
}

const (
	// rowsPerSeal bounds the work of one seal, and how far a search for a changed row must look.
	rowsPerSeal = 5000
	// seenAfter is how long after an id was seen all rows with lower ids are visible or rolled back: a write takes at
	// most five seconds (R0), and the clocks of the processes agree within the other five.
	seenAfter = 10 * time.Second
)

// Seal is one link of the chain of a site.
type Seal struct {
	SiteID       int64 // 0: facts that belong to no site
	Number       int64 // from 1 in its site, without gaps
	Table        string
	After, UpTo  int64 // ids
	Rows         int64
	Digest       string // of the rows
	SealedAt     time.Time
	PreviousHash string // "" in the first seal
	Hash         string
}

// Sum is the hash that the seal must have: the digest of its fields (lib/digest), in hex.
func (s Seal) Sum() (string, error) {
	sum, err := digest.Of("holdfast-seal-1", s.SiteID, s.Number, s.Table, s.After, s.UpTo, s.Rows, s.Digest,
		store.Micros(s.SealedAt), s.PreviousHash)
	return hex.EncodeToString(sum), err
}

// Seals seals facts.
type Seals struct{ *sites.DB }

// mark is up to where the rows of a table are sealed.
type mark struct {
	siteID             int64
	fact               Fact
	sealed, seen, last int64 // ids: sealed, seen earlier, visible now
	seenAt             time.Time
}

// Seal seals rows that are old enough, a bounded number per table and site. It returns more if some are left that can
// be sealed immediately. It can be stopped at any point, and run in several processes: each batch is one write, which
// advances the mark.
func (s *Seals) Seal(ctx context.Context) (more bool, err error) {
	var sites []int64
	err = s.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		sites, err = sitesUnsealed(tx)
		return err
	})
	for _, site := range append(sites, 0) {
		if err != nil {
			return false, err
		}
		var left bool
		if left, err = s.SealSite(ctx, site); err != nil {
			return false, fmt.Errorf("site %d: %w", site, err)
		}
		more = more || left
	}
	return more, err
}

// SealSite is Seal for one site; 0 means the facts that belong to none.
func (s *Seals) SealSite(ctx context.Context, siteID int64) (more bool, err error) {
	var marks []mark
	err = s.Store.Read(ctx, siteID, func(tx *store.Tx) (err error) {
		marks, err = readMarks(tx, siteID)
		return err
	})
	for _, m := range marks {
		if err != nil {
			return false, err
		}
		var left bool
		left, err = s.sealTable(ctx, m)
		more = more || left
	}
	return more, err
}

// sealTable seals the next rows of one table, or notes the last id that it has seen.
func (s *Seals) sealTable(ctx context.Context, m mark) (more bool, err error) {
	switch {
	case m.last <= m.sealed:
		return false, nil
	case m.seen <= m.sealed:
		// A write of its own: its clock is read after the id was seen.
		return false, s.Store.Write(ctx, m.siteID, func(tx *store.Tx) error { return see(tx, m) })
	}
	var seal Seal
	var ripe bool
	err = s.Store.Read(ctx, m.siteID, func(tx *store.Tx) (err error) {
		if ripe = !m.seenAt.Add(seenAfter).After(tx.Now); !ripe {
			return nil
		}
		seal, err = sealOf(tx, m)
		return err
	})
	if err != nil || !ripe {
		return false, err
	}
	err = s.Store.Write(ctx, m.siteID, func(tx *store.Tx) error { return appendSeal(tx, m, seal) })
	return err == nil && seal.UpTo < m.seen, err
}

// sealOf digests the next rows of a table.
func sealOf(tx *store.Tx, m mark) (Seal, error) {
	seal := Seal{SiteID: m.siteID, Table: m.fact.Table, After: m.sealed, UpTo: m.seen}
	ids, err := store.Ids(tx, `SELECT id FROM `+m.fact.Table+` WHERE site_id = $1 AND id > $2 AND id <= $3 ORDER BY id
		LIMIT 1 OFFSET $4`, m.siteID, m.sealed, m.seen, rowsPerSeal-1)
	if err != nil {
		return seal, err
	}
	if len(ids) == 1 {
		seal.UpTo = ids[0]
	}
	seal.Rows, seal.Digest, err = DigestRows(tx, m.fact, m.siteID, seal.After, seal.UpTo, nil)
	return seal, err
}

// Row is a row of facts as it is stored.
type Row struct {
	ID      int64
	Stored  []byte // the digest that it carries; empty where it has none
	Digest  []byte // of its facts
	Missing bool   // the joined row is not there
}

// DigestRows digests the rows of a table with ids greater than after, up to another one: how many there are, and the
// digest of their ids and facts in hex. each, unless it is nil, gets every row.
func DigestRows(
	tx *store.Tx, f Fact, siteID, after, upTo int64, each func(Row) error,
) (rows int64, sum string, err error) {
	all := sha256.New()
	query, own, joined := f.query()
	err = tx.Query(query, []any{siteID, after, upTo}, func(scan func(dest ...any) error) error {
		var r Row
		values := make([]any, own+joined)
		dest := []any{&r.ID, &r.Stored}
		for i := range values {
			dest = append(dest, &values[i])
		}
		if err := scan(dest...); err != nil {
			return err
		}
		if r.Digest, err = digest.Of(values[:own]...); err != nil {
			return err
		}
		whole, err := digest.Of(append([]any{r.ID}, values...)...)
		if err != nil {
			return err
		}
		r.Missing = joined > 0 && values[own] == nil
		all.Write(whole)
		rows++
		if each == nil {
			return nil
		}
		return each(r)
	})
	return rows, hex.EncodeToString(all.Sum(nil)), err
}
