package verify

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"io"
	"slices"
	"time"

	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
)

// insolvency is an insolvency with what the checks need of it.
type insolvency struct {
	insolvencies.Insolvency
	withdrawnAt time.Time
	premiumDue  bool
}

// readInsolvencies reads the insolvencies of the site that were confirmed once, in order.
func (l *look) readInsolvencies() error {
	l.insolvencies = map[int64][]insolvency{}
	return l.tx.Query(`SELECT i.id, i.channel_id, i.trigger_at, i.confirmed_at, i.reinstated_at, i.snapshot_at, i.snapshot_lines,
			i.snapshot_sha256, i.state, i.premium_due,
			(SELECT MAX(e.recorded_at) FROM insolvency_events e WHERE e.site_id = $1 AND e.insolvency_id = i.id AND e.state = 'withdrawn')
		FROM insolvencies i WHERE i.site_id = $1 AND i.confirmed_at IS NOT NULL ORDER BY i.id`, []any{l.site.ID},
		func(scan func(dest ...any) error) error {
			var i insolvency
			var confirmed, reinstated, made, withdrawn sql.NullInt64
			err := scan(&i.ID, &i.ChannelID, store.Stored{Instant: &i.TriggerAt}, &confirmed, &reinstated, &made, &i.Snapshot.Lines,
				&i.Snapshot.SHA256, &i.State, &i.premiumDue, &withdrawn)
			i.SiteID = l.site.ID
			i.ConfirmedAt, i.ReinstatedAt = store.MaybeInstant(confirmed), store.MaybeInstant(reinstated)
			i.Snapshot.MadeAt, i.withdrawnAt = store.MaybeInstant(made), store.MaybeInstant(withdrawn)
			l.insolvencies[i.ChannelID] = append(l.insolvencies[i.ChannelID], i)
			return err
		})
}

// insolventAt is the insolvency that counted for a channel at a time. waiting says that its premium is still being booked.
func (l *look) insolventAt(channelID int64, at time.Time) (found merchant.Insolvency, waiting bool) {
	for _, i := range l.insolvencies[channelID] {
		waiting = waiting || i.premiumDue || i.State == insolvencies.Confirmed
		if i.ConfirmedAt.After(at) || !i.withdrawnAt.IsZero() && !i.withdrawnAt.After(at) {
			continue
		}
		found = merchant.Insolvency{ID: i.ID, TriggerAt: i.TriggerAt, ConfirmedAt: i.ConfirmedAt}
		if !i.ReinstatedAt.After(at) {
			found.ReinstatedAt = i.ReinstatedAt
		}
	}
	return found, waiting
}

// justConfirmed reports whether a time is so close after a confirmation that a write of that time may not have seen it.
func (l *look) justConfirmed(channelID int64, at time.Time) bool {
	return slices.ContainsFunc(l.insolvencies[channelID], func(i insolvency) bool {
		return at.After(i.ConfirmedAt) && at.Sub(i.ConfirmedAt) < store.FinalAfter
	})
}

// paymentProtection: a payment shows the decision of its allocations (R2).
func paymentProtection(l *look) error {
	at := place{check: "payment protection", table: "transactions"}
	line := l.line(at.check)
	err := l.tx.QueryRow(`SELECT COUNT(*) FROM allocations WHERE site_id = $1`, []any{l.site.ID}, &line.Rows)
	if err != nil {
		return err
	}
	return l.tx.Query(`SELECT t.id, t.protected, t.protection_reason, a.protected, a.reason FROM allocations a
		JOIN transactions t ON t.site_id = a.site_id AND t.id = a.transaction_id
		WHERE a.site_id = $1 AND (t.protected <> a.protected OR t.protection_reason <> a.reason) ORDER BY a.id`, []any{l.site.ID},
		func(scan func(dest ...any) error) error {
			var shows, is bool
			var shown, reason string
			err := scan(&at.id, &shows, &shown, &is, &reason)
			same(l, at, "protected", shows, is)
			same(l, at, "protection_reason", shown, reason)
			return err
		})
}

// failedBefore reports whether an insolvency of the channel, even a withdrawn one, is about an allocation recorded after it: its
// premium may still wait for the job.
func (l *look) failedBefore(a *allocated) bool {
	return slices.ContainsFunc(l.insolvencies[a.ChannelID], func(i insolvency) bool { return a.RecordedAt.After(i.TriggerAt) })
}

