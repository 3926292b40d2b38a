package store

import "slices"

// tables are all tables in the order of the schema: one that refers to another comes after it. In this order, a
// transaction writes the rows that it has inserted (see Tx.Insert).
var tables = []string{
	"sites", "site_places", "site_versions", "rate_versions", "policies", "users", "recovery_codes", "memberships", "api_tokens", "token_uses", "jwt_keys",
	"login_attempts", "channels", "channel_gateways", "channel_names", "suppliers", "channel_suppliers", "bookings",
	"booking_suppliers", "transactions", "payments", "fixings", "allocations", "allocation_terms", "allocation_events",
	"jobs", "rate_card_lines", "premium_lines", "statement_numbers", "statement_progress", "statements",
	"statement_payments", "limits", "limit_events", "over_limits", "limit_changes", "limit_horizons", "limit_books",
	"limit_lines", "limit_uses", "collateral", "booking_totals", "exposure_deltas", "exposure_blocks", "exposure_folds",
	"clock_moves", "audit_heads", "audit_records", "proposals", "exposure_buckets", "exposure_cells", "limit_reviews",
	"gateway_charges", "processor_notices", "processor_events", "sandbox_charges", "modal_sessions",
	"modal_payments", "channel_protection", "fact_starts", "fact_marks", "fact_seals", "fact_heads", "write_tries",
	"sealed_columns", "refresh_families", "idempotency_keys", "last_states", "events", "event_heads", "webhook_endpoints",
	"webhook_secrets", "webhook_deliveries", "webhook_attempts", "mails", "mail_marks", "imports", "import_pieces",
	"import_rows", "certificates", "traveller_notes", "import_shares", "sign_ins", "password_links", "password_asks", "protection_requests",
	"protection_documents", "protection_pieces", "schedules", "schedule_recipients", "schedule_runs", "mail_files",
	"mail_pieces", "contracts", "insolvencies", "insolvency_events", "insolvency_snapshots", "insolvency_lines",
	"verify_runs", "site_names",
	"disputes", "dispute_events", "dispute_postings", "dispute_marks", "dispute_evidence", "dispute_evidence_pieces",
	"dispute_merchants", "dispute_files", "dispute_file_pieces", "dispute_file_lines",
	"claims", "claim_events", "claim_marks", "claim_bordereaux", "payouts", "payout_events", "payout_lines", "recoveries",
}

// TablesOfDeployment are the tables that belong to no site: people, rates, jobs, and the sites themselves. A cluster has them on every
// node, because they are read together with rows of any site. Two of them do have the site in their key, but are rarely written.
var TablesOfDeployment = []string{
	"sites", "rate_versions", "sealed_columns", "jobs", "write_tries",
	"users", "memberships", "api_tokens", "recovery_codes", "jwt_keys", "login_attempts", "refresh_families", "sign_ins", "password_links", "password_asks",
	"sandbox_charges",
	"fixings",
	"fact_starts",
}

// tablesOfCoordinator are those tables of the deployment that a cluster has on its coordinator only, because they are written often: a write to
// a table that is on every node fails while one of them is away.
var tablesOfCoordinator = []string{
	"jobs", "write_tries", "sealed_columns", "login_attempts", "refresh_families", "sign_ins", "password_links", "password_asks", "sandbox_charges",
}

// TablesOfSites are the tables whose rows belong to a site, in the order of the schema. On PostgreSQL each of their keys begins
// with the site, so that sites can be spread over nodes.
var TablesOfSites = slices.DeleteFunc(slices.Clone(tables), func(name string) bool {
	return slices.Contains(TablesOfDeployment, name)
})

// counted are the tables whose rows have an id that is allocated: see Tx.NextIDs.
var counted = []string{
	"sites", "policies", "users", "api_tokens", "channels", "channel_names", "suppliers", "bookings", "transactions", "payments",
	"fixings", "allocation_terms", "allocation_events", "rate_card_lines", "premium_lines", "statements", "statement_payments",
	"limits", "limit_events", "limit_changes", "collateral", "booking_totals", "exposure_deltas", "clock_moves", "proposals",
	"exposure_buckets", "exposure_cells", "modal_sessions", "channel_protection", "events", "webhook_endpoints", "webhook_secrets",
	"webhook_deliveries", "webhook_attempts", "mails", "imports", "protection_documents", "schedules", "schedule_runs",
	"mail_files", "contracts", "insolvencies", "insolvency_events", "insolvency_snapshots", "insolvency_lines", "claims",
	"claim_events", "claim_bordereaux", "payouts", "payout_events", "payout_lines", "recoveries", "verify_runs",
	"disputes", "dispute_events", "dispute_postings", "dispute_evidence", "dispute_files",
}
