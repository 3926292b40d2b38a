package api

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
)

// bordereauRowShape is a row of the premium bordereau, with the columns that underwriters expect. Amounts are decimal
// texts.
type bordereauRowShape struct {
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

var bordereauColumns = []string{
	"as_of", "known_at", "certificate", "insured", "merchant", "inception", "expiry", "country_of_risk", "transaction_type", "booked", "effective",
	"original_currency", "sum_insured", "settlement_currency", "sum_insured_settlement", "rate_of_exchange",
	"original_per_eur", "settlement_per_eur", "gross", "tax", "net", "contract_reference", "year_of_account",
}

func showBordereauRow(b reports.Bordereau, r reports.BordereauRow) bordereauRowShape {
	return bordereauRowShape{
		Certificate: certificate(r), Insured: b.Insured, Merchant: r.Merchant, Inception: civil.DayOf(r.Inception), Expiry: r.Expiry,
		CountryOfRisk: r.Country, TransactionType: r.Kind, Booked: civil.DayOf(r.RecordedAt),
		Effective: civil.DayOf(r.EffectiveAt), OriginalCurrency: r.Original,
		SumInsured:         money.FormatPlain(r.BordereauLine.Insured, r.Original),
		SettlementCurrency: r.Settlement, SettlementInsured: money.FormatPlain(r.InsuredValue, r.Settlement),
		RateOfExchange: r.Exchange.String(), OriginalPerEuro: r.Exchange.FromRate.String(), SettlementPerEuro: r.Exchange.ToRate.String(),
		Gross: money.FormatPlain(r.Gross(), r.Settlement), Tax: money.FormatPlain(r.Tax, r.Settlement),
		Net: money.FormatPlain(r.Amount, r.Settlement),
	}
}

// certificate is the name of what a row covers: a payment record. The row of a minimum premium is named after its
// statement.
func certificate(r reports.BordereauRow) string {
	if r.StatementNumber != 0 {
		return fmt.Sprintf("%d-statement-%d", r.SiteID, r.StatementNumber)
	}
	return fmt.Sprintf("%d-%d-%d", r.SiteID, r.TransactionID, r.AllocationID)
}

func (r bordereauRowShape) cells() []string {
	return []string{
		r.Certificate, travel.PlainCell(r.Insured), travel.PlainCell(r.Merchant), r.Inception.String(), r.Expiry.String(), r.CountryOfRisk,
		r.TransactionType, r.Booked.String(), r.Effective.String(), string(r.OriginalCurrency), r.SumInsured,
		string(r.SettlementCurrency), r.SettlementInsured, r.RateOfExchange, r.OriginalPerEuro, r.SettlementPerEuro, r.Gross,
		r.Tax, r.Net,
	}
}

// WriteBordereauCSV writes a bordereau as CSV, row by row as it is read. Amounts are in major units. The first two columns
// say for which day it is, and what was known.
func WriteBordereauCSV(w io.Writer, b reports.Bordereau) error {
	out := csv.NewWriter(w)
	// The writer remembers its first error, which is returned at the end.
	_ = out.Write(bordereauColumns)
	moment := []string{b.AsOf.String(), civil.FormatInstant(b.KnownAt)}
	contract := []string{travel.PlainCell(b.Contract.Reference), yearOf(b.Contract)}
	for row, err := range b.Rows {
		if err != nil {
			return err
		}
		_ = out.Write(slices.Concat(moment, showBordereauRow(b, row).cells(), contract))
	}
	out.Flush()
	return out.Error()
}

// yearOf is the year of account, or nothing.
func yearOf(c travel.Contract) string {
	if c.Year == 0 {
		return ""
	}
	return strconv.FormatInt(c.Year, 10)
}

// contractShape is what a bordereau says of its contract.
type contractShape struct {
	Reference  string `json:"reference"`
	Year       *int64 `json:"year_of_account"`
	Commission int64  `json:"commission_ppm"`
}

// showContract is null where there is none.
func showContract(c travel.Contract) *contractShape {
	if c.ID == 0 {
		return nil
	}
	shape := &contractShape{Reference: c.Reference, Commission: c.CommissionPPM}
	if c.Year != 0 {
		shape.Year = &c.Year
	}
	return shape
}

// bordereauTotal is the sum of the rows of one settlement currency.
type bordereauTotal struct {
	Currency money.Currency `json:"settlement_currency"`
	Rows     int64          `json:"rows"`
	Gross    string         `json:"gross"`
	Tax      string         `json:"tax"`
	Net      string         `json:"net"`
	// Of the net premium, by the contract, rounded once; and what is due to the underwriter after it.
	Commission string `json:"commission"`
	Due        string `json:"due"`
}

// WriteBordereauJSON writes a bordereau as JSON, row by row as it is read, with the totals after the rows.
func WriteBordereauJSON(w io.Writer, b reports.Bordereau) error {
	head, err := json.Marshal(struct {
		Period  string    `json:"period"`
		AsOf    civil.Day `json:"as_of"`
		KnownAt string    `json:"known_at"`
		Final   bool      `json:"final"`

		Contract *contractShape `json:"contract"`
	}{b.Period.Name(), b.AsOf, b.KnownAt.UTC().Format(isoMicros), b.Final, showContract(b.Contract)})
	if err != nil {
		return err
	}
	out := &failing{w: w}
	out.print(strings.TrimSuffix(string(head), "}") + `,"rows":[`)
	rows := map[money.Currency]int64{}
	sums := map[money.Currency]*[2]big.Int{} // tax, net
	separator := "\n"
	for row, err := range b.Rows {
		if err != nil {
			return err
		}
		text, err := json.Marshal(showBordereauRow(b, row))
		if err != nil {
			return err
		}
		out.print(separator + string(text))
		separator = ",\n"
		if sums[row.Settlement] == nil {
			sums[row.Settlement] = &[2]big.Int{}
		}
		rows[row.Settlement]++
		for i, amount := range []int64{row.Tax, row.Amount} {
			sum := &sums[row.Settlement][i]
			sum.Add(sum, big.NewInt(amount))
		}
	}
	totals := []bordereauTotal{}
	for _, c := range slices.Sorted(maps.Keys(rows)) {
		one := big.NewInt(1)
		tax, err := money.Round(&sums[c][0], one)
		net, err2 := money.Round(&sums[c][1], one)
		gross, err3 := money.Round(sums[c][0].Add(&sums[c][0], &sums[c][1]), one)
		commission, err4 := b.Commission(net)
		if err := errors.Join(err, err2, err3, err4); err != nil {
			return fmt.Errorf("the total in %s: %w", c, err)
		}
		totals = append(totals, bordereauTotal{
			c, rows[c], money.FormatPlain(gross, c), money.FormatPlain(tax, c), money.FormatPlain(net, c),
			money.FormatPlain(commission, c), money.FormatPlain(gross-commission, c),
		})
	}
	text, err := json.Marshal(totals)
	if err != nil {
		return err
	}
	out.print("],\n" + `"totals":` + string(text) + "}\n")
	return out.err
}

// failing remembers the first error of a writer.
type failing struct {
	w   io.Writer
	err error
}

func (f *failing) print(text string) {
	if f.err == nil {
		_, f.err = io.WriteString(f.w, text)
	}
}

func (s *server) getPremiumBordereau(c *call) error {
	q := c.query()
	in := reports.BordereauQuery{Month: q.text("period")}
	if at := q.instant("known_at"); at != nil {
		in.KnownAt = *at
	}
	format := q.one("format", "", []string{"json", "csv"})
	if format == "" && strings.HasPrefix(c.r.Header.Get("Accept"), "text/csv") {
		format = "csv"
	}
	in.Problems = q.problems
	report, err := s.app.Bordereaux.Premium(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	if format == "csv" {
		c.beginFile("text/csv; charset=utf-8", "premium-"+report.Period.Name()+".csv")
		return c.finishFile(s, WriteBordereauCSV(c, report))
	}
	c.Header().Set("Content-Type", "application/json; charset=utf-8")
	return c.finishFile(s, WriteBordereauJSON(c, report))
}
