package claims

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// BordereauQuery selects the claims bordereau of a month.
type BordereauQuery struct {
	Problems errs.Problems
	Month    string // YYYY-MM
	Contract string // reference; "" for the claims of all contracts
}

// Bordereau is the claims bordereau of a month (R13): all claims made by its end, as they were then. Its rows follow from what was
// recorded by then, so later changes are in later months.
type Bordereau struct {
	Period    terms.Period
	AsOf      civil.Day // the last day of the month, or today while it is not over
	KnownAt   time.Time // the end of the month, or now
	Final     bool
	Insured   string        // name of the site, as it was known then
	Presented *Presentation // nil until it is presented
	Rows      []BordereauRow
}

// BordereauRow is a claim in a bordereau.
type BordereauRow struct {
	SiteID, ClaimID, AllocationID, TransactionID, InsolvencyID int64

	Source, CaseID string
	Merchant       string // name of the channel, as it was known then
	Kind           insolvencies.Kind
	Contract       terms.Contract // in force on the day of the trigger
	Year           int64          // of account
	Lost           civil.Day      // the day of the trigger
	Inception      civil.Day      // of the cover
	Expiry         civil.Day      // the last day of dispute; civil.NoDay if the payment is not in the snapshot
	Opened, Closed civil.Day      // Closed is civil.NoDay until the claim or its insolvency is settled
	Reopened       bool
	State          claim.State
	Original       money.Currency
	Claimed        int64 // the disputed amount, minor units of Original
	Settlement     money.Currency
	claim.Reported

	first civil.Day // of its debits: claims share the covered amount in the order of Dispute.Compare
	value int64
	since time.Time // when it came into its state
}

// Reference identifies a claim for the underwriter.
func (r BordereauRow) Reference() string { return fmt.Sprintf("%d-%d", r.SiteID, r.ClaimID) }

// Certificate identifies the payment, as in the premium bordereau.
func (r BordereauRow) Certificate() string {
	return fmt.Sprintf("%d-%d-%d", r.SiteID, r.TransactionID, r.AllocationID)
}

// Status is one of the words of the reporting standard: Open, Re-opened, Closed or Withdrawn.
func (r BordereauRow) Status() string {
	switch {
	case r.State == claim.StateWithdrawn:
		return "Withdrawn"
	case r.Closed != civil.NoDay:
		return "Closed"
	case r.Reopened:
		return "Re-opened"
	default:
		return "Open"
	}
}

// BordereauTotal adds up the rows of one contract, year of account and policy currency.
type BordereauTotal struct {
	Contract   string
	Year       int64
	Settlement money.Currency
	Rows       int64
	claim.Reported
}

// Totals adds up the rows, in order of contracts, years and currencies.
func (b Bordereau) Totals() (list []BordereauTotal, err error) {
	defer money.Catch(&err)
	for _, r := range b.Rows {
		same := func(t BordereauTotal) bool {
			return t.Contract == r.Contract.Reference && t.Year == r.Year && t.Settlement == r.Settlement
		}
		i := slices.IndexFunc(list, same)
		if i < 0 {
			i, list = len(list), append(list, BordereauTotal{Contract: r.Contract.Reference, Year: r.Year, Settlement: r.Settlement})
		}
		list[i].Rows++
		list[i].Reported = list[i].Add(r.Reported)
	}
	slices.SortFunc(list, func(a, b BordereauTotal) int {
		return cmp.Or(cmp.Compare(a.Contract, b.Contract), cmp.Compare(a.Year, b.Year), cmp.Compare(a.Settlement, b.Settlement))
	})
	return list, nil
}

// Presentation is a month of the bordereau that was presented to the underwriter.
type Presentation struct {
	ID     int64
	Month  civil.Day // its first day
	Rows   int64
	SHA256 string // of the bordereau of all contracts as CSV, in hexadecimal
	By     string
	At     time.Time
}

// Period is the month.
func (p Presentation) Period() terms.Period { return terms.PeriodOf(terms.PeriodMonth, p.Month) }

