package schedules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/notify/mail"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Limits of creating a report.
const (
	makeTime  = 30 * time.Second // for one report: others wait for it
	retryWait = 10 * time.Minute // doubles with each try
	maxTries  = 5
	maxNote   = 300
)

// MakeDue creates the longest overdue report that is scheduled or was requested. It returns more if it found one. The report
// is created first, outside any transaction. Then one write records it, moves the schedule to its next day and queues the
// e-mails: so each report is sent once, with any number of processes and wherever one of them crashes. Of missed days, only
// the last is caught up. A failing report does not block others.
func (o *Schedules) MakeDue(ctx context.Context) (more bool, err error) {
	if o.Make == nil {
		return false, nil
	}
	var d due
	var owner people.User
	var reason string
	err = o.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		if d, err = dueSchedule(tx); err == nil {
			owner, reason, err = ownerOf(tx, d.Schedule)
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if reason != "" {
		return true, o.stop(ctx, d, reason)
	}
	now := o.Clock().Add(d.clock.Ahead)
	today := civil.DayOf(now)
	run := Run{Occasion: "asked " + civil.FormatInstant(d.AskedAt), Outcome: Sent}
	want := Want{UserID: owner.ID, SiteID: d.SiteID, Site: d.path, View: d.View, Format: d.Format, On: today}
	if d.AskedAt.IsZero() {
		want.On = d.last(today)
		run.Occasion = want.On.String()
	}
	want.Since = d.last(want.On - 1)
	within, cancel := context.WithTimeout(ctx, makeTime)
	made, err := o.Make(within, want)
	cancel()
	if ctx.Err() != nil {
		return false, nil // shutdown: the next run creates it
	}
	if err != nil {
		return true, o.failed(ctx, d, run, today, err)
	}
	return true, o.finish(ctx, d, run, today, made, owner)
}

// stop stops a schedule whose owner no longer has access to its report.
func (o *Schedules) stop(ctx context.Context, d due, reason string) error {
	return o.step(ctx, d, func(tx *store.Tx, now Schedule) (Schedule, error) {
		after := now
		after.State, after.Reason, after.AskedAt = Stopped, reason, time.Time{}
		return after, audit.Record(tx, access.System(d.SiteID), "report.stop", object(d.ID), audited(now), audited(after))
	})
}

// step changes a schedule, unless it has changed since it was read.
func (o *Schedules) step(ctx context.Context, d due, fn func(tx *store.Tx, now Schedule) (Schedule, error)) error {
	return o.WriteBy(ctx, d.clock, func(tx *store.Tx) error {
		now, err := lockSchedule(tx, d.SiteID, d.ID)
		if errors.Is(err, store.ErrNotFound) || err == nil && now.Version != d.Version {
			return nil
		}
		if err != nil {
			return err
		}
		after, err := fn(tx, now)
		if err != nil {
			return err
		}
		after.Version = now.Version + 1
		return updateSchedule(tx, after)
	})
}

// failed records that a report could not be created. Temporary failures are retried; errors of the schedule itself are not.
func (o *Schedules) failed(ctx context.Context, d due, run Run, today civil.Day, failure error) error {
	kind := errs.KindOf(failure)
	passing := kind == errs.Unavailable || kind == errs.TooMany || errors.Is(failure, context.DeadlineExceeded)
	note := "The report could not be created."
	if f, ok := errors.AsType[*errs.Error](failure); ok {
		note = f.Message
	} else if passing {
		note = fmt.Sprintf("The report took longer than %s. Schedule a smaller one.", makeTime)
	} else {
		o.Log.Error("a scheduled report failed", "site", d.SiteID, "schedule", d.ID, "error", failure)
	}
	return o.step(ctx, d, func(tx *store.Tx, now Schedule) (Schedule, error) {
		if passing && now.tries+1 < maxTries {
			now.tries, now.retryAt = now.tries+1, sites.RealNow(tx).Add(retryWait<<now.tries)
			return now, nil
		}
		run.Outcome, run.Note, run.MadeAt = Failed, short(note), sites.RealNow(tx)
		_, err := insertRun(tx, now, run)
		return now.next(today), err
	})
}

// next is a schedule after its report is done.
func (o Schedule) next(today civil.Day) Schedule {
	if o.AskedAt.IsZero() {
		o.Due = o.after(today)
	}
	o.AskedAt, o.tries, o.retryAt = time.Time{}, 0, time.Time{}
	return o
}

// finish queues the mails of a report, records it, and advances the schedule, in one write. Recipients without access are
// skipped.
func (o *Schedules) finish(ctx context.Context, d due, run Run, today civil.Day, made File, owner people.User) error {
	return o.step(ctx, d, func(tx *store.Tx, now Schedule) (Schedule, error) {
		if _, reason, err := ownerOf(tx, now); err != nil || reason != "" { // access was lost while the report was created
			return now, err
		}
		readers, left, err := readersOf(tx, now)
		if err != nil {
			return now, err
		}
		report := mail.Report{SiteID: now.SiteID, Title: now.Name, File: made.File, Readers: readers, Facts: mail.ReportFacts{
			Title: now.Name, About: made.About, Rows: made.Rows, When: now.When(), Address: made.Address,
		}}
		if made.Cut {
			report.Facts.Note = fmt.Sprintf("The file has only the first %d rows.", made.Count)
		}
		if len(made.Content) > mail.MaxFile {
			report.File = mail.File{}
			report.Facts.Note = "The report is too large for an e-mail. View it in the dashboard."
		}
		run.Note, run.Recipients, run.MadeAt = report.Facts.Note, int64(len(readers)), sites.RealNow(tx)
		run.File, run.Bytes = report.File.Name, int64(len(report.File.Content))
		if left > 0 {
			run.Note = short(fmt.Sprintf("%d recipients no longer have access and were skipped. ", left) + run.Note)
		}
		if len(readers) == 0 {
			run.Outcome = Failed
		}
		ok, err := insertRun(tx, now, run)
		if err == nil && ok {
			err = o.Mails.SendReport(tx, report, named(owner))
		}
		return now.next(today), err
	})
}

// readersOf returns the recipients who still have access to the report, and how many do not.
func readersOf(tx *store.Tx, o Schedule) (list []mail.Reader, left int, err error) {
	ids, err := recipientIDs(tx, o)
	for _, id := range ids {
		user, failed := people.UserByID(tx, id)
		ok := false
		if failed == nil {
			_, ok, failed = accessOf(tx, o.SiteID, user)
		}
		switch {
		case failed != nil && !errors.Is(failed, store.ErrNotFound):
			return nil, 0, failed
		case !ok || user.Email == "":
			left++
		case !slices.ContainsFunc(list, func(r mail.Reader) bool { return r.Address == user.Email }):
			list = append(list, mail.Reader{Name: named(user), Address: user.Email})
		}
	}
	return list, left, err
}

// named is a user's display name.
func named(u people.User) string {
	if u.DisplayName != "" {
		return u.DisplayName
	}
	return u.Username
}

func short(text string) string {
	if runes := []rune(text); len(runes) > maxNote {
		return string(runes[:maxNote-1]) + "…"
	}
	return text
}
