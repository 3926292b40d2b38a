package view

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
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
func ShowSite(s merchant.Site) siteShape {
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
