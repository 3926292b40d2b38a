package cli

import (
	"context"
	"strings"
	"time"

	"holdfast/internal/api/view"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/notify/schedules"
	"holdfast/internal/store"
	"holdfast/internal/web/dashboard"
	"holdfast/internal/web/kit"
)

// reportMailCmd groups the commands for scheduled reports.
type reportMailCmd struct {
	List   reportMailListCmd   `cmd:"" help:"List scheduled reports."`
	Order  reportMailOrderCmd  `cmd:"" help:"Schedule a weekly or monthly report."`
	Change reportMailChangeCmd `cmd:"" help:"Change a scheduled report."`
	Pause  reportMailPauseCmd  `cmd:"" help:"Pause a scheduled report."`
	Resume reportMailResumeCmd `cmd:"" help:"Resume a paused or stopped report."`
	Send   reportMailSendCmd   `cmd:"" help:"Send a report now, in addition to its schedule. The service generates it within a minute."`
	End    reportMailEndCmd    `cmd:"" help:"Delete a scheduled report and its history."`
}

// reportsOf selects a site, or all of them.
type reportsOf struct {
	siteFlag
	AllSites bool `name:"all-sites" help:"Reports across all sites, such as receivables."`
}

func (f reportsOf) actor(ctx context.Context, p *program) (access.Actor, error) {
	if !f.AllSites {
		return p.operatorAt(ctx, f.Site)
	}
	if err := p.open(ctx); err != nil {
		return access.Actor{}, err
	}
	if p.as != "" {
		return p.asPerson(ctx, access.System(0))
	}
	return access.System(0), nil
}

// oneReport selects a scheduled report.
type oneReport struct {
	reportsOf
	ID int64 `arg:"" help:"Id of the scheduled report."`
}

// change updates a scheduled report and prints the result.
func (c oneReport) change(
	ctx context.Context, p *program, do func(ctx context.Context, actor access.Actor, id int64) (schedules.Schedule, error), done string,
) error {
	actor, err := c.actor(ctx, p)
	if err != nil {
		return err
	}
	o, err := do(ctx, actor, c.ID)
	if err == nil {
		p.printf("Report %d %s\n", o.ID, done)
	}
	return err
}

// reportMailListCmd lists them.
type reportMailListCmd struct {
	reportsOf
	JSON bool `name:"json" xor:"form" help:"Print JSON, as returned by the API."`
	CSV  bool `name:"csv" xor:"form" help:"Print CSV."`
	orderFlags
}

// Run prints them.
func (c reportMailListCmd) Run(ctx context.Context, p *program) error {
	list := listing[schedules.Schedule]{
		read: func(actor access.Actor, _ store.Page) (store.List[schedules.Schedule], error) {
			all, err := p.app.Schedules.List(ctx, actor) // there are few: one page has them all
			return store.List[schedules.Schedule]{Items: all, Total: int64(len(all))}, err
		},
		shape:   func(o schedules.Schedule) any { return view.ShowReportMail(o) },
		columns: columnsOf("id name view when format to owner state due"),
		row: func(o schedules.Schedule) []cell {
			return []cell{
				ident(o.ID), words(o.Name), words(o.View), words(o.When()), words(string(o.Format)), words(strings.Join(o.Recipients, " ")),
				words(o.Owner), words(string(o.State)), dayCell(o.Due),
			}
		},
		none: "No scheduled reports.",
	}
	if err := c.check(list.columns); err != nil {
		return err
	}
	actor, err := c.actor(ctx, p)
	if err != nil {
		return err
	}
	return list.print(p, actor, formFlags{JSON: c.JSON, CSV: c.CSV}, c.orderFlags, p.now(actor))
}

// reportMailOrderCmd schedules a report.
type reportMailOrderCmd struct {
	reportsOf
	View    string `arg:"" help:"Dashboard page: its path below the site, such as \"/exposure?by=channel\"."`
	Name    string `placeholder:"TEXT" help:"Subject of the e-mail (default: the path of the page)."`
	Owner   string `required:"" placeholder:"USERNAME" help:"User whose permissions the report runs with. It stops if they lose access."`
	To      string `placeholder:"USERNAME,…" field:"recipients" help:"Recipients (default: the owner)."`
	Weekly  string `placeholder:"DAY" field:"weekly" xor:"day" help:"Day of the week, such as monday."`
	Monthly int64  `placeholder:"N" field:"on" xor:"day" help:"Day of the month, 1 to 31 (default: 1)."`
	Format  string `default:"xlsx" help:"Format: csv or xlsx (default: xlsx)."`
}

