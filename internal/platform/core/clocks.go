package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// Clocks are the use cases of the clock of a site. Exposure, statements and expiry follow this clock. Logins, second
// factors, idempotency keys and the log follow the real one.
type Clocks struct {
	*Core
	Moved func(ctx context.Context, clock SiteClock) error // called after a move: what has to follow the clock at once
}

// SiteTime is the time of a site.
type SiteTime struct {
	Sandbox bool
	Now     time.Time // by the clock of the site
	Real    time.Time // by the real clock
}

// Show returns the time of the actor's site.
func (c *Clocks) Show(ctx context.Context, actor access.Actor) (SiteTime, error) {
	return Read(ctx, c.Core, actor, func(tx *store.Tx) (SiteTime, error) { return siteTime(tx, actor.SiteID) })
}

// Move moves the clock of a sandbox forward to an instant. Errors: NotPossible with the reason not_a_sandbox or
// clock_backwards.
func (c *Clocks) Move(ctx context.Context, actor access.Actor, to time.Time) (SiteTime, error) {
	if err := actor.Require(access.MoveClock); err != nil {
		return SiteTime{}, err
	}
	moved, err := Once(ctx, c.Core, actor, func(tx *store.Tx) (SiteTime, Outcome, error) {
		moved, err := move(tx, actor, to)
		return moved, Outcome{ID: actor.SiteID}, err
	}, func(ctx context.Context, _ Outcome) (SiteTime, error) { return c.Show(ctx, actor) })
	if err != nil || c.Moved == nil {
		return moved, err
	}
	return moved, c.Moved(ctx, SiteClock{SiteID: actor.SiteID, Ahead: moved.Now.Sub(moved.Real)})
}

// move is Clocks.Move inside a write.
func move(tx *store.Tx, actor access.Actor, to time.Time) (SiteTime, error) {
	before, err := siteTime(tx, actor.SiteID)
	switch {
	case err != nil:
		return SiteTime{}, err
	case !before.Sandbox:
		return SiteTime{}, errs.NotPossibleBecause("not_a_sandbox",
			"This site is not a sandbox: its clock is the real one and cannot be moved.")
	case to.Before(before.Now):
		return SiteTime{}, clockBackwards(before)
	}
	err = MoveClock(tx, actor.SiteID, to.Sub(before.Real))
	if errors.Is(err, store.ErrNotFound) { // somebody else has just moved it further
		return SiteTime{}, clockBackwards(before)
	}
	if err != nil {
		return SiteTime{}, err
	}
	after := SiteTime{Sandbox: true, Now: to, Real: before.Real}
	return after, Record(tx, actor, "clock.move", fmt.Sprintf("site %d", actor.SiteID),
		auditedClock{civil.FormatInstant(before.Now)}, auditedClock{civil.FormatInstant(after.Now)})
}

func clockBackwards(now SiteTime) error {
	return errs.NotPossibleBecause("clock_backwards",
		"The clock of a site moves forward only; it shows %s already.", civil.FormatInstant(now.Now))
}

func siteTime(tx *store.Tx, siteID int64) (SiteTime, error) {
	site, err := SiteAlone(tx, siteID)
	if err != nil {
		return SiteTime{}, NotFoundAs(errs.SettingNotFound, err, "There is no site %d.", siteID)
	}
	return SiteTime{Sandbox: site.Sandbox, Now: RealNow(tx).Add(site.ClockAhead), Real: RealNow(tx)}, nil
}

type auditedClock struct {
	Now string `json:"now"`
}
