package imports

import (
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const fileColumns = `site_id, id, state, trial, mode, cover_from_effective, reason, sha256, size, rows_found, rows_done,
	bookings_created, payments_created, payments_there, refused, channels, totals, notes, proposal_id, problem, author_id, author, author_name,
	token_id, tries, created_at, finished_at`

func scanFile(scan func(dest ...any) error) (f File, err error) {
	var channels, totals, notes string
	var proposal, finished sql.NullInt64
	var created int64
	err = scan(&f.SiteID, &f.ID, &f.State, &f.DryRun, &f.Mode, &f.CoverFromEffective, &f.Reason, &f.SHA256, &f.Bytes, &f.Rows,
		&f.Done, &f.BookingsCreated, &f.PaymentsCreated, &f.PaymentsThere, &f.Refused, &channels, &totals, &notes, &proposal, &f.Problem,
		&f.AuthorID, &f.Author, &f.AuthorName, &f.tokenID, &f.tries, &created, &finished)
	if err != nil {
		return f, err
	}
	f.ProposalID, f.CreatedAt, f.FinishedAt = proposal.Int64, store.Instant(created), store.MaybeInstant(finished)
	return f, errors.Join(json.Unmarshal([]byte(channels), &f.Channels), json.Unmarshal([]byte(totals), &f.Totals),
		json.Unmarshal([]byte(notes), &f.Notes))
}

// openFile creates an import whose file has not arrived yet. The error is TooMany if the site has too many unfinished imports; the caller
// has locked the site. A repeated request is not rejected, because it creates no new import.
func openFile(tx *store.Tx, actor access.Actor, in NewFile, again bool) (File, error) {
	var open int
	err := tx.QueryRow(`SELECT COUNT(*) FROM imports WHERE site_id = $1 AND state IN ('receiving', 'queued', 'tried', 'waiting')`,
		[]any{actor.SiteID}, &open)
	if err != nil {
		return File{}, err
	}
	if open >= openFiles && !again {
		return File{}, &errs.Error{
			Kind: errs.TooMany, RetryAfter: time.Minute,
			Message: "The site has too many unfinished imports. Wait for them, or confirm or discard dry runs.",
		}
	}
	f := File{SiteID: actor.SiteID}
	if f.ID, err = tx.NextID("imports", f.SiteID); err != nil {
		return f, err
	}
	_, err = tx.Exec(`INSERT INTO imports (site_id, state, trial, mode, cover_from_effective, reason, sha256, size, rows_found, rows_done,
			bookings_created, payments_created, payments_there, refused, channels, problem, author_id, author, author_name, token_id,
			tries, ran_at, created_at, modified_at, id)
		VALUES ($1, $2, $3, $4, $5, $6, '', 0, 0, 0, 0, 0, 0, 0, '[]', '', $7, $8, $9, $10, 0, 0, $11, $11, $12)`,
		actor.SiteID, fileReceiving, in.DryRun, in.Mode, in.CoverFromEffective, in.Reason, actor.UserID, actor.Username,
		actor.DisplayName, actor.TokenID, realMicros(tx), f.ID)
	return f, err
}

func insertPiece(tx *store.Tx, siteID, id int64, number int, body []byte) error {
	_, err := tx.Exec(`INSERT INTO import_pieces (site_id, import_id, number, body) VALUES ($1, $2, $3, $4)`, siteID, id, number, body)
	return err
}

func pieceOf(tx *store.Tx, f File, number int) (body []byte, err error) {
	err = tx.QueryRow(`SELECT body FROM import_pieces WHERE site_id = $1 AND import_id = $2 AND number = $3`,
		[]any{f.SiteID, f.ID, number}, &body)
	return body, err
}

// queueFile records that the file is complete. If the upload took very long, the import may have been deleted.
func queueFile(tx *store.Tx, f File) error {
	notes, err := json.Marshal(f.Notes)
	if err != nil {
		return err
	}
	n, err := tx.Exec(`UPDATE imports SET state = 'queued', sha256 = $3, size = $4, rows_found = $5, notes = $6,
			modified_at = $7
		WHERE site_id = $1 AND id = $2 AND state = 'receiving'`, f.SiteID, f.ID, f.SHA256, f.Bytes, f.Rows, string(notes), realMicros(tx))
	if err == nil && n == 0 {
		return errs.New(errs.Unavailable, "The upload took too long. Send the file again.")
	}
	return err
}

// dropFile ends an import that is not visible yet. The cleanup job removes its row.
func dropFile(tx *store.Tx, siteID, id int64) error {
	_, err := tx.Exec(`UPDATE imports SET state = 'dropped' WHERE site_id = $1 AND id = $2 AND state = 'receiving'`, siteID, id)
	return err
}

func fileByID(tx *store.Tx, siteID, id int64) (File, error) {
	return scanFile(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+fileColumns+` FROM imports WHERE site_id = $1 AND id = $2
			AND state NOT IN ('receiving', 'dropped')`, []any{siteID, id}, dest...)
	})
}

