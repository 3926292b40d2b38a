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
	"strings"

	"holdfast/internal/api/input"
	"holdfast/internal/api/reports"
	"holdfast/internal/api/view"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/lib/tabular"
	"holdfast/internal/report"
)

func showBordereauRow(b report.Bordereau, r report.BordereauRow) reports.BordereauRow {
	return reports.BordereauRow{
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
func certificate(r report.BordereauRow) string {
	if r.StatementNumber != 0 {
		return fmt.Sprintf("%d-statement-%d", r.SiteID, r.StatementNumber)
	}
	return fmt.Sprintf("%d-%d-%d", r.SiteID, r.TransactionID, r.AllocationID)
}

// WriteBordereauCSV writes a bordereau as CSV, row by row as it is read. Amounts are in major units. The first two
// columns are as_of and known_at.
func WriteBordereauCSV(w io.Writer, b report.Bordereau) error {
	out := csv.NewWriter(w)
	// The writer remembers its first error, which is returned at the end.
	_ = out.Write(reports.BordereauColumns)
	moment := []string{b.AsOf.String(), civil.FormatInstant(b.KnownAt)}
	contract := []string{tabular.PlainCell(b.Contract.Reference), input.YearOf(b.Contract)}
	for row, err := range b.Rows {
		if err != nil {
			return err
		}
		_ = out.Write(slices.Concat(moment, showBordereauRow(b, row).Cells(), contract))
	}
	out.Flush()
	return out.Error()
}

// WriteBordereauJSON writes a bordereau as JSON, row by row as it is read, with the totals after the rows.
func WriteBordereauJSON(w io.Writer, b report.Bordereau) error {
	head, err := json.Marshal(struct {
		Period  string    `json:"period"`
		AsOf    civil.Day `json:"as_of"`
		KnownAt string    `json:"known_at"`
		Final   bool      `json:"final"`

		Contract *reports.Contract `json:"contract"`
	}{b.Period.Name(), b.AsOf, b.KnownAt.UTC().Format(view.ISOMicros), b.Final, reports.ShowBordereauContract(b.Contract)})
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
	totals := []reports.BordereauTotal{}
	for _, c := range slices.Sorted(maps.Keys(rows)) {
		one := big.NewInt(1)
		tax, err := money.Round(&sums[c][0], one)
		net, err2 := money.Round(&sums[c][1], one)
		gross, err3 := money.Round(sums[c][0].Add(&sums[c][0], &sums[c][1]), one)
		commission, err4 := b.Commission(net)
		if err := errors.Join(err, err2, err3, err4); err != nil {
			return fmt.Errorf("the total in %s: %w", c, err)
		}
		totals = append(totals, reports.BordereauTotal{
			Currency: c, Rows: rows[c], Gross: money.FormatPlain(gross, c), Tax: money.FormatPlain(tax, c), Net: money.FormatPlain(net, c),
			Commission: money.FormatPlain(commission, c), Due: money.FormatPlain(gross-commission, c),
		})
	}
	text, err := json.Marshal(totals)
	if err != nil {
		return err
	}
	out.print("],\n" + `"totals":` + string(text) + "}\n")
	return out.err
}

func (s *server) getPremiumBordereau(c *call) error {
	q := c.query()
	in := report.BordereauQuery{Month: q.Text("period")}
	if at := q.Instant("known_at"); at != nil {
		in.KnownAt = *at
	}
	format := q.One("format", "", []string{"json", "csv"})
	if format == "" && strings.HasPrefix(c.r.Header.Get("Accept"), "text/csv") {
		format = "csv"
	}
	in.Problems = q.Problems
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
