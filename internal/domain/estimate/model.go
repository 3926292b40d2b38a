// Package estimate computes what an acquirer has to assume when it sees turnover but no bookings, to compare with the
// known exposure, and the outcomes of each month's payments. It consists of pure functions over plain values. Start at
// Model.
package estimate

import (
	"bytes"
	"cmp"
	_ "embed" // for the bands that ship with the program
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
)

//go:embed bands.json
var shippedBands []byte

// Band is a share of the card turnover, in parts per million, and the number of days from payment to travel. An
// acquirer that does not see bookings has to assume such figures.
type Band struct {
	Days     int   `json:"days"`
	SharePPM int64 `json:"share_ppm"`
}

// Bands estimate an exposure from turnover alone: for each band, its share times the turnover of its last days, added
// up.
type Bands []Band

// Limits of bands.
const (
	maxBands    = 40
	maxBandDays = 3650
	million     = 1_000_000
)

// ShippedBands are the bands that are used when none are given. They are an example and not advice.
func ShippedBands() Bands {
	bands, err := readBands(shippedBands)
	if err != nil { // not reached: the file is part of the program, and a test reads it
		panic(err)
	}
	return bands
}

func readBands(data []byte) (Bands, error) {
	var bands Bands
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&bands); err != nil {
		return nil, fmt.Errorf("bands: %w", err)
	}
	return bands, bands.Check()
}

// ParseBands reads bands from a text such as "30:400000,90:600000": days and parts per million. The error describes the
// problem.
func ParseBands(text string) (Bands, error) {
	var bands Bands
	for part := range strings.SplitSeq(text, ",") {
		var b Band
		var rest string
		if n, _ := fmt.Sscanf(strings.TrimSpace(part)+" end", "%d:%d %s", &b.Days, &b.SharePPM, &rest); n != 3 || rest != "end" {
			return nil, errors.New("use comma-separated pairs of days and millionths. 30:400000,90:600000 takes 40 % of the turnover of the " +
				"last 30 days and 60 % of that of the last 90")
		}
		bands = append(bands, b)
	}
	return bands, bands.Check()
}

// Check returns an error that describes the problem with the bands, or nil.
func (bs Bands) Check() error {
	if len(bs) == 0 || len(bs) > maxBands {
		return fmt.Errorf("the number of bands must be from 1 to %d", maxBands)
	}
	var sum int64
	for i, b := range bs {
		switch {
		case b.Days < 1 || b.Days > maxBandDays:
			return fmt.Errorf("the days of a band must be from 1 to %d", maxBandDays)
		case i > 0 && b.Days <= bs[i-1].Days:
			return errors.New("each band must have more days than the one before it")
		case b.SharePPM < 1 || b.SharePPM > million:
			return errors.New("the share of a band must be from 1 to 1000000 millionths")
		}
		sum += b.SharePPM
	}
	if sum > million {
		return errors.New("the shares add up to more than 1000000 millionths")
	}
	return nil
}

// FirstDay is the first day whose turnover the bands need, for an estimate at the end of a day. It is the
// first of a month.
func (bs Bands) FirstDay(day civil.Day) civil.Day {
	return firstOfMonth(day - civil.Day(bs[len(bs)-1].Days) + 1)
}

// Turnover is the card payments of a channel less its refunds, in minor units of Currency.
type Turnover struct {
	ChannelID int64
	Currency  money.Currency
	Day       civil.Day // of one payment, or any day of the month of a sum
	Amount    int64
}

// Months is the turnover of a channel by month. The key is the first day of the month.
type Months map[civil.Day]int64

// Trailing is T(d): the turnover of a number of days up to the end of a day. An acquirer knows the turnover by month,
// so a part of the oldest month counts by its share of the days. The present month has the days that have passed.
func (m Months) Trailing(day civil.Day, days int) *big.Rat {
	sum := new(big.Rat)
	first := day - civil.Day(days) + 1
	for begin := firstOfMonth(day); ; begin = firstOfMonth(begin - 1) {
		end := min(day, firstOfMonth(begin+31)-1)
		part := big.NewRat(int64(end-max(begin, first)+1), int64(end-begin+1))
		sum.Add(sum, part.Mul(part, new(big.Rat).SetInt64(m[begin])))
		if begin <= first {
			return sum
		}
	}
}

