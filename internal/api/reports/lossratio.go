package reports

import (
	"holdfast/internal/api/view"
	"holdfast/internal/book/claims"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
)

// accountShape has premium and losses in answers, in minor units of the policy currency.
type accountShape struct {
	Premium   int64  `json:"premium"`
	Payable   int64  `json:"payable"`
	Covered   int64  `json:"covered"`
	Paid      int64  `json:"paid"`
	Reserve   int64  `json:"reserve"`
	Incurred  int64  `json:"incurred"`
	LossRatio *int64 `json:"loss_ratio_ppm"` // null without premium
}

func showAccount(a claim.Account) accountShape {
	shape := accountShape{Premium: a.Premium, Payable: a.Payable, Covered: a.Covered, Paid: a.Paid, Reserve: a.Reserve, Incurred: a.Incurred()}
	if ppm, ok := a.LossRatio(); ok {
		shape.LossRatio = &ppm
	}
	return shape
}

// yearAccount is a year of account in one policy currency.
type yearAccount struct {
	PolicyCurrency money.Currency    `json:"policy_currency"`
	Limit          *int64            `json:"aggregate_limit"` // null: none
	Used           int64             `json:"aggregate_used"`
	Remaining      *int64            `json:"aggregate_remaining"` // null: no limit
	Merchants      []merchantAccount `json:"merchants"`
	accountShape
}

type merchantAccount struct {
	Channel      int64   `json:"channels"`
	Name         string  `json:"name"`
	Insolvencies []int64 `json:"insolvencies"`
	accountShape
}

// yearOfAccount is the report of a year of account in answers.
type yearOfAccount struct {
	Year     int           `json:"year"`
	AsOf     civil.Day     `json:"as_of"`
	Accounts []yearAccount `json:"accounts"`
}

// ShowYear gives the shape of the report of a year of account, to be encoded as JSON.
func ShowYear(r claims.YearReport) yearOfAccount {
	return yearOfAccount{r.Year, r.AsOf, view.Each(r.Accounts, func(a claims.Account) yearAccount {
		shape := yearAccount{PolicyCurrency: a.Currency, Used: a.Covered, accountShape: showAccount(a.Account)}
		if remaining := a.Remaining(); a.Limit != 0 {
			shape.Limit, shape.Remaining = &a.Limit, &remaining
		}
		shape.Merchants = view.Each(a.Merchants, func(m claims.MerchantAccount) merchantAccount {
			return merchantAccount{m.ChannelID, m.Merchant, append([]int64{}, m.Insolvencies...), showAccount(m.Account)}
		})
		return shape
	})}
}
