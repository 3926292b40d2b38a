package disputes

import (
	"database/sql"
	"errors"
	"time"

	"holdfast/internal/book/disputefile"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const uploadColumns = `site_id, id, state, dry_run, format, sha256, size, lines, done, results, matched, queued, unmatched, repeated, ignored, refused,
	problem, author_id, author, token_id, tries, created_at, modified_at, finished_at`

func scanUpload(scan func(dest ...any) error) (u Upload, err error) {
	counts := make([]int64, len(outcomes))
	var finished sql.NullInt64
	err = scan(&u.SiteID, &u.ID, &u.State, &u.DryRun, &u.Format, &u.SHA256, &u.Bytes, &u.Lines, &u.Done, &u.Results, &counts[0], &counts[1],
		&counts[2], &counts[3], &counts[4], &counts[5], &u.Problem, &u.AuthorID, &u.Author, &u.tokenID, &u.tries,
		store.Stored{Instant: &u.CreatedAt}, store.Stored{Instant: &u.ModifiedAt}, &finished)
	u.FinishedAt = store.MaybeInstant(finished)
	u.Outcomes = map[Outcome]int64{}
	for i, o := range outcomes {
		u.Outcomes[o] = counts[i]
	}
	return u, err
}

// openUpload makes the row of a file that has not arrived yet.
func openUpload(tx *store.Tx, actor access.Actor, format string, dryRun bool) (Upload, error) {
	if err := sites.Lock(tx, actor.SiteID); err != nil { // so that no other file is created between count and insert
		return Upload{}, store.NotFoundAs(errs.SettingNotFound, err, "Site %d not found.", actor.SiteID)
	}
	var open int
	err := tx.QueryRow(`SELECT COUNT(*) FROM dispute_files WHERE site_id = $1 AND state IN ('receiving', 'queued')`, []any{actor.SiteID}, &open)
	if err != nil {
		return Upload{}, err
	}
	if open >= openUploads {
		return Upload{}, &errs.Error{
			Kind: errs.TooMany, RetryAfter: time.Minute, Message: "The site has too many dispute files that are not imported yet. Wait for them.",
		}
	}
	id, err := tx.NextID("dispute_files", actor.SiteID)
	if err != nil {
		return Upload{}, err
	}
	return scanUpload(func(dest ...any) error {
		return tx.QueryRow(`INSERT INTO dispute_files (site_id, id, state, dry_run, format, sha256, size, lines, done, results, matched, queued,
				unmatched, repeated, ignored, refused, problem, author_id, author, token_id, tries, ran_at, created_at, modified_at)
			VALUES ($1, $2, $3, $4, $5, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', $6, $7, $8, 0, 0, $9, $9)
			RETURNING `+uploadColumns,
			[]any{actor.SiteID, id, uploadReceiving, dryRun, format, actor.UserID, actor.Username, actor.TokenID, realMicros(tx)}, dest...)
	})
}

func realMicros(tx *store.Tx) int64 { return store.Micros(sites.RealNow(tx)) }

func insertUploadPiece(tx *store.Tx, u Upload, number int, body []byte) error {
	_, err := tx.Exec(`INSERT INTO dispute_file_pieces (site_id, file_id, number, body) VALUES ($1, $2, $3, $4)`, u.SiteID, u.ID, number, body)
	return err
}

func uploadPiece(tx *store.Tx, u Upload, number int64) ([]disputefile.Line, error) {
	var body []byte
	err := tx.QueryRow(`SELECT body FROM dispute_file_pieces WHERE site_id = $1 AND file_id = $2 AND number = $3`,
		[]any{u.SiteID, u.ID, number}, &body)
	if err != nil {
		return nil, err
	}
	return linesOf(body)
}

// queueUpload records that a file is complete. If the upload took very long, the file may have been deleted.
func queueUpload(tx *store.Tx, u Upload) (Upload, error) {
	queued, err := scanUpload(func(dest ...any) error {
		return tx.QueryRow(`UPDATE dispute_files SET state = 'queued', sha256 = $3, size = $4, lines = $5, modified_at = $6
			WHERE site_id = $1 AND id = $2 AND state = 'receiving' RETURNING `+uploadColumns,
			[]any{u.SiteID, u.ID, u.SHA256, u.Bytes, u.Lines, realMicros(tx)}, dest...)
	})
	return queued, store.NotFoundAs(errs.Unavailable, err, "The upload took too long. Send the file again.")
}

// deleteUpload deletes a file in a state, with all that belongs to it.
func deleteUpload(tx *store.Tx, siteID, id int64, state UploadState) error {
	for _, table := range []string{"dispute_file_lines", "dispute_file_pieces"} {
		_, err := tx.Exec(`DELETE FROM `+table+` WHERE site_id = $1 AND file_id IN (SELECT f.id FROM dispute_files f
			WHERE f.site_id = $1 AND f.id = $2 AND f.state = $3)`, siteID, id, state)
		if err != nil {
			return err
		}
	}
	_, err := tx.Exec(`DELETE FROM dispute_files WHERE site_id = $1 AND id = $2 AND state = $3`, siteID, id, state)
	return err
}

func uploadByID(tx *store.Tx, siteID, id int64) (Upload, error) {
	return scanUpload(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+uploadColumns+` FROM dispute_files WHERE site_id = $1 AND id = $2 AND state <> 'receiving'`,
			[]any{siteID, id}, dest...)
	})
}