// snapshots: each snapshot holds the lines that follow from the facts known when its insolvency was confirmed (R13), and its
// SHA-256 is theirs.
func snapshots(l *look) error {
	line := l.line("insolvency snapshots")
	for _, list := range l.insolvencies {
		for _, i := range list {
			if i.Snapshot.MadeAt.IsZero() {
				continue
			}
			line.Rows++
			if err := l.snapshot(i.Insolvency); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *look) snapshot(i insolvencies.Insolvency) error {
	at := place{"insolvency snapshots", "insolvencies", i.ID}
	policy, err := merchants.PolicyKnown(l.tx, i.SiteID, i.Failure().Day(), i.ConfirmedAt)
	if err != nil {
		return err
	}
	hash, kept, lines := sha256.New(), sha256.New(), int64(0)
	for _, w := range []io.Writer{hash, kept} {
		if err := i.Failure().WriteHead(w, i.SiteID, i.ChannelID); err != nil {
			return err
		}
	}
	err = ledger.Histories(l.tx, i.SiteID, i.Failure().Day(), i.ConfirmedAt, []int64{i.ChannelID}, func(h protection.History) error {
		line, ok := claim.Snapshot(h, i.Failure(), policy.Recognition)
		if !ok {
			return nil
		}
		lines++
		_, err := io.WriteString(hash, line.Text())
		return err
	})
	if err != nil {
		return err
	}
	same(l, at, "snapshot_lines", i.Snapshot.Lines, lines)
	same(l, at, "snapshot_sha256 of the facts", i.Snapshot.SHA256, hex.EncodeToString(hash.Sum(nil)))
	for after, more := int64(0), true; more; {
		page, err := insolvencies.LinesAfter(l.tx, i.SiteID, i.ID, after, perPage)
		if err != nil {
			return err
		}
		for _, line := range page {
			after = line.AllocationID
			if _, err := io.WriteString(kept, line.Text()); err != nil {
				return err
			}
		}
		more = len(page) == perPage
	}
	same(l, at, "snapshot_sha256 of its lines", i.Snapshot.SHA256, hex.EncodeToString(kept.Sum(nil)))
	var sealed string
	err = l.tx.QueryRow(`SELECT COALESCE(MAX(sha256), '') FROM insolvency_snapshots WHERE site_id = $1 AND insolvency_id = $2`,
		[]any{i.SiteID, i.ID}, &sealed)
	same(l, at, "snapshot_sha256 of the sealed snapshot", i.Snapshot.SHA256, sealed)
	return err
}

// insolvencyStates: each insolvency is in the state that its history says, and its channel knows it.
func insolvencyStates(l *look) error {
	at := place{check: "insolvencies", table: "insolvencies"}
	line := l.line(at.check)
	err := l.tx.Query(`SELECT i.id, i.state, COALESCE((SELECT e.state FROM insolvency_events e WHERE e.site_id = $1 AND e.insolvency_id = i.id
			ORDER BY e.id DESC LIMIT 1), ''), i.trigger_at, COALESCE((SELECT MAX(e.trigger_at) FROM insolvency_events e
			WHERE e.site_id = $1 AND e.insolvency_id = i.id), 0)
		FROM insolvencies i WHERE i.site_id = $1 ORDER BY i.id`, []any{l.site.ID}, func(scan func(dest ...any) error) error {
		var state, fromEvents string
		var trigger, triggerFromEvents int64
		err := scan(&at.id, &state, &fromEvents, &trigger, &triggerFromEvents)
		line.Rows++
		same(l, at, "state", state, fromEvents)
		same(l, at, "trigger_at", trigger, triggerFromEvents)
		return err
	})
	if err != nil {
		return err
	}
	at.table = "channels"
	return l.tx.Query(`SELECT id, insolvency_id FROM channels WHERE site_id = $1 ORDER BY id`, []any{l.site.ID},
		func(scan func(dest ...any) error) error {
			var id int64
			err := scan(&at.id, &id)
			should, _ := l.insolventAt(at.id, l.tx.Now)
			same(l, at, "insolvency_id", id, should.ID)
			return err
		})
}
