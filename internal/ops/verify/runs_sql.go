package verify

import (
	"database/sql"
	"encoding/json"

	"holdfast/internal/store"
)

const runColumns = `id, state, asked_by, asked_at, began_at, beat_at, tries, progress, ended_at, findings, problem`

func scanRun(scan func(dest ...any) error, more ...any) (r AskedRun, err error) {
	var asked int64
	var began, beat, ended sql.NullInt64
	err = scan(append([]any{&r.ID, &r.State, &r.AskedBy, &asked, &began, &beat, &r.tries, &r.Progress, &ended, &r.Total, &r.Problem}, more...)...)
	r.AskedAt, r.BeganAt, r.BeatAt, r.EndedAt = store.Instant(asked), store.MaybeInstant(began), store.MaybeInstant(beat), store.MaybeInstant(ended)
	return r, err
}

// openRun reads the requested or running run.
func openRun(tx *store.Tx) (AskedRun, error) {
	return scanRun(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+runColumns+` FROM verify_runs WHERE site_id = 0 AND state IN ($1, $2) ORDER BY id LIMIT 1`,
			[]any{RunAsked, Running}, dest...)
	})
}

func insertRun(tx *store.Tx, r AskedRun) (id int64, err error) {
	if id, err = tx.NextID("verify_runs", store.Deployment); err != nil {
		return 0, err
	}
	_, err = tx.Exec(`INSERT INTO verify_runs (site_id, id, state, asked_by, asked_at, tries, progress, findings, result, problem)
		VALUES (0, $1, $2, $3, $4, 0, '', 0, '', '')`, id, r.State, r.AskedBy, store.Micros(r.AskedAt))
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(`DELETE FROM verify_runs WHERE site_id = 0 AND id NOT IN (
		SELECT id FROM verify_runs WHERE site_id = 0 ORDER BY id DESC LIMIT $1)`, keptRuns)
	return id, err
}

// claimRun claims the requested run, or one whose process has died. The error is store.ErrNotFound if there is none.
func claimRun(tx *store.Tx) (AskedRun, error) {
	now := store.Micros(tx.Now)
	return scanRun(func(dest ...any) error {
		return tx.QueryRow(`UPDATE verify_runs SET state = $1, began_at = $2, beat_at = $2, tries = tries + 1, progress = ''
			WHERE site_id = 0 AND (state = $3 OR state = $1 AND beat_at <= $4) RETURNING `+runColumns,
			[]any{Running, now, RunAsked, store.Micros(tx.Now.Add(-lostAfter))}, dest...)
	})
}

// mine guards the process that has claimed a run: another claim increments its tries.
const mine = ` WHERE site_id = 0 AND id = $1 AND state = $2 AND tries = $3`

func beatRun(tx *store.Tx, r AskedRun, text string) (ok bool, err error) {
	n, err := tx.Exec(`UPDATE verify_runs SET beat_at = $4, progress = $5`+mine, r.ID, Running, r.tries, store.Micros(tx.Now), text)
	return n == 1, err
}

func endRun(tx *store.Tx, r AskedRun) error {
	result, err := json.Marshal(r.Result)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE verify_runs SET state = $4, ended_at = $5, findings = $6, result = $7, problem = $8, progress = ''`+mine,
		r.ID, Running, r.tries, r.State, store.Micros(tx.Now), r.Total, string(result), r.Problem)
	return err
}

// giveRunBack lets another process start it over. It was not a failure, so it is not counted.
func giveRunBack(tx *store.Tx, r AskedRun) error {
	_, err := tx.Exec(`UPDATE verify_runs SET state = $4, progress = '', tries = tries - 1`+mine, r.ID, Running, r.tries, RunAsked)
	return err
}

func stopRun(tx *store.Tx, id int64) (ok bool, err error) {
	n, err := tx.Exec(`UPDATE verify_runs SET state = $2, ended_at = $3, progress = '' WHERE site_id = 0 AND id = $1 AND state IN ($4, $5)`,
		id, RunStopped, store.Micros(tx.Now), RunAsked, Running)
	return n == 1, err
}

func runsOf(tx *store.Tx) (list []AskedRun, err error) {
	err = tx.Query(`SELECT `+runColumns+` FROM verify_runs WHERE site_id = 0 ORDER BY id DESC LIMIT $1`, []any{keptRuns},
		func(scan func(dest ...any) error) error {
			r, err := scanRun(scan)
			list = append(list, r)
			return err
		})
	return list, err
}

func runOf(tx *store.Tx, id int64) (r AskedRun, err error) {
	var result string
	r, err = scanRun(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+runColumns+`, result FROM verify_runs WHERE site_id = 0 AND id = $1`, []any{id}, dest...)
	}, &result)
	if err == nil && result != "" {
		err = json.Unmarshal([]byte(result), &r.Result)
	}
	return r, err
}
