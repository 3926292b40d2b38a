package report

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Bordereaux makes the lists that the underwriter gets.
type Bordereaux struct {
	*sites.DB
	LinesAtOnce int // premium lines in one read
}

// BordereauQuery selects the bordereau of a month.
type BordereauQuery struct {
	Problems errs.Problems
	Month    string    // YYYY-MM
	KnownAt  time.Time // zero: now
	Ahead    int       // how many rows are read at once; 0: as many as an export reads
}

// Bordereau is the premium bordereau of a month, as known at an instant. Once it is final, the same month and instant
// always give the same rows (R0).
type Bordereau struct {
	Period  terms.Period
	AsOf    civil.Day // the last day of the month, or that of KnownAt where the month was not over then
	KnownAt time.Time
	Final   bool
	Insured string // name of the site, as it was known then
	// Contract is the one in force on the last day of the month; its ID is 0 where the site has none.
	Contract terms.Contract
	// Rows are the premium lines recorded in the month, in their order. After them come the minimum premiums of the
	// month that statements have charged, so that the bordereau and the statements have the same premium. Rows are
	// read from the database while they are iterated.
	Rows iter.Seq2[BordereauRow, error]
}

// BordereauRow is one line of a bordereau, with its merchant and its tax. Amounts are in minor units.
type BordereauRow struct {
	protection.BordereauLine
	Merchant string // name of the channel, as it was known then
	Tax      int64  // the sum of the taxes on this line, each rounded separately
}

// Commission is the contract's part of a sum of net premium, rounded once.
func (b Bordereau) Commission(net int64) (int64, error) {
	return protection.TaxOn(net, terms.TaxCode{RatePPM: b.Contract.CommissionPPM})
}

// Gross is the premium with its tax.
func (r BordereauRow) Gross() int64 { return r.Amount + r.Tax }

// Premium makes the premium bordereau of a month.
func (b *Bordereaux) Premium(ctx context.Context, actor access.Actor, in BordereauQuery) (Bordereau, error) {
	if err := actor.Require(access.ReadStatements); err != nil {
		return Bordereau{}, err
	}
	var names map[int64]string
	report, err := sites.Read(ctx, b.DB, actor, func(tx *store.Tx) (report Bordereau, err error) {
		problems := in.Problems.Clone()
		_, report.KnownAt = ledger.Moment{KnownAt: in.KnownAt}.Complete(tx.Now, &problems)
		report.Period, err = monthOf(in.Month)
		switch {
		case in.Month == "":
			problems.Missing("period")
		case err != nil:
			problems.Wrong("period", "Must be a month such as 2024-06.")
		}
		if err := problems.Err(); err != nil {
			return report, err
		}
		report.AsOf = min(report.Period.Last, civil.DayOf(report.KnownAt))
		if report.Final, err = isFinal(tx, actor.SiteID, report.KnownAt); err != nil {
			return report, err
		}
		site, err := merchants.Site(tx, actor.SiteID)
		if err != nil {
			return report, err
		}
		if report.Insured, err = sites.NameAt(tx, actor.SiteID, report.KnownAt, site.Name); err != nil {
			return report, err
		}
		if report.Contract, err = merchants.ContractKnown(tx, actor.SiteID, report.Period.Last, report.KnownAt); err != nil {
			return report, err
		}
		names, err = ledger.ChannelNamesAt(tx, actor.SiteID, report.KnownAt)
		return report, err
	})
	report.Rows = b.rows(ctx, actor, report, names, cmp.Or(in.Ahead, b.LinesAtOnce))
	return report, err
}

func monthOf(text string) (terms.Period, error) {
	day, err := civil.ParseDay(text + "-01")
	if err != nil {
		return terms.Period{}, err
	}
	return terms.PeriodOf(terms.PeriodMonth, day), nil
}

