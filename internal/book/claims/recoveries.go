package claims

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/book/fixings"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// RecoveryKind is the source of recovered money.
type RecoveryKind string

// RecoveryKinds lists the kinds.
var RecoveryKinds = []RecoveryKind{"reserve", "dividend", "bond", "supplier", "scheme"}

// Recovery is money recovered after an insolvency.
type Recovery struct {
	SiteID         int64
	ID             int64
	InsolvencyID   int64
	ChannelID      int64
	Kind           RecoveryKind
	Day            civil.Day
	Currency       money.Currency
	Amount         int64          // minor units of Currency
	PolicyCurrency money.Currency // Q of the policy in force at the trigger
	Value          int64          // minor units of PolicyCurrency
	Reference      string
	RecordedBy     string
	RecordedAt     time.Time
	CancelledBy    string // "" while it counts
	CancelledFor   string
	Version        int64
	ModifiedAt     time.Time
}

// RecoveryOrders lists the values of orderby, besides those of every list, for recoveries.
var RecoveryOrders = []string{"date"}

// RecoveryFilter picks recoveries of a list. An empty field picks all.
type RecoveryFilter struct {
	Kinds        []RecoveryKind
	Insolvencies []int64
}

// NewRecovery are the fields of a request that records a recovery. Absent required fields are nil; the day is today if it is nil.
type NewRecovery struct {
	Problems     errs.Problems
	InsolvencyID *int64
	Kind         *RecoveryKind
	Day          *civil.Day
	Currency     *money.Currency
	Amount       *int64
	Reference    string
}

// Recovered has the recoveries of an insolvency and their distribution, in minor units of its policy currency.
type Recovered struct {
	Total   int64
	Shares  map[terms.Bearer]int64
	Surplus int64 // in excess of the loss
}

// Recoveries reads one page of the recoveries of the actor's site.
func (r *Claims) Recoveries(ctx context.Context, actor access.Actor, f RecoveryFilter, page store.Page) (list store.List[Recovery], err error) {
	if err := actor.Require(access.ReadFailures); err != nil {
		return list, err
	}
	return sites.ReadPage(ctx, r.DB, actor, page, func(tx *store.Tx) (store.List[Recovery], error) {
		var w sqltext.Where
		w.And("site_id = ?", actor.SiteID)
		sqltext.In(&w, "kind", f.Kinds)
		sqltext.In(&w, "insolvency_id", f.Insolvencies)
		return store.ListPage(tx, "recoveries", recoveryColumns, &w, page, store.Orders{"modified": "modified_at", "date": "day"}, scanRecovery)
	})
}

// Recovery reads a recovery of the actor's site.
func (r *Claims) Recovery(ctx context.Context, actor access.Actor, id int64) (Recovery, error) {
	if err := actor.Require(access.ReadFailures); err != nil {
		return Recovery{}, err
	}
	found, err := sites.Read(ctx, r.DB, actor, func(tx *store.Tx) (Recovery, error) { return recoveryByID(tx, actor.SiteID, id) })
	return found, unknownRecovery(err, id)
}

// Recover records a recovery.
func (r *Claims) Recover(ctx context.Context, actor access.Actor, in NewRecovery) (Recovery, error) {
	if err := actor.Require(access.RecordRecoveries); err != nil {
		return Recovery{}, err
	}
	return idempotency.Once(ctx, r.DB, actor, func(tx *store.Tx) (Recovery, idempotency.Outcome, error) {
		made, err := in.recovery(tx, actor)
		if err != nil {
			return made, idempotency.Outcome{}, err
		}
		if err := insertRecovery(tx, &made); err != nil {
			return made, idempotency.Outcome{}, err
		}
		err = noteRecovery(tx, actor, "recovery.record", nil, made)
		return made, idempotency.Outcome{ID: made.ID}, err
	}, func(ctx context.Context, made idempotency.Outcome) (Recovery, error) {
		return r.Recovery(ctx, actor, made.ID)
	})
}

// Cancel takes back a recovery that was recorded by mistake. The reason is required.
func (r *Claims) Cancel(ctx context.Context, actor access.Actor, id int64, reason string) (Recovery, error) {
	if err := actor.Require(access.RecordRecoveries); err != nil {
		return Recovery{}, err
	}
	var p errs.Problems
	check.Note(&p, "reason", reason)
	if err := errors.Join(needReason(reason), p.Err()); err != nil {
		return Recovery{}, err
	}
	changed, err := idempotency.Once(ctx, r.DB, actor, func(tx *store.Tx) (Recovery, idempotency.Outcome, error) {
		found, err := recoveryByID(tx, actor.SiteID, id)
		if err != nil {
			return found, idempotency.Outcome{}, err
		}
		before := auditedRecovery(found)
		if found, err = cancelRecovery(tx, found, actor.Username, reason); errors.Is(err, store.ErrNotFound) {
			return found, idempotency.Outcome{}, &errs.Error{Kind: errs.ActionNotPossible, State: "cancelled", Reason: "state",
				Message: fmt.Sprintf("Recovery %d has already been cancelled.", id)}
		}
		if err != nil {
			return found, idempotency.Outcome{}, err
		}
		err = noteRecovery(tx, actor, "recovery.cancel", before, found)
		return found, idempotency.Outcome{ID: id}, err
	}, func(ctx context.Context, made idempotency.Outcome) (Recovery, error) {
		return r.Recovery(ctx, actor, made.ID)
	})
	return changed, unknownRecovery(err, id)
}

