package insolvencies

import (
	"database/sql"
	"errors"
	"strings"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const insolvencyColumns = `site_id, id, channel_id, kind, state, trigger_at, evidence, reported_by_id, reported_by, reported_at,
	confirmed_by, confirmed_at, alone, reinstated_at, processing_allowed, snapshot_at, snapshot_lines, snapshot_sha256, version, modified_at`

func scanInsolvency(scan func(dest ...any) error) (Insolvency, error) {
	var i Insolvency
	var confirmed, reinstated, made sql.NullInt64
	err := scan(&i.SiteID, &i.ID, &i.ChannelID, &i.Kind, &i.State, store.Stored{Instant: &i.TriggerAt}, &i.Evidence, &i.ReportedByID,
		&i.ReportedBy, store.Stored{Instant: &i.ReportedAt}, &i.ConfirmedBy, &confirmed, &i.Alone, &reinstated, &i.ProcessingAllowed, &made,
		&i.Snapshot.Lines, &i.Snapshot.SHA256, &i.Version, store.Stored{Instant: &i.ModifiedAt})
	i.ConfirmedAt, i.ReinstatedAt = store.MaybeInstant(confirmed), store.MaybeInstant(reinstated)
	i.Snapshot.MadeAt = store.MaybeInstant(made)
	return i, err
}

// insertInsolvency stores a reported insolvency and returns it with its id.
func insertInsolvency(tx *store.Tx, i Insolvency) (Insolvency, error) {
	i.Version, i.ModifiedAt = 1, tx.Now
	var err error
	if i.ID, err = tx.NextID("insolvencies", i.SiteID); err != nil {
		return i, err
	}
	_, err = tx.Exec(`INSERT INTO insolvencies (site_id, id, channel_id, kind, state, trigger_at, evidence, reported_by_id, reported_by,
			reported_at, confirmed_by, alone, processing_allowed, snapshot_lines, snapshot_sha256, read_to, premium_due, premium_to, version,
			modified_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', FALSE, FALSE, 0, '', 0, FALSE, 0, 1, $10)`,
		i.SiteID, i.ID, i.ChannelID, i.Kind, i.State, store.Micros(i.TriggerAt), i.Evidence, i.ReportedByID, i.ReportedBy, store.Micros(tx.Now))
	return i, err
}

// ByID reads one insolvency of the site, or returns store.ErrNotFound.
func ByID(tx *store.Tx, siteID, id int64) (Insolvency, error) {
	return scanInsolvency(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+insolvencyColumns+` FROM insolvencies WHERE site_id = $1 AND id = $2`, []any{siteID, id}, dest...)
	})
}

// lockInsolvency locks an insolvency for this write, and reads it.
func lockInsolvency(tx *store.Tx, siteID, id int64) (Insolvency, error) {
	return scanInsolvency(func(dest ...any) error {
		return tx.QueryRow(`UPDATE insolvencies SET version = version + 1 WHERE site_id = $1 AND id = $2
			RETURNING `+insolvencyColumns, []any{siteID, id}, dest...)
	})
}

// saveInsolvency stores the fields of a locked insolvency that can change.
func saveInsolvency(tx *store.Tx, i *Insolvency) error {
	i.ModifiedAt = tx.Now
	_, err := tx.Exec(`UPDATE insolvencies SET state = $3, confirmed_by = $4, confirmed_at = $5, alone = $6, reinstated_at = $7,
			processing_allowed = $8, snapshot_at = $9, snapshot_lines = $10, snapshot_sha256 = $11, modified_at = $12
		WHERE site_id = $1 AND id = $2`, i.SiteID, i.ID, i.State, i.ConfirmedBy, store.MaybeMicros(i.ConfirmedAt), i.Alone,
		store.MaybeMicros(i.ReinstatedAt), i.ProcessingAllowed, store.MaybeMicros(i.Snapshot.MadeAt), i.Snapshot.Lines, i.Snapshot.SHA256,
		store.Micros(tx.Now))
	return err
}

