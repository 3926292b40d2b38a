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

// auditCmd groups the commands about the record of who changed what.
type auditCmd struct {
	List   auditListCmd   `cmd:"" help:"List all changes, with who made them."`
	Verify auditVerifyCmd `cmd:"" help:"Check that no record was changed, removed or moved since it was written."`
}

// auditFlag says whose records are meant: those of a site, or of the deployment itself.
type auditFlag struct {
	Site string `placeholder:"PATH" help:"Path of the site (default: the records that belong to no site, about keys, rates and operators)."`
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
	Action []string  `placeholder:"ACTION" help:"Only these actions, such as channel.change."`
	After  time.Time `placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Only records after this time, in GMT, by the site's clock."`
	Before time.Time `placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Only records before this time, in GMT, by the site's clock."`
	JSON   bool      `name:"json" help:"Print JSON, with the values before and after each change."`
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

// auditVerifyCmd checks the chain of records of one site, or of all.
type auditVerifyCmd struct {
	Site string `placeholder:"PATH" help:"Path of the site (default: every site, and the records that belong to none)."`
}

// Help says which changes are found, and which are not.
func (auditVerifyCmd) Help() string {
	return "Each record holds the hash of the record before it. If somebody changes an old record, the hashes no longer " +
		"match. Somebody who can write the whole database can compute all hashes again, and this command then finds nothing. " +
		"To be safe from that, keep the last hash that this command prints in another place. Later, look for it in the output " +
		"of \"holdfast audit list --json\"."
}

// Run checks the chains. It goes on after a broken one, so that all are reported.
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

// verifyAudit checks one chain. The prefix names it in what is printed.
func (p *program) verifyAudit(ctx context.Context, actor auth.Actor, prefix string) error {
	check, err := p.app.Audit.Verify(ctx, actor)
	if err != nil {
		return err
	}
	if check.Broken != 0 {
		return fmt.Errorf("%srecord %d has been changed since it was written: %s", prefix, check.Broken, check.Why)
	}
	p.printf("%s%d records, none changed since it was written", prefix, check.Last.ID)
	if check.Last.ID > 0 {
		p.printf("; the last hash is %s", check.Last.Hash)
	}
	p.printf("\n")
	return nil
}
