package verify

import (
	"slices"
	"strings"

	"holdfast/internal/store"
)

// reference: a column names a row of another table. Both rows belong to the same site.
type reference struct {
	table, column, parent string
	key                   string // the column that identifies rows of the table; "" for id
	zero                  bool   // 0 means no row
}

// foreign are the references between tables. The schema has most of them as foreign keys; but who changes rows by hand may
// have switched these off.
var foreign = []reference{
	{table: "policies", column: "site_id", parent: "sites"},
	{table: "rate_card_lines", column: "policy_id", parent: "policies"},
	{table: "rate_card_lines", column: "channel_id", parent: "channels"},
	{table: "memberships", column: "user_id", parent: "users", key: "user_id"},
	{table: "api_tokens", column: "user_id", parent: "users"},
	{table: "token_uses", column: "token_id", parent: "api_tokens", key: "token_id"},
	{table: "channels", column: "site_id", parent: "sites"},
	{table: "channel_gateways", column: "channel_id", parent: "channels", key: "channel_id"},
	{table: "channel_names", column: "channel_id", parent: "channels"},
	{table: "channel_protection", column: "channel_id", parent: "channels"},
	{table: "channel_suppliers", column: "channel_id", parent: "channels", key: "channel_id"},
	{table: "channel_suppliers", column: "supplier_id", parent: "suppliers", key: "supplier_id"},
	{table: "bookings", column: "channel_id", parent: "channels"},
	{table: "booking_suppliers", column: "booking_id", parent: "bookings", key: "booking_id"},
	{table: "booking_suppliers", column: "supplier_id", parent: "suppliers", key: "booking_id"},
	{table: "booking_totals", column: "booking_id", parent: "bookings"},
	{table: "transactions", column: "channel_id", parent: "channels"},
	{table: "transactions", column: "linked_id", parent: "transactions"},
	{table: "payments", column: "transaction_id", parent: "transactions"},
	{table: "payments", column: "booking_id", parent: "bookings"},
	{table: "payments", column: "linked_id", parent: "payments"},
	{table: "allocations", column: "id", parent: "payments"},
	{table: "allocations", column: "transaction_id", parent: "transactions"},
	{table: "allocations", column: "booking_id", parent: "bookings"},
	{table: "allocations", column: "policy_id", parent: "policies", zero: true},
	{table: "allocation_terms", column: "allocation_id", parent: "allocations"},
	{table: "allocation_events", column: "allocation_id", parent: "allocations"},
	{table: "allocation_events", column: "transaction_id", parent: "transactions"},
	{table: "premium_lines", column: "allocation_id", parent: "allocations"},
	{table: "premium_lines", column: "booking_id", parent: "bookings"},
	{table: "premium_lines", column: "transaction_id", parent: "transactions"},
	{table: "premium_lines", column: "policy_id", parent: "policies"},
	{table: "premium_lines", column: "rate_card", parent: "rate_card_lines"},
	{table: "statements", column: "channel_id", parent: "channels"},
	{table: "statement_progress", column: "channel_id", parent: "channels", key: "channel_id"},
	{table: "statement_payments", column: "statement_id", parent: "statements"},
	{table: "limits", column: "channel_id", parent: "channels"},
	{table: "limit_events", column: "limit_id", parent: "limits"},
	{table: "limit_events", column: "transaction_id", parent: "transactions"},
	{table: "limit_lines", column: "allocation_id", parent: "allocations", key: "allocation_id"},
	{table: "limit_reviews", column: "limit_id", parent: "limits", key: "limit_id"},
	{table: "over_limits", column: "allocation_id", parent: "allocations", key: "allocation_id"},
	{table: "over_limits", column: "limit_id", parent: "limits", key: "allocation_id"},
	{table: "collateral", column: "channel_id", parent: "channels"},
	{table: "collateral", column: "record_id", parent: "collateral", zero: true},
	{table: "gateway_charges", column: "transaction_id", parent: "transactions", key: "transaction_id"},
	{table: "disputes", column: "transaction_id", parent: "transactions"},
	{table: "disputes", column: "channel_id", parent: "channels"},
	{table: "dispute_events", column: "dispute_id", parent: "disputes"},
	{table: "dispute_postings", column: "dispute_id", parent: "disputes"},
	{table: "dispute_postings", column: "event_id", parent: "dispute_events"},
	{table: "dispute_postings", column: "transaction_id", parent: "transactions"},
	{table: "dispute_postings", column: "movement_id", parent: "transactions"},
	{table: "dispute_evidence", column: "dispute_id", parent: "disputes"},
	{table: "dispute_evidence_pieces", column: "evidence_id", parent: "dispute_evidence", key: "evidence_id"},
	{table: "dispute_merchants", column: "channel_id", parent: "channels", key: "channel_id"},
	{table: "dispute_files", column: "site_id", parent: "sites"},
	{table: "dispute_file_pieces", column: "file_id", parent: "dispute_files", key: "file_id"},
	{table: "dispute_file_lines", column: "file_id", parent: "dispute_files"},
	{table: "dispute_file_lines", column: "dispute_id", parent: "disputes"},
	{table: "dispute_marks", column: "site_id", parent: "sites", key: "site_id"},
	{table: "modal_payments", column: "transaction_id", parent: "transactions", key: "transaction_id"},
	{table: "modal_payments", column: "booking_id", parent: "bookings", key: "transaction_id"},
	{table: "insolvencies", column: "channel_id", parent: "channels"},
	{table: "insolvency_events", column: "insolvency_id", parent: "insolvencies"},
	{table: "insolvency_snapshots", column: "insolvency_id", parent: "insolvencies"},
	{table: "insolvency_lines", column: "insolvency_id", parent: "insolvencies"},
	{table: "insolvency_lines", column: "allocation_id", parent: "allocations"},
	{table: "claims", column: "insolvency_id", parent: "insolvencies"},
	{table: "claims", column: "allocation_id", parent: "allocations"},
	{table: "claim_events", column: "claim_id", parent: "claims"},
	{table: "claim_marks", column: "insolvency_id", parent: "insolvencies", key: "insolvency_id"},
	{table: "claim_bordereaux", column: "site_id", parent: "sites"},
	{table: "payouts", column: "channel_id", parent: "channels"},
	{table: "payout_events", column: "payout_id", parent: "payouts"},
	{table: "payout_lines", column: "payout_id", parent: "payouts"},
	{table: "payout_lines", column: "claim_id", parent: "claims"},
	{table: "recoveries", column: "insolvency_id", parent: "insolvencies"},
	{table: "events", column: "site_id", parent: "sites"},
	{table: "modal_sessions", column: "channel_id", parent: "channels"},
	{table: "modal_sessions", column: "booking_id", parent: "bookings"},
	{table: "webhook_endpoints", column: "site_id", parent: "sites"},
	{table: "webhook_secrets", column: "endpoint_id", parent: "webhook_endpoints"},
	{table: "webhook_deliveries", column: "endpoint_id", parent: "webhook_endpoints"},
	{table: "webhook_attempts", column: "delivery_id", parent: "webhook_deliveries"},
	{table: "certificates", column: "booking_id", parent: "bookings", key: "booking_id"},
	{table: "traveller_notes", column: "booking_id", parent: "bookings", key: "booking_id"},
	{table: "protection_requests", column: "channel_id", parent: "channels", key: "channel_id"},
	{table: "protection_documents", column: "channel_id", parent: "channels"},
	{table: "protection_pieces", column: "document_id", parent: "protection_documents", key: "document_id"},
	{table: "contracts", column: "site_id", parent: "sites"},
	{table: "schedule_recipients", column: "schedule_id", parent: "schedules", key: "schedule_id"},
	{table: "schedule_runs", column: "schedule_id", parent: "schedules"},
	{table: "mail_pieces", column: "file_id", parent: "mail_files", key: "file_id"},
	{table: "mails", column: "file_id", parent: "mail_files", zero: true},
	{table: "mails", column: "transaction_id", parent: "transactions", zero: true},
	{table: "mails", column: "booking_id", parent: "bookings", zero: true},
}

