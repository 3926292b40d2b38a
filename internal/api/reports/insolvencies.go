package reports

import (
	"encoding/csv"
	"io"
	"iter"
	"strconv"
	"strings"

	"holdfast/internal/api/view"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/lib/csvcell"

	"github.com/xuri/excelize/v2"
)

// insolvencyEvent is a step in the history of an insolvency in answers.
type insolvencyEvent struct {
	ID     int64              `json:"id"`
	Action string             `json:"action"`
	State  insolvencies.State `json:"state"`
	By     string             `json:"by"`
	Reason string             `json:"reason"`
	At     string             `json:"at"`
}

// ShowInsolvencyHistory gives the shapes of the history of an insolvency, to be encoded as JSON.
func ShowInsolvencyHistory(list []insolvencies.Happened) []insolvencyEvent {
	shapes := []insolvencyEvent{}
	for _, h := range list {
		action := strings.TrimPrefix(h.Action, "insolvency.")
		shapes = append(shapes, insolvencyEvent{h.ID, action, h.State, h.By, h.Reason, civil.FormatInstant(h.At)})
	}
	return shapes
}

// affectedShape is a payment in the snapshot of an insolvency in answers. Amounts are in minor units.
type affectedShape struct {
	ID                 int64                    `json:"id"`
	Payment            int64                    `json:"payment"` // id of the payment record
	Transaction        int64                    `json:"transaction"`
	Booking            int64                    `json:"booking"`
	Travelling         bool                     `json:"travelling"`
	BookingReference   string                   `json:"booking_reference"`
	Firstname          string                   `json:"firstname"`
	Surname            string                   `json:"surname"`
	Email              string                   `json:"email"`
	Language           string                   `json:"language"`
	DateStart          *civil.Day               `json:"date_start"`
	Date               civil.Day                `json:"date"`
	Countries          string                   `json:"countries"`
	Suppliers          []string                 `json:"suppliers"`
	OtherProtection    merchant.OtherProtection `json:"other_protection"`
	Reference          string                   `json:"reference"`
	PaidAt             string                   `json:"paid_at"`
	PSP                string                   `json:"psp"`
	Scheme             card.Scheme              `json:"scheme"`
	BINNumber          *string                  `json:"bin_number"`
	LastFourDigits     *string                  `json:"last_four_digits"`
	AuthCode           *string                  `json:"auth_code"`
	AcquirerReference  *string                  `json:"acquirer_reference"`
	ProcessorReference *string                  `json:"processor_reference"`
	Currencies         money.Currency           `json:"currencies"`
	Total              int64                    `json:"total"`
	PaymentCurrencies  money.Currency           `json:"payment_currencies"`
	PaymentTotal       int64                    `json:"payment_total"`
	PolicyCurrency     money.Currency           `json:"policy_currency"`
	Value              *int64                   `json:"value"` // null while pending_rate
	Remaining          int64                    `json:"remaining"`
	Undelivered        int64                    `json:"undelivered"`
	LastDay            civil.Day                `json:"last_day_of_dispute"`
	Eligible           bool                     `json:"eligible"`
	Reason             *claim.Reason            `json:"reason"` // why not
}

// ShowAffected gives the shape of an affected payment, to be encoded as JSON.
func ShowAffected(a insolvencies.Affected) affectedShape {
	shape := affectedShape{
		ID: a.ID, Payment: a.AllocationID, Transaction: a.TransactionID, Booking: a.BookingID, Travelling: a.Travelling,
		BookingReference: a.BookingReference, Firstname: a.Firstname, Surname: a.Surname, Email: a.Email, Language: a.Language,
		Date: a.End, Countries: a.Country, Suppliers: append([]string{}, a.Suppliers...), OtherProtection: a.OtherProtection,
		Reference: a.Reference, PaidAt: civil.FormatInstant(a.PaidAt), PSP: a.PSP, Scheme: a.Scheme, BINNumber: view.OrNull(a.BIN),
		LastFourDigits: view.OrNull(a.LastFour), AuthCode: view.OrNull(a.AuthCode), AcquirerReference: view.OrNull(a.AcquirerReference),
		ProcessorReference: view.OrNull(a.ProcessorReference), Currencies: a.Currency, Total: a.Total,
		PaymentCurrencies: a.PaymentCurrency, PaymentTotal: a.PaymentTotal, PolicyCurrency: a.PolicyCurrency, Value: view.OrNull(a.Value),
		Remaining: a.Remaining, Undelivered: a.Undelivered, LastDay: a.LastDay, Eligible: a.Eligible(), Reason: view.OrNull(a.Ineligible),
	}
	if a.Start != civil.NoDay {
		shape.DateStart = &a.Start
	}
	return shape
}

// affectedColumns are the columns of affected payments in files.
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
		cells[i] = csvcell.PlainCell(cell)
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

// WriteAffectedXLSX writes affected payments as a workbook with one sheet. All cells are text, so that no program shortens a
// reference.
func WriteAffectedXLSX(w io.Writer, rows iter.Seq2[insolvencies.Affected, error]) error {
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
	if err := write(affectedColumns); err != nil {
		return err
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := write(affectedCells(row)); err != nil {
			return err
		}
	}
	if err := sheet.Flush(); err != nil {
		return err
	}
	_, err = book.WriteTo(w)
	return err
}