// rows reads the lines in batches, so that neither memory nor the transaction grows with the month.
func (b *Bordereaux) rows(
	ctx context.Context, actor access.Actor, report Bordereau, names map[int64]string, size int,
) iter.Seq2[BordereauRow, error] {
	return func(yield func(BordereauRow, error) bool) {
		taxes := map[int64][]terms.TaxCode{}
		for mark := (statements.LineMark{}); ; {
			rows, err := b.piece(ctx, actor, report, mark, taxes, size)
			if err != nil {
				yield(BordereauRow{}, err)
				return
			}
			for _, row := range rows {
				row.Merchant = names[row.ChannelID]
				mark = statements.LineMark{RecordedAt: row.RecordedAt, ID: row.LineID}
				if !yield(row, nil) {
					return
				}
			}
			if len(rows) < size {
				break
			}
		}
		for after := int64(0); ; {
			rows, last, err := b.minimums(ctx, actor, report, after, size)
			if err != nil {
				yield(BordereauRow{}, err)
				return
			}
			for _, row := range rows {
				row.Merchant = names[row.ChannelID]
				if !yield(row, nil) {
					return
				}
			}
			if after = last; last == 0 {
				return
			}
		}
	}
}

// minimums reads the minimum premiums of the month from the next statements. It returns the number of the last
// statement that it looked at, or 0 for none.
func (b *Bordereaux) minimums(
	ctx context.Context, actor access.Actor, report Bordereau, after int64, size int,
) (rows []BordereauRow, last int64, err error) {
	rows, err = sites.Read(ctx, b.DB, actor, func(tx *store.Tx) ([]BordereauRow, error) {
		var list []protection.BordereauMinimum
		list, last, err = statements.MinimumsAfter(tx, actor.SiteID, report.Period.Last, report.KnownAt, after, size)
		if err != nil {
			return nil, err
		}
		rows := make([]BordereauRow, len(list))
		for i, m := range list {
			policy, err := merchants.PolicyKnown(tx, actor.SiteID, m.Through, m.IssuedAt)
			if err != nil {
				return nil, err
			}
			rows[i].BordereauLine = m.Line(actor.SiteID, report.Period)
			if rows[i].Tax, err = taxesOn(m.Amount, policy.TaxCodes); err != nil {
				return nil, fmt.Errorf("minimum of statement number %d: %w", m.Number, err)
			}
		}
		return rows, nil
	})
	return rows, last, err
}

// taxesOn adds up the taxes on an amount, each rounded separately.
func taxesOn(amount int64, codes []terms.TaxCode) (sum int64, err error) {
	for _, code := range codes {
		tax, err := protection.TaxOn(amount, code)
		if err != nil {
			return 0, err
		}
		sum = money.Sum(sum, tax)
	}
	return sum, nil
}

// piece reads the next rows. Their taxes are those of the policy that priced the line, and not of the one in force
// now.
func (b *Bordereaux) piece(
	ctx context.Context, actor access.Actor, report Bordereau, after statements.LineMark, taxes map[int64][]terms.TaxCode, size int,
) ([]BordereauRow, error) {
	return sites.Read(ctx, b.DB, actor, func(tx *store.Tx) ([]BordereauRow, error) {
		lines, err := statements.BordereauAfter(tx, actor.SiteID, report.Period.First.Start(), (report.Period.Last + 1).Start(),
			report.KnownAt, after, size)
		if err != nil {
			return nil, err
		}
		rows := make([]BordereauRow, len(lines))
		for i, l := range lines {
			if _, ok := taxes[l.PolicyID]; !ok {
				policy, err := merchants.Policy(tx, actor.SiteID, l.PolicyID)
				if err != nil {
					return nil, err
				}
				taxes[l.PolicyID] = policy.TaxCodes
			}
			rows[i].BordereauLine = l
			if rows[i].Tax, err = taxesOn(l.Amount, taxes[l.PolicyID]); err != nil {
				return nil, fmt.Errorf("line %d: %w", l.LineID, err)
			}
		}
		return rows, nil
	})
}
