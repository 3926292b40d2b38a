package view

import (
	"cmp"

	"holdfast/internal/book/limits"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// limitShape is a limit (R12) in answers. Amount is in minor units of Currency.
type limitShape struct {
	ID         int64                 `json:"id"`
	Scope      protection.LimitScope `json:"scope"`
	Channel    *int64                `json:"channels"` // null: the limit is not for one channel
	From       civil.Day             `json:"from"`
	Amount     *int64                `json:"amount"` // null: the limit is lifted
	Currency   money.Currency        `json:"currency"`
	Note       string                `json:"note"`
	Author     string                `json:"author"`
	RecordedAt string                `json:"recorded_at"`
}

// ShowLimit gives a limit.
func ShowLimit(l protection.Limit) limitShape {
	shape := limitShape{
		ID: l.ID, Scope: l.Scope, Channel: OrNull(l.ChannelID), From: l.FromDay, Currency: l.Currency, Note: l.Note,
		Author: l.Author, RecordedAt: l.RecordedAt.UTC().Format(ISOMicros),
	}
	if !l.Lifted {
		shape.Amount = &l.Amount
	}
	return shape
}

// limitRowShape is a limit in force and how much of it is used. Amounts are in minor units of Currency. Limits of bookings
// and of transactions have no use of their own: each booking or transaction is checked individually.
type limitRowShape struct {
	Limit    limitShape            `json:"limit"`
	Scope    protection.LimitScope `json:"scope"`
	Channel  *Named                `json:"channel"`
	Currency money.Currency        `json:"currency"`
	Use      *int64                `json:"use"`
	Headroom *int64                `json:"headroom"`
	Over     *int64                `json:"over"`
	Percent  *string               `json:"used_percent"`
	Level    *int64                `json:"level"`
	Pending  []pendingUseShape     `json:"pending"`
	InForce  bool                  `json:"in_force"`
	Reason   string                `json:"reason"` // why it is not in force, or why its use is not known; else empty
}

// pendingUseShape is a part of a use that is waiting for a rate, in minor units of Currencies.
type pendingUseShape struct {
	Currencies money.Currency `json:"currencies"`
	Amount     int64          `json:"amount"`
}

// ShowLimitRow gives the shape of a limit in force, to be encoded as JSON.
func ShowLimitRow(r limits.LimitRow) any {
	shape := limitRowShape{
		Limit: ShowLimit(r.Limit), Scope: r.Scope, Currency: r.Currency, InForce: r.NotInForce == "",
		Reason: cmp.Or(r.NotInForce, r.Unknown), Pending: make([]pendingUseShape, len(r.Pending)),
	}
	for i, p := range r.Pending {
		shape.Pending[i] = pendingUseShape{p.Currency, p.Amount}
	}
	if r.ChannelID != 0 {
		shape.Channel = &Named{ID: r.ChannelID, Name: r.ChannelName}
	}
	if r.HasUse {
		shape.Use, shape.Over, shape.Percent, shape.Level = &r.Use, &r.Over, &r.Percent, &r.Level
		if len(r.Pending) == 0 {
			shape.Headroom = &r.Headroom
		}
	}
	return shape
}

// limitEventShape: a use has reached 80, 95 or 100 percent of its limit. Amounts are in minor units of Currency.
type limitEventShape struct {
	ID          int64                 `json:"id"`
	Scope       protection.LimitScope `json:"scope"`
	Object      *int64                `json:"object"` // id of the transaction, booking or channel; null for the site
	Channel     *int64                `json:"channels"`
	Percent     int64                 `json:"percent"`
	Use         int64                 `json:"use"`
	LimitAmount int64                 `json:"limit_amount"`
	Currency    money.Currency        `json:"currency"`
	LimitID     int64                 `json:"limit_id"`
	Transaction *int64                `json:"transaction"` // the payment that crossed it; null if none did
	CrossedAt   string                `json:"crossed_at"`
	RecordedAt  string                `json:"recorded_at"`
}

// ShowLimitEvent gives the shape of an event of a limit, to be encoded as JSON.
func ShowLimitEvent(e protection.LimitEvent) any {
	return limitEventShape{
		ID: e.ID, Scope: e.Scope, Object: OrNull(e.ObjectID), Channel: OrNull(e.ChannelID), Percent: e.Percent, Use: e.Use,
		LimitAmount: e.Limit.Amount, Currency: e.Limit.Currency, LimitID: e.Limit.ID, Transaction: OrNull(e.TransactionID),
		CrossedAt: e.CrossedAt.UTC().Format(ISOMicros), RecordedAt: e.RecordedAt.UTC().Format(ISOMicros),
	}
}

// Named is an object with its id and name.
type Named struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}