func filesPage(tx *store.Tx, siteID int64, filter FileFilter, page store.Page) (store.List[File], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	states := filter.States
	if len(states) == 0 {
		states = FileStates
	}
	sqltext.In(&w, "state", states)
	return store.ListPage(tx, "imports", fileColumns, &w, page, store.Orders{"modified": "modified_at"}, scanFile)
}

func rowsPage(tx *store.Tx, f File, filter FileFilter, page store.Page) (store.List[Row], error) {
	var w sqltext.Where
	w.And("site_id = ?", f.SiteID)
	w.And("import_id = ?", f.ID)
	w.And("trial = ?", f.DryRun)
	sqltext.In(&w, "state", filter.RowStates)
	return store.ListPage(tx, "import_rows", "id, state, booking_id, transaction_id, reason", &w, page, nil,
		func(scan func(dest ...any) error) (r Row, err error) {
			var booking, transaction sql.NullInt64
			err = scan(&r.Line, &r.State, &booking, &transaction, &r.Reason)
			r.BookingID, r.TransactionID = booking.Int64, transaction.Int64
			return r, err
		})
}

func refusedAfter(tx *store.Tx, siteID int64, f File, after, limit int) (list []Row, err error) {
	err = tx.Query(`SELECT id, state, reason FROM import_rows
		WHERE site_id = $1 AND import_id = $2 AND trial = $3 AND id > $4 AND state = $5 ORDER BY id LIMIT $6`,
		[]any{siteID, f.ID, f.DryRun, after, RowRefused, limit}, func(scan func(dest ...any) error) error {
			var r Row
			err := scan(&r.Line, &r.State, &r.Reason)
			list = append(list, r)
			return err
		})
	return list, err
}

// confirmFile turns a finished dry run into an import. The person who confirms it becomes its author.
func confirmFile(tx *store.Tx, actor access.Actor, id int64) (done bool, err error) {
	n, err := tx.Exec(`UPDATE imports SET state = 'queued', trial = $3, rows_done = 0, bookings_created = 0, payments_created = 0,
			payments_there = 0, refused = 0, channels = '[]', totals = '[]', tries = 0, finished_at = NULL, author_id = $4, author = $5,
			author_name = $6, token_id = $7, modified_at = $8
		WHERE site_id = $1 AND id = $2 AND state = 'tried'`,
		actor.SiteID, id, false, actor.UserID, actor.Username, actor.DisplayName, actor.TokenID, realMicros(tx))
	return n > 0, err
}

// discardFile ends an import that has not imported anything.
func discardFile(tx *store.Tx, siteID, id int64) (gone bool, err error) {
	n, err := tx.Exec(`UPDATE imports SET state = 'dropped' WHERE site_id = $1 AND id = $2 AND state IN ('tried', 'waiting')
		AND (trial = $3 OR rows_done = 0)`, siteID, id, true)
	return n > 0, err
}

// filesWait reports whether there may be work.
func filesWait(tx *store.Tx) (bool, error) {
	return store.Exists(tx, `SELECT 1 FROM imports WHERE state IN ('queued', 'waiting')`)
}

// sitesToSettle is a query for sites.Each: the sites with an import about which the other operator has decided.
const sitesToSettle = `SELECT DISTINCT i.site_id, 0 AS ahead FROM imports i JOIN proposals p ON p.site_id = i.site_id AND p.id = i.proposal_id
	WHERE i.state = 'waiting' AND p.state <> 'open' AND i.created_at <= $1 ORDER BY i.site_id`

