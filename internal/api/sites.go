package api

import (
	"net/http"

	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// siteShape is a site on the wire.
type siteShape struct {
	ID            int64          `json:"id"`
	Name          string         `json:"name"`
	Path          string         `json:"path"`
	Sandbox       bool           `json:"sandbox"`
	Currency      money.Currency `json:"currency"` // of its policy
	PermittedURLs []string       `json:"permitted_urls"`

	IssuerName              string `json:"issuer_name"`
	IssuerAddress           string `json:"issuer_address"`
	IssuerTaxNumber         string `json:"issuer_tax_number"`
	IssuerBankDetails       string `json:"issuer_bank_details"`
	PolicyholderName        string `json:"policyholder_name"`
	PolicyholderAddress     string `json:"policyholder_address"`
	PolicyholderTaxNumber   string `json:"policyholder_tax_number"`
	PolicyholderBankDetails string `json:"policyholder_bank_details"`

	ChannelCount int64  `json:"channel_count"`
	Created      string `json:"created"`
	Modified     string `json:"modified"`
}

// ShowSite gives the shape of a site, to be encoded as JSON.
func ShowSite(s travel.Site) any { return showSite(s) }

func showSite(s travel.Site) siteShape {
	return siteShape{
		ID: s.ID, Name: s.Name, Path: s.Path, Sandbox: s.Sandbox, Currency: s.Policy.Currency,
		PermittedURLs: append([]string{}, s.PermittedURLs...), ChannelCount: s.ChannelCount,
		IssuerName: s.Issuer.Name, IssuerAddress: s.Issuer.Address, IssuerTaxNumber: s.Issuer.TaxNumber,
		IssuerBankDetails: s.Issuer.BankDetails, PolicyholderName: s.Policyholder.Name,
		PolicyholderAddress: s.Policyholder.Address, PolicyholderTaxNumber: s.Policyholder.TaxNumber,
		PolicyholderBankDetails: s.Policyholder.BankDetails,
		Created:                 civil.FormatInstant(s.CreatedAt), Modified: civil.FormatInstant(s.ModifiedAt),
	}
}

func (s *server) listSites(c *call) error {
	q := c.query()
	page := q.page(travel.SiteOrders)
	filter := travel.SiteFilter{Include: q.ids("include"), Exclude: q.ids("exclude"), Modified: q.span("modified_")}
	if err := q.err(); err != nil {
		return err
	}
	found, err := s.app.Sites.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, showSite)
}

func (s *server) getSite(c *call) error {
	found, err := s.app.Sites.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, siteObject(found))
}

func siteObject(s travel.Site) object { return object{id: s.ID, version: s.Version, body: showSite(s)} }

func (s *server) updateSite(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := travel.SiteFields{IfVersion: c.ifVersion(), PermittedURLs: in.texts("permitted_urls"), Name: in.text("name")}
	fields.Issuer, fields.Policyholder = in.party("issuer_"), in.party("policyholder_")
	fields.Problems = in.problems.Clone()
	changed, err := s.app.Sites.Change(c.ctx, c.actor, c.id, fields)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, siteObject(changed))
}

// party reads the fields of a party of statements, whose names begin with a prefix.
func (in *input) party(prefix string) travel.PartyFields {
	return travel.PartyFields{
		Name: in.text(prefix + "name"), Address: in.text(prefix + "address"), TaxNumber: in.text(prefix + "tax_number"),
		BankDetails: in.text(prefix + "bank_details"),
	}
}
