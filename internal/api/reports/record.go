package reports

import (
	"holdfast/internal/api/view"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/money"
	"holdfast/internal/report"
)

// recordShape is the track record of a channel on the wire. Amounts are minor units: those of premium in the policy currency, the
// others in the base currency.
type recordShape struct {
	AsOf    civil.Day        `json:"as_of"`
	KnownAt string           `json:"known_at"`
	Final   bool             `json:"final"`
	Channel view.Named       `json:"channel"`
	Months  []recordRowShape `json:"months"`
	Totals  []recordSumShape `json:"totals"`
}

type recordRowShape struct {
	Month string `json:"month"`
	recordSumShape
}

type recordSumShape struct {
	Currencies     money.Currency `json:"currencies"`
	Payments       int64          `json:"payments"`
	Disputed       int64          `json:"disputed"`
	Total          int64          `json:"total"`
	Refunded       int64          `json:"refunded"`
	ChargedBack    int64          `json:"charged_back"`
	Reversed       int64          `json:"reversed"`
	PolicyCurrency money.Currency `json:"policy_currency"`
	Premium        int64          `json:"premium"`
	Earned         int64          `json:"earned"`
}

func showRecordSum(v estimate.Vintage) recordSumShape {
	return recordSumShape{
		Currencies: v.Currency, Payments: v.Payments, Disputed: v.Disputed, Total: v.Allocated, Refunded: v.Refunded,
		ChargedBack: v.ChargedBack, Reversed: v.Reversed, PolicyCurrency: v.Policy, Premium: v.Booked, Earned: v.Earned,
	}
}

// ShowRecord gives a track record in the shape of the wire, to be encoded as JSON. The command line prints it too.
func ShowRecord(r report.VintageReport, channel int64, name string) any {
	return recordShape{
		AsOf: r.AsOf, KnownAt: r.KnownAt.UTC().Format(view.ISOMicros), Final: r.Final, Channel: view.Named{ID: channel, Name: name},
		Months: view.Each(r.Rows, func(v estimate.Vintage) recordRowShape { return recordRowShape{v.Month, showRecordSum(v)} }),
		Totals: view.Each(r.Totals, showRecordSum),
	}
}
