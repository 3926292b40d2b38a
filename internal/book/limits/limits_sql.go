package limits

import (
	"database/sql"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const limitColumns = `site_id, id, scope, channel_id, from_day, amount, currency, note, author_id, author, recorded_at`

func scanLimit(scan func(dest ...any) error) (protection.Limit, error) {
	var l protection.Limit
	var channel, amount sql.NullInt64
	var recorded int64
	err := scan(&l.SiteID, &l.ID, &l.Scope, &channel, &l.FromDay, &amount, &l.Currency, &l.Note, &l.AuthorID, &l.Author,
		&recorded)
	l.ChannelID, l.Amount, l.Lifted, l.RecordedAt = channel.Int64, amount.Int64, !amount.Valid, store.Instant(recorded)
	return l, err
}

// insertLimit adds a limit and returns it with its id.
func insertLimit(tx *store.Tx, l protection.Limit) (protection.Limit, error) {
	l.RecordedAt = tx.Now
	if err := sites.Changed(tx, l.SiteID); err != nil {
		return l, err
	}
	var err error
	if l.ID, err = tx.NextID("limits", l.SiteID); err != nil {
		return l, err
	}
	_, err = tx.Exec(`INSERT INTO limits (site_id, id, scope, channel_id, from_day, amount, currency, note, author_id, author,
			recorded_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		l.SiteID, l.ID, l.Scope, store.MaybeID(l.ChannelID), l.FromDay, sql.NullInt64{Int64: l.Amount, Valid: !l.Lifted},
		l.Currency, l.Note, l.AuthorID, l.Author, store.Micros(tx.Now))
	return l, err
}

// limitByID reads one limit of the site, or returns store.ErrNotFound.
func limitByID(tx *store.Tx, siteID, id int64) (protection.Limit, error) {
	return scanLimit(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+limitColumns+` FROM limits WHERE site_id = $1 AND id = $2`, []any{siteID, id}, dest...)
	})
}

// limitsPage reads one page of all limits of a site, or of one channel: its own and those of every channel.
func limitsPage(tx *store.Tx, siteID, channelID int64, page store.Page) (store.List[protection.Limit], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	if channelID != 0 {
		w.And("channel_id = ? OR channel_id IS NULL AND scope <> 'site'", channelID)
	}
	orders := store.Orders{"modified": "recorded_at", "from": "from_day"}
	return store.ListPage(tx, "limits", limitColumns, &w, page, orders, scanLimit)
}

// LimitsUpTo reads the limits of a site that begin up to a day, in order of recording. If scopes are given, it reads
// theirs only.
func LimitsUpTo(tx *store.Tx, siteID int64, day civil.Day, scopes ...protection.LimitScope) (protection.Limits, error) {
	type limitsUpTo struct {
		siteID int64
		day    civil.Day
		scopes string
	}
	list, err := sites.Known(tx, siteID, limitsUpTo{siteID, day, fmt.Sprint(scopes)}, func() (protection.Limits, error) {
		return readLimitsUpTo(tx, siteID, day, scopes)
	})
	return slices.Clone(list), err
}

func readLimitsUpTo(tx *store.Tx, siteID int64, day civil.Day, scopes []protection.LimitScope) (protection.Limits, error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	w.And("from_day <= ?", day)
	sqltext.In(&w, "scope", scopes)
	var list protection.Limits
	err := tx.Query(`SELECT `+limitColumns+` FROM limits WHERE `+w.Text.String()+` ORDER BY id`, w.Args,
		func(scan func(dest ...any) error) error {
			l, err := scanLimit(scan)
			list = append(list, l)
			return err
		})
	return list, err
}

// Kinds of changes of the running use.
const (
	ChangePayment = "payment"  // a purchase or capture
	ChangeEvent   = "event"    // a refund, chargeback or reversal
	ChangeReDated = "re_dated" // an allocation has new terms
	ChangePriced  = "priced"   // an allocation got its rate late
	ChangeLimit   = "limit"    // there is a new limit
	ChangePolicy  = "policy"   // there is a new policy
	ChangeRates   = "rates"    // there are new rates, and an earlier policy had another currency
)

// LimitChange is a change of the use of a channel and its site that is not in the running use yet. It has the id of a
// transaction, of an allocation, or neither, as its kind says.
type LimitChange struct {
	ID            int64
	Kind          string
	TransactionID int64
	AllocationID  int64
	RecordedAt    time.Time
}

// NoteChange queues a change for Recompute. Call it in the write that makes the change.
func NoteChange(tx *store.Tx, siteID int64, kind string, transactionID, allocationID int64) {
	tx.Insert("limit_changes", "site_id, kind, transaction_id, allocation_id, recorded_at",
		[]any{siteID, kind, transactionID, allocationID, store.Micros(tx.Now)})
}

// NoteRates notes new rates for the sites whose uses may depend on them: those with policies in several currencies. Call
// it in the write that puts the rates on file.
func NoteRates(tx *store.Tx) error {
	sites, err := store.Ids(tx, `SELECT u.site_id FROM limit_uses u WHERE u.scope = 'site' AND u.amount <> 0
		AND (SELECT COUNT(DISTINCT p.currency) FROM policies p WHERE p.site_id = u.site_id) > 1
		GROUP BY u.site_id ORDER BY u.site_id`)
	for _, id := range sites {
		NoteChange(tx, id, ChangeRates, 0, 0)
	}
	return err
}

// lastChange is the last change of a site that waits.
type lastChange struct{ siteID, id int64 }

// unseenChanges lists the sites with a change that has not been seen before.
func unseenChanges(tx *store.Tx) (list []lastChange, err error) {
	err = tx.Query(`SELECT c.site_id, c.last FROM (SELECT site_id, MAX(id) AS last FROM limit_changes GROUP BY site_id) c
		WHERE NOT EXISTS (SELECT 1 FROM limit_horizons h WHERE h.site_id = c.site_id AND h.up_to >= c.last) ORDER BY c.site_id`, nil, func(scan func(dest ...any) error) error {
		var c lastChange
		err := scan(&c.siteID, &c.id)
		list = append(list, c)
		return err
	})
	return list, err
}

// sawChange notes that a change is visible now. It removes the notes that are no longer needed: those before the last one from an earlier instant
// of the real clock.
func sawChange(tx *store.Tx, c lastChange, earlier time.Time) error {
	_, err := tx.Exec(`DELETE FROM limit_horizons WHERE site_id = $1
		AND up_to < (SELECT MAX(up_to) FROM limit_horizons WHERE site_id = $1 AND seen_at <= $2)`, c.siteID, store.Micros(earlier))
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO limit_horizons (site_id, up_to, seen_at) VALUES ($1, $2, $3) ON CONFLICT (site_id, up_to) DO NOTHING`,
		c.siteID, c.id, store.Micros(sites.RealNow(tx)))
	return err
}

// bookDue is a site whose running use may have to be recomputed.
type bookDue struct {
	Clock   sites.Clock
	Day     civil.Day // the day that the running use has come to; civil.NoDay for a new one
	UpTo    int64     // changes up to this id wait, the last that was visible at the given instant; 0 for none
	Walking bool      // a new recognition is being applied to all lines
}

// booksDue lists the sites with changes that were visible at an instant of the real clock, with a new recognition that is being applied, or with a
// running use that has not come to today. today is a day of the real clock; where a clock is ahead, the running use may still have come
// to its day.
func booksDue(tx *store.Tx, seen time.Time, today civil.Day) ([]bookDue, error) {
	var list []bookDue
	err := tx.Query(`SELECT d.site_id, s.clock_ahead, b.day, b.walked_to, MAX(d.up_to) FROM (
			SELECT c.site_id, h.up_to FROM limit_changes c JOIN limit_horizons h ON h.site_id = c.site_id AND h.up_to >= c.id WHERE h.seen_at <= $1
			UNION ALL SELECT site_id, 0 FROM limit_books WHERE day < $2
			UNION ALL SELECT site_id, 0 FROM limit_books WHERE walked_to IS NOT NULL
			UNION ALL SELECT a.site_id, 0 FROM limit_books a JOIN sites t ON t.id = a.site_id WHERE t.clock_ahead > 0) d
		JOIN sites s ON s.id = d.site_id LEFT JOIN limit_books b ON b.site_id = d.site_id
		GROUP BY d.site_id, s.clock_ahead, b.day, b.walked_to ORDER BY d.site_id`, []any{store.Micros(seen), today},
		func(scan func(dest ...any) error) error {
			var b bookDue
			var day, walked sql.NullInt64
			var ahead int64
			err := scan(&b.Clock.SiteID, &ahead, &day, &walked, &b.UpTo)
			b.Clock.Ahead, b.Day, b.Walking = sites.Microseconds(ahead), store.DayOr(day), walked.Valid
			list = append(list, b)
			return err
		})
	return list, err
}

// limitBook is the progress of the running use of a site. KnownAt is the known_at of its lines: the time of the latest
// change included.
type limitBook struct {
	SiteID      int64
	Day         civil.Day
	KnownAt     time.Time
	Recognition terms.Recognition
	Walking     bool
	WalkedTo    int64 // while walking: the last allocation that is done
}

// lockBook locks the running use of a site and reads its progress: no other write recomputes it before this one ends. A
// new one starts on the given day.
func lockBook(tx *store.Tx, siteID int64, day civil.Day, by terms.Recognition) (limitBook, error) {
	_, err := tx.Exec(`INSERT INTO limit_books (site_id, day, known_at, recognition, version) VALUES ($1, $2, 0, $3, 0)
		ON CONFLICT (site_id) DO NOTHING`, siteID, day, by)
	if err != nil {
		return limitBook{}, err
	}
	b := limitBook{SiteID: siteID}
	var known int64
	var walked sql.NullInt64
	err = tx.QueryRow(`UPDATE limit_books SET version = version + 1 WHERE site_id = $1
		RETURNING day, known_at, recognition, walked_to`, []any{siteID}, &b.Day, &known, &b.Recognition, &walked)
	b.KnownAt, b.Walking, b.WalkedTo = store.Instant(known), walked.Valid, walked.Int64
	return b, err
}

// saveBook stores the progress of a locked running use.
func saveBook(tx *store.Tx, b limitBook) error {
	_, err := tx.Exec(`UPDATE limit_books SET day = $2, known_at = $3, recognition = $4, walked_to = $5 WHERE site_id = $1`,
		b.SiteID, b.Day, store.Micros(b.KnownAt), b.Recognition, sql.NullInt64{Int64: b.WalkedTo, Valid: b.Walking})
	return err
}

// WaitingChanges reads the next changes of a site, with ids up to upTo, in order, at most limit of them.
func WaitingChanges(tx *store.Tx, siteID, upTo int64, limit int) ([]LimitChange, error) {
	var list []LimitChange
	err := tx.Query(`SELECT id, kind, transaction_id, allocation_id, recorded_at FROM limit_changes
		WHERE site_id = $1 AND id <= $2 ORDER BY id LIMIT $3`, []any{siteID, upTo, limit},
		func(scan func(dest ...any) error) error {
			var c LimitChange
			var recorded int64
			err := scan(&c.ID, &c.Kind, &c.TransactionID, &c.AllocationID, &recorded)
			c.RecordedAt = store.Instant(recorded)
			list = append(list, c)
			return err
		})
	return list, err
}

// policiesTaken is the known_at of the policies that the running use of a site applies. A new policy does not count
// before its change is processed; all others do.
func policiesTaken(tx *store.Tx, siteID int64) (time.Time, error) {
	var waiting sql.NullInt64
	err := tx.QueryRow(`SELECT MIN(recorded_at) FROM limit_changes WHERE site_id = $1 AND kind = 'policy'`, []any{siteID}, &waiting)
	if err != nil || !waiting.Valid {
		return tx.Now, err
	}
	return store.Instant(waiting.Int64 - 1), nil
}

// forgetChanges removes the changes of a site up to an id: they are in the running use.
func forgetChanges(tx *store.Tx, siteID, upTo int64) error {
	_, err := tx.Exec(`DELETE FROM limit_changes WHERE site_id = $1 AND id <= $2`, siteID, upTo)
	return err
}
