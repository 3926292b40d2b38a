// Package merchants stores what an operator and a merchant agree on: channels with their processor credentials,
// suppliers, policies with their rate cards, and underwriting contracts. It owns the tables channels, channel_*,
// suppliers, policies, rate_card_lines and contracts. Start at Channels.
package merchants

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/secrets"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Sites are the use cases of sites.
type Sites struct {
	*sites.DB
	*Processors
	Random        io.Reader     // for the secret of the first channel
	NewUUID       func() string // for the first channel
	ReservedPaths []string      // first segments of addresses that the deployment needs itself, besides merchant.ReservedPaths
}

// firstChannel is the name of the test channel that every site has from the start (section 1).
const firstChannel = "Test channel"

// Create makes a site with the default policy and a test channel in the policy's currency.
func (s *Sites) Create(ctx context.Context, actor access.Actor, in merchant.SiteFields) (merchant.Site, error) {
	if err := actor.Require(access.ManageSites); err != nil {
		return merchant.Site{}, err
	}
	problems := in.Problems.Clone()
	site := in.NewSite(s.ReservedPaths, &problems)
	secret, err := secrets.NewChannelSecret(s.Random)
	if err != nil {
		return merchant.Site{}, fmt.Errorf("generating a channel secret: %w", err)
	}
	uuid := s.NewUUID()
	var made merchant.Site
	err = s.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		problems := problems.Clone()
		if _, err := SiteAt(tx, site.Path); err == nil {
			problems.Wrong("path", "This path is already taken.")
		} else if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		terms.CheckInUse(&problems, "currency", site.Policy.Currency, civil.DayOf(tx.Now))
		if err := problems.Err(); err != nil {
			return err
		}
		var err error
		if made, err = sites.Insert(tx, site); err != nil {
			return err
		}
		if made.Policy, err = InsertPolicy(tx, made.ID, made.Policy); err != nil {
			return err
		}
		name := firstChannel
		channel := merchant.ChannelFields{
			Profile: s.Profile, Name: &name, Currency: &made.Policy.Currency,
		}.NewChannel(made, true, &problems)
		channel.UUID = uuid
		opened, err := MakeChannel(s.Vault, tx, channel, secret)
		if err := errors.Join(err, problems.Err()); err != nil {
			return err
		}
		made.ChannelCount = 1
		by := actor
		by.SiteID = made.ID // these are the first records in the audit of the site
		if err := audit.Record(tx, by, "site.create", siteObject(made.ID), nil, auditSite(made)); err != nil {
			return err
		}
		return audit.Record(tx, by, "channel.create", ChannelObject(opened), nil, AuditedChannel(opened))
	})
	return made, err
}

func siteObject(id int64) string { return fmt.Sprintf("site %d", id) }

// SystemAt returns the actor for the program itself, acting on a site by the site's clock.
func SystemAt(site merchant.Site) access.Actor {
	actor := access.System(site.ID)
	actor.Ahead = site.ClockAhead
	return actor
}

// At reads the site with a path. It is for the operator only.
func (s *Sites) At(ctx context.Context, actor access.Actor, path string) (site merchant.Site, err error) {
	if err := actor.Require(access.ManageSites); err != nil {
		return merchant.Site{}, err
	}
	err = s.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		site, err = SiteAt(tx, path)
		return store.NotFoundAs(errs.SettingNotFound, err, "Site %q not found.", path)
	})
	return site, err
}

// Get reads one site. An operator sees every site, everybody else and every API token only their own.
func (s *Sites) Get(ctx context.Context, actor access.Actor, id int64) (site merchant.Site, err error) {
	if err := actor.Require(access.Read); err != nil {
		return site, err
	}
	if id != actor.SiteID && !actor.Everywhere() {
		return site, unknownSite(store.ErrNotFound, id)
	}
	err = s.ReadBy(ctx, sites.ClockFor(actor), func(tx *store.Tx) (err error) {
		site, err = Site(tx, id)
		return err
	})
	return site, unknownSite(err, id)
}

func unknownSite(err error, id int64) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "Site %d not found.", id)
}

// List reads one page of the sites that the actor can see. An operator sees all, everybody else and every
// API token only their own.
func (s *Sites) List(ctx context.Context, actor access.Actor, f SiteFilter, page store.Page) (list store.List[merchant.Site], err error) {
	if err := actor.Require(access.Read); err != nil {
		return list, err
	}
	if !actor.Everywhere() {
		f.Only = actor.SiteID
	}
	err = s.ReadBy(ctx, sites.ClockFor(actor), func(tx *store.Tx) (err error) {
		list, err = SitesPage(tx, f, page)
		return err
	})
	return list, err
}

// Change sets the given fields of a site. An operator can change every site, everybody else and every API token
// only their own.
func (s *Sites) Change(ctx context.Context, actor access.Actor, id int64, in merchant.SiteFields) (merchant.Site, error) {
	if err := actor.Require(access.WriteSite); err != nil {
		return merchant.Site{}, err
	}
	if id != actor.SiteID && !actor.Everywhere() {
		return merchant.Site{}, unknownSite(store.ErrNotFound, id)
	}
	changed, err := idempotency.Once(ctx, s.DB, actor, func(tx *store.Tx) (merchant.Site, idempotency.Outcome, error) {
		changed, err := changeSite(tx, actor, id, in)
		return changed, idempotency.Outcome{ID: id}, err
	}, func(ctx context.Context, made idempotency.Outcome) (merchant.Site, error) {
		return s.Get(ctx, actor, made.ID)
	})
	return changed, unknownSite(err, id)
}

// changeSite is Sites.Change inside a write.
func changeSite(tx *store.Tx, actor access.Actor, id int64, in merchant.SiteFields) (changed merchant.Site, err error) {
	if err := sites.Lock(tx, id); err != nil {
		return changed, err
	}
	stored, err := Site(tx, id)
	if err != nil {
		return changed, err
	}
	if err := errs.CheckVersion(in.IfVersion, stored.Version); err != nil {
		return changed, err
	}
	problems := in.Problems.Clone()
	changed = in.Change(stored, actor.Can(access.ManageSites), &problems)
	if err := problems.Err(); err != nil || reflect.DeepEqual(stored, changed) {
		return stored, err
	}
	changed.ModifiedAt = sites.RealNow(tx).Add(stored.ClockAhead) // tx.Now may be the clock of another site
	if changed.Name != stored.Name {
		if err := sites.NoteName(tx, id, stored.Name, changed.ModifiedAt); err != nil {
			return changed, err
		}
	}
	if err := sites.Update(tx, changed); err != nil {
		return changed, err
	}
	changed.Version++
	by := actor
	by.SiteID, by.Ahead = id, changed.ClockAhead
	return changed, audit.Record(tx, by, "site.change", siteObject(id), auditSite(stored), auditSite(changed))
}

// auditedSite is the shape of a site in the audit.
type auditedSite struct {
	ID            int64    `json:"id"`
	Path          string   `json:"path"`
	Name          string   `json:"name"`
	Sandbox       bool     `json:"sandbox"`
	Currency      string   `json:"currency"`
	PermittedURLs []string `json:"permitted_urls"`

	Issuer       merchant.Party `json:"issuer"`
	Policyholder merchant.Party `json:"policyholder"`
}

func auditSite(s merchant.Site) any {
	return auditedSite{
		ID: s.ID, Path: s.Path, Name: s.Name, Sandbox: s.Sandbox, Currency: string(s.Policy.Currency),
		PermittedURLs: append([]string{}, s.PermittedURLs...), Issuer: s.Issuer, Policyholder: s.Policyholder,
	}
}
