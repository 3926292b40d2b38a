package schedules_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/notify/mail"
	"holdfast/internal/notify/schedules"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// desk is a world in which ann, of finance, schedules reports. The clock begins on Monday, 3 June 2024, at nine.
type desk struct {
	*apptest.World
	t    *testing.T
	ann  access.Actor
	made []string // what was made: the day and the day before it
	mu   sync.Mutex
	fail error
	size int
}

func onBoth(t *testing.T, test func(t *testing.T, d *desk)) {
	t.Helper()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		d := &desk{World: w, t: t, size: 10}
		w.App.Schedules.Make = d.make
		d.ann = d.user("ann", access.Finance)
		test(t, d)
	})
}

func (d *desk) make(_ context.Context, want schedules.Want) (schedules.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return schedules.File{}, d.fail
	}
	d.made = append(d.made, fmt.Sprintf("%s %s %s since %s", want.View, want.Format, want.On, want.Since))
	return schedules.File{
		File:  mail.File{Name: "exposure.csv", Type: "text/csv; charset=utf-8", Content: []byte(strings.Repeat("x", d.size))},
		About: "At the end of yesterday.", Rows: [][2]string{{"Undelivered (E1)", "12.00 GBP"}}, Count: 1, Address: "https://pay.example/x",
	}, nil
}

// user creates a user of the site with a role.
func (d *desk) user(name string, role access.Role) access.Actor {
	d.t.Helper()
	in := people.UserFields{Username: name, Email: name + "@example.com", Password: apptest.GoodPassword}
	made, err := d.App.Accounts.CreateUser(d.t.Context(), d.Actor, in, role, false)
	if err != nil {
		d.t.Fatal(err)
	}
	actor, _ := made.ActorAt(people.Membership{SiteID: d.Site.ID, UserID: made.ID, Role: role})
	actor.SiteID = d.Site.ID
	return actor
}

// fields are those of a schedule for ann and ben, or for other recipients.
func fields(every schedules.Every, on int64, to ...string) schedules.Fields {
	name, view, format := "Exposure", "/exposure?by=channel&as_of=2024-01-01&currency=", schedules.CSV
	return schedules.Fields{Name: &name, View: &view, Format: &format, Every: &every, On: &on, Recipients: &to}
}

func (d *desk) order(every schedules.Every, on int64, to ...string) schedules.Schedule {
	d.t.Helper()
	made, err := d.App.Schedules.Create(d.t.Context(), d.ann, fields(every, on, to...))
	if err != nil {
		d.t.Fatal(err)
	}
	d.made = nil // the page was checked once
	return made
}

// work creates all reports that are due.
func (d *desk) work() {
	d.t.Helper()
	for range 100 {
		more, err := d.App.Schedules.MakeDue(d.t.Context())
		if err != nil {
			d.t.Fatal(err)
		}
		if !more {
			return
		}
	}
	d.t.Fatal("the work has no end")
}