// Run schedules it.
func (c reportMailOrderCmd) Run(ctx context.Context, p *program) error {
	actor, err := c.actor(ctx, p)
	if err != nil {
		return err
	}
	if c.Name == "" {
		c.Name = c.View
	}
	if c.To == "" {
		c.To = c.Owner
	}
	format, every, on, to := schedules.Format(c.Format), schedules.Month, max(c.Monthly, 1), strings.Split(c.To, ",")
	in := schedules.Fields{Name: &c.Name, View: &c.View, Format: &format, Every: &every, On: &on, Recipients: &to, Owner: &c.Owner}
	if c.Monthly < 0 {
		on = c.Monthly
	}
	if c.Weekly != "" {
		every = schedules.Week
		if on, err = weekday(c.Weekly); err != nil {
			return err
		}
	}
	if err := p.makePages(); err != nil {
		return err
	}
	made, err := p.app.Schedules.Create(ctx, actor, in)
	if err != nil {
		return err
	}
	p.printf("Scheduled report %d: %s, first on %s\n", made.ID, made.When(), made.Due)
	return nil
}

// makePages builds the dashboard's pages, so that a report's page is validated first, as the web form does.
func (p *program) makePages() error {
	_, err := dashboard.New(kit.Config{ // nothing is sent from here, so links need no base URL
		Log: p.log(), Profile: string(p.Profile), Clock: p.clock.Now,
	}, p.app)
	return err
}

// weekday parses a day of the week; Monday is 1.
func weekday(name string) (int64, error) {
	for day := range civil.Day(7) {
		if strings.EqualFold(time.Weekday((day+1)%7).String(), strings.TrimSpace(name)) {
			return int64(day) + 1, nil
		}
	}
	return 0, errs.WrongField("weekly", "Enter a day, such as monday.")
}

// reportMailChangeCmd updates a report. Fields without a flag do not change.
type reportMailChangeCmd struct {
	oneReport
	View    *string `placeholder:"ADDRESS" help:"Dashboard page: its path below the site, such as \"/exposure?by=channel\"."`
	Name    *string `placeholder:"TEXT" help:"Subject of the e-mail."`
	Owner   *string `placeholder:"USERNAME" help:"User whose permissions the report runs with."`
	To      *string `placeholder:"USERNAME,…" field:"recipients" help:"Recipients."`
	Weekly  *string `placeholder:"DAY" field:"weekly" xor:"day" help:"Day of the week, such as monday."`
	Monthly *int64  `placeholder:"N" field:"on" xor:"day" help:"Day of the month, 1 to 31."`
	Format  *string `placeholder:"FORMAT" help:"Format: csv or xlsx."`
}

// Run changes it.
func (c reportMailChangeCmd) Run(ctx context.Context, p *program) error {
	actor, err := c.actor(ctx, p)
	if err != nil {
		return err
	}
	in := schedules.Fields{Name: c.Name, View: c.View, Owner: c.Owner}
	if c.Format != nil {
		in.Format = new(schedules.Format(*c.Format))
	}
	if c.To != nil {
		in.Recipients = new(strings.Split(*c.To, ","))
	}
	if c.Monthly != nil {
		in.Every, in.On = new(schedules.Month), c.Monthly
	}
	if c.Weekly != nil {
		day, err := weekday(*c.Weekly)
		if err != nil {
			return err
		}
		in.Every, in.On = new(schedules.Week), &day
	}
	if err := p.makePages(); err != nil {
		return err
	}
	changed, err := p.app.Schedules.Change(ctx, actor, c.ID, in)
	if err == nil {
		p.printf("Updated report %d: %s, next on %s\n", changed.ID, changed.When(), changed.Due)
	}
	return err
}

// reportMailPauseCmd pauses a report.
type reportMailPauseCmd struct{ oneReport }

// Run pauses it.
func (c reportMailPauseCmd) Run(ctx context.Context, p *program) error {
	return c.change(ctx, p, func(ctx context.Context, actor access.Actor, id int64) (schedules.Schedule, error) {
		return p.app.Schedules.Pause(ctx, actor, id)
	}, "is paused")
}

// reportMailResumeCmd resumes a report.
type reportMailResumeCmd struct{ oneReport }

// Run resumes it.
func (c reportMailResumeCmd) Run(ctx context.Context, p *program) error {
	return c.change(ctx, p, func(ctx context.Context, actor access.Actor, id int64) (schedules.Schedule, error) {
		return p.app.Schedules.Resume(ctx, actor, id)
	}, "is active again")
}

// reportMailSendCmd sends a report now.
type reportMailSendCmd struct{ oneReport }

// Run requests it from the service.
func (c reportMailSendCmd) Run(ctx context.Context, p *program) error {
	return c.change(ctx, p, func(ctx context.Context, actor access.Actor, id int64) (schedules.Schedule, error) {
		return p.app.Schedules.SendNow(ctx, actor, id)
	}, "will be sent within a minute if the service is running")
}

// reportMailEndCmd deletes a report.
type reportMailEndCmd struct{ oneReport }

// Run deletes it.
func (c reportMailEndCmd) Run(ctx context.Context, p *program) error {
	actor, err := c.actor(ctx, p)
	if err != nil {
		return err
	}
	if err := p.app.Schedules.End(ctx, actor, c.ID); err != nil {
		return err
	}
	p.printf("Deleted report %d\n", c.ID)
	return nil
}