// recovery checks the fields and makes a row from them.
func (in NewRecovery) recovery(tx *store.Tx, actor access.Actor) (made Recovery, err error) {
	p := in.Problems.Clone()
	for _, field := range []struct {
		name   string
		absent bool
	}{
		{"insolvencies", in.InsolvencyID == nil}, {"kind", in.Kind == nil}, {"currencies", in.Currency == nil}, {"total", in.Amount == nil},
	} {
		if field.absent && !p.Has(field.name) {
			p.Missing(field.name)
		}
	}
	today := civil.DayOf(tx.Now)
	made = Recovery{SiteID: actor.SiteID, Day: today, Reference: in.Reference, RecordedBy: actor.Username}
	if in.Day != nil {
		made.Day = *in.Day
	}
	if made.Day > today {
		p.Wrong("date", "Must not be in the future.")
	}
	if in.Kind != nil {
		made.Kind = *in.Kind
		check.OneOf(&p, "kind", made.Kind, RecoveryKinds)
	}
	if in.Amount != nil && (*in.Amount < 1 || *in.Amount > check.MaxAmount) {
		p.Wrong("total", "Must be a whole number between 1 and %d.", int64(check.MaxAmount))
	}
	check.Line(&p, "reference", in.Reference)
	if in.InsolvencyID == nil || p.Err() != nil {
		return made, p.Err()
	}
	m, err := makingOf(tx, actor.SiteID, *in.InsolvencyID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return made, errs.WrongField("insolvencies", "Insolvency %d not found.", *in.InsolvencyID)
	case err != nil:
		return made, err
	case m.Snapshot.MadeAt.IsZero() || m.State == insolvencies.Withdrawn:
		return made, errs.WrongField("insolvencies", "Insolvency %d is %s.", m.ID, m.State)
	}
	made.InsolvencyID, made.ChannelID, made.Currency, made.Amount, made.PolicyCurrency = m.ID, m.ChannelID, *in.Currency, *in.Amount, m.currency
	quote, ok, err := fixings.SpotQuote(tx, actor.SiteID, made.Currency, m.currency, made.Day)
	if err != nil {
		return made, err
	}
	if !ok {
		return made, errs.WrongField("currencies", "There is no exchange rate from %s to %s up to %s.", made.Currency, m.currency, made.Day)
	}
	made.Value, err = quote.Convert(made.Amount)
	return made, err
}

const recoveryColumns = `site_id, id, insolvency_id, channel_id, kind, day, currency, amount, policy_currency, value, reference, recorded_by,
	recorded_at, cancelled_by, cancelled_for, version, modified_at`

func scanRecovery(scan func(dest ...any) error) (r Recovery, err error) {
	err = scan(&r.SiteID, &r.ID, &r.InsolvencyID, &r.ChannelID, &r.Kind, &r.Day, &r.Currency, &r.Amount, &r.PolicyCurrency, &r.Value, &r.Reference, &r.RecordedBy,
		store.Stored{Instant: &r.RecordedAt}, &r.CancelledBy, &r.CancelledFor, &r.Version, store.Stored{Instant: &r.ModifiedAt})
	return r, err
}

func recoveryByID(tx *store.Tx, siteID, id int64) (Recovery, error) {
	return scanRecovery(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+recoveryColumns+` FROM recoveries WHERE site_id = $1 AND id = $2`, []any{siteID, id}, dest...)
	})
}

func insertRecovery(tx *store.Tx, r *Recovery) (err error) {
	r.Version, r.RecordedAt, r.ModifiedAt = 1, tx.Now, tx.Now
	if r.ID, err = tx.NextID("recoveries", r.SiteID); err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO recoveries (site_id, id, insolvency_id, channel_id, kind, day, currency, amount, policy_currency, value, reference,
			recorded_by, recorded_at, cancelled_by, cancelled_for, version, modified_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, '', '', 1, $13)`,
		r.SiteID, r.ID, r.InsolvencyID, r.ChannelID, r.Kind, r.Day, r.Currency, r.Amount, r.PolicyCurrency, r.Value, r.Reference, r.RecordedBy,
		store.Micros(tx.Now))
	return err
}

// cancelRecovery cancels a recovery, or returns store.ErrNotFound if it is cancelled.
func cancelRecovery(tx *store.Tx, r Recovery, by, reason string) (Recovery, error) {
	return scanRecovery(func(dest ...any) error {
		return tx.QueryRow(`UPDATE recoveries SET cancelled_by = $3, cancelled_for = $4, modified_at = $5, version = version + 1
			WHERE site_id = $1 AND id = $2 AND cancelled_by = '' RETURNING `+recoveryColumns,
			[]any{r.SiteID, r.ID, by, reason, store.Micros(tx.Now)}, dest...)
	})
}

func unknownRecovery(err error, id int64) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "Recovery %d not found.", id)
}

// noteRecovery records a change of a recovery: in the events of the site, and in the audit.
func noteRecovery(tx *store.Tx, actor access.Actor, action string, before any, r Recovery) error {
	events.Record(tx, r.SiteID, eventOf[action], r.ID, event.Details{Kind: string(r.Kind), Amount: r.Amount, Currency: string(r.Currency)})
	return audit.Record(tx, actor, action, fmt.Sprintf("recovery %d", r.ID), before, auditedRecovery(r))
}

// recoveryInAudit is the shape of a recovery in the audit.
type recoveryInAudit struct {
	Insolvency int64          `json:"insolvency"`
	Kind       string         `json:"kind"`
	Day        civil.Day      `json:"day"`
	Amount     int64          `json:"amount"`
	Currency   money.Currency `json:"currency"`
	Value      int64          `json:"value"`
	Reference  string         `json:"reference,omitempty"`
	Cancelled  string         `json:"cancelled_for,omitempty"`
}

func auditedRecovery(r Recovery) any {
	return recoveryInAudit{r.InsolvencyID, string(r.Kind), r.Day, r.Amount, r.Currency, r.Value, r.Reference, r.CancelledFor}
}