// settleWaiting queues approved imports of a site, and ends those that were rejected.
func settleWaiting(tx *store.Tx, siteID int64, _ int) (int, error) {
	_, err := tx.Exec(`UPDATE imports SET state = 'queued', modified_at = $2 WHERE site_id = $1 AND state = 'waiting' AND EXISTS (
		SELECT 1 FROM proposals p WHERE p.site_id = $1 AND p.id = imports.proposal_id AND p.state = 'approved')`, siteID, realMicros(tx))
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(`UPDATE imports SET state = 'failed', problem = 'The other operator did not approve the import.', finished_at = $2,
			modified_at = $2
		WHERE site_id = $1 AND state = 'waiting' AND EXISTS (SELECT 1 FROM proposals p WHERE p.site_id = $1
			AND p.id = imports.proposal_id AND p.state IN ('rejected', 'withdrawn'))`, siteID, realMicros(tx))
	return 0, err
}

// nextFile picks the next import: the oldest one of the site that has waited longest. The error is store.ErrNotFound if none is queued.
func nextFile(tx *store.Tx) (key store.Key, err error) {
	err = tx.QueryRow(`SELECT i.site_id, i.id FROM imports i WHERE i.state = 'queued' AND NOT EXISTS (
			SELECT 1 FROM imports e WHERE e.state = 'queued' AND e.site_id = i.site_id AND e.id < i.id)
		ORDER BY (SELECT MAX(l.ran_at) FROM imports l WHERE l.site_id = i.site_id), i.site_id, i.id LIMIT 1`, nil, &key.SiteID, &key.ID)
	return key, err
}

// takeFile starts a run of an import. The error is store.ErrNotFound if it is no longer queued.
func takeFile(tx *store.Tx, key store.Key) (File, error) {
	return scanFile(func(dest ...any) error {
		return tx.QueryRow(`UPDATE imports SET tries = tries + 1, ran_at = $3 WHERE site_id = $1 AND id = $2 AND state = 'queued'
			RETURNING `+fileColumns, []any{key.SiteID, key.ID, store.Micros(sites.RealNow(tx))}, dest...)
	})
}

// linesOf returns the lines of an import, or of its dry run, that have a known outcome.
func linesOf(tx *store.Tx, f File, trial bool) (map[int]bool, error) {
	done := map[int]bool{}
	err := tx.Query(`SELECT id FROM import_rows WHERE site_id = $1 AND import_id = $2 AND trial = $3`, []any{f.SiteID, f.ID, trial},
		func(scan func(dest ...any) error) error {
			var line int
			err := scan(&line)
			done[line] = true
			return err
		})
	return done, err
}

// keepPart stores the outcome of some rows, and counts them. The dry run before a proposal is not shown as done.
func keepPart(tx *store.Tx, f File, part Part) error {
	var text, before string
	err := tx.QueryRow(`UPDATE imports SET tries = 0 WHERE site_id = $1 AND id = $2 AND state = 'queued' AND trial = $3
		RETURNING channels, totals`, []any{f.SiteID, f.ID, f.DryRun}, &text, &before)
	if errors.Is(err, store.ErrNotFound) {
		return errs.New(errs.Internal, "Import %d has already finished.", f.ID)
	}
	if err != nil {
		return err
	}
	var channels []string
	var totals []Total
	if err := errors.Join(json.Unmarshal([]byte(text), &channels), json.Unmarshal([]byte(before), &totals)); err != nil {
		return err
	}
	if totals, err = addTotals(totals, part.Totals...); err != nil {
		return errTotals(err)
	}
	names, err := json.Marshal(append(append([]string{}, channels...), newNames(channels, part.Channels)...))
	if err != nil {
		return err
	}
	sums, err := json.Marshal(append([]Total{}, totals...))
	if err != nil {
		return err
	}
	counts := map[RowState]int{}
	rows := make([][]any, len(part.Rows))
	for i, r := range part.Rows {
		counts[r.State]++
		rows[i] = []any{
			f.SiteID, f.ID, part.Trial, r.Line, r.State, store.MaybeID(r.BookingID), store.MaybeID(r.TransactionID), r.Reason,
		}
	}
	tx.Insert("import_rows", "site_id, import_id, trial, id, state, booking_id, transaction_id, reason", rows...)
	if part.Trial {
		err = keepShares(tx, f, part)
	}
	if err != nil || part.Trial != f.DryRun {
		return err
	}
	_, err = tx.Exec(`UPDATE imports SET rows_done = rows_done + $3, bookings_created = bookings_created + $4,
			payments_created = payments_created + $5, payments_there = payments_there + $6, refused = refused + $7, channels = $8,
			totals = $9, modified_at = $10
		WHERE site_id = $1 AND id = $2`, f.SiteID, f.ID, len(rows), part.BookingsCreated, counts[RowCreated], counts[RowThere],
		counts[RowRefused], string(names), string(sums), realMicros(tx))
	return err
}

