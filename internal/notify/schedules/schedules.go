// Package schedules manages scheduled reports: which report goes to whom by e-mail, every week or month. It creates each
// report once, on its day. It owns the tables schedules and schedule_*. Start reading at Schedules.Create, then Schedules.MakeDue;
// docs/decisions/0013 has the reasons.
package schedules

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/notify/mail"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Limits of schedules.
const (
	MaxSchedules  = 50   // of a site
	MaxRecipients = 20   // of a schedule
	MaxView       = 2000 // bytes of an address
	MaxRuns       = 60   // of a schedule that are kept
	askAgain      = 5 * time.Minute
)

// Schedules are the use cases of scheduled reports.
type Schedules struct {
	*sites.DB
	Mails *mail.Mails
	Log   *slog.Logger
	// Make generates the file of a page with a user's permissions. It is nil in programs without pages: they create no
	// reports, and store schedules without checking their page.
	Make func(ctx context.Context, want Want) (File, error)
}

// Want is a report to create.
type Want struct {
	UserID int64 // whose rights count
	SiteID int64 // 0: all sites
	Site   string
	View   string
	Format Format
	// The report shows the end of the day before On; a report of changes begins at the end of the day before Since. A
	// monthly one covers the last full month before that day.
	On, Since civil.Day
}

// File is a created report with its summary.
type File struct {
	mail.File
	Title, About string
	Rows         [][2]string // a label and a figure
	Count        int         // rows of the file
	Cut          bool        // truncated
	Address      string      // of the page
}

// Format is the kind of a file.
type Format string

// The formats.
const (
	CSV  Format = "csv"
	XLSX Format = "xlsx"
)

// Every is how often a report is created.
type Every string

// The intervals.
const (
	Week  Every = "week"
	Month Every = "month"
)

// State is the state of a schedule.
type State string

// The states of a schedule.
const (
	Active  State = "active"
	Paused  State = "paused"
	Stopped State = "stopped" // the owner no longer has access
)

// Schedule is a schedule.
type Schedule struct {
	SiteID     int64 // 0: about all sites
	ID         int64
	Name       string
	View       string // path of a page below its site, or for all sites below the dashboard, such as /exposure?by=channel
	Format     Format
	Every      Every
	On         int64 // the day of the week, 1 for Monday; or of the month, in shorter months its last day
	OwnerID    int64
	Owner      string // the user name
	Recipients []string
	State      State
	Reason     string    // why it was stopped
	Due        civil.Day // the next report, by the site's clock
	AskedAt    time.Time // requested now; zero: not requested
	Version    int64
	CreatedAt  time.Time
	ModifiedAt time.Time

	tries   int64
	retryAt time.Time
}

// Run is the outcome of one report.
type Run struct {
	ID         int64
	Occasion   string // the day it was due, or when it was requested
	Outcome    Outcome
	Note       string
	Recipients int64
	File       string // its name; "" for none
	Bytes      int64
	MadeAt     time.Time // by the real clock
}

// Outcome says how a run ended.
type Outcome string

// The outcomes.
const (
	Sent    Outcome = "sent" // the mails were queued
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped" // possibly sent before the database was restored
)

// When describes in words how often a report is created.
func (o Schedule) When() string {
	if o.Every == Week {
		return "every " + time.Weekday(o.On%7).String()
	}
	if o.On >= 29 {
		return fmt.Sprintf("every month on day %d or the last day", o.On)
	}
	return fmt.Sprintf("every month on day %d", o.On)
}

// after is the first due day after another day.
func (o Schedule) after(day civil.Day) civil.Day {
	if o.Every == Week {
		ahead := (o.On%7 - int64(day.Start().Weekday()) + 7) % 7
		if ahead == 0 {
			ahead = 7
		}
		return day + civil.Day(ahead)
	}
	month := terms.PeriodOf(terms.PeriodMonth, day)
	if due := o.inMonth(month); due > day {
		return due
	}
	return o.inMonth(terms.PeriodOf(terms.PeriodMonth, month.Last+1))
}

func (o Schedule) inMonth(month terms.Period) civil.Day {
	return min(month.First+civil.Day(o.On-1), month.Last)
}

// last is the last due day up to another day. Earlier missed days are not caught up.
func (o Schedule) last(up civil.Day) civil.Day {
	if o.Every == Week {
		return o.after(up) - 7
	}
	month := terms.PeriodOf(terms.PeriodMonth, up)
	if due := o.inMonth(month); due <= up {
		return due
	}
	return o.inMonth(terms.PeriodOf(terms.PeriodMonth, month.First-1))
}

// may checks that the actor may export reports: of a site with the export permission, of all sites as an operator.
func may(actor access.Actor) error {
	if actor.SiteID == 0 {
		return actor.Require(access.ManageSites)
	}
	return actor.Require(access.Export)
}

