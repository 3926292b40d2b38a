package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"holdfast/internal/api/view"
	"holdfast/internal/book/merchants"
	"holdfast/internal/demo"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// siteCmd groups the site commands.
type siteCmd struct {
	Create siteCreateCmd `cmd:"" help:"Create a site with a test merchant."`
	List   siteListCmd   `cmd:"" help:"List sites."`
	Set    siteSetCmd    `cmd:"" help:"Set a site's name, and the issuer and policyholder on its statements."`
}

// partyFlags are the fields of a company on statements. Fields without a flag do not change.
type partyFlags struct {
	Name        *string `help:"Company name."`
	Address     *string `help:"Company address, up to 6 lines."`
	TaxNumber   *string `placeholder:"NUMBER" help:"Tax number."`
	BankDetails *string `placeholder:"TEXT" help:"Bank details, up to 6 lines."`
}

func (f partyFlags) fields() merchant.PartyFields {
	return merchant.PartyFields{Name: f.Name, Address: f.Address, TaxNumber: f.TaxNumber, BankDetails: f.BankDetails}
}

// siteSetCmd updates a site. Issued statements do not change.
type siteSetCmd struct {
	siteFlag
	Name         *string    `help:"Site name, shown in e-mails and on statements without a policyholder."`
	Issuer       partyFlags `embed:"" prefix:"issuer-"`
	Policyholder partyFlags `embed:"" prefix:"policyholder-"`
}

// Run changes it.
func (c siteSetCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	changed, err := p.app.Sites.Change(ctx, actor, actor.SiteID, merchant.SiteFields{
		Name: c.Name, Issuer: c.Issuer.fields(), Policyholder: c.Policyholder.fields(),
	})
	if err != nil {
		return err
	}
	p.printf("%s\n", changed.Name)
	for _, party := range []struct {
		title string
		of    merchant.Party
	}{{"issuer", changed.Issuer}, {"policyholder", changed.Policyholder}} {
		text := strings.Join([]string{
			party.of.Name, party.of.Address, party.of.TaxNumber, party.of.BankDetails,
		}, "\n")
		p.printf("%s:\n", party.title)
		for line := range strings.SplitSeq(text, "\n") {
			if line != "" {
				p.printf("  %s\n", line)
			}
		}
	}
	return nil
}

// siteCreateCmd creates a site.
type siteCreateCmd struct {
	Path     string `arg:"" help:"Site path, the first segment of its URLs: 2 to 40 lowercase letters, digits and hyphens."`
	Name     string `required:"" help:"Site name."`
	Currency string `required:"" placeholder:"CODE" help:"Policy currency, such as GBP."`
	Sandbox  bool   `help:"Create a sandbox, in which no change needs a second person. This cannot be changed later."`
}

// Run creates the site.
func (c siteCreateCmd) Run(ctx context.Context, p *program) error {
	if err := p.openOrMake(ctx); err != nil {
		return err
	}
	// Operators have full access to all sites, and the password of the demo's operator is in a file.
	if _, err := p.app.Accounts.UserNamed(ctx, access.System(0), demo.OperatorName); err == nil && !c.Sandbox {
		return errors.New("this database belongs to the demo, whose operator would have full access to the new site. " +
			"Add --sandbox, or choose another database with --database")
	}
	in := merchant.SiteFields{Path: &c.Path, Name: &c.Name, Sandbox: c.Sandbox}
	if currency, err := money.ParseCurrency(strings.ToUpper(c.Currency)); err != nil {
		in.Problems.Wrong("currency", "%v.", err)
	} else {
		in.Currency = &currency
	}
	made, err := p.app.Sites.Create(ctx, access.System(0), in)
	if err != nil {
		return err
	}
	p.printf("Created site %d, %s, at /%s\n", made.ID, made.Name, made.Path)
	return nil
}

// siteListCmd lists sites.
type siteListCmd struct {
	formFlags
	orderFlags
}

// Run prints them.
func (c siteListCmd) Run(ctx context.Context, p *program) error {
	list := listing[merchant.Site]{
		read: func(actor access.Actor, page store.Page) (store.List[merchant.Site], error) {
			return p.app.Sites.List(ctx, actor, merchants.SiteFilter{}, page)
		},
		shape:   func(s merchant.Site) any { return view.ShowSite(s) },
		columns: columnsOf("id path name currency channels sandbox"),
		row: func(s merchant.Site) []cell {
			return []cell{
				ident(s.ID), words(s.Path), words(s.Name), words(string(s.Policy.Currency)), count(s.ChannelCount), yesNo(s.Sandbox),
			}
		},
		none: "No sites.",
	}
	if err := c.check(list.columns); err != nil {
		return err
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	return list.print(p, access.System(0), c.formFlags, c.orderFlags, p.clock.Now())
}

// siteVariable is the environment variable with the default site.
const siteVariable = "HOLDFAST_SITE"

// operatorAt opens the database and returns the actor on a site: the operator given with --as, or the system. Without a path it
// uses the site in HOLDFAST_SITE, or the only one.
func (p *program) operatorAt(ctx context.Context, path string) (access.Actor, error) {
	if err := p.open(ctx); err != nil {
		return access.Actor{}, err
	}
	site, err := p.siteAt(ctx, path)
	if err != nil {
		return access.Actor{}, err
	}
	p.site = site
	actor := merchants.SystemAt(site)
	if p.as != "" {
		return p.asPerson(ctx, actor)
	}
	return actor, nil
}

func (p *program) siteAt(ctx context.Context, path string) (merchant.Site, error) {
	if path != "" {
		site, err := p.app.Sites.At(ctx, access.System(0), path)
		if errs.Is(err, errs.SettingNotFound) {
			err = errs.WrongField("site", "Site %q not found.", path)
		}
		return site, err
	}
	if path = os.Getenv(siteVariable); path != "" {
		site, err := p.app.Sites.At(ctx, access.System(0), path)
		if err != nil {
			err = fmt.Errorf("%s: %w", siteVariable, err)
		}
		return site, err
	}
	const shown = 10 // sites in a message
	list, err := p.app.Sites.List(ctx, access.System(0), merchants.SiteFilter{}, store.Page{Number: 1, Size: shown, Offset: -1})
	switch {
	case err != nil:
		return merchant.Site{}, err
	case len(list.Items) == 1:
		return list.Items[0], nil
	case len(list.Items) == 0:
		return merchant.Site{}, errors.New("the database has no sites yet. Create one with `holdfast site create`")
	}
	var paths []string
	for _, s := range list.Items {
		paths = append(paths, s.Path)
	}
	if list.More {
		paths = append(paths, "…")
	}
	return merchant.Site{}, errs.WrongField("site", "Choose a site with --site or %s: %s.", siteVariable, strings.Join(paths, ", "))
}