// openOf returns the id of the insolvency of a channel that is neither closed nor withdrawn, or 0.
func openOf(tx *store.Tx, siteID, channelID int64) (id int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE(MAX(id), 0) FROM insolvencies
		WHERE site_id = $1 AND channel_id = $2 AND state NOT IN ('closed', 'withdrawn')`, []any{siteID, channelID}, &id)
	return id, err
}

// lastBefore is the confirmed insolvency of the channel before another one. Zero: there was none.
func lastBefore(tx *store.Tx, i Insolvency) (merchant.Insolvency, error) {
	found, err := scanInsolvency(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+insolvencyColumns+` FROM insolvencies WHERE site_id = $1 AND channel_id = $2 AND id < $3
			AND state = 'closed' ORDER BY id DESC LIMIT 1`, []any{i.SiteID, i.ChannelID, i.ID}, dest...)
	})
	if errors.Is(err, store.ErrNotFound) {
		return merchant.Insolvency{}, nil
	}
	return found.ofChannel(), err
}

// insolvenciesPage reads one page of the site's insolvencies.
func insolvenciesPage(tx *store.Tx, siteID int64, f Filter, page store.Page) (store.List[Insolvency], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "state", f.States)
	sqltext.In(&w, "channel_id", f.Channels)
	return store.ListPage(tx, "insolvencies", insolvencyColumns, &w, page,
		store.Orders{"modified": "modified_at", "trigger_at": "trigger_at"}, scanInsolvency)
}

// insertEvent appends to the history of an insolvency. Its rows are facts: they never change, and are sealed.
func insertEvent(tx *store.Tx, actor access.Actor, i Insolvency, action, reason string) error {
	id, err := tx.NextID("insolvency_events", i.SiteID)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO insolvency_events (site_id, id, insolvency_id, channel_id, action, state, trigger_at, by_id, by_name, reason,
			recorded_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, i.SiteID, id, i.ID, i.ChannelID, action, i.State, store.Micros(i.TriggerAt),
		actor.UserID, actor.Username, reason, store.Micros(tx.Now))
	return err
}

// Happened is one step in the history of an insolvency.
type Happened struct {
	ID     int64
	Action string // such as insolvency.confirm
	State  State  // after it
	By     string // user name
	Reason string
	At     time.Time
}

// Step is the action without the word insolvency, such as close_claims.
func (h Happened) Step() string { return strings.TrimPrefix(h.Action, "insolvency.") }

// work is the progress of the job for an insolvency.
type work struct {
	Insolvency
	readTo     int64 // allocations up to this id are in the snapshot, or do not belong in it
	premiumDue bool  // premium of payments after the trigger has to be returned, or booked again
	premiumTo  int64 // allocations up to this id have theirs
}

// sitesToWork lists the sites with an insolvency that the job has to work on, with their clocks.
func sitesToWork(tx *store.Tx) (list []sites.Clock, err error) {
	err = tx.Query(`SELECT id, clock_ahead FROM sites
		WHERE id IN (SELECT site_id FROM insolvencies WHERE state = 'confirmed' OR premium_due) ORDER BY id`, nil,
		func(scan func(dest ...any) error) error {
			var site sites.Clock
			var ahead int64
			err := scan(&site.SiteID, &ahead)
			site.Ahead = sites.Microseconds(ahead)
			list = append(list, site)
			return err
		})
	return list, err
}

// nextWork locks the first insolvency of a site that the job has to work on. It returns store.ErrNotFound if there is none.
func nextWork(tx *store.Tx, siteID int64) (w work, err error) {
	var id int64
	err = tx.QueryRow(`SELECT id FROM insolvencies WHERE site_id = $1 AND (premium_due OR state = 'confirmed' AND confirmed_at < $2)
		ORDER BY id LIMIT 1`, []any{siteID, store.Micros(tx.Now.Add(-store.FinalAfter))}, &id)
	if err != nil {
		return w, err
	}
	w.Insolvency, err = scanInsolvency(func(dest ...any) error {
		return tx.QueryRow(`UPDATE insolvencies SET version = version + 1 WHERE site_id = $1 AND id = $2
			RETURNING `+insolvencyColumns+`, read_to, premium_due, premium_to`, []any{siteID, id},
			append(dest, &w.readTo, &w.premiumDue, &w.premiumTo)...)
	})
	return w, err
}

// saveWork stores the progress of the job.
func saveWork(tx *store.Tx, w work) error {
	_, err := tx.Exec(`UPDATE insolvencies SET read_to = $3, premium_due = $4, premium_to = $5 WHERE site_id = $1 AND id = $2`,
		w.SiteID, w.ID, w.readTo, w.premiumDue, w.premiumTo)
	return err
}

// beginPremium lets the job go through the premium of the payments after the trigger.
func beginPremium(tx *store.Tx, i Insolvency) error {
	_, err := tx.Exec(`UPDATE insolvencies SET premium_due = TRUE, premium_to = 0 WHERE site_id = $1 AND id = $2`, i.SiteID, i.ID)
	return err
}