// List returns the schedules of the actor's site, at most MaxSchedules, with their recipients.
func (o *Schedules) List(ctx context.Context, actor access.Actor) ([]Schedule, error) {
	if err := may(actor); err != nil {
		return nil, err
	}
	return sites.Read(ctx, o.DB, actor, func(tx *store.Tx) ([]Schedule, error) { return schedulesOf(tx, actor.SiteID) })
}

// Get reads a schedule with the outcomes of its reports, the last one first. The error is SettingNotFound if it does not exist.
func (o *Schedules) Get(ctx context.Context, actor access.Actor, id int64) (found Schedule, runs []Run, err error) {
	if err := may(actor); err != nil {
		return found, nil, err
	}
	found, err = sites.Read(ctx, o.DB, actor, func(tx *store.Tx) (Schedule, error) {
		one, err := scheduleOf(tx, actor.SiteID, id)
		if err == nil {
			runs, err = runsOf(tx, actor.SiteID, id)
		}
		return one, err
	})
	return found, runs, unknown(err, id)
}

func unknown(err error, id int64) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "Scheduled report %d not found.", id)
}

// Create schedules a report. The first is created on the next matching day after today. Errors: Forbidden, Invalid, Missing,
// NotPossible with the reason order_limit, and the errors of the page itself.
func (o *Schedules) Create(ctx context.Context, actor access.Actor, in Fields) (Schedule, error) {
	if err := may(actor); err != nil {
		return Schedule{}, err
	}
	if err := o.look(ctx, actor, in); err != nil {
		return Schedule{}, err
	}
	return idempotency.Once(ctx, o.DB, actor, func(tx *store.Tx) (Schedule, idempotency.Outcome, error) {
		made, err := o.insert(tx, actor, in)
		return made, idempotency.Outcome{ID: made.ID}, err
	}, o.again(actor))
}

// again returns the function that reads the schedule of an earlier request with the same idempotency key.
func (o *Schedules) again(actor access.Actor) func(ctx context.Context, made idempotency.Outcome) (Schedule, error) {
	return func(ctx context.Context, made idempotency.Outcome) (Schedule, error) {
		found, _, err := o.Get(ctx, actor, made.ID)
		return idempotency.OrLast(ctx, o.DB, actor, object(made.ID), found, err)
	}
}

func (o *Schedules) insert(tx *store.Tx, actor access.Actor, in Fields) (Schedule, error) {
	if actor.SiteID != 0 {
		if err := sites.Lock(tx, actor.SiteID); err != nil { // so that no other is created between count and insert
			return Schedule{}, err
		}
	}
	n, err := countSchedules(tx, actor.SiteID)
	if err != nil {
		return Schedule{}, err
	}
	if n >= MaxSchedules {
		return Schedule{}, errs.NotPossibleBecause("order_limit", "At most %d reports can be scheduled here. Delete one first.", MaxSchedules)
	}
	made, err := in.on(tx, actor, Schedule{SiteID: actor.SiteID, State: Active, OwnerID: actor.UserID, Version: 1}, true)
	if err != nil {
		return made, err
	}
	made.CreatedAt, made.ModifiedAt = sites.RealNow(tx), sites.RealNow(tx)
	made.Due = made.after(civil.DayOf(tx.Now))
	if made, err = insertSchedule(tx, made); err != nil {
		return made, err
	}
	if err := setRecipients(tx, made, in.users); err != nil {
		return made, err
	}
	return made, audit.Record(tx, actor, "report.order", object(made.ID), nil, audited(made))
}

// Change changes a schedule. Only its owner may, because reports are created with their permissions. A new day counts from today. Errors: those
// of Create, SettingNotFound, Precondition, and NotPossible with the reason not_owner.
func (o *Schedules) Change(ctx context.Context, actor access.Actor, id int64, in Fields) (Schedule, error) {
	if err := may(actor); err != nil {
		return Schedule{}, err
	}
	if err := o.lookAgain(ctx, actor, id, in); err != nil {
		return Schedule{}, err
	}
	return o.change(ctx, actor, id, in.IfVersion, "report.change", func(tx *store.Tx, before Schedule) (Schedule, error) {
		if actor.UserID != 0 && before.OwnerID != actor.UserID {
			return before, errs.NotPossibleBecause("not_owner", "Only %s can change this report, because it uses their permissions. Schedule your own instead.", before.Owner)
		}
		after, err := in.on(tx, actor, before, false)
		if err != nil {
			return before, err
		}
		if after.Every != before.Every || after.On != before.On {
			after.Due = after.after(civil.DayOf(tx.Now))
		}
		if in.Recipients != nil {
			err = setRecipients(tx, after, in.users)
		}
		return after, err
	})
}