// Estimate is the exposure at the end of a day that the bands compute from a turnover, in minor units and not
// rounded.
func (bs Bands) Estimate(m Months, day civil.Day) *big.Rat {
	sum := new(big.Rat)
	for _, b := range bs {
		share := big.NewRat(b.SharePPM, million)
		sum.Add(sum, share.Mul(share, m.Trailing(day, b.Days)))
	}
	return sum
}

// firstOfMonth is the first day of a day's month.
func firstOfMonth(d civil.Day) civil.Day {
	year, month, _ := d.Start().Date()
	return civil.Date(year, month, 1)
}

// ModelRow compares the estimate for a channel with its exposure.
type ModelRow struct {
	ChannelID      int64
	Currency       money.Currency
	Estimate       int64 // minor units of Currency
	E1             int64
	Valued         bool  // false when a fixing is missing
	EstimateReport int64 // in the report currency
	E1Report       int64
}

// ModelReport compares estimates with exposure, by channel and in total.
type ModelReport struct {
	Query    exposure.ReportQuery
	Bands    Bands
	Rows     []ModelRow
	Estimate int64 // of all rows, in the report currency
	E1       int64
	// A gap says that a total is not known, because a row that is part of it has no value.
	EstimateGap bool
	E1Gap       bool
}

// Model makes the report from the turnover and from the exposure by channel in a spot valuation. The error is
// money.ErrRange.
func Model(actual exposure.Report, turnover []Turnover, bands Bands, rates *fx.Table) (ModelReport, error) {
	type key struct {
		channel  int64
		currency money.Currency
	}
	months := map[key]Months{}
	rows := map[key]ModelRow{}
	for _, t := range turnover {
		k := key{t.ChannelID, t.Currency}
		if months[k] == nil {
			months[k] = Months{}
		}
		months[k][firstOfMonth(t.Day)] = money.Sum(months[k][firstOfMonth(t.Day)], t.Amount)
		rows[k] = ModelRow{ChannelID: k.channel, Currency: k.currency}
	}
	for _, r := range actual.Rows {
		k := key{r.Key.ChannelID, r.Currency}
		row := rows[k]
		row.ChannelID, row.Currency, row.E1 = k.channel, k.currency, row.E1+r.E1
		rows[k] = row
	}
	q := actual.Query
	report := ModelReport{Query: q, Bands: bands}
	for k, row := range rows {
		if err := row.value(bands.Estimate(months[k], q.AsOf), rates, q); err != nil {
			return ModelReport{}, err
		}
		rows[k] = row
	}
	for _, k := range slices.SortedFunc(maps.Keys(rows), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.channel, b.channel), cmp.Compare(a.currency, b.currency))
	}) {
		report.Rows = append(report.Rows, rows[k])
		report.Estimate = money.Sum(report.Estimate, rows[k].EstimateReport)
		report.E1 = money.Sum(report.E1, rows[k].E1Report)
		report.EstimateGap = report.EstimateGap || !rows[k].Valued && rows[k].Estimate != 0
		report.E1Gap = report.E1Gap || !rows[k].Valued && rows[k].E1 != 0
	}
	return report, nil
}

// value rounds the estimate in the currency of the row. It converts the exact estimate to the report currency, where it
// is also rounded once.
func (r *ModelRow) value(estimate *big.Rat, rates *fx.Table, q exposure.ReportQuery) (err error) {
	if r.Estimate, err = money.Round(estimate.Num(), estimate.Denom()); err != nil {
		return err
	}
	quote, ok := fx.Spot(rates, r.Currency, q.Currency, q.AsOf, q.KnownAt)
	if !ok {
		return nil
	}
	r.Valued = true
	if r.E1Report, err = quote.Convert(r.E1); err != nil {
		return err
	}
	exact := new(big.Rat).Set(estimate)
	if quote.From != quote.To {
		exact.Mul(exact, new(big.Rat).Quo(quote.ToLeg.Rate.Rat(), quote.FromLeg.Rate.Rat()))
		exact.Mul(exact, powerOfTen(quote.To.Exponent()-quote.From.Exponent()))
	}
	r.EstimateReport, err = money.Round(exact.Num(), exact.Denom())
	return err
}

// powerOfTen is 10^n, for any n.
func powerOfTen(n int) *big.Rat {
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n, -n))), nil))
	if n < 0 {
		power.Inv(power)
	}
	return power
}
