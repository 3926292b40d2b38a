package verify

import (
	"slices"

	"holdfast/internal/book/claims"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
)

// claimsOf: the amounts of a claim follow from the disputes and refunds of its allocation, and its state and the people of its review from
// its history (R13).
func claimsOf(l *look) error {
	line := l.line("claims")
	return l.pages("claims", func(first, last int64) error {
		list, err := claims.Between(l.tx, l.site.ID, first, last)
		for _, c := range list {
			line.Rows++
			l.claim(c)
		}
		return err
	})
}

func (l *look) claim(c claims.Checked) {
	at := place{"claims", "claims", c.ID}
	if c.Recorded.State == "" {
		l.wrong(at, "id", c.ID, "a claim with a history")
		return
	}
	same(l, at, "state", c.State, c.Recorded.State)
	same(l, at, "disputed of its history", c.Claim.Disputed, c.Disputed)
	same(l, at, "payable of its history", c.Claim.Payable, c.Payable)
	same(l, at, "value of its history", c.Claim.Value, c.Value)
	same(l, at, "first_day of its history", c.Claim.FirstDay, c.FirstDay)
	same(l, at, "released", c.Claim.Released, c.Released)
	same(l, at, "assessed_by_id", c.AssessedBy, c.Recorded.AssessedBy)
	same(l, at, "assessed", c.Assessed, c.Recorded.Assessed)
	if !slices.Equal(c.ApprovedBy, c.Recorded.ApprovedBy) {
		l.wrong(at, "approved_by", c.ApprovedBy, c.Recorded.ApprovedBy)
	}
	is := c.Computed
	if is == nil || is.Reason == claim.OtherProtectionFirst || c.Reason == claim.OtherProtectionFirst { // the booking may have changed since
		return
	}
	same(l, at, "first_day", c.Claim.FirstDay, is.FirstDay)
	same(l, at, "disputed", c.Claim.Disputed, is.Disputed)
	same(l, at, "loss", c.Loss, is.Loss)
	same(l, at, "payable", c.Claim.Payable, is.Payable)
	same(l, at, "represent", c.Represent, is.Represent)
	same(l, at, "reason", c.Reason, is.Reason)
	same(l, at, "value", c.Claim.Value, is.Value)
}

// claimsPaid: the paid amount of a claim is the sum of its lines in payouts that have not failed (R13).
func claimsPaid(l *look) error {
	at := place{check: "claims paid", table: "claims"}
	line := l.line(at.check)
	return l.tx.Query(`SELECT c.id, c.paid, CAST(COALESCE((SELECT SUM(p.value) FROM payout_lines p
			JOIN payouts o ON o.site_id = $1 AND o.id = p.payout_id
			WHERE p.site_id = $1 AND p.claim_id = c.id AND o.state <> 'failed'), 0) AS BIGINT)
		FROM claims c WHERE c.site_id = $1 ORDER BY c.id`, []any{l.site.ID}, func(scan func(dest ...any) error) error {
		var stored, paid int64
		line.Rows++
		err := scan(&at.id, &stored, &paid)
		same(l, at, "paid", stored, paid)
		return err
	})
}

// claimsBordereaux: a presented month of the claims bordereau is still what the histories of claims and payouts say (R13).
func claimsBordereaux(l *look) error {
	at := place{check: "claims bordereaux", table: "claim_bordereaux"}
	line := l.line(at.check)
	list, err := claims.Presentations(l.tx, l.site.ID)
	for _, p := range list {
		if err != nil {
			return err
		}
		line.Rows++
		at.id = p.ID
		var rows int64
		var sha256 string
		rows, sha256, err = claims.PresentedAgain(l.tx, l.site.ID, p)
		same(l, at, "row_count", p.Rows, rows)
		same(l, at, "sha256", p.SHA256, sha256)
	}
	return err
}

// payoutSums: a payout is the sum of its lines at its rate, its number has no gap before it, and its state is that of its history (R13).
func payoutSums(l *look) error {
	at := place{check: "payouts", table: "payouts"}
	line := l.line(at.check)
	var before int64
	return l.tx.Query(`SELECT o.id, o.number, o.value, o.policy_currency, o.currency, o.amount, o.from_rate, o.to_rate, o.state,
			o.bank_reference, o.failure, CAST(COALESCE((SELECT SUM(p.value) FROM payout_lines p WHERE p.site_id = $1 AND p.payout_id = o.id), 0) AS BIGINT),
			COALESCE(e.state, ''), COALESCE(e.note, '')
		FROM payouts o LEFT JOIN payout_events e ON e.site_id = $1 AND e.payout_id = o.id
			AND e.id = (SELECT MAX(x.id) FROM payout_events x WHERE x.site_id = $1 AND x.payout_id = o.id)
		WHERE o.site_id = $1 ORDER BY o.number`, []any{l.site.ID}, func(scan func(dest ...any) error) error {
		var number, stored, amount, sum int64
		var from, to, state, reference, failure, recorded, note string
		var q fx.Quote
		line.Rows++
		err := scan(&at.id, &number, &stored, &q.From, &q.To, &amount, &from, &to, &state, &reference, &failure, &sum, &recorded, &note)
		if err != nil {
			return err
		}
		same(l, at, "value", stored, sum)
		same(l, at, "number", number, before+1)
		same(l, at, "state", state, recorded)
		same(l, at, "bank_reference or failure", reference+failure, note)
		before = number
		if q.From != q.To {
			if q.FromLeg.Rate, err = money.ParseRate(from); err != nil {
				return err
			}
			if q.ToLeg.Rate, err = money.ParseRate(to); err != nil {
				return err
			}
		}
		paid, err := q.Convert(stored)
		same(l, at, "amount", amount, paid)
		return err
	})
}
