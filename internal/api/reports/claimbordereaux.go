package reports

import (
	"holdfast/internal/api/view"
	"holdfast/internal/book/claims"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
)

// claimReported has the amounts of a claim, or of several, in a bordereau: decimal texts.
type claimReported struct {
	Paid       string `json:"paid_this_month"`
	Previously string `json:"previously_paid"`
	Reserve    string `json:"reserve"`
	Incurred   string `json:"total_incurred"`
}

func showReported(r claim.Reported, c money.Currency) claimReported {
	return claimReported{
		money.FormatPlain(r.Paid, c), money.FormatPlain(r.Previously, c), money.FormatPlain(r.Reserve, c), money.FormatPlain(r.Incurred(), c),
	}
}

// claimBordereauRow is a row of the claims bordereau.
type claimBordereauRow struct {
	Contract    string         `json:"contract_reference"`
	Year        int64          `json:"year_of_account"`
	Certificate string         `json:"certificate"`
	Claim       string         `json:"claim"`
	Insured     string         `json:"insured"`
	Inception   civil.Day      `json:"inception"`
	Expiry      *string        `json:"expiry"`
	Lost        civil.Day      `json:"date_of_loss"`
	Description string         `json:"loss_description"`
	Opened      civil.Day      `json:"opened"`
	Status      string         `json:"status"`
	Denied      bool           `json:"denied"`
	Closed      *string        `json:"closed"`
	Original    money.Currency `json:"original_currency"`
	Claimed     string         `json:"amount_claimed"`
	Settlement  money.Currency `json:"settlement_currency"`
	claimReported
}

// claimBordereauTotal adds up the rows of a contract, year of account and currency.
type claimBordereauTotal struct {
	Contract   string         `json:"contract_reference"`
	Year       int64          `json:"year_of_account"`
	Settlement money.Currency `json:"settlement_currency"`
	Rows       int64          `json:"rows"`
	claimReported
}

// claimBordereau is the claims bordereau of a month in answers.
type claimBordereau struct {
	Period    string                `json:"period"`
	AsOf      civil.Day             `json:"as_of"`
	Final     bool                  `json:"final"`
	Presented *presentation         `json:"presented"`
	Rows      []claimBordereauRow   `json:"rows"`
	Totals    []claimBordereauTotal `json:"totals"`
}

// presentation is a presented month in answers.
type presentation struct {
	Period string `json:"period"`
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
	By     string `json:"presented_by"`
	At     string `json:"presented_at"`
}

// ShowPresentation gives the shape of a presented month, to be encoded as JSON.
func ShowPresentation(p claims.Presentation) presentation {
	return presentation{p.Period().Name(), p.Rows, p.SHA256, p.By, civil.FormatInstant(p.At)}
}

// ShowClaimBordereau gives the shape of a claims bordereau, to be encoded as JSON.
func ShowClaimBordereau(b claims.Bordereau) (claimBordereau, error) {
	shape := claimBordereau{Period: b.Period.Name(), AsOf: b.AsOf, Final: b.Final}
	if b.Presented != nil {
		shown := ShowPresentation(*b.Presented)
		shape.Presented = &shown
	}
	totals, err := b.Totals()
	shape.Totals = view.Each(totals, func(t claims.BordereauTotal) claimBordereauTotal {
		return claimBordereauTotal{t.Contract, t.Year, t.Settlement, t.Rows, showReported(t.Reported, t.Settlement)}
	})
	shape.Rows = view.Each(b.Rows, func(r claims.BordereauRow) claimBordereauRow {
		return claimBordereauRow{
			Contract: r.Contract.Reference, Year: r.Year, Certificate: r.Certificate(), Claim: r.Reference(), Insured: b.Insured,
			Inception: r.Inception, Expiry: dayOrNull(r.Expiry), Lost: r.Lost, Description: r.Description(), Opened: r.Opened, Status: r.Status(),
			Denied: r.Denied(), Closed: dayOrNull(r.Closed), Original: r.Original, Claimed: money.FormatPlain(r.Claimed, r.Original),
			Settlement: r.Settlement, claimReported: showReported(r.Reported, r.Settlement),
		}
	})
	return shape, err
}
