package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/api/view"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/platform/clock"
)

// clockCmd groups the clock commands.
type clockCmd struct {
	Show clockShowCmd `cmd:"" help:"Show a site's clock."`
	Set  clockSetCmd  `cmd:"" help:"Move a sandbox's clock forward. Exposure, statements and expiry dates follow it."`
}

// clockShowCmd shows the clock.
type clockShowCmd struct {
	siteFlag
	formFlags
}

// Run prints it.
func (c clockShowCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	found, err := p.app.Clocks.Show(ctx, actor)
	if err != nil {
		return err
	}
	if c.CSV {
		s := sheet{columns: columnsOf("site now real_time")}
		s.rows = [][]cell{{words(p.site.Path), instant(found.Now), instant(found.Real)}}
		return p.printCSV(s, civil.FormatInstant(found.Now))
	}
	return p.tellClock(found, c.JSON)
}

// clockSetCmd moves the clock.
type clockSetCmd struct {
	siteFlag
	To   time.Time `xor:"where" required:"" placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"New time, in GMT."`
	Days *int      `xor:"where" required:"" placeholder:"N" help:"Number of days to move the clock forward."`
	JSON bool      `name:"json" help:"Print JSON."`
}

// Run moves it.
func (c clockSetCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	to, err := c.target(ctx, p, actor)
	if err != nil {
		return err
	}
	moved, err := p.app.Rates.MoveClock(ctx, actor, to)
	if err != nil {
		return err
	}
	return p.tellClock(moved, c.JSON)
}

// target returns the new time of the clock.
func (c clockSetCmd) target(ctx context.Context, p *program, actor access.Actor) (time.Time, error) {
	switch {
	case c.Days == nil:
		return c.To, nil
	case *c.Days < 1:
		return time.Time{}, errs.WrongField("days", "must be 1 or more: clocks cannot be moved back")
	}
	now, err := p.app.Clocks.Show(ctx, actor)
	return now.Now.AddDate(0, 0, *c.Days), err
}

func (p *program) tellClock(t clock.Time, asJSON bool) error {
	if asJSON {
		return p.printJSON(view.ShowClock(t))
	}
	ahead := "real time"
	if d := t.Now.Sub(t.Real); d > 0 {
		ahead = span(d) + " ahead of real time"
	}
	p.printf("Clock of %s: %s GMT, %s\n", p.site.Path, civil.FormatInstant(t.Now), ahead)
	return nil
}

// span formats a duration for people: "1167 days and 6 hours". It drops units too small to matter.
func span(d time.Duration) string {
	d = d.Round(time.Second)
	if d >= time.Hour {
		d = d.Round(time.Minute)
	}
	if d >= 24*time.Hour {
		d = d.Round(time.Hour)
	}
	var parts []string
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}} {
		if n := d / unit.length; n == 1 {
			parts = append(parts, "1 "+unit.name)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d %ss", n, unit.name))
		}
		d %= unit.length
	}
	if len(parts) == 0 {
		return "less than a second"
	}
	return strings.Join(parts, " and ")
}
