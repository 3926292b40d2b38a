package paper

import (
	"encoding/csv"
	"io"
	"iter"
	"strconv"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/lib/tabular"
)

var columns = []string{
	"as_of", "statement", "row", "id", "date", "kind", "cause", "transaction", "booking", "booking_reference", "original_currency",
	"original_amount", "rate_of_exchange", "value", "lead_days", "rate_ppm", "currency", "amount", "retained", "refers_to",
}

// chargeNames are the names of premium lines in the column "row", by audience.
var chargeNames = map[Label]string{Policyholder: "premium", Merchant: "security_charge"}

// WriteCSV writes a statement as CSV: opening, a row per line, minimum, taxes, payments. Their sum is the closing balance in
// the last row. Amounts are in major units. As of is the last day of the period: all figures are as of its end, and a
// statement never changes.
func WriteCSV(
	w io.Writer, s protection.Statement, label Label, lines iter.Seq2[protection.StatementLine, error],
) error {
	out := csv.NewWriter(w)
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	asOf, statement := s.Period.Last.String(), number(s.Number)
	sum := func(row, kind string, amount int64) error {
		cells := make([]string, len(columns))
		cells[0], cells[1], cells[2], cells[5] = asOf, statement, row, tabular.PlainCell(kind)
		cells[16], cells[17] = string(s.Currency), money.FormatPlain(amount, s.Currency)
		return out.Write(cells)
	}
	// The writer keeps its first error, which is returned at the end.
	_ = out.Write(columns)
	_ = sum("opening", "", s.Opening)
	for l, err := range lines {
		if err != nil {
			return err
		}
		refers := ""
		if l.RefersTo != 0 {
			refers = number(l.RefersTo)
		}
		_ = out.Write([]string{
			asOf, statement, chargeNames[label], number(l.ID), civil.DayOf(l.RecordedAt).String(), l.Kind, l.Cause,
			number(l.TransactionID), number(l.BookingID), tabular.PlainCell(l.BookingReference), string(l.Currency),
			money.FormatPlain(l.StateAmount, l.Currency), l.Exchange.String(), money.FormatPlain(l.StateValue, s.Currency),
			number(l.LeadDays), number(l.PPM), string(s.Currency), money.FormatPlain(l.Amount, s.Currency),
			money.FormatPlain(l.Retained, s.Currency), refers,
		})
	}
	if s.Minimum != nil {
		_ = sum("minimum", s.Minimum.Month, s.Minimum.Amount)
	}
	for _, t := range s.Taxes {
		_ = sum("tax", t.Code, t.Amount)
	}
	_ = sum("payments", "", -s.Payments)
	_ = sum("closing", "", s.Closing)
	out.Flush()
	return out.Error()
}
