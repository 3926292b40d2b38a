package ledger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Collaterals records the money and guarantees that are held against a loss (R7).
type Collaterals struct{ *sites.DB }

// CollateralFields are the fields of a request for a new record of collateral, or for the correction of a record.
type CollateralFields struct {
	Problems  errs.Problems
	RecordID  *int64 // the record to correct; nil for a new one
	Kind      *exposure.CollateralKind
	ChannelID *int64 // covers the losses of this channel only; nil: of all channels
	Currency  *money.Currency
	Amount    *int64     // minor units
	From      *civil.Day // the first day; nil: today
	To        *civil.Day // the last day; nil: no end yet
	Reference string
	Note      string
}

// Add records collateral. A correction gives all fields of the record again; the older rows are kept. It needs the
// permission WriteCollateral.
func (c *Collaterals) Add(ctx context.Context, actor access.Actor, in CollateralFields) (exposure.Collateral, error) {
	if err := actor.Require(access.WriteCollateral); err != nil {
		return exposure.Collateral{}, err
	}
	add := func(tx *store.Tx) (made exposure.Collateral, outcome idempotency.Outcome, err error) {
		if made, err = in.collateral(tx, actor); err != nil {
			return made, outcome, err
		}
		if made, err = insertCollateral(tx, made); err != nil {
			return made, outcome, err
		}
		object := fmt.Sprintf("collateral %d", made.ID)
		return made, idempotency.Outcome{ID: made.ID}, audit.Record(tx, actor, "collateral.add", object, nil, auditCollateral(made))
	}
	return idempotency.Once(ctx, c.DB, actor, add,
		func(ctx context.Context, made idempotency.Outcome) (exposure.Collateral, error) {
			return c.Get(ctx, actor, made.ID)
		})
}

type auditedCollateral struct {
	Record    int64  `json:"record"`
	Kind      string `json:"kind"`
	ChannelID int64  `json:"channels,omitempty"`
	Currency  string `json:"currency"`
	Amount    int64  `json:"amount"`
	From      string `json:"from"`
	To        string `json:"to,omitempty"`
	Reference string `json:"reference,omitempty"`
	Note      string `json:"note,omitempty"`
}

func auditCollateral(c exposure.Collateral) any {
	shape := auditedCollateral{
		Record: c.RecordID, Kind: string(c.Kind), ChannelID: c.ChannelID, Currency: string(c.Currency), Amount: c.Amount,
		From: c.FromDay.String(), Reference: c.Reference, Note: c.Note,
	}
	if c.ToDay != civil.NoDay {
		shape.To = c.ToDay.String()
	}
	return shape
}

// collateral checks the fields and makes a row from them.
func (in CollateralFields) collateral(tx *store.Tx, actor access.Actor) (exposure.Collateral, error) {
	p := in.Problems.Clone()
	row := exposure.Collateral{
		SiteID: actor.SiteID, FromDay: civil.DayOf(tx.Now), ToDay: civil.NoDay, Reference: in.Reference, Note: in.Note,
		AuthorID: actor.UserID, Author: actor.Username,
	}
	if in.RecordID != nil {
		// The id may also be that of a correction: every row has the id of its record.
		before, err := collateralRow(tx, actor.SiteID, *in.RecordID)
		if row.RecordID = before.RecordID; err != nil {
			p.Wrong("corrects", "Collateral %d not found.", *in.RecordID)
		}
	}
	need := func(field string, absent bool) {
		if absent && !p.Has(field) {
			p.Missing(field)
		}
	}
	need("kind", in.Kind == nil)
	need("currency", in.Currency == nil)
	need("amount", in.Amount == nil)
	if in.Kind != nil {
		if row.Kind = *in.Kind; !slices.Contains(exposure.CollateralKinds, row.Kind) {
			p.Wrong("kind", "Must be one of: cash, guarantee, rolling-reserve, insurance, other.")
		}
	}
	if in.Currency != nil {
		row.Currency = *in.Currency
	}
	if in.Amount != nil {
		if row.Amount = *in.Amount; row.Amount < 0 || row.Amount > check.MaxAmount || row.Amount == 0 && in.RecordID == nil {
			p.Wrong("amount", "Must be between 1 and %d. In a correction, 0 withdraws the record.", int64(check.MaxAmount))
		}
	}
	if in.ChannelID != nil {
		row.ChannelID = *in.ChannelID
		if _, err := merchants.Channel(tx, actor.SiteID, row.ChannelID); err != nil {
			p.Wrong("channels", "Channel %d not found.", row.ChannelID)
		}
	}
	if in.From != nil {
		row.FromDay = *in.From
	}
	if in.To != nil {
		if row.ToDay = *in.To; row.ToDay < row.FromDay {
			p.Wrong("to", "The last day must not be before the first day.")
		}
	}
	check.Note(&p, "note", in.Note)
	check.Line(&p, "reference", in.Reference)
	return row, p.Err()
}

// Get reads one row: a record or a correction. If there is none, the error has the kind SettingNotFound.
func (c *Collaterals) Get(ctx context.Context, actor access.Actor, id int64) (exposure.Collateral, error) {
	found, err := sites.Read(ctx, c.DB, actor, func(tx *store.Tx) (exposure.Collateral, error) {
		return collateralRow(tx, actor.SiteID, id)
	})
	return found, store.NotFoundAs(errs.SettingNotFound, err, "Collateral %d not found.", id)
}

// List reads one page of all rows, corrections included. If channels are given, it reads theirs only.
func (c *Collaterals) List(
	ctx context.Context, actor access.Actor, channels []int64, page store.Page,
) (store.List[exposure.Collateral], error) {
	return sites.ReadPage(ctx, c.DB, actor, page, func(tx *store.Tx) (store.List[exposure.Collateral], error) {
		if err := merchants.KnownChannels(tx, actor.SiteID, channels); err != nil {
			return store.List[exposure.Collateral]{}, err
		}
		return collateralsPage(tx, actor.SiteID, channels, page)
	})
}

// Held reads the collateral that is held at a moment, one row for each record.
func (c *Collaterals) Held(
	ctx context.Context, actor access.Actor, in Moment, problems errs.Problems, channels []int64, page store.Page,
) (store.List[exposure.Collateral], error) {
	return sites.ReadPage(ctx, c.DB, actor, page, func(tx *store.Tx) (list store.List[exposure.Collateral], err error) {
		p := problems.Clone()
		day, known := in.Complete(tx.Now, &p)
		if err := merchants.CheckChannels(tx, actor.SiteID, channels, &p); err != nil {
			return list, err
		}
		if err := p.Err(); err != nil {
			return list, err
		}
		held, err := CollateralOn(tx, actor.SiteID, channels, day, known)
		return store.PageOf(held, page, func(c exposure.Collateral) (int64, time.Time) { return c.ID, c.RecordedAt }), err
	})
}
