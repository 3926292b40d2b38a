package main

import (
	"context"
	"fmt"
	"holdfast/internal/core"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/civil"
)

// clockCmd groups what is done with the clock of a site.
type clockCmd struct {
	Show clockShowCmd `cmd:"" help:"Show what time it is on a site."`
	Set  clockSetCmd  `cmd:"" help:"Move the clock of a sandbox forward: exposure, statements and what expires follow."`
}

// clockShowCmd shows the clock.
type clockShowCmd struct {
	siteFlag
	JSON bool `name:"json" help:"Print JSON."`
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
	return p.tellClock(c.Site, found, c.JSON)
}

// clockSetCmd moves the clock.
type clockSetCmd struct {
	siteFlag
	To   time.Time `required:"" format:"2006-01-02 15:04:05" placeholder:"INSTANT" help:"The time that it is to be there, Y-m-d H:i:s in GMT."`
	JSON bool      `name:"json" help:"Print JSON."`
}

// Run moves it.
func (c clockSetCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	moved, err := p.app.Clocks.Move(ctx, actor, c.To)
	if err != nil {
		return err
	}
	return p.tellClock(c.Site, moved, c.JSON)
}

func (p *program) tellClock(site string, t core.SiteTime, asJSON bool) error {
	if asJSON {
		return p.printJSON(api.ShowClock(t))
	}
	ahead := "the real time"
	if d := t.Now.Sub(t.Real); d > 0 {
		ahead = fmt.Sprintf("%s ahead of the real time", d.Round(time.Second))
	}
	p.printf("on %s it is %s, %s\n", site, civil.FormatInstant(t.Now), ahead)
	return nil
}
