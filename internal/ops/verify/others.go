package verify

import (
	"database/sql"
	"time"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// channelProtection: since when card payments of a channel are protected is on record up to now (R2, E4 of R7).
func channelProtection(l *look) error {
	at := place{check: "channel protection", table: "channel_protection of channel"}
	line := l.line(at.check)
	return l.tx.Query(`SELECT c.id, c.account_mode, c.account_type, c.was_test, c.locked,
			CASE WHEN c.reinstated_at IS NULL THEN c.insolvency_id ELSE 0 END,
			(SELECT p.protected FROM channel_protection p WHERE p.site_id = $1 AND p.channel_id = c.id
				ORDER BY p.id DESC LIMIT 1)
		FROM channels c WHERE c.site_id = $1 ORDER BY c.id`, []any{l.site.ID}, func(scan func(dest ...any) error) error {
		var c merchant.Channel
		var stored sql.NullBool
		err := scan(&at.id, &c.Mode, &c.AccountType, &c.WasTest, &c.Locked, &c.Insolvency.ID, &stored)
		line.Rows++
		should, _ := protection.ChannelProtected(c)
		same(l, at, "protected", stored, sql.NullBool{Bool: should, Valid: true})
		return err
	})
}

// The longest that the outcome of a payment is not known: a question to the processor that is so long overdue was never
// asked, and one that was queried for so long needs a person.
const (
	mostOverdue = time.Hour
	mostUnknown = 24 * time.Hour
)

// inTime: no payment waits for its outcome longer than it can take.
func inTime(l *look) error {
	at := place{check: "payments in time", table: "gateway_charges of transaction"}
	line := l.line(at.check)
	now := sites.RealNow(l.tx)
	return l.tx.Query(`SELECT p.transaction_id, p.state, p.asked_for_at, p.ask_at FROM gateway_charges p
		WHERE p.site_id = $1 AND p.state IN ('called', 'challenged', 'unknown') ORDER BY p.transaction_id`, []any{l.site.ID},
		func(scan func(dest ...any) error) error {
			var state payment.ChargeState
			var asked int64
			var ask sql.NullInt64
			err := scan(&at.id, &state, &asked, &ask)
			line.Rows++
			switch {
			case !ask.Valid:
				l.wrong(at, "ask_at", nothing, "a time")
			case now.Sub(store.Instant(ask.Int64)) > mostOverdue:
				l.wrong(at, "ask_at", store.Instant(ask.Int64), "asked by now")
			case now.Sub(store.Instant(asked)) > mostUnknown:
				l.wrong(at, "state", state, "known by now: it was asked at "+show(store.Instant(asked)))
			}
			return err
		})
}

// proposals: a decided proposal has a decider, outside a sandbox another person than the proposer, and an open one has none.
func proposals(l *look) error {
	at := place{check: "proposals", table: "proposals"}
	line := l.line(at.check)
	return l.tx.Query(`SELECT id, state, alone, proposed_by_id, decided_by_id, decided_by, decided_at, result FROM proposals
		WHERE site_id = $1 ORDER BY id`, []any{l.site.ID}, func(scan func(dest ...any) error) error {
		var p proposal.Proposal
		var decided sql.NullInt64
		err := scan(&at.id, &p.State, &p.Alone, &p.ProposedByID, &p.DecidedByID, &p.DecidedBy, &decided, &p.Result)
		line.Rows++
		is := decided.Valid && p.DecidedBy != ""
		switch p.State {
		case proposal.Open:
			if decided.Valid || p.DecidedBy != "" || p.Result != "" {
				l.wrong(at, "decided_by", p.DecidedBy, nothing)
			}
		case proposal.Approved, proposal.Rejected, proposal.Withdrawn:
			if !is {
				l.wrong(at, "decided_by", nothing, "who decided")
			}
			if p.State == proposal.Approved && p.ProposedByID == p.DecidedByID && !(p.Alone && l.site.Sandbox) {
				l.wrong(at, "decided_by_id", p.DecidedByID, "another person")
			}
		default:
			l.wrong(at, "state", p.State, proposal.States)
		}
		return err
	})
}

// idempotencyKeys: a finished key refers to one object. The row does not have its type.
func idempotencyKeys(l *look) error {
	at := place{check: "idempotency keys", table: "idempotency_keys"}
	line := l.line(at.check)
	return l.tx.Query(`SELECT k.key, k.object_id, k.proposal_id, p.id FROM idempotency_keys k
			LEFT JOIN proposals p ON p.site_id = k.site_id AND p.id = k.proposal_id
		WHERE k.site_id = $1`, []any{l.site.ID}, func(scan func(dest ...any) error) error {
		var key string
		var object, proposal, found sql.NullInt64
		err := scan(&key, &object, &proposal, &found)
		line.Rows++
		if object.Valid && proposal.Valid {
			l.wrong(at, words("object_id of key", key), object.Int64, nothing)
		}
		if proposal.Valid && !found.Valid {
			l.wrong(at, words("proposal_id of key", key), proposal.Int64, "a proposal of the site")
		}
		return err
	})
}

// ratesOnFile: every fixing is a rate.
func ratesOnFile(l *look) error {
	at := place{check: "rates on file", table: "fixings"}
	line := l.line(at.check)
	return l.tx.Query(`SELECT id, currency, rate FROM fixings WHERE site_id = $1`, []any{l.site.ID},
		func(scan func(dest ...any) error) error {
			var currency, rate string
			err := scan(&at.id, &currency, &rate)
			line.Rows++
			if _, failed := money.ParseCurrency(currency); failed != nil {
				l.wrong(at, "currency", currency, "a currency")
			}
			if _, failed := money.ParseRate(rate); failed != nil {
				l.wrong(at, "rate", rate, "a rate")
			}
			return err
		})
}