// mails are the mails with reports as "recipient state".
func (d *desk) mails() (lines []string) {
	d.t.Helper()
	list, err := d.App.Mails.List(d.t.Context(), d.Actor, mail.Filter{Kinds: []mail.Kind{mail.ReportKind}}, store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, m := range list.Items {
		lines = append(lines, m.Recipient+" "+string(m.State))
	}
	return lines
}

// runs are the history of a schedule as "occasion outcome recipients".
func (d *desk) runs(id int64) (o schedules.Schedule, lines []string) {
	d.t.Helper()
	o, runs, err := d.App.Schedules.Get(d.t.Context(), d.ann, id)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, r := range runs {
		lines = append(lines, fmt.Sprintf("%s %s %d", r.Occasion, r.Outcome, r.Recipients))
	}
	return o, lines
}

// TestAReportComesOnItsDay, once, to each recipient with permission, and the next one a week later. Missed reports are
// caught up once.
func TestAReportComesOnItsDay(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *desk) {
		d.user("ben", access.Finance)
		o := d.order(schedules.Week, 1, "ann", " BEN ", "ann")
		if o.View != "/exposure?by=channel" || o.Due.String() != "2024-06-10" {
			t.Errorf("%+v", o)
		}
		d.At("2024-06-09")
		d.work()
		d.At("2024-06-10")
		d.work()
		d.work()
		apptest.Same(t, "what was made", d.made, []string{"/exposure?by=channel csv 2024-06-10 since 2024-06-03"})
		if got := d.mails(); len(got) != 2 || !slices.Contains(got, "ann@example.com outbox") || !slices.Contains(got, "ben@example.com outbox") {
			t.Errorf("the mails are %v", got)
		}
		d.At("2024-07-03") // not running on the 17th, the 24th and the 1st
		d.work()
		now, runs := d.runs(o.ID)
		apptest.Same(t, "the history", runs, []string{"2024-07-01 sent 2", "2024-06-10 sent 2"})
		if now.Due.String() != "2024-07-08" || len(d.mails()) != 4 {
			t.Errorf("next on %s, mails %v", now.Due, d.mails())
		}
	})
}

// TestTheDaysOfAMonth: a day that a month does not have is its last one.
func TestTheDaysOfAMonth(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *desk) {
		o := d.order(schedules.Month, 31, "ann")
		var days []string
		for range 4 {
			now, _ := d.runs(o.ID)
			days = append(days, now.Due.String())
			d.At(now.Due.String())
			d.work()
		}
		apptest.Same(t, "the days", days, []string{"2024-06-30", "2024-07-31", "2024-08-31", "2024-09-30"})
		apptest.Same(t, "since", d.made[2], "/exposure?by=channel csv 2024-08-31 since 2024-07-31")
		if first := d.order(schedules.Month, 3, "ann"); first.Due.String() != "2024-10-03" {
			t.Errorf("the first is on %s", first.Due)
		}
	})
}

// TestManyMakeAReportOnce: several processes find the same schedule due, and one of them dies before it has stored its
// report.
func TestManyMakeAReportOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *desk) {
		o := d.order(schedules.Week, 1, "ann")
		d.At("2024-06-10")
		dying, die := context.WithCancel(t.Context())
		d.App.Schedules.Make = func(ctx context.Context, want schedules.Want) (schedules.File, error) {
			die()
			return d.make(ctx, want)
		}
		if _, err := d.App.Schedules.MakeDue(dying); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if _, runs := d.runs(o.ID); len(runs) != 0 || len(d.mails()) != 0 {
			t.Fatalf("it died, and left %v %v", runs, d.mails())
		}
		var ready, all sync.WaitGroup
		ready.Add(4)
		d.App.Schedules.Make = func(ctx context.Context, want schedules.Want) (schedules.File, error) {
			ready.Done()
			ready.Wait() // all of them have found it due before the first writes
			return d.make(ctx, want)
		}
		for range 4 {
			all.Go(func() {
				if _, err := d.App.Schedules.MakeDue(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if _, runs := d.runs(o.ID); len(runs) != 1 || len(d.mails()) != 1 {
			t.Errorf("%v, mails %v", runs, d.mails())
		}
	})
}

// TestPermissionsCountWhenAReportIsCreated: recipients without permission get none, and schedules of owners without
// permission stop.
func TestPermissionsCountWhenAReportIsCreated(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *desk) {
		ben := d.user("ben", access.MemberAdmin)
		o := d.order(schedules.Week, 1, "ann", "ben")
		role := func(user access.Actor, role access.Role) {
			if err := d.App.Accounts.SetMembership(t.Context(), d.Actor, user.UserID, role, false); err != nil {
				t.Fatal(err)
			}
		}
		role(ben, access.ReadOnly)
		d.At("2024-06-10")
		d.work()
		apptest.Same(t, "the mails", d.mails(), []string{"ann@example.com outbox"})
		role(d.ann, access.ReadOnly)
		d.At("2024-06-17")
		d.work()
		if got := d.mails(); len(got) != 1 {
			t.Errorf("a report is made with rights that nobody has: %v", got)
		}
		boss := ben
		boss.Role = access.MemberAdmin
		role(ben, access.MemberAdmin)
		stopped, runs, err := d.App.Schedules.Get(t.Context(), boss, o.ID)
		if err != nil || stopped.State != schedules.Stopped || !strings.Contains(stopped.Reason, "ann scheduled") || len(runs) != 1 {
			t.Errorf("%+v %v %v", stopped, runs, err)
		}
		_, err = d.App.Schedules.Resume(t.Context(), boss, o.ID)
		apptest.WantKind(t, err, errs.NotPossible, "going on without the rights")
		role(d.ann, access.Finance)
		if on, err := d.App.Schedules.Resume(t.Context(), boss, o.ID); err != nil || on.State != schedules.Active || on.Due.String() != "2024-06-24" {
			t.Errorf("%+v %v", on, err)
		}
		_, err = d.App.Schedules.Change(t.Context(), boss, o.ID, fields(schedules.Week, 2, "ben"))
		apptest.WantKind(t, err, errs.NotPossible, "changing what is made with the rights of another")
		if err := d.App.Schedules.End(t.Context(), boss, o.ID); err != nil {
			t.Error(err)
		}
	})
}

