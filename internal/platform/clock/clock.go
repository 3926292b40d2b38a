// Package clock moves the clock of a sandbox forward and returns the current time of a site. The tables belong to
// package sites.
package clock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Clocks are the use cases of the clock of a site. Exposure, statements and expiry follow this clock. Logins, second
// factors, idempotency keys and the log follow the real one.
type Clocks struct{ *sites.DB }

// Time is the time of a site.
type Time struct {
	Sandbox bool
	Now     time.Time // by the clock of the site
	Real    time.Time // by the real clock
}

// Show returns the time of the actor's site.
func (c *Clocks) Show(ctx context.Context, actor access.Actor) (Time, error) {
	return sites.Read(ctx, c.DB, actor, func(tx *store.Tx) (Time, error) { return siteTime(tx, actor.SiteID) })
}

// Move moves the clock of a sandbox forward to an instant. rates.Rates.MoveClock calls it, because the rates of a sandbox
// follow its clock.
// Errors: NotPossible with the reason not_a_sandbox or clock_backwards.
func Move(ctx context.Context, db *sites.DB, actor access.Actor, to time.Time) (Time, error) {
	if err := actor.Require(access.MoveClock); err != nil {
		return Time{}, err
	}
	return idempotency.Once(ctx, db, actor, func(tx *store.Tx) (Time, idempotency.Outcome, error) {
		moved, err := move(tx, actor, to)
		return moved, idempotency.Outcome{ID: actor.SiteID}, err
	}, func(ctx context.Context, _ idempotency.Outcome) (Time, error) { return (&Clocks{db}).Show(ctx, actor) })
}

// move is Move inside a write.
func move(tx *store.Tx, actor access.Actor, to time.Time) (Time, error) {
	before, err := siteTime(tx, actor.SiteID)
	switch {
	case err != nil:
		return Time{}, err
	case !before.Sandbox:
		return Time{}, errs.NotPossibleBecause("not_a_sandbox",
			"This site is not a sandbox, so its clock cannot be moved.")
	case to.Before(before.Now):
		return Time{}, clockBackwards(before)
	}
	err = sites.MoveClock(tx, actor.SiteID, to.Sub(before.Real))
	if errors.Is(err, store.ErrNotFound) { // it has just been moved further
		return Time{}, clockBackwards(before)
	}
	if err != nil {
		return Time{}, err
	}
	after := Time{Sandbox: true, Now: to, Real: before.Real}
	return after, audit.Record(tx, actor, "clock.move", fmt.Sprintf("site %d", actor.SiteID),
		auditedClock{civil.FormatInstant(before.Now)}, auditedClock{civil.FormatInstant(after.Now)})
}

func clockBackwards(now Time) error {
	return errs.NotPossibleBecause("clock_backwards",
		"The site's clock can only move forward. It already shows %s.", civil.FormatInstant(now.Now))
}

func siteTime(tx *store.Tx, siteID int64) (Time, error) {
	site, err := sites.Alone(tx, siteID)
	if err != nil {
		return Time{}, store.NotFoundAs(errs.SettingNotFound, err, "Site %d not found.", siteID)
	}
	return Time{Sandbox: site.Sandbox, Now: sites.RealNow(tx).Add(site.ClockAhead), Real: sites.RealNow(tx)}, nil
}

type auditedClock struct {
	Now string `json:"now"`
}