// Bordereau makes the claims bordereau of a month.
func (r *Claims) Bordereau(ctx context.Context, actor access.Actor, in BordereauQuery) (Bordereau, error) {
	if err := actor.Require(access.ReadFailures); err != nil {
		return Bordereau{}, err
	}
	problems := in.Problems.Clone()
	day, err := civil.ParseDay(in.Month + "-01")
	switch {
	case in.Month == "":
		problems.Missing("period")
	case err != nil:
		problems.Wrong("period", "Must be a month such as 2024-06.")
	}
	if err := problems.Err(); err != nil {
		return Bordereau{}, err
	}
	return sites.Report(ctx, r.DB, actor, func(tx *store.Tx) (Bordereau, error) {
		if in.Contract != "" {
			known, err := hasContract(tx, actor.SiteID, in.Contract)
			if err == nil && !known {
				err = errs.WrongField("contract_reference", "No contract has this reference.")
			}
			if err != nil {
				return Bordereau{}, err
			}
		}
		b, err := bordereauOf(tx, actor.SiteID, terms.PeriodOf(terms.PeriodMonth, day))
		if in.Contract != "" {
			b.Rows = slices.DeleteFunc(b.Rows, func(r BordereauRow) bool { return r.Contract.Reference != in.Contract })
		}
		return b, err
	})
}

// Present records that a month of the bordereau was presented to the underwriter. The month must be over. It can be presented once.
func (r *Claims) Present(ctx context.Context, actor access.Actor, in BordereauQuery) (Presentation, error) {
	if err := actor.Require(access.DecideClaims); err != nil {
		return Presentation{}, err
	}
	b, err := r.Bordereau(ctx, actor, BordereauQuery{Problems: in.Problems, Month: in.Month})
	if err != nil {
		return Presentation{}, err
	}
	if !b.Final {
		return Presentation{}, errs.WrongField("period", "The month must have been over for at least 10 seconds.")
	}
	made := Presentation{Month: b.Period.First, Rows: int64(len(b.Rows)), By: actor.Username}
	if made.SHA256, err = b.sha256(); err != nil {
		return made, err
	}
	return idempotency.Once(ctx, r.DB, actor, func(tx *store.Tx) (Presentation, idempotency.Outcome, error) {
		if err := lockClaims(tx, actor.SiteID); err != nil {
			return made, idempotency.Outcome{}, err
		}
		before, err := presentedIn(tx, actor.SiteID, made.Month)
		if err == nil && before != nil {
			err = &errs.Error{Kind: errs.ActionNotPossible, State: "presented", Reason: "state",
				Message: fmt.Sprintf("The claims bordereau of %s has already been presented.", b.Period.Name())}
		}
		if err != nil {
			return made, idempotency.Outcome{}, err
		}
		if err := insertPresentation(tx, actor, &made); err != nil {
			return made, idempotency.Outcome{}, err
		}
		err = audit.Record(tx, actor, "bordereau.present", "claims bordereau "+b.Period.Name(), nil, presentationInAudit{made.Rows, made.SHA256})
		return made, idempotency.Outcome{ID: made.ID}, err
	}, func(ctx context.Context, _ idempotency.Outcome) (Presentation, error) {
		found, err := sites.Read(ctx, r.DB, actor, func(tx *store.Tx) (*Presentation, error) {
			return presentedIn(tx, actor.SiteID, made.Month)
		})
		if err != nil || found == nil {
			return made, err
		}
		return *found, nil
	})
}

type presentationInAudit struct {
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
}

// PresentedAgain computes a presented month anew: the number of its rows and its hash.
func PresentedAgain(tx *store.Tx, siteID int64, p Presentation) (rows int64, sha256 string, err error) {
	b, err := bordereauOf(tx, siteID, p.Period())
	if err != nil {
		return 0, "", err
	}
	sha256, err = b.sha256()
	return int64(len(b.Rows)), sha256, err
}

// sha256 is the hash of the bordereau as CSV.
func (b Bordereau) sha256() (string, error) {
	hash := sha256.New()
	err := b.WriteCSV(hash)
	return hex.EncodeToString(hash.Sum(nil)), err
}