// TestAFailureIsReportedAndBlocksNoOther.
func TestAFailureIsReportedAndBlocksNoOther(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *desk) {
		o := d.order(schedules.Week, 1, "ann")
		d.At("2024-06-10")
		d.fail = errs.New(errs.Unavailable, "Too much is going on.")
		d.work()
		if now, runs := d.runs(o.ID); len(runs) != 0 || now.Due.String() != "2024-06-10" {
			t.Errorf("what may pass is given up at once: %v", runs)
		}
		for range 6 {
			d.Advance(6 * time.Hour)
			d.work()
		}
		_, runs := d.runs(o.ID)
		apptest.Same(t, "the history", runs, []string{"2024-06-10 failed 0"})
		d.fail = errs.WrongField("channels", "There is no such channel.")
		d.At("2024-06-17")
		d.work()
		d.fail, d.size = nil, mail.MaxFile+1
		d.At("2024-06-24")
		d.work()
		_, runs = d.runs(o.ID)
		apptest.Same(t, "the history", runs, []string{"2024-06-24 sent 1", "2024-06-17 failed 0", "2024-06-10 failed 0"})
		list, err := d.App.Mails.List(t.Context(), d.Actor, mail.Filter{}, store.Page{Number: 1, Size: 10, Offset: -1, OrderBy: "id"})
		if err != nil || len(list.Items) != 1 || list.Items[0].FileID != 0 {
			t.Fatalf("a file that no server takes is attached: %+v %v", list.Items, err)
		}
		_, text, err := d.App.Mails.Get(t.Context(), d.Actor, list.Items[0].ID)
		for _, want := range []string{"too large for an e-mail", "Undelivered (E1): 12.00 GBP", "https://pay.example/x", "every Monday"} {
			if err != nil || !strings.Contains(text.Text, want) {
				t.Errorf("the mail does not say %q: %v\n%s", want, err, text.Text)
			}
		}
		if seen, err := d.App.Mails.List(t.Context(), d.ann, mail.Filter{}, store.Page{Number: 1, Size: 10, Offset: -1, OrderBy: "id"}); err != nil || len(seen.Items) != 0 {
			t.Errorf("others read the mails of reports: %+v %v", seen.Items, err)
		}
	})
}

