package reports

import (
	"holdfast/internal/api/view"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/report"
)

// volumeShape has payments, disputes and their ratios in answers.
type volumeShape struct {
	Payments int64           `json:"payments"`
	Disputes int64           `json:"disputes"`
	Ratio    *int64          `json:"ratio_ppm"` // null without payments
	Amounts  []volumeInShape `json:"amounts"`
	Reached  *int64          `json:"threshold_ppm"` // null: none reached
}

// volumeInShape has amounts in minor units of a base currency.
type volumeInShape struct {
	Currency money.Currency `json:"currencies"`
	Paid     int64          `json:"total"`
	Disputed int64          `json:"disputed"`
	Ratio    *int64         `json:"ratio_ppm"`
}

func showVolume(v dispute.Volume, reached int64) volumeShape {
	return volumeShape{v.Payments, v.Disputes, ppmOrNull(v.Ratio()), view.Each(v.Amounts, func(a dispute.VolumeIn) volumeInShape {
		return volumeInShape{a.Currency, a.Paid, a.Disputed, ppmOrNull(a.Ratio())}
	}), view.OrNull(reached)}
}

func ppmOrNull(ppm int64, ok bool) *int64 {
	if !ok {
		return nil
	}
	return &ppm
}

// merchantVolume is the volume of a merchant.
type merchantVolume struct {
	Channel   int64  `json:"channels"`
	Name      string `json:"name"`
	Insolvent bool   `json:"insolvent"`
	volumeShape
}

// thresholdsShape are the thresholds in answers.
type thresholdsShape struct {
	From     civil.Day `json:"from"`
	Acquirer []int64   `json:"acquirer_ppm"`
	Merchant int64     `json:"merchant_ppm"`
	Least    int64     `json:"merchant_disputes"`
}

// ratioReport is the report of dispute ratios in answers.
type ratioReport struct {
	Period     string           `json:"period"`
	AsOf       civil.Day        `json:"as_of"`
	All        volumeShape      `json:"all"`
	Sound      volumeShape      `json:"without_insolvent"`
	Merchants  []merchantVolume `json:"merchants"`
	Thresholds *thresholdsShape `json:"thresholds"` // null: none
}

// ShowRatios gives the shape of dispute ratios, to be encoded as JSON.
func ShowRatios(r report.RatioReport) ratioReport {
	var t dispute.Thresholds
	shape := ratioReport{Period: r.Period.Name(), AsOf: r.AsOf}
	if r.Thresholds != nil {
		t = *r.Thresholds
		shape.Thresholds = &thresholdsShape{t.From, t.Acquirer, t.Merchant, t.Least}
	}
	shape.All, shape.Sound = showVolume(r.All, t.OfSite(r.All)), showVolume(r.Sound, t.OfSite(r.Sound))
	shape.Merchants = view.Each(r.Merchants, func(m report.MerchantVolume) merchantVolume {
		return merchantVolume{m.ChannelID, m.Merchant, m.Insolvent, showVolume(m.Volume, t.OfMerchant(m.Volume))}
	})
	return shape
}
