package reports

import (
	"holdfast/internal/api/view"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
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
		shapes = append(shapes, insolvencyEvent{h.ID, h.Step(), h.State, h.By, h.Reason, civil.FormatInstant(h.At)})
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
