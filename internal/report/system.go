package report

import (
	"context"
	"database/sql"
	"runtime"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// System reports the state of the whole deployment.
type System struct{ *sites.DB }

// SystemReport is the state of the deployment at an instant of the real clock.
type SystemReport struct {
	At      time.Time
	Engine  string // sqlite or postgres
	Bytes   int64  // of the database
	Schema  string // the last migration, such as 0001_schema
	Queues  []Queue
	LastECB civil.Day // of the last rate of the US dollar, which the ECB publishes every day; NoDay without any
	Moved   []MovedClock
	// Of the process that was asked, since it started.
	Work       store.Work
	Replica    store.ReplicaState // from which long reports are read
	Following  bool               // there is one
	Goroutines int
}

// Queue is work that waits, over all sites. It is counted up to MostCounted.
type Queue struct {
	Name string
	Rows int64
}

// MostCounted bounds the count of a Queue, so that a long one stays cheap.
const MostCounted = 10_000

// MovedClock is a sandbox whose clock was moved.
type MovedClock struct {
	Path, Name string
	Ahead      time.Duration
}

// movedShown is how many moved clocks a report has at most.
const movedShown = 50

// queues are what waits, each with an index that holds nothing else, or a table that is emptied as it is worked off.
var queues = []struct{ name, rows string }{
	{"Mails to send", `mails WHERE next_at IS NOT NULL`},
	{"Webhooks to deliver", `webhook_deliveries WHERE state = 'waiting'`},
	{"Payments without a rate", `allocations WHERE priced_at IS NULL`},
	{"Uses of limits to judge", `limit_changes`},
	{"Pending aggregations", `exposure_deltas`},
	{"Pending processor checks", `gateway_charges WHERE ask_at IS NOT NULL`},
	{"Changes to approve", `proposals WHERE state = 'open'`},
}

// Report reads the state of the deployment. It is for operators, not for API tokens, which are limited to one site.
func (s *System) Report(ctx context.Context, actor access.Actor) (report SystemReport, err error) {
	if err := actor.Require(access.ManageSites); err != nil {
		return report, err
	}
	if !actor.Everywhere() {
		return report, errs.New(errs.Forbidden, "An API token is limited to one site, but this covers all sites.")
	}
	err = s.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		report = SystemReport{At: tx.Now, Engine: s.Store.Engine(), LastECB: civil.NoDay}
		report.Work, report.Goroutines = s.Store.Work(), runtime.NumGoroutine()
		report.Replica, report.Following = s.Store.Replica()
		if report.Bytes, err = tx.Catalog().Size(); err != nil {
			return err
		}
		schema, err := tx.Catalog().Schema()
		if err != nil {
			return err
		}
		report.Schema = schema[len(schema)-1]
		for _, q := range queues {
			queue := Queue{Name: q.name}
			err := tx.QueryRow(`SELECT COUNT(*) FROM (SELECT 1 FROM `+q.rows+` LIMIT $1) AS waiting`, []any{MostCounted}, &queue.Rows)
			if err != nil {
				return err
			}
			report.Queues = append(report.Queues, queue)
		}
		var last sql.NullInt64
		err = tx.QueryRow(`SELECT MAX(day) FROM fixings WHERE currency = 'USD' AND provider = 'ecb'`, nil, &last)
		if last.Valid {
			report.LastECB = civil.Day(last.Int64)
		}
		if err != nil {
			return err
		}
		return tx.Query(`SELECT path, name, clock_ahead FROM sites WHERE clock_ahead > 0 ORDER BY id LIMIT $1`, []any{movedShown},
			func(scan func(dest ...any) error) error {
				var m MovedClock
				var ahead int64
				err := scan(&m.Path, &m.Name, &ahead)
				m.Ahead = sites.Microseconds(ahead)
				report.Moved = append(report.Moved, m)
				return err
			})
	})
	return report, err
}