// TestSendNowPauseAndRestore.
func TestSendNowPauseAndRestore(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *desk) {
		orders, ctx := d.App.Schedules, t.Context()
		o := d.order(schedules.Week, 1, "ann")
		if _, err := orders.SendNow(ctx, d.ann, o.ID); err != nil {
			t.Fatal(err)
		}
		_, err := orders.SendNow(ctx, d.ann, o.ID)
		apptest.WantKind(t, err, errs.NotPossible, "asking twice")
		d.work()
		_, err = orders.SendNow(ctx, d.ann, o.ID)
		apptest.WantKind(t, err, errs.NotPossible, "asking again a moment later")
		now, runs := d.runs(o.ID)
		apptest.Same(t, "the history", runs, []string{"asked 2024-06-03 09:00:00 sent 1"})
		apptest.Same(t, "the next", now.Due.String(), "2024-06-10")
		if _, err := orders.Pause(ctx, d.ann, o.ID); err != nil {
			t.Fatal(err)
		}
		d.At("2024-06-10")
		d.work()
		_, err = orders.SendNow(ctx, d.ann, o.ID)
		apptest.WantKind(t, err, errs.NotPossible, "sending what is paused")
		if on, err := orders.Resume(ctx, d.ann, o.ID); err != nil || on.Due.String() != "2024-06-17" || len(d.mails()) != 1 {
			t.Errorf("%+v %v %v", on, err, d.mails())
		}
		d.At("2024-06-18") // a backup of last week is restored: that of the 17th may have been sent
		dbtest.Write(t, d.App.DB.Store, func(tx *store.Tx) error { return schedules.Restored(tx) })
		d.work()
		now, runs = d.runs(o.ID)
		apptest.Same(t, "the history", runs[0], "2024-06-17 skipped 0")
		if now.Due.String() != "2024-06-24" || len(d.mails()) != 1 {
			t.Errorf("%s %v", now.Due, d.mails())
		}
	})
}

// TestWhoMayScheduleWhat, and problems name their field.
func TestWhoMayScheduleWhat(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *desk) {
		orders, ctx := d.App.Schedules, t.Context()
		reading := d.user("rea", access.ReadOnly)
		_, err := orders.Create(ctx, reading, fields(schedules.Week, 1, "rea"))
		apptest.WantKind(t, err, errs.Forbidden, "ordering what may not leave")
		empty, view, every, on := "", "https://elsewhere.example/", schedules.Every("year"), int64(9)
		for name, in := range map[string]schedules.Fields{
			"recipients": fields(schedules.Week, 1, "rea"), "on": fields(schedules.Week, 8, "ann"), "view": {View: &view},
			"name": {Name: &empty}, "every": {Every: &every, On: &on},
		} {
			_, err := orders.Create(ctx, d.ann, in)
			f, ok := errors.AsType[*errs.Error](err)
			if !ok || f.Params[name] == "" && !slices.Contains(f.Absent, name) {
				t.Errorf("%s: %v", name, err)
			}
		}
		who := "ann"
		_, err = orders.Create(ctx, d.Actor, fields(schedules.Week, 1, "ann"))
		apptest.WantKind(t, err, errs.Missing, "the program without an owner")
		in := fields(schedules.Week, 1, "ann")
		in.Owner = &who
		if made, err := orders.Create(ctx, d.Actor, in); err != nil || made.Owner != "ann" {
			t.Errorf("%+v %v", made, err)
		}
		all := access.System(0)
		in = fields(schedules.Month, 1, "ann")
		in.Owner = &who
		_, err = orders.Create(ctx, all, in)
		apptest.WantKind(t, err, errs.Invalid, "a report of all sites for somebody of one")
		d.user("olga", access.Operator)
		boss := "olga"
		in = fields(schedules.Month, 1, "olga")
		in.Owner = &boss
		if _, err := orders.Create(ctx, all, in); err != nil {
			t.Fatal(err)
		}
		d.At("2024-07-01")
		d.work()
		if got := d.mails(); len(got) != 2 || !slices.Contains(got, "olga@example.com outbox") && !slices.Contains(got, "olga@example.com waiting") {
			t.Errorf("the mails are %v", got)
		}
	})
}