// references: what a row names exists, and belongs to the site of the row. The step that belongs to no site looks for
// rows of sites that do not exist.
func references(l *look) error {
	line := l.line("references")
	if l.site.ID != 0 {
		var places int64
		err := l.tx.QueryRow(`SELECT COUNT(*) FROM site_places WHERE site_id = $1`, []any{l.site.ID}, &places)
		if err != nil {
			return err
		}
		same(l, place{check: "references", table: "site_places", id: l.site.ID}, "rows", places, 1)
	}
	counted := map[string]bool{}
	for _, r := range foreign {
		if r.key == "" {
			r.key = "id"
		}
		if !counted[r.table] && l.site.ID != 0 {
			counted[r.table] = true
			var n int64
			if err := l.tx.QueryRow(`SELECT COUNT(*) FROM `+r.table+` WHERE site_id = $1`, []any{l.site.ID}, &n); err != nil {
				return err
			}
			line.Rows += n
		}
		if l.site.ID == 0 {
			if counted[r.table] {
				continue
			}
			counted[r.table] = true
			r = reference{table: r.table, column: "site_id", parent: "sites", key: r.key, zero: true}
		}
		if err := l.reference(r); err != nil {
			return err
		}
	}
	return nil
}

// reference finds the rows of a table that name nothing.
func (l *look) reference(r reference) error {
	parent := `p.id = c.` + r.column
	if slices.Contains(store.TablesOfSites, r.parent) {
		parent += ` AND p.site_id = c.site_id`
	}
	query, args := `SELECT c.`+r.key+`, c.`+r.column+` FROM `+r.table+` c WHERE `, []any{}
	if l.site.ID != 0 {
		query, args = query+`c.site_id = $1 AND `, []any{l.site.ID}
	}
	if r.zero {
		query += `c.` + r.column + ` <> 0 AND `
	}
	query += `c.` + r.column + ` IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ` + r.parent + ` p WHERE ` + parent + `)`
	at := place{check: "references", table: r.table}
	should := "the " + strings.TrimSuffix(r.column, "_id") + " of a row in " + r.parent + " of the same site"
	return l.tx.Query(query, args, func(scan func(dest ...any) error) error {
		var named int64
		err := scan(&at.id, &named)
		l.wrong(at, r.column, named, should)
		return err
	})
}
