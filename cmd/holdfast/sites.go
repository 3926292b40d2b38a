package main

import (
	"context"
	"errors"
	"fmt"
	"holdfast/internal/merchants"
	"strings"
	"text/tabwriter"

	"holdfast/internal/auth"
	"holdfast/internal/demo"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// siteCmd groups the commands about sites.
type siteCmd struct {
	Create siteCreateCmd `cmd:"" help:"Create a site with a test channel."`
	List   siteListCmd   `cmd:"" help:"List the sites."`
}

// siteCreateCmd creates a site.
type siteCreateCmd struct {
	Path     string `arg:"" help:"Path of the site, which begins its addresses: 2 to 40 small letters, digits and dashes."`
	Name     string `required:"" help:"Name of the site."`
	Currency string `required:"" placeholder:"CODE" help:"Currency of its policy, such as GBP."`
	Sandbox  bool   `help:"Make a sandbox, where one person may make every change alone. It stays a sandbox for ever."`
}

// Run creates the site.
func (c siteCreateCmd) Run(ctx context.Context, p *program) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	// An operator may do everything on all sites, and the password of the demo's operator is in a file.
	if _, err := p.app.Accounts.UserNamed(ctx, auth.System(0), demo.OperatorName); err == nil && !c.Sandbox {
		return errors.New("this database belongs to the demo, and the demo's operator could do everything on the new site; " +
			"add --sandbox, or choose another database with --database")
	}
	in := travel.SiteFields{Path: &c.Path, Name: &c.Name, Sandbox: c.Sandbox}
	if currency, err := money.ParseCurrency(strings.ToUpper(c.Currency)); err != nil {
		in.Problems.Wrong("currency", "%v.", err)
	} else {
		in.Currency = &currency
	}
	made, err := p.app.Sites.Create(ctx, auth.System(0), in)
	if err != nil {
		return err
	}
	p.printf("site %d, %s, is created at /%s\n", made.ID, made.Name, made.Path)
	return nil
}

// siteListCmd lists sites.
type siteListCmd struct{}

// Run prints them in order of their ids.
func (siteListCmd) Run(ctx context.Context, p *program) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	out := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "ID\tPATH\tNAME\tCURRENCY\tCHANNELS\tSANDBOX")
	err := everyPage(func(page travel.Page) (travel.List[travel.Site], error) {
		return p.app.Sites.List(ctx, auth.System(0), travel.SiteFilter{}, page)
	}, func(s travel.Site) {
		fmt.Fprintf(out, "%d\t%s\t%s\t%s\t%d\t%t\n", s.ID, s.Path, s.Name, s.Policy.Currency, s.ChannelCount, s.Sandbox)
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// operatorAt opens the database and returns the operator who acts on a site: the one that --as names, or the program
// itself.
func (p *program) operatorAt(ctx context.Context, path string) (auth.Actor, error) {
	if err := p.open(ctx); err != nil {
		return auth.Actor{}, err
	}
	site, err := p.app.Sites.At(ctx, auth.System(0), path)
	if err != nil {
		return auth.Actor{}, err
	}
	actor := merchants.SystemAt(site)
	if p.as != "" {
		return p.asPerson(ctx, actor)
	}
	return actor, nil
}
