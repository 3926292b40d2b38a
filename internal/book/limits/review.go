package limits

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// review judges existing transactions and bookings by new limits, a bounded piece for each limit. more reports whether
// there may be some left. A new payment is judged by the limits that its write sees. So a review starts when all writes
// that did not see its limit have ended, and skips objects that the limit has already judged.
func (l *Limits) review(ctx context.Context) (more bool, err error) {
	var due []limitReview
	var days []civil.Day
	err = l.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		due, days = nil, nil
		open, err := openReviews(tx)
		if err != nil {
			return err
		}
		for _, r := range open {
			final, err := sites.FinalBy(tx, r.Clock)
			if err != nil {
				return err
			}
			if day := civil.DayOf(final); !r.Limit.RecordedAt.After(final) && r.Limit.FromDay <= day {
				due, days = append(due, r), append(days, day)
			}
		}
		return nil
	})
	for i, r := range due {
		actor := access.System(r.Clock.SiteID)
		actor.Ahead = r.Clock.Ahead
		left, err := sites.Write(ctx, l.DB, actor, func(tx *store.Tx) (bool, error) {
			return reviewPiece(tx, l.Reviewed, r, days[i])
		})
		if err != nil {
			return false, fmt.Errorf("review of limit %d of site %d: %w", r.Limit.ID, r.Limit.SiteID, err)
		}
		more = more || left
	}
	return more, err
}

// reviewing is one piece of the review of a limit.
type reviewing struct {
	*limiting
	review limitReview
	before protection.Limits // all limits but the reviewed one
}

func reviewPiece(tx *store.Tx, pieces int, r limitReview, day civil.Day) (more bool, err error) {
	list, last, err := toJudge(tx, r, pieces)
	if err != nil {
		return false, err
	}
	done := last == 0
	if moved, err := moveReview(tx, r, max(last, r.WalkedTo), done); err != nil || !moved || done {
		return false, err
	}
	l, err := newLimiting(tx, r.Limit.SiteID, day, slices.MaxFunc(
		[]time.Time{r.Limit.RecordedAt, r.Limit.FromDay.Start()}, time.Time.Compare))
	if err != nil {
		return false, err
	}
	without := slices.DeleteFunc(slices.Clone(l.limits), func(o protection.Limit) bool { return o.ID == r.Limit.ID })
	p := reviewing{limiting: l, review: r, before: without}
	for _, j := range list {
		if j.FirstID <= r.WalkedTo { // an earlier piece judged it, together with its first allocation
			continue
		}
		if err := p.judgeObject(j); err != nil {
			return false, fmt.Errorf("%s %d: %w", r.Limit.Scope, j.ID, err)
		}
	}
	return true, nil
}

// judgeObject judges a transaction or booking by the limit that applies to it now, if that has changed.
func (r reviewing) judgeObject(j judged) error {
	list, err := r.allocationsOf(j.ID)
	if err != nil || len(list) == 0 {
		return err
	}
	scope, channel := r.review.Limit.Scope, list[0].ChannelID
	limit, ok := r.limits.InForce(scope, channel, r.day, everything)
	before, had := r.before.InForce(scope, channel, r.day, everything)
	if !ok || had && before.ID == limit.ID || j.Others == 0 && limit.Level(j.Most) == 0 {
		return nil
	}
	added, use, err := r.addedBy(list, limit)
	if err != nil {
		return err
	}
	level := limit.Level(use)
	if level == 0 {
		return nil
	}
	if scope == protection.LimitBooking {
		stored, err := lockUse(r.tx, r.siteID, j.ID, limit.Currency)
		if err != nil {
			return err
		}
		stored.Level = level
		if err := saveUse(r.tx, r.siteID, stored); err != nil {
			return err
		}
	}
	reached, err := r.reached(j.ID, limit, before, use)
	if err != nil {
		return err
	}
	err = recordCrossings(r.tx, protection.LimitEvent{
		SiteID: r.siteID, Scope: scope, ObjectID: j.ID, ChannelID: channel, Use: use, Limit: limit, CrossedAt: r.at,
	}, reached)
	if err != nil {
		return err
	}
	sum := int64(0)
	for i, a := range list {
		sum = money.UpTo(sum, added[i])
		if err := recordOver(r.tx, a.Allocation, limit, added[i], sum); err != nil {
			return err
		}
	}
	return nil
}

// reached returns the level for which the use has events already. Events under the earlier limit count up to the level
// that the use still has under it. Events under the new limit come from payments that were judged by it.
func (r reviewing) reached(object int64, limit, before protection.Limit, use int64) (int64, error) {
	reported, under, err := levelsOf(r.tx, r.siteID, limit.Scope, object, limit.ID)
	if err != nil || before.ID == 0 || before.Currency != limit.Currency {
		return under, err
	}
	return max(under, min(reported, before.Level(use))), nil
}

// allocationsOf reads the allocations of a transaction or booking, in the order in which they got their values.
func (r reviewing) allocationsOf(object int64) (list []protection.History, err error) {
	if r.review.Limit.Scope == protection.LimitBooking {
		list, err = ledger.HistoriesOfBooking(r.tx, r.siteID, object)
	} else {
		list, err = ledger.HistoriesWithIDs(r.tx, r.siteID, nil, []int64{object})
	}
	slices.SortStableFunc(list, func(a, b protection.History) int {
		return cmp.Or(a.PricedAt.Compare(b.PricedAt), cmp.Compare(a.ID, b.ID))
	})
	return list, err
}

// addedBy returns what each allocation adds to the use at the end of the day, and the use, in the currency of the limit.
func (r reviewing) addedBy(list []protection.History, limit protection.Limit) (added []int64, use int64, err error) {
	sums := map[money.Currency]int64{}
	for _, h := range list {
		u, err := h.UseAt(r.day, everything, r.by)
		if err != nil {
			return nil, 0, err
		}
		sums[h.PolicyCurrency] = money.UpTo(sums[h.PolicyCurrency], u.Amount)
		before := use
		if use, err = r.total(sums, limit.Currency); err != nil {
			return nil, 0, err
		}
		added = append(added, use-before)
	}
	return added, use, nil
}
