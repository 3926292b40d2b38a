package main

import (
	"context"
	"errors"
	"fmt"
	"holdfast/internal/merchants"
	"text/tabwriter"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/travel"
)

// auditCmd groups what is done with the record of who changed what.
type auditCmd struct {
	List   auditListCmd   `cmd:"" help:"List who changed what."`
	Verify auditVerifyCmd `cmd:"" help:"Check that no record was changed, removed or moved since it was written."`
}

// auditFlag says whose audit is meant.
type auditFlag struct {
	Site string `placeholder:"PATH" help:"Path of the site (default: the deployment's own records, of keys, rates and operators)."`
}

func (f auditFlag) actor(ctx context.Context, p *program) (auth.Actor, error) {
	if f.Site == "" {
		return auth.System(0), p.open(ctx)
	}
	return p.operatorAt(ctx, f.Site)
}

// auditListCmd lists records.
type auditListCmd struct {
	auditFlag
	Action []string  `placeholder:"ACTION" help:"Only these, such as channel.change."`
	After  time.Time `format:"2006-01-02 15:04:05" placeholder:"INSTANT" help:"Only later ones, by the site's clock."`
	Before time.Time `format:"2006-01-02 15:04:05" placeholder:"INSTANT" help:"Only earlier ones, by the site's clock."`
	JSON   bool      `name:"json" help:"Print JSON, with what was before and after."`
}

// Run prints them, the oldest first.
func (c auditListCmd) Run(ctx context.Context, p *program) error {
	actor, err := c.actor(ctx, p)
	if err != nil {
		return err
	}
	filter := travel.AuditFilter{Actions: c.Action, After: c.After, Before: c.Before}
	shapes := []any{}
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	if !c.JSON {
		fmt.Fprintln(out, "ID\tAT\tWHO\tROLE\tFROM\tACTION\tOBJECT")
	}
	err = everyPage(func(page travel.Page) (travel.List[travel.AuditRecord], error) {
		return p.app.Audit.List(ctx, actor, filter, page)
	}, func(r travel.AuditRecord) {
		if c.JSON {
			shapes = append(shapes, api.ShowAudit(r))
			return
		}
		from := r.Address
		if from == "" {
			from = "command line"
		}
		fmt.Fprintf(out, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, civil.FormatInstant(r.At), r.Username, r.Role, from, r.Action, r.Object)
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(shapes)
	}
	return out.Flush()
}

// auditVerifyCmd checks the chain of a site, or all chains that there are.
type auditVerifyCmd struct {
	Site string `placeholder:"PATH" help:"Path of the site (default: the deployment's own records and those of every site)."`
}

// Help says what is found and what is not.
func (auditVerifyCmd) Help() string {
	return "Each record holds the hash of the one before it, so that a change of a past one breaks the chain. Whoever could " +
		"write the whole chain anew would leave it unbroken: keep the last hash that this prints in another place, and find it " +
		"again in a later `audit list --json`."
}

// Run walks the chains, also those behind a broken one.
func (c auditVerifyCmd) Run(ctx context.Context, p *program) error {
	if c.Site != "" {
		actor, err := p.operatorAt(ctx, c.Site)
		if err != nil {
			return err
		}
		return p.verifyAudit(ctx, actor, "")
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	broken := p.verifyAudit(ctx, auth.System(0), "")
	var sites []travel.Site
	err := everyPage(func(page travel.Page) (travel.List[travel.Site], error) {
		return p.app.Sites.List(ctx, auth.System(0), travel.SiteFilter{}, page)
	}, func(s travel.Site) { sites = append(sites, s) })
	if err != nil {
		return errors.Join(broken, err)
	}
	for _, s := range sites {
		broken = errors.Join(broken, p.verifyAudit(ctx, merchants.SystemAt(s), "site "+s.Path+": "))
	}
	return broken
}

// verifyAudit checks one chain, which a prefix names.
func (p *program) verifyAudit(ctx context.Context, actor auth.Actor, prefix string) error {
	check, err := p.app.Audit.Verify(ctx, actor)
	if err != nil {
		return err
	}
	if check.Broken != 0 {
		return fmt.Errorf("%srecord %d is not as it was written: %s", prefix, check.Broken, check.Why)
	}
	p.printf("%s%d records, all as they were written", prefix, check.Last.ID)
	if check.Last.ID > 0 {
		p.printf("; the last hash is %s", check.Last.Hash)
	}
	p.printf("\n")
	return nil
}
