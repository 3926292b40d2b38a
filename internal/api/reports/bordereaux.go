package reports

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/lib/tabular"
)

// BordereauRow is a row of the premium bordereau, with the columns that underwriters expect. Amounts are decimal
// texts.
type BordereauRow struct {
	Certificate        string         `json:"certificate"`
	Insured            string         `json:"insured"`
	Merchant           string         `json:"merchant"`
	Inception          civil.Day      `json:"inception"`
	Expiry             civil.Day      `json:"expiry"`
	CountryOfRisk      string         `json:"country_of_risk"`
	TransactionType    string         `json:"transaction_type"`
	Booked             civil.Day      `json:"booked"`
	Effective          civil.Day      `json:"effective"`
	OriginalCurrency   money.Currency `json:"original_currency"`
	SumInsured         string         `json:"sum_insured"`
	SettlementCurrency money.Currency `json:"settlement_currency"`
	SettlementInsured  string         `json:"sum_insured_settlement"`
	RateOfExchange     string         `json:"rate_of_exchange"`
	OriginalPerEuro    string         `json:"original_per_eur"`
	SettlementPerEuro  string         `json:"settlement_per_eur"`
	Gross              string         `json:"gross"`
	Tax                string         `json:"tax"`
	Net                string         `json:"net"`
}

// BordereauColumns are the columns of its CSV.
var BordereauColumns = []string{
	"as_of", "known_at", "certificate", "insured", "merchant", "inception", "expiry", "country_of_risk", "transaction_type", "booked", "effective",
	"original_currency", "sum_insured", "settlement_currency", "sum_insured_settlement", "rate_of_exchange",
	"original_per_eur", "settlement_per_eur", "gross", "tax", "net", "contract_reference", "year_of_account",
}

// Cells are the cells of the row from certificate to net, for the CSV.
func (r BordereauRow) Cells() []string {
	return []string{
		r.Certificate, tabular.PlainCell(r.Insured), tabular.PlainCell(r.Merchant), r.Inception.String(), r.Expiry.String(), r.CountryOfRisk,
		r.TransactionType, r.Booked.String(), r.Effective.String(), string(r.OriginalCurrency), r.SumInsured,
		string(r.SettlementCurrency), r.SettlementInsured, r.RateOfExchange, r.OriginalPerEuro, r.SettlementPerEuro, r.Gross,
		r.Tax, r.Net,
	}
}

// Contract is the contract as a bordereau shows it.
type Contract struct {
	Reference  string `json:"reference"`
	Year       *int64 `json:"year_of_account"`
	Commission int64  `json:"commission_ppm"`
}

// ShowBordereauContract is null if there is none.
func ShowBordereauContract(c terms.Contract) *Contract {
	if c.ID == 0 {
		return nil
	}
	shape := &Contract{Reference: c.Reference, Commission: c.CommissionPPM}
	if c.Year != 0 {
		shape.Year = &c.Year
	}
	return shape
}

// BordereauTotal is the sum of the rows of one settlement currency.
type BordereauTotal struct {
	Currency money.Currency `json:"settlement_currency"`
	Rows     int64          `json:"rows"`
	Gross    string         `json:"gross"`
	Tax      string         `json:"tax"`
	Net      string         `json:"net"`
	// Computed from the net premium by the contract, rounded once; and the amount due to the underwriter after it.
	Commission string `json:"commission"`
	Due        string `json:"due"`
}
