package claims

import (
	"context"

	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Report has the figures of an insolvency at one moment. Amounts are minor units of Currency.
type Report struct {
	claim.Position
	Insolvency insolvencies.Insolvency
	Currency   money.Currency // Q of the policy in force at the trigger
	AsOf       civil.Day
	Exposed    int64 // Σ N_T of the snapshot
	Pending    int64 // lines of the snapshot without a rate, which are in no amount
	Claims     map[claim.State]int64
	Represent  map[claim.Reason]int64 // claims that are not payable in full, by the reason
	Recovered  Recovered
	Breakdown  Breakdown
}

// OverpaidTotal is the amount paid in excess of the covered amounts of the claims.
func (report Report) OverpaidTotal() (total int64) {
	for _, over := range report.Position.Overpaid {
		total = money.Sum(total, over)
	}
	return total
}

// linesAtOnce is how many lines of a snapshot are read at a time.
const linesAtOnce = 2000

// Report reads the figures of an insolvency: exposed, payable, covered, paid, reserve, incurred and recovered (R13). The error is
// ActionNotPossible before it has a snapshot.
func (r *Claims) Report(ctx context.Context, actor access.Actor, id int64) (Report, error) {
	opened, err := r.Insolvencies.Opened(ctx, actor, id)
	if err != nil {
		return Report{}, err
	}
	return sites.Report(ctx, r.DB, actor, func(tx *store.Tx) (report Report, err error) {
		defer money.Catch(&err)
		report.Insolvency, report.AsOf = opened, civil.DayOf(tx.Now)
		cover, err := report.reserve(tx, actor.SiteID, id)
		if err != nil {
			return report, err
		}
		if report.Claims, report.Represent, err = countsOf(tx, actor.SiteID, id); err != nil {
			return report, err
		}
		report.Recovered, err = sharesOf(tx, actor.SiteID, id, report.Position, cover)
		return report, err
	})
}

// reserve computes the cover of an insolvency with its reserve, and returns its terms.
func (report *Report) reserve(tx *store.Tx, siteID, id int64) (cover terms.Cover, err error) {
	p, all, err := positionOf(tx, siteID, id)
	if err != nil {
		return cover, err
	}
	year, err := yearOf(tx, siteID, id)
	if err != nil {
		return cover, err
	}
	in := inputsOf(year)
	for i, y := range year {
		switch {
		case y.ID == id:
			if in[i].Expected, err = report.own(tx, y, p, all); err != nil {
				return cover, err
			}
		case !in[i].Closed:
			if _, _, in[i].Expected, err = y.expected(tx, civil.DayOf(tx.Now), nil); err != nil {
				return cover, err
			}
		}
	}
	for i, p := range claim.Positions(in) {
		if year[i].ID == id {
			report.Position, cover = p, year[i].cover
		}
	}
	report.Position.Share(all.owed)
	return cover, nil
}

// own adds up the snapshot and the claims of the insolvency that the report is about, and returns the amount expected to become payable.
func (report *Report) own(tx *store.Tx, y insolvencyCover, p claim.Position, all insolvencyClaims) (expected int64, err error) {
	a, err := y.breakDown(tx, p, all)
	if err != nil {
		return 0, err
	}
	report.Currency = y.currency
	if report.Exposed, report.Pending, expected, err = y.expected(tx, civil.DayOf(tx.Now), a); err != nil {
		return 0, err
	}
	rates := map[money.Currency]*fx.Quote{}
	err = a.rest(tx, y.SiteID, func(locked fx.Quote) (func(int64) (int64, error), error) {
		atTrigger, err := y.rateFor(tx, claim.SnapshotLine{Priced: true, Quote: locked}, rates)
		if err != nil || atTrigger == nil {
			return nil, err
		}
		return inCurrency(locked, *atTrigger), nil
	})
	report.Breakdown = a.breakdown()
	return expected, err
}

// inCurrency converts amounts of an allocation to the policy currency.
func inCurrency(locked, atTrigger fx.Quote) func(int64) (int64, error) {
	return func(amount int64) (int64, error) { return claim.InPolicyCurrency(amount, locked, atTrigger) }
}

// expected adds up the snapshot of an insolvency: the exposed amount, the number of lines without a rate, and what is expected to become
// payable on top of the existing claims. It also adds the lines to a breakdown, if there is one.
func (i insolvencyCover) expected(tx *store.Tx, today civil.Day, a *adding) (exposed, pending, expected int64, err error) {
	assumed, err := merchants.PolicyOn(tx, i.SiteID, today)
	if err != nil {
		return 0, 0, 0, err
	}
	payable, err := payableByAllocation(tx, i.SiteID, i.ID)
	if err != nil {
		return 0, 0, 0, err
	}
	rates := map[money.Currency]*fx.Quote{} // at the trigger, by the currency of the locked rate
	for after := int64(0); ; {
		lines, err := insolvencies.LinesAfter(tx, i.SiteID, i.ID, after, linesAtOnce)
		if err != nil {
			return 0, 0, 0, err
		}
		if err := addRates(tx, i.SiteID, lines); err != nil {
			return 0, 0, 0, err
		}
		for _, l := range lines {
			after = l.AllocationID
			atTrigger, err := i.rateFor(tx, l, rates)
			if err != nil {
				return 0, 0, 0, err
			}
			if atTrigger == nil {
				pending++
				continue
			}
			value := inCurrency(l.Quote, *atTrigger)
			remaining, err := value(l.Remaining)
			if err != nil {
				return 0, 0, 0, err
			}
			open, err := value(l.Open(payable[l.AllocationID], today))
			if err == nil && a != nil {
				err = a.line(l, value)
			}
			if err != nil {
				return 0, 0, 0, err
			}
			exposed = money.Sum(exposed, remaining)
			expected = money.Sum(expected, claim.Developed(open, assumed.Cover))
		}
		if len(lines) < linesAtOnce {
			return exposed, pending, expected, nil
		}
	}
}

// addRates adds the locked rates to lines that waited for one when the snapshot was made.
func addRates(tx *store.Tx, siteID int64, lines []claim.SnapshotLine) error {
	waiting := map[int64]*claim.SnapshotLine{}
	var ids []int64
	for i, l := range lines {
		if !l.Priced {
			waiting[l.AllocationID], ids = &lines[i], append(ids, l.AllocationID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := ledger.HistoriesWithIDs(tx, siteID, ids, nil)
	for _, h := range found {
		waiting[h.ID].Priced, waiting[h.ID].Quote = h.Priced(tx.Now), h.Quote
	}
	return err
}

// rateFor is the quote of the trigger for the locked rate of a line, nil if there is none. It is kept in rates.
func (i insolvencyCover) rateFor(tx *store.Tx, l claim.SnapshotLine, rates map[money.Currency]*fx.Quote) (*fx.Quote, error) {
	if !l.Priced {
		return nil, nil
	}
	if quote, known := rates[l.Quote.To]; known {
		return quote, nil
	}
	quote, ok, err := i.atTrigger(tx, l.Quote.To)
	rates[l.Quote.To] = nil
	if ok {
		rates[l.Quote.To] = &quote
	}
	return rates[l.Quote.To], err
}

// payableByAllocation sums the payable amounts of the claims of each allocation, in minor units of its currency.
func payableByAllocation(tx *store.Tx, siteID, insolvencyID int64) (map[int64]int64, error) {
	payable := map[int64]int64{}
	err := tx.Query(`SELECT allocation_id, CAST(SUM(payable) AS BIGINT) FROM claims WHERE site_id = $1 AND insolvency_id = $2
		GROUP BY allocation_id`, []any{siteID, insolvencyID}, func(scan func(dest ...any) error) error {
		var id, amount int64
		err := scan(&id, &amount)
		payable[id] = amount
		return err
	})
	return payable, err
}

// countsOf counts the claims of an insolvency by state, and claims that are not payable in full by reason.
func countsOf(tx *store.Tx, siteID, insolvencyID int64) (states map[claim.State]int64, reasons map[claim.Reason]int64, err error) {
	states, reasons = map[claim.State]int64{}, map[claim.Reason]int64{}
	err = tx.Query(`SELECT state, reason, COUNT(*) FROM claims WHERE site_id = $1 AND insolvency_id = $2 GROUP BY state, reason`,
		[]any{siteID, insolvencyID}, func(scan func(dest ...any) error) error {
			var state claim.State
			var reason claim.Reason
			var n int64
			err := scan(&state, &reason, &n)
			states[state] += n
			if reason != "" {
				reasons[reason] += n
			}
			return err
		})
	return states, reasons, err
}

// sharesOf shares the recoveries of an insolvency in the recovery order of its policy.
func sharesOf(tx *store.Tx, siteID, insolvencyID int64, p claim.Position, c terms.Cover) (all Recovered, err error) {
	err = tx.QueryRow(`SELECT CAST(COALESCE(SUM(value), 0) AS BIGINT) FROM recoveries
		WHERE site_id = $1 AND insolvency_id = $2 AND cancelled_by = ''`, []any{siteID, insolvencyID}, &all.Total)
	all.Shares, all.Surplus = claim.ShareRecoveries(all.Total, c.RecoveryOrder, p.Borne(c))
	return all, err
}
