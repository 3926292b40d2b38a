package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

// auditCmd groups the commands about the record of who changed what.
type auditCmd struct {
	List   auditListCmd   `cmd:"" help:"List all changes, with who made them."`
	Verify auditVerifyCmd `cmd:"" help:"Check that no record was changed, removed or moved since it was written."`
}

// auditListCmd lists records.
type auditListCmd struct {
	listFlags
	Deployment bool      `help:"List the records that belong to no site: about keys, rates and operators."`
	Action     []string  `placeholder:"ACTION" help:"Only these actions, such as channel.change."`
	After      time.Time `placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Only records after this time, in GMT, by the site's clock."`
	Before     time.Time `placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Only records before this time, in GMT, by the site's clock."`
}

// Run prints them, the oldest first.
func (c auditListCmd) Run(ctx context.Context, p *program) error {
	filter := travel.AuditFilter{Actions: c.Action, After: c.After, Before: c.Before}
	list := listing[travel.AuditRecord]{
		read: func(actor auth.Actor, page travel.Page) (travel.List[travel.AuditRecord], error) {
			return p.app.Audit.List(ctx, actor, filter, page)
		},
		shape:   api.ShowAudit,
		columns: columnsOf("id at who role from action object"),
		row: func(r travel.AuditRecord) []cell {
			return []cell{
				ident(r.ID), instant(r.At), words(r.Username), words(r.Role), words(cmp.Or(r.Address, "command line")),
				words(r.Action), words(r.Object),
			}
		},
		none: "There are no records.",
	}
	switch {
	case !c.Deployment:
		return printList(ctx, p, c.listFlags, list)
	case c.Site != "":
		return fault.WrongField("deployment", "The records of the deployment belong to no site. Leave out --site or --deployment.")
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	return list.print(p, auth.System(0), c.formFlags, c.orderFlags, p.core.Clock())
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
	err := everyItem(func(page travel.Page) (travel.List[travel.Site], error) {
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