func uploadsPage(tx *store.Tx, siteID int64, states []UploadState, page store.Page) (store.List[Upload], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	if len(states) == 0 {
		states = UploadStates
	}
	sqltext.In(&w, "state", states)
	return store.ListPage(tx, "dispute_files", uploadColumns, &w, page, store.Orders{"modified": "modified_at"}, scanUpload)
}

func uploadLinesPage(tx *store.Tx, siteID, id int64, some []Outcome, page store.Page) (store.List[Line], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	w.And("file_id = ?", id)
	sqltext.In(&w, "outcome", some)
	return store.ListPage(tx, "dispute_file_lines", "line, outcome, COALESCE(dispute_id, 0), source, case_id, kind, message", &w, page, nil,
		func(scan func(dest ...any) error) (l Line, err error) {
			err = scan(&l.Number, &l.Outcome, &l.DisputeID, &l.Source, &l.CaseID, &l.Kind, &l.Message)
			return l, err
		})
}

// nextUpload picks the next file: the oldest one of the site that has waited longest. The error is store.ErrNotFound if none is queued.
func nextUpload(tx *store.Tx) (key store.Key, err error) {
	err = tx.QueryRow(`SELECT f.site_id, f.id FROM dispute_files f WHERE f.state = 'queued' AND NOT EXISTS (
			SELECT 1 FROM dispute_files e WHERE e.state = 'queued' AND e.site_id = f.site_id AND e.id < f.id)
		ORDER BY f.ran_at, f.site_id, f.id LIMIT 1`, nil, &key.SiteID, &key.ID)
	return key, err
}

// takeUpload begins a run of a file. The error is store.ErrNotFound if it is not queued any more.
func takeUpload(tx *store.Tx, key store.Key) (Upload, error) {
	return scanUpload(func(dest ...any) error {
		return tx.QueryRow(`UPDATE dispute_files SET tries = tries + 1, ran_at = $3 WHERE site_id = $1 AND id = $2 AND state = 'queued'
			RETURNING `+uploadColumns, []any{key.SiteID, key.ID, realMicros(tx)}, dest...)
	})
}

// keepResults stores the results of some lines of a file.
func keepResults(tx *store.Tx, u Upload, lines int, done []Line) error {
	counts := map[Outcome]int64{}
	rows := make([][]any, len(done))
	for i, l := range done {
		counts[l.Outcome]++
		rows[i] = []any{u.SiteID, u.ID, u.Results + int64(i) + 1, l.Number, l.Outcome, store.MaybeID(l.DisputeID), l.Source, l.CaseID, l.Kind, l.Message}
	}
	args := []any{u.SiteID, u.ID, u.Done, lines, len(done)}
	for _, o := range outcomes {
		args = append(args, counts[o])
	}
	n, err := tx.Exec(`UPDATE dispute_files SET tries = 0, done = done + $4, results = results + $5, matched = matched + $6, queued = queued + $7,
			unmatched = unmatched + $8, repeated = repeated + $9, ignored = ignored + $10, refused = refused + $11, modified_at = $12
		WHERE site_id = $1 AND id = $2 AND state = 'queued' AND done = $3`, append(args, realMicros(tx))...)
	if err != nil {
		return err
	}
	if n == 0 {
		return errs.New(errs.Internal, "Dispute file %d was imported by another process.", u.ID)
	}
	tx.Insert("dispute_file_lines", "site_id, file_id, id, line, outcome, dispute_id, source, case_id, kind, message", rows...)
	return nil
}

// endUpload ends the import of a file. Its lines are not needed any more.
func endUpload(tx *store.Tx, u Upload, state UploadState, problem string) error {
	_, err := tx.Exec(`DELETE FROM dispute_file_pieces WHERE site_id = $1 AND file_id = $2`, u.SiteID, u.ID)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE dispute_files SET state = $3, problem = $4, finished_at = $5, modified_at = $5
		WHERE site_id = $1 AND id = $2 AND state = 'queued'`, u.SiteID, u.ID, state, problem, realMicros(tx))
	return err
}

// sitesWithUploads is a query for sites.Each: the sites with files to delete.
const sitesWithUploads = `SELECT DISTINCT f.site_id, 0 AS ahead FROM dispute_files f WHERE f.state = 'receiving' AND f.created_at <= $1 - 3600000000
	OR f.state IN ('done', 'failed') AND f.finished_at <= $1 - 2592000000000 ORDER BY f.site_id`

// forgetUploads deletes the oldest file of a site that is not needed any more.
func forgetUploads(tx *store.Tx, siteID int64, _ int) (int, error) {
	now := sites.RealNow(tx)
	var id int64
	var state UploadState
	err := tx.QueryRow(`SELECT f.id, f.state FROM dispute_files f WHERE f.site_id = $1 AND (f.state = 'receiving' AND f.created_at <= $2
			OR f.state IN ('done', 'failed') AND f.finished_at <= $3) ORDER BY f.id LIMIT 1`,
		[]any{siteID, store.Micros(now.Add(-uploadLife)), store.Micros(now.Add(-UploadLife))}, &id, &state)
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return 1, deleteUpload(tx, siteID, id, state)
}