// TestTheProgramTriesThePageAsItsOwner: a schedule by the program itself checks the page with the permissions of its
// owner, and reports that cannot be created are rejected.
func TestTheProgramTriesThePageAsItsOwner(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *desk) {
		in, owner := fields(schedules.Week, 1, "ann"), "ann"
		in.Owner = &owner
		var asked []int64
		d.App.Schedules.Make = func(ctx context.Context, want schedules.Want) (schedules.File, error) {
			asked = append(asked, want.UserID)
			return d.make(ctx, want)
		}
		d.fail = errs.WrongField("view", "This page cannot be scheduled.")
		_, err := d.App.Schedules.Create(t.Context(), access.System(d.Site.ID), in)
		apptest.WantKind(t, err, errs.Invalid, "a page that cannot be made")
		d.fail = nil
		if _, err := d.App.Schedules.Create(t.Context(), access.System(d.Site.ID), in); err != nil {
			t.Fatal(err)
		}
		apptest.Same(t, "with the rights of", asked, []int64{d.ann.UserID, d.ann.UserID})
		stranger := "nobody"
		in.Owner = &stranger
		_, err = d.App.Schedules.Create(t.Context(), access.System(d.Site.ID), in)
		apptest.WantKind(t, err, errs.Invalid, "an owner who is nobody")
		if list, err := d.App.Schedules.List(t.Context(), d.Actor); err != nil || len(list) != 1 {
			t.Errorf("%d orders, %v", len(list), err)
		}
	})
}

// TestAChangeTriesThePageAsItsOwner: another page is checked with the permissions of the owner, another owner with the
// stored page. A rejected change leaves the schedule unchanged. A person cannot transfer a schedule to someone else.
func TestAChangeTriesThePageAsItsOwner(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, d *desk) {
		o, ben := d.order(schedules.Week, 1, "ann"), d.user("ben", access.Finance)
		var asked []string
		d.App.Schedules.Make = func(ctx context.Context, want schedules.Want) (schedules.File, error) {
			asked = append(asked, fmt.Sprint(want.UserID == d.ann.UserID, " ", want.UserID == ben.UserID, " ", want.View))
			return d.make(ctx, want)
		}
		program := access.System(d.Site.ID)
		change := func(actor access.Actor, in schedules.Fields) (schedules.Schedule, error) {
			return d.App.Schedules.Change(t.Context(), actor, o.ID, in)
		}
		d.fail = errs.WrongField("view", "This page cannot be scheduled.")
		_, err := change(program, schedules.Fields{View: new("/limits")})
		apptest.WantKind(t, err, errs.Invalid, "a page that cannot be made")
		_, err = change(program, schedules.Fields{Owner: new("ben")})
		apptest.WantKind(t, err, errs.Invalid, "an owner for whom the page cannot be made")
		d.fail = nil
		if now, _ := d.runs(o.ID); now.Version != o.Version {
			t.Errorf("what was refused changed %+v", now)
		}
		_, err = change(d.ann, schedules.Fields{Owner: new("ben")})
		apptest.WantKind(t, err, errs.Invalid, "an order with the rights of somebody else")
		if now, err := change(program, schedules.Fields{View: new("/movement?from=2024-01-01&by=day")}); err != nil || now.View != "/movement?by=day" || now.Owner != "ann" {
			t.Errorf("%+v %v", now, err)
		}
		if now, err := change(program, schedules.Fields{Owner: new("ben"), IfVersion: o.Version + 1}); err != nil || now.Owner != "ben" {
			t.Errorf("%+v %v", now, err)
		}
		apptest.Same(t, "what was tried", asked, []string{
			"true false /limits", "false true /exposure?by=channel", "true false /movement?by=day", "false true /movement?by=day",
		})
		_, err = change(program, schedules.Fields{Name: new("Later"), IfVersion: o.Version})
		apptest.WantKind(t, err, errs.Precondition, "a change over a change")
	})
}
