package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// million is the number of rows of one site that SQLite plans for, in each table that grows with the payments.
const million = 1_000_000

// large are the tables that grow, with the rows of one site. For all others, which have few rows, SQLite's defaults do.
var large = map[string]int{
	"allocation_events": million, "allocation_terms": million, "allocations": million, "audit_records": million, "booking_suppliers": million,
	"booking_totals": million, "bookings": million, "events": million, "exposure_buckets": million, "gateway_charges": million,
	"import_rows": million, "limit_changes": million, "limit_lines": million, "mails": million, "modal_payments": million,
	"modal_sessions": million, "payments": million, "premium_lines": million, "processor_events": million, "processor_notices": million,
	"sites": 100, "statement_payments": million, "statements": 10_000, "transactions": million, "webhook_deliveries": million,
}

// sites is the number of such sites that SQLite plans for. With few it would scan the table where a statement asks for one site, or
// go through all sites where it asks for one row.
const sites = 1000

// piece is the number of rows of a site that a statement reads from these indexes: due or unusual rows, and rows looked up by
// a range of times. SQLite takes each range for a quarter of all rows, and would go through the whole site instead of sorting
// the few rows of an hour.
const piece = 1000

var pieces = []string{
	"allocations_pending", "allocations_to_end", "bookings_above_total", "bookings_deleted", "bookings_to_complete", "events_unplaced",
	"gateway_charges_due", "limit_changes_of_policies", "mails_due", "mails_in_turns", "processor_notices_due", "transactions_by_status",
	"transactions_by_type", "transactions_open", "transactions_open_of_site", "webhook_deliveries_due", "webhook_deliveries_in_order",
}

// Numbers of distinct values of a column, where the columns before it are equal.
const (
	two    = 2 // yes and no
	few    = 5 // types, states and the like
	some   = 100
	days   = 1000
	many   = 100_000
	nearly = million / 2 // nearly every row has its own
)

// different has the number for each column in an index of a large table.
var different = map[string]int{
	"":        many, // an expression
	"site_id": sites, "path": million,
	"closed": two, "simulated": two, "trial": two,
	"card_type": few, "kind": few, "method": few, "psp": few, "scope": few, "state": few, "status": few, "type": few, "processor": few,
	"currencies": few, "currency": few,
	"channel_id": some, "country": some, "endpoint_id": some, "import_id": some, "statement_id": some, "action": some, "username": some,
	"bin_number": days, "due_day": days, "end_day": days, "ends_after": days, "last_four": days, "number": days, "final_known": days, "supplier_id": some,
	"acquirer_reference": many, "auth_code": many, "base_total": many, "email": many, "file_id": many, "import_key": many, "object": many,
	"payee_email": many, "payee_surname": many, "processor_reference": many, "reference": many, "surname": many,
	"allocation_id": nearly, "ask_at": nearly, "auth_hash": nearly, "booking_id": nearly, "capture_by": nearly, "created_at": nearly, "done_at": nearly, "effective_at": nearly,
	"event_id": nearly, "forget_at": nearly, "id": million, "linked_id": nearly, "modified_at": nearly, "next_at": nearly, "object_id": nearly,
	"position": million, "processor_id": nearly, "read_at": nearly, "received_at": nearly, "recorded_at": nearly, "return_key": nearly, "until_at": some, "issued_at": days,
	"token_hash": nearly, "transaction_id": nearly, "tried_at": nearly, "uuid": million,
}

// index is an index of a large table.
type index struct {
	table, name string
	unique      bool
	columns     []string
}

// PlanForLargeBooks writes fixed statistics for the query planner, in an open transaction, if they differ from the
// stored ones. changed reports whether it did. The connection of the transaction uses them immediately, others when
// they are opened.
//
// Without statistics, SQLite assumes that ten rows share the first column of an index. Here that is the site, which has millions of
// rows, so SQLite would go through all rows of a site instead of a hundred index lookups. ANALYZE counts what is there, so plans
// would depend on the day of the last count. Here they are the same for every book, and suit a large one: in a small book every
// plan is fast.
func PlanForLargeBooks(ctx context.Context, tx *sql.Tx) (changed bool, err error) {
	indexes, err := indexesOf(ctx, tx)
	if err != nil {
		return false, err
	}
	wanted := make(map[string]string, len(indexes))
	for _, x := range indexes {
		wanted[x.table+" "+x.name] = x.sizes()
	}
	stored, err := statistics(ctx, tx)
	if err != nil || maps.Equal(stored, wanted) {
		return false, err
	}
	// The first ANALYZE makes the table, and the second one reads it again. Neither counts anything.
	if _, err := tx.ExecContext(ctx, "ANALYZE sqlite_schema"); err != nil {
		return false, err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM sqlite_stat1"); err != nil {
		return false, err
	}
	for _, x := range indexes {
		_, err := tx.ExecContext(ctx, "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", x.table, x.name, x.sizes())
		if err != nil {
			return false, err
		}
	}
	_, err = tx.ExecContext(ctx, "ANALYZE sqlite_schema")
	return true, err
}

// sizes is the entry of sqlite_stat1: the rows of the index, and how many of them share the first column, the first two columns, and
// so on. noskipscan: no statement goes through all sites, however few they are.
func (x index) sizes() string {
	rows := large[x.table]
	if slices.Contains(pieces, x.name) {
		rows = piece
	}
	rows *= sites
	counts := []string{strconv.Itoa(rows)}
	for i, column := range x.columns {
		if rows = max(1, rows/max(1, different[column])); x.unique && i == len(x.columns)-1 {
			rows = 1
		}
		counts = append(counts, strconv.Itoa(rows))
	}
	return strings.Join(append(counts, "noskipscan"), " ")
}

func indexesOf(ctx context.Context, tx *sql.Tx) (list []index, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT t.name, x.name, x."unique", COALESCE(c.name, '') FROM sqlite_schema t
		JOIN pragma_index_list(t.name) x JOIN pragma_index_info(x.name) c
		WHERE t.type = 'table' ORDER BY t.name, x.name, c.seqno`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var x index
		var column string
		if err := rows.Scan(&x.table, &x.name, &x.unique, &column); err != nil {
			return nil, err
		}
		if large[x.table] == 0 {
			continue
		}
		if n := len(list); n == 0 || list[n-1].name != x.name {
			list = append(list, x)
		}
		last := &list[len(list)-1]
		last.columns = append(last.columns, column)
	}
	return list, rows.Err()
}

// statistics reads the stored statistics.
func statistics(ctx context.Context, tx *sql.Tx) (map[string]string, error) {
	var made bool
	err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1')").Scan(&made)
	if err != nil || !made {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, "SELECT tbl, COALESCE(idx, ''), stat FROM sqlite_stat1")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	stored := map[string]string{}
	for rows.Next() {
		var table, name, sizes string
		if err := rows.Scan(&table, &name, &sizes); err != nil {
			return nil, fmt.Errorf("reading sqlite_stat1: %w", err)
		}
		stored[table+" "+name] = sizes
	}
	return stored, rows.Err()
}
