package paper

import (
	"encoding/csv"
	"io"
	"iter"
	"strconv"
	"strings"

	"holdfast/internal/book/claims"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/lib/tabular"

	"github.com/xuri/excelize/v2"
)

// affectedColumns are the columns of affected payments in files, by the API's names.
var affectedColumns = []string{
	"payment", "transaction", "booking", "travelling", "booking_reference", "firstname", "surname", "email", "language", "date_start", "date",
	"countries", "suppliers", "other_protection", "reference", "paid_at", "psp", "scheme", "bin_number", "last_four_digits", "auth_code",
	"acquirer_reference", "processor_reference", "currencies", "total", "payment_currencies", "payment_total", "policy_currency", "value",
	"remaining", "undelivered", "last_day_of_dispute", "eligible", "reason",
}

// affectedCells gives the cells of an affected payment, in the order of affectedColumns. Amounts are in major units.
func affectedCells(a insolvencies.Affected) []string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	yes := map[bool]string{true: "yes", false: "no"}
	start, value := "", ""
	if a.Start != civil.NoDay {
		start = a.Start.String()
	}
	if a.Value != 0 {
		value = money.FormatPlain(a.Value, a.PolicyCurrency)
	}
	cells := []string{
		number(a.AllocationID), number(a.TransactionID), number(a.BookingID), yes[a.Travelling], a.BookingReference, a.Firstname, a.Surname,
		a.Email, a.Language, start, a.End.String(), a.Country, strings.Join(a.Suppliers, "; "), string(a.OtherProtection), a.Reference,
		civil.FormatInstant(a.PaidAt), a.PSP, string(a.Scheme), a.BIN, a.LastFour, a.AuthCode, a.AcquirerReference, a.ProcessorReference,
		string(a.Currency), money.FormatPlain(a.Total, a.Currency), string(a.PaymentCurrency),
		money.FormatPlain(a.PaymentTotal, a.PaymentCurrency), string(a.PolicyCurrency), value, money.FormatPlain(a.Remaining, a.Currency),
		money.FormatPlain(a.Undelivered, a.Currency), a.LastDay.String(), yes[a.Eligible()], string(a.Ineligible),
	}
	for i, cell := range cells {
		cells[i] = tabular.PlainCell(cell)
	}
	return cells
}

// WriteAffectedCSV writes affected payments as CSV, as they are read.
func WriteAffectedCSV(w io.Writer, rows iter.Seq2[insolvencies.Affected, error]) error {
	out := csv.NewWriter(w)
	_ = out.Write(affectedColumns) // the writer remembers its first error
	for row, err := range rows {
		if err != nil {
			return err
		}
		_ = out.Write(affectedCells(row))
	}
	out.Flush()
	return out.Error()
}

// WriteAffectedXLSX writes affected payments as a workbook with one sheet.
func WriteAffectedXLSX(w io.Writer, rows iter.Seq2[insolvencies.Affected, error]) error {
	return writeXLSX(w, affectedColumns, func(yield func([]string, error) bool) {
		for row, err := range rows {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(affectedCells(row), nil) {
				return
			}
		}
	})
}

// WriteClaimsXLSX writes a claims bordereau as a workbook with one sheet.
func WriteClaimsXLSX(w io.Writer, b claims.Bordereau) error {
	return writeXLSX(w, claims.BordereauColumns, func(yield func([]string, error) bool) {
		for _, row := range b.Rows {
			if !yield(b.Cells(row), nil) {
				return
			}
		}
	})
}

// writeXLSX writes rows as a workbook with one sheet. All cells are text, so that no program shortens a reference.
func writeXLSX(w io.Writer, columns []string, rows iter.Seq2[[]string, error]) error {
	book := excelize.NewFile()
	defer book.Close()
	sheet, err := book.NewStreamWriter(book.GetSheetName(0))
	if err != nil {
		return err
	}
	line := 0
	write := func(cells []string) error {
		line++
		values := make([]any, len(cells))
		for i, cell := range cells {
			values[i] = cell
		}
		at, err := excelize.CoordinatesToCellName(1, line)
		if err != nil {
			return err
		}
		return sheet.SetRow(at, values)
	}
	if err := write(columns); err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := write(row); err != nil {
			return err
		}
	}
	if err := sheet.Flush(); err != nil {
		return err
	}
	_, err = book.WriteTo(w)
	return err
}
