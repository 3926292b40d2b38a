package demo

import (
	"context"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/ops/rehearsal"
)

// One merchant of a new demo failed some days ago. Its rehearsal has come to the present day: some claims are paid, others are open.
const (
	failedDays = 13
	failedAgo  = failedDays * day
	day        = 24 * time.Hour
)

// rehearse rehearses the failure up to a point of the history, which is a duration before now.
func (m *maker) rehearse(ctx context.Context, now time.Time, back time.Duration) error {
	if m.back == 0 || back > failedAgo-day { // no history, or nothing has happened yet
		return nil
	}
	channel, err := m.app.Channels.ByName(ctx, m.actor, FailedChannel)
	if err != nil {
		return err
	}
	m.setBack(min(m.back, failedAgo))
	// It ends an hour before, so that the clock never goes back.
	days := int((failedAgo-back-time.Hour)/day) - int((failedAgo-m.back)/day)
	if days < 1 {
		return nil
	}
	_, err = m.app.Rehearsals.Run(ctx, m.actor, channel.ID, rehearsal.Options{
		Days: days,
		Move: func(ctx context.Context, actor access.Actor, to time.Time) (access.Actor, error) {
			m.setBack(now.Sub(to))
			if err := m.look(ctx); err != nil {
				return actor, err
			}
			return actor, m.addRates(ctx)
		},
	})
	return err
}
