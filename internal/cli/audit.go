package cli

import (
	"cmp"
	"context"
	"time"

	"holdfast/internal/api/view"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/store"
)

// auditCmd groups the audit log commands.
type auditCmd struct {
	List auditListCmd `cmd:"" help:"List all changes and who made them."`
}

// auditListCmd lists records.
type auditListCmd struct {
	listFlags
	Deployment bool      `help:"List records that belong to no site: keys, rates and operators."`
	Action     []string  `placeholder:"ACTION" help:"Only these actions, such as channel.change."`
	After      time.Time `placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Only records after this time (GMT, site clock)."`
	Before     time.Time `placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Only records before this time (GMT, site clock)."`
}

// Run prints them, oldest first.
func (c auditListCmd) Run(ctx context.Context, p *program) error {
	filter := audit.Filter{Actions: c.Action, At: civil.Span{After: c.After, Before: c.Before}}
	list := listing[audit.Entry]{
		read: func(actor access.Actor, page store.Page) (store.List[audit.Entry], error) {
			return p.app.Audit.List(ctx, actor, filter, page)
		},
		shape:   func(r audit.Entry) any { return view.ShowAudit(r) },
		columns: columnsOf("id at who role from action object"),
		row: func(r audit.Entry) []cell {
			return []cell{
				ident(r.ID), instant(r.At), words(r.Username), words(r.Role), words(cmp.Or(r.Address, "command line")),
				words(r.Action), words(r.Object),
			}
		},
		none: "No audit records.",
	}
	switch {
	case !c.Deployment:
		return printList(ctx, p, c.listFlags, list)
	case c.Site != "":
		return errs.WrongField("deployment", "Deployment records belong to no site. Remove --site or --deployment.")
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	return list.print(p, access.System(0), c.formFlags, c.orderFlags, p.clock.Now())
}