// keepShares adds to the results of the dry run, for the operator who approves the import.
func keepShares(tx *store.Tx, f File, part Part) error {
	_, err := tx.Exec(`UPDATE imports SET tried_created = tried_created + $3, tried_there = tried_there + $4
		WHERE site_id = $1 AND id = $2`, f.SiteID, f.ID, part.BookingsCreated, part.BookingsThere)
	for _, s := range part.Shares {
		if err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO import_shares (site_id, import_id, channel, created, mode, currency, payments, added, taken,
				first_paid, last_paid)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
			ON CONFLICT (site_id, import_id, channel) DO UPDATE SET payments = import_shares.payments + excluded.payments,
				added = import_shares.added + excluded.added, taken = import_shares.taken + excluded.taken,
				first_paid = CASE WHEN excluded.first_paid < import_shares.first_paid THEN excluded.first_paid
					ELSE import_shares.first_paid END,
				last_paid = CASE WHEN excluded.last_paid > import_shares.last_paid THEN excluded.last_paid
					ELSE import_shares.last_paid END`,
			f.SiteID, f.ID, s.Channel, s.Created, s.Mode, s.Currency, s.Payments, s.Added, s.Taken, s.FirstPaid, s.LastPaid)
	}
	return err
}

// effectOf is the result of an import's dry run so far.
func effectOf(tx *store.Tx, f File) (proposal.FileEffect, error) {
	e := proposal.FileEffect{Channels: []proposal.FileShares{}}
	err := tx.QueryRow(`SELECT tried_created, tried_there FROM imports WHERE site_id = $1 AND id = $2`, []any{f.SiteID, f.ID},
		&e.BookingsCreated, &e.BookingsThere)
	if err != nil {
		return e, err
	}
	err = tx.Query(`SELECT state, COUNT(*) FROM import_rows WHERE site_id = $1 AND import_id = $2 AND trial = $3 GROUP BY state`,
		[]any{f.SiteID, f.ID, true}, func(scan func(dest ...any) error) error {
			var state RowState
			var n int
			err := scan(&state, &n)
			e.Rows += n
			switch state {
			case RowCreated:
				e.PaymentsCreated = n
			case RowThere:
				e.PaymentsThere = n
			case RowRefused:
				e.Refused = n
			}
			return err
		})
	if err != nil {
		return e, err
	}
	err = tx.Query(`SELECT channel, created, mode, currency, payments, added, taken, first_paid, last_paid FROM import_shares
		WHERE site_id = $1 AND import_id = $2`, []any{f.SiteID, f.ID}, func(scan func(dest ...any) error) error {
		var s proposal.FileShares
		err := scan(&s.Channel, &s.Created, &s.Mode, &s.Currency, &s.Payments, &s.Added, &s.Taken, &s.FirstPaid, &s.LastPaid)
		e.Channels = append(e.Channels, s)
		return err
	})
	slices.SortFunc(e.Channels, func(a, b proposal.FileShares) int { return strings.Compare(a.Channel, b.Channel) }) // on both engines
	return e, err
}

// newNames returns the names that are not in the list yet, because each write of a dry run creates the channels again.
func newNames(known, names []string) (list []string) {
	for _, name := range names {
		fresh := true
		for _, k := range known {
			fresh = fresh && k != name
		}
		if fresh {
			list = append(list, name)
		}
	}
	return list
}

// realMicros is the real time, which imports use.
func realMicros(tx *store.Tx) int64 { return store.Micros(sites.RealNow(tx)) }

func waitFor(tx *store.Tx, f File, proposalID int64) error {
	_, err := tx.Exec(`UPDATE imports SET state = 'waiting', proposal_id = $3, tries = 0, modified_at = $4
		WHERE site_id = $1 AND id = $2 AND state = 'queued'`, f.SiteID, f.ID, proposalID, realMicros(tx))
	return err
}

func endFile(tx *store.Tx, f File, state FileState, problem string) error {
	_, err := tx.Exec(`UPDATE imports SET state = $3, problem = $4, finished_at = $5, modified_at = $5
		WHERE site_id = $1 AND id = $2 AND state = 'queued'`, f.SiteID, f.ID, state, problem, store.Micros(sites.RealNow(tx)))
	return err
}

// Limits for one write of the cleanup.
const (
	forgetPieces = 16
	forgetRows   = 1000
)

// needless is the condition that the file of the import i is no longer needed. $1 is keptFiles; site is the SQL expression for the site.
func needless(site string) string {
	return `(i.state = 'dropped' OR i.state IN ('done', 'failed') AND (i.refused = 0 OR (SELECT COUNT(*) FROM imports n
	WHERE n.site_id = ` + site + ` AND n.id > i.id AND n.state IN ('done', 'failed') AND n.refused > 0) >= $1))`
}

// forgetPiecesOf removes unneeded pieces of one site's files. more reports that a bound was reached.
func forgetPiecesOf(tx *store.Tx, siteID int64) (more bool, err error) {
	n, err := tx.Exec(`DELETE FROM import_pieces WHERE site_id = $2 AND (site_id, import_id, number) IN (SELECT p.site_id, p.import_id, p.number
		FROM imports i JOIN import_pieces p ON p.site_id = i.site_id AND p.import_id = i.id
		WHERE i.site_id = $2 AND `+needless("$2")+` LIMIT $3)`, keptFiles, siteID, forgetPieces)
	return n == forgetPieces, err
}

// sitesWithFiles is a query for sites.Each: the sites with imports.
const sitesWithFiles = `SELECT DISTINCT i.site_id, 0 AS ahead FROM imports i WHERE i.created_at <= $1 ORDER BY i.site_id`

// forgetFiles removes rows of a site that are no longer needed, starting at the leaves. It returns 1 if a bound was reached.
func forgetFiles(tx *store.Tx, siteID int64, _ int) (int, error) {
	now := sites.RealNow(tx)
	_, err := tx.Exec(`UPDATE imports SET state = 'dropped' WHERE site_id = $1 AND (state = 'receiving' AND created_at < $2
		OR state IN ('done', 'failed', 'tried') AND created_at < $3)`, siteID, store.Micros(now.Add(-uploadLife)), store.Micros(now.Add(-FileLife)))
	if err != nil {
		return 0, err
	}
	if more, err := forgetPiecesOf(tx, siteID); err != nil || more {
		return 1, err
	}
	for _, step := range []string{
		`DELETE FROM import_rows WHERE site_id = $1 AND (import_id, trial, id) IN (SELECT r.import_id, r.trial, r.id FROM imports i
			JOIN import_rows r ON r.site_id = i.site_id AND r.import_id = i.id
			WHERE i.site_id = $1 AND r.site_id = $1 AND i.state = 'dropped' LIMIT $2)`,
		`DELETE FROM import_shares WHERE site_id = $1 AND (import_id, channel) IN (SELECT s.import_id, s.channel FROM imports i
			JOIN import_shares s ON s.site_id = i.site_id AND s.import_id = i.id
			WHERE i.site_id = $1 AND s.site_id = $1 AND i.state = 'dropped' LIMIT $2)`,
		`DELETE FROM imports WHERE site_id = $1 AND id IN (SELECT i.id FROM imports i WHERE i.site_id = $1 AND i.state = 'dropped'
			AND NOT EXISTS (SELECT 1 FROM import_pieces p WHERE p.site_id = $1 AND p.import_id = i.id)
			AND NOT EXISTS (SELECT 1 FROM import_rows r WHERE r.site_id = $1 AND r.import_id = i.id)
			AND NOT EXISTS (SELECT 1 FROM import_shares s WHERE s.site_id = $1 AND s.import_id = i.id) LIMIT $2)`,
	} {
		n, err := tx.Exec(step, siteID, forgetRows)
		if err != nil || n == forgetRows {
			return 1, err
		}
	}
	return 0, nil
}