// Pause stops a schedule's mails for now. Everybody who may schedule reports of the site may pause.
func (o *Schedules) Pause(ctx context.Context, actor access.Actor, id int64) (Schedule, error) {
	if err := may(actor); err != nil {
		return Schedule{}, err
	}
	return o.change(ctx, actor, id, 0, "report.pause", func(_ *store.Tx, before Schedule) (Schedule, error) {
		before.State, before.Reason, before.AskedAt = Paused, "", time.Time{}
		return before, nil
	})
}

// Resume continues a schedule that is paused or was stopped. The next report is created on the next matching day after today.
func (o *Schedules) Resume(ctx context.Context, actor access.Actor, id int64) (Schedule, error) {
	if err := may(actor); err != nil {
		return Schedule{}, err
	}
	return o.change(ctx, actor, id, 0, "report.resume", func(tx *store.Tx, before Schedule) (Schedule, error) {
		if before.State == Active {
			return before, nil
		}
		if _, reason, err := ownerOf(tx, before); err != nil || reason != "" {
			if err == nil {
				err = errs.NotPossibleBecause("owner_gone", "%s", reason)
			}
			return before, err
		}
		before.State, before.Reason, before.Due, before.tries, before.retryAt = Active, "", before.after(civil.DayOf(tx.Now)), 0, time.Time{}
		return before, nil
	})
}

// SendNow creates the report of an active schedule immediately, in addition to the next one due. It is made within seconds
// by the program that serves. The error is NotPossible if the schedule is not active, or if a report was requested in the
// last five minutes.
func (o *Schedules) SendNow(ctx context.Context, actor access.Actor, id int64) (Schedule, error) {
	if err := may(actor); err != nil {
		return Schedule{}, err
	}
	return o.change(ctx, actor, id, 0, "report.send", func(tx *store.Tx, before Schedule) (Schedule, error) {
		if before.State != Active {
			return before, errs.NotPossibleBecause("not_active", "The report is not active. Resume it first.")
		}
		last, err := lastRun(tx, before)
		if err != nil {
			return before, err
		}
		if !before.AskedAt.IsZero() || sites.RealNow(tx).Sub(last) < askAgain {
			return before, errs.NotPossibleBecause("asked_lately", "A report was requested a moment ago. Wait five minutes.")
		}
		before.AskedAt = sites.RealNow(tx)
		return before, nil
	})
}

// End deletes a schedule with its history. The audit log keeps a record of it.
func (o *Schedules) End(ctx context.Context, actor access.Actor, id int64) error {
	if err := may(actor); err != nil {
		return err
	}
	return unknown(idempotency.OnceGone(ctx, o.DB, actor, id, func(tx *store.Tx) error {
		before, err := lockSchedule(tx, actor.SiteID, id)
		if err != nil {
			return err
		}
		if err := removeSchedule(tx, before); err != nil {
			return err
		}
		if err := idempotency.KeepLast(tx, actor.SiteID, object(id), before); err != nil {
			return err
		}
		return audit.Record(tx, actor, "report.end", object(id), audited(before), nil)
	}), id)
}

// change changes a locked schedule and records it in the audit log.
func (o *Schedules) change(
	ctx context.Context, actor access.Actor, id, ifVersion int64, action string, fn func(tx *store.Tx, before Schedule) (Schedule, error),
) (Schedule, error) {
	changed, err := idempotency.Once(ctx, o.DB, actor, func(tx *store.Tx) (Schedule, idempotency.Outcome, error) {
		before, err := lockSchedule(tx, actor.SiteID, id)
		if err == nil {
			err = errs.CheckVersion(ifVersion, before.Version)
		}
		if err != nil {
			return before, idempotency.Outcome{}, err
		}
		after, err := fn(tx, before)
		if err != nil {
			return before, idempotency.Outcome{}, err
		}
		if reflect.DeepEqual(before, after) {
			return before, idempotency.Outcome{ID: id}, nil
		}
		after.Version, after.ModifiedAt = before.Version+1, sites.RealNow(tx)
		if err := updateSchedule(tx, after); err != nil {
			return before, idempotency.Outcome{}, err
		}
		if after, err = scheduleOf(tx, actor.SiteID, id); err != nil {
			return before, idempotency.Outcome{}, err
		}
		return after, idempotency.Outcome{ID: id}, audit.Record(tx, actor, action, object(id), audited(before), audited(after))
	}, o.again(actor))
	return changed, unknown(err, id)
}

func object(id int64) string { return fmt.Sprintf("report by mail %d", id) }

// audited is a schedule in the audit log.
func audited(o Schedule) any {
	return struct {
		Name       string   `json:"name"`
		View       string   `json:"view"`
		Format     Format   `json:"format"`
		Every      Every    `json:"every"`
		On         int64    `json:"on"`
		Owner      string   `json:"owner"`
		Recipients []string `json:"recipients"`
		State      State    `json:"state"`
	}{o.Name, o.View, o.Format, o.Every, o.On, o.Owner, o.Recipients, o.State}
}
