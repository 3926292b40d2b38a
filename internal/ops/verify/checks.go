package verify

import "holdfast/internal/domain/payment"

// step is a part of the check of a site. Some steps walk through a table once and make several checks at each row.
type step struct {
	name       string
	everywhere bool // also for what belongs to no site
	run        func(l *look) error
}

// steps are all steps, in the order in which their lines are printed.
var steps = []step{
	{"references", true, references},
	{"transactions", false, walkTransactions},
	{"bookings", false, walkBookings},
	{"exposure", false, storedExposure},
	{"limit uses", false, limitUses},
	{"statements", false, statementsOf},
	{"statement payments", false, statementPayments},
	{"channel protection", false, channelProtection},
	{"payment protection", false, paymentProtection},
	{"insolvencies", false, insolvencyStates},
	{"insolvency snapshots", false, snapshots},
	{"disputes", false, disputesOf},
	{"claims", false, claimsOf},
	{"claims paid", false, claimsPaid},
	{"payouts", false, payoutSums},
	{"claims bordereaux", false, claimsBordereaux},
	{"payments in time", false, inTime},
	{"proposals", false, proposals},
	{"idempotency keys", false, idempotencyKeys},
	{"rates on file", true, ratesOnFile},
	{"seals", true, sealChain},
	{"audit", true, auditChain},
	{"kept heads", true, keptHeads},
}

// check is one named check of an item that a walk comes by.
type check[T any] struct {
	name string
	of   func(l *look, at place, item T) error
}

// begun gives the checks of a walk their lines, also where there is nothing to look at.
func begun[T any](l *look, list []check[T]) {
	for _, c := range list {
		l.line(c.name)
	}
}

// each makes all checks of an item of a walk.
func each[T any](l *look, list []check[T], table string, id int64, item T) error {
	for _, c := range list {
		l.line(c.name).Rows++
		if err := c.of(l, place{c.name, table, id}, item); err != nil {
			return err
		}
	}
	return nil
}

// begin reads what several checks need.
func (l *look) begin() error {
	l.starts = map[string]int64{}
	err := l.tx.Query(`SELECT name, up_to FROM fact_starts`, nil, func(scan func(dest ...any) error) error {
		var name string
		var id int64
		err := scan(&name, &id)
		l.starts[name] = id
		return err
	})
	if err != nil {
		return err
	}
	if err := l.readInsolvencies(); err != nil {
		return err
	}
	return l.limits.read(l)
}

// perPage is how many bookings or transactions a walk reads per batch. It bounds the memory.
const perPage = 250

// pages calls each for the ids of a table of the site, a page at a time: the first and the last of the page.
func (l *look) pages(table string, each func(first, last int64) error) error {
	for after := int64(0); ; {
		var first, last, n int64
		err := l.tx.QueryRow(`SELECT COALESCE(MIN(id), 0), COALESCE(MAX(id), 0), COUNT(*) FROM (SELECT id FROM `+table+`
			WHERE site_id = $1 AND id > $2 ORDER BY id LIMIT $3) AS page`, []any{l.site.ID, after, perPage}, &first, &last, &n)
		if err != nil || n == 0 {
			return err
		}
		if err := each(first, last); err != nil {
			return err
		}
		after = last
	}
}

// took reports whether a purchase or capture in a status took money (R1).
func took(t payment.TransactionType, s payment.TransactionStatus) bool { return t.Takes() && counts(s) }

// counts reports whether a transaction with a status counts: a payment that was charged back also does.
func counts(s payment.TransactionStatus) bool {
	return s == payment.StatusComplete || s == payment.StatusLocked
}

// open reports whether the outcome of a transaction in a status is not known yet.
func open(s payment.TransactionStatus) bool {
	return s == payment.StatusPending || s == payment.StatusIncomplete
}