// bordereauOf makes the bordereau of a month, of all contracts.
func bordereauOf(tx *store.Tx, siteID int64, month terms.Period) (b Bordereau, err error) {
	defer money.Catch(&err)
	last := (month.Last + 1).Start().Add(-time.Microsecond)
	b = Bordereau{Period: month, KnownAt: last}
	if tx.Now.Before(last) {
		b.KnownAt = tx.Now
	}
	b.AsOf = civil.DayOf(b.KnownAt)
	final, err := sites.Final(tx, siteID)
	if err != nil {
		return b, err
	}
	b.Final = !last.After(final)
	site, err := merchants.Site(tx, siteID)
	if err != nil {
		return b, err
	}
	if b.Insured, err = sites.NameAt(tx, siteID, b.KnownAt, site.Name); err != nil {
		return b, err
	}
	if b.Presented, err = presentedIn(tx, siteID, month.First); err != nil {
		return b, err
	}
	b.Rows, err = rowsAt(tx, siteID, month.First.Start(), b.KnownAt)
	return b, err
}

// rowsAt reads the claims of all insolvencies as they were at a time, with what was paid since another.
func rowsAt(tx *store.Tx, siteID int64, from, knownAt time.Time) (rows []BordereauRow, err error) {
	states, err := insolvencies.StatesAt(tx, siteID, knownAt)
	if err != nil {
		return nil, err
	}
	names, err := ledger.ChannelNamesAt(tx, siteID, knownAt)
	if err != nil {
		return nil, err
	}
	payments, err := paymentsAt(tx, siteID, from, knownAt)
	if err != nil {
		return nil, err
	}
	type account struct {
		year     int
		currency money.Currency
	}
	years := map[account][]insolvencyAt{}
	var order []account
	for _, s := range states {
		if s.State == insolvencies.Reported || s.State == insolvencies.Confirmed {
			continue
		}
		i := insolvencyAt{at: s}
		if i.making, err = makingOf(tx, siteID, s.ID); err != nil {
			return nil, err
		}
		if i.rows, err = i.making.rowsAt(tx, knownAt, names[i.ChannelID]); err != nil {
			return nil, err
		}
		if s.State == insolvencies.Withdrawn {
			rows = append(rows, i.withdrawn()...)
			continue
		}
		key := account{claim.Year(i.TriggerAt), i.currency}
		if years[key] == nil {
			order = append(order, key)
		}
		years[key] = append(years[key], i)
	}
	for _, key := range order {
		rows = append(rows, cover(years[key], payments)...)
	}
	slices.SortFunc(rows, func(a, b BordereauRow) int {
		return cmp.Or(cmp.Compare(a.InsolvencyID, b.InsolvencyID), cmp.Compare(a.ClaimID, b.ClaimID))
	})
	return rows, nil
}

// insolvencyAt is an insolvency with its claims, as they were at a time.
type insolvencyAt struct {
	making
	at   insolvencies.StateAt
	rows []BordereauRow
}

// withdrawn are the claims of an insolvency that was withdrawn. They are withdrawn with it: nothing is covered.
func (i insolvencyAt) withdrawn() []BordereauRow {
	for n := range i.rows {
		i.rows[n].State, i.rows[n].Closed = claim.StateWithdrawn, civil.DayOf(i.at.Since)
	}
	return i.rows
}

// paidAmount is what payouts pay for a claim.
type paidAmount struct {
	planned     int64 // in payouts that have not failed
	before, now int64 // by the bank
}

// cover computes the amounts of the claims of one year of account and policy currency.
func cover(year []insolvencyAt, payments map[int64]paidAmount) (rows []BordereauRow) {
	in := make([]claim.Insolvency, len(year))
	for i, y := range year {
		slices.SortFunc(y.rows, func(a, b BordereauRow) int {
			return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.Source, b.Source), cmp.Compare(a.CaseID, b.CaseID),
				cmp.Compare(a.ClaimID, b.ClaimID))
		})
		in[i] = claim.Insolvency{TriggerAt: y.TriggerAt, Cover: y.making.cover, Closed: y.at.State != insolvencies.Open}
		for _, r := range y.rows {
			in[i].Claims = append(in[i].Claims, claim.Owed{Payable: r.value, Paid: payments[r.ClaimID].planned})
		}
	}
	for i, p := range claim.Positions(in) {
		for j, r := range year[i].rows {
			paid := payments[r.ClaimID]
			r.Reported, r.Closed = claim.Report(p.Parts[j], paid.before, paid.now), civil.NoDay
			switch {
			case r.Settled(r.State):
				r.Closed = civil.DayOf(r.since)
			case year[i].at.State == insolvencies.Closed: // such as a claim that is not payable
				r.Closed = civil.DayOf(year[i].at.Since)
			}
			rows = append(rows, r)
		}
	}
	return rows
}
