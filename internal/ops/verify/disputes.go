package verify

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"

	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
)

// movementTypes are the transactions that record each kind of movement, and those that take it back (R14).
var movementTypes = map[dispute.Kind][2]payment.TransactionType{
	dispute.Debit:      {payment.Chargeback, payment.ChargebackReversal},
	dispute.Credit:     {payment.ChargebackReversal, payment.Chargeback},
	dispute.Prevention: {payment.Prevented, payment.ChargebackReversal},
}

// disputesOf: the state, the payment and the sums of each dispute follow from its events and postings, and each movement is in the ledger
// once (R14).
func disputesOf(l *look) error {
	line := l.line("disputes")
	err := l.pages("disputes", func(first, last int64) error {
		list, err := disputes.Between(l.tx, l.site.ID, first, last)
		for _, c := range list {
			line.Rows++
			l.dispute(c)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, check := range []func(l *look) error{postings, unposted, channelsOfDisputes, dueMatches, evidence} {
		if err := check(l); err != nil {
			return err
		}
	}
	return nil
}

func (l *look) dispute(c disputes.Case) {
	at := place{"disputes", "disputes", c.ID}
	if len(c.Events) == 0 {
		l.wrong(at, "id", c.ID, "a dispute with events")
		return
	}
	known := map[int64]bool{}
	for _, e := range c.Events {
		known[e.ID] = true
	}
	for _, p := range c.Postings {
		if !known[p.EventID] {
			l.wrong(at, "event of a posting", nothing, p.EventID)
		}
	}
	should := c
	should.Derive()
	same(l, at, "source", c.Source, should.Source)
	same(l, at, "case_id", c.CaseID, should.CaseID)
	same(l, at, "transaction_id", c.TransactionID, should.TransactionID)
	same(l, at, "rule", c.Rule, should.Rule)
	same(l, at, "rule_version", c.RuleVersion, should.RuleVersion)
	same(l, at, "score", c.Score, should.Score)
	same(l, at, "matching", c.Matching == dispute.Matched, should.TransactionID != 0)
	same(l, at, "stage", c.Stage, should.Stage)
	same(l, at, "status", c.Status, should.Status)
	same(l, at, "reason_code", c.ReasonCode, should.ReasonCode)
	same(l, at, "reason", c.Reason, should.Reason)
	same(l, at, "reason_family", c.Family, should.Family)
	same(l, at, "due_day", dayText(c.DueOn), dayText(should.DueOn))
	same(l, at, "alerted_day", dayText(c.AlertedFor), dayText(should.AlertedFor))
	same(l, at, "assignee", c.Assignee, should.Assignee)
	same(l, at, "merchant", c.Merchant, should.Merchant)
	same(l, at, "clues", c.Clues, should.Clues)
	same(l, at, "amount", c.Amount, should.Amount)
	same(l, at, "currency", c.Currency, should.Currency)
	same(l, at, "debits", c.Debits, should.Debits)
	same(l, at, "credits", c.Credits, should.Credits)
	same(l, at, "waiting", c.Waiting, should.Waiting)
	if should.TransactionID == 0 {
		same(l, at, "scheme", c.Scheme, should.Scheme)
	}
	same(l, at, "opened_day", dayText(c.OpenedOn), dayText(should.OpenedOn))
}

// postings: each posting is a transaction of its kind, amount and payment.
func postings(l *look) error {
	at := place{check: "disputes", table: "dispute_postings"}
	return l.tx.Query(`SELECT p.id, p.transaction_id, p.kind, p.paid, p.base, p.undoes, t.type, t.total, t.base_total, t.linked_id
		FROM dispute_postings p LEFT JOIN transactions t ON t.site_id = $1 AND t.id = p.movement_id
		WHERE p.site_id = $1 ORDER BY p.id`, []any{l.site.ID}, func(scan func(dest ...any) error) error {
		var kind dispute.Kind
		var transaction, paid, base int64
		var undoes, total, baseTotal, linked sql.NullInt64
		var recorded sql.NullString
		err := scan(&at.id, &transaction, &kind, &paid, &base, &undoes, &recorded, &total, &baseTotal, &linked)
		should := movementTypes[kind][0]
		if undoes.Valid {
			should = movementTypes[kind][1]
		}
		same(l, at, "type of the transaction", recorded.String, string(should))
		same(l, at, "paid", paid, total.Int64)
		same(l, at, "base", base, baseTotal.Int64)
		same(l, at, "transaction_id", transaction, linked.Int64)
		return err
	})
}

// unposted: each chargeback and each prevented dispute is a movement of a dispute.
func unposted(l *look) error {
	at := place{check: "disputes", table: "transactions"}
	return l.tx.Query(`SELECT t.id FROM transactions t WHERE t.site_id = $1 AND t.type IN ('chargeback', 'prevented')
			AND t.status IN ('complete', 'locked')
			AND NOT EXISTS (SELECT 1 FROM dispute_postings p WHERE p.site_id = $1 AND p.movement_id = t.id) ORDER BY t.id`, []any{l.site.ID},
		func(scan func(dest ...any) error) error {
			err := scan(&at.id)
			l.wrong(at, "dispute", nothing, "a posting of a dispute")
			return err
		})
}

// channelsOfDisputes: a matched dispute has the channel, the base currency and the scheme of its payment.
func channelsOfDisputes(l *look) error {
	at := place{check: "disputes", table: "disputes"}
	return l.tx.Query(`SELECT d.id, COALESCE(d.channel_id, 0), d.base_currency, d.scheme, t.channel_id, t.base_currency, t.card_type, t.bin_number
			FROM disputes d
			JOIN transactions t ON t.site_id = $1 AND t.id = d.transaction_id WHERE d.site_id = $1 ORDER BY d.id`, []any{l.site.ID},
		func(scan func(dest ...any) error) error {
			var channel, shouldBe int64
			var currency, scheme, shouldHave, cardType, bin string
			err := scan(&at.id, &channel, &currency, &scheme, &shouldBe, &shouldHave, &cardType, &bin)
			same(l, at, "channel_id", channel, shouldBe)
			same(l, at, "base_currency", currency, shouldHave)
			same(l, at, "scheme", scheme, string(card.SchemeOf(cardType, bin)))
			return err
		})
}

// dueMatches: the mark up to which payments were tried is not in the future, and no dispute waits for a payment before it whose acquirer
// reference it has.
func dueMatches(l *look) error {
	var mark int64
	err := l.tx.QueryRow(`SELECT COALESCE(MAX(up_to), 0) FROM dispute_marks WHERE site_id = $1`, []any{l.site.ID}, &mark)
	if err != nil {
		return err
	}
	at := place{"disputes", "dispute_marks", l.site.ID}
	if mark > store.Micros(l.tx.Now) {
		l.wrong(at, "up_to", store.Instant(mark), "not in the future")
	}
	at.table = "disputes"
	return l.tx.Query(`SELECT d.id, MIN(t.id) FROM disputes d
			JOIN transactions t ON t.site_id = $1 AND t.acquirer_reference = d.acquirer_reference AND t.type IN ('purchase', 'capture')
				AND t.status IN ('complete', 'locked') AND (d.channel_id IS NULL OR d.channel_id = t.channel_id)
			WHERE d.site_id = $1 AND d.matching <> 'matched' AND d.acquirer_reference <> '' AND t.modified_at <= $2
				AND NOT EXISTS (SELECT 1 FROM dispute_events e WHERE e.site_id = $1 AND e.dispute_id = d.id AND e.kind = 'unmatch')
			GROUP BY d.id HAVING COUNT(*) = 1 ORDER BY d.id`, []any{l.site.ID, mark},
		func(scan func(dest ...any) error) error {
			var paid int64
			err := scan(&at.id, &paid)
			l.wrong(at, "transaction_id", nothing, show(paid))
			return err
		})
}

// evidence: each file has the size and the SHA-256 that were recorded.
func evidence(l *look) error {
	at := place{check: "disputes", table: "dispute_evidence"}
	return l.pages("dispute_evidence", func(first, last int64) error {
		list, err := disputes.EvidenceBetween(l.tx, l.site.ID, first, last)
		for _, e := range list {
			if err != nil {
				break
			}
			at.id = e.ID
			var content []byte
			if content, err = disputes.ContentOf(l.tx, e); err == nil {
				sum := sha256.Sum256(content)
				same(l, at, "size", e.Size, int64(len(content)))
				same(l, at, "sha256", e.SHA256, hex.EncodeToString(sum[:]))
			}
		}
		return err
	})
}
