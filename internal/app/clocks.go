package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/store"
)

// Clocks is what can be done with the clock of a site: exposure, statements and what expires follow it. Logins, second
// factors, idempotency keys and the log stay with the real one.
type Clocks struct{ *Core }

// SiteTime is what time it is on a site.
type SiteTime struct {
	Sandbox bool
	Now     time.Time // on the site
	Real    time.Time
}

// Show tells the time of the actor's site.
func (c *Clocks) Show(ctx context.Context, actor auth.Actor) (SiteTime, error) {
	return read(ctx, c.Core, actor, func(tx *store.Tx) (SiteTime, error) { return siteTime(tx, actor.SiteID) })
}

// Move moves the clock of a sandbox site forward to an instant.
func (c *Clocks) Move(ctx context.Context, actor auth.Actor, to time.Time) (SiteTime, error) {
	if err := actor.Require(auth.MoveClock); err != nil {
		return SiteTime{}, err
	}
	return write(ctx, c.Core, actor, func(tx *store.Tx) (SiteTime, error) {
		before, err := siteTime(tx, actor.SiteID)
		switch {
		case err != nil:
			return SiteTime{}, err
		case !before.Sandbox:
			return SiteTime{}, fault.NotPossibleBecause("not_a_sandbox",
				"This site is not a sandbox: its clock is the real one and cannot be moved.")
		case to.Before(before.Now):
			return SiteTime{}, clockBackwards(before)
		}
		err = store.MoveClock(tx, actor.SiteID, to.Sub(before.Real))
		if errors.Is(err, store.ErrNotFound) { // somebody else has just moved it further
			return SiteTime{}, clockBackwards(before)
		}
		if err != nil {
			return SiteTime{}, err
		}
		after := SiteTime{Sandbox: true, Now: to, Real: before.Real}
		return after, audit(tx, actor, "clock.move", fmt.Sprintf("site %d", actor.SiteID),
			auditedClock{civil.FormatInstant(before.Now)}, auditedClock{civil.FormatInstant(after.Now)})
	})
}

func clockBackwards(now SiteTime) error {
	return fault.NotPossibleBecause("clock_backwards",
		"The clock of a site moves forward only; it shows %s already.", civil.FormatInstant(now.Now))
}

func siteTime(tx *store.Tx, siteID int64) (SiteTime, error) {
	site, err := store.SiteAlone(tx, siteID)
	if err != nil {
		return SiteTime{}, unknownAs(fault.UnknownTerm, err, "There is no site %d.", siteID)
	}
	return SiteTime{Sandbox: site.Sandbox, Now: store.RealNow(tx).Add(site.ClockAhead), Real: store.RealNow(tx)}, nil
}

type auditedClock struct {
	Now string `json:"now"`
}
