package reports

import (
	"holdfast/internal/api/view"
	"holdfast/internal/book/claims"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
)

// representmentShape is a dispute with the evidence on record in answers.
type representmentShape struct {
	Grounds       []claims.Ground          `json:"grounds"`
	Dispute       disputeShape             `json:"dispute"`
	Claims        []representedClaimShape  `json:"claims"`
	Payment       representedPaymentShape  `json:"payment"`
	Bookings      []representedBookingItem `json:"bookings"`
	Refunds       []representedRefundShape `json:"refunds"`
	OtherDisputes []disputeShape           `json:"other_disputes"`
	Evidence      []evidenceShape          `json:"evidence"`
	At            string                   `json:"at"`
}

// representedClaimShape is a claim made from the dispute.
type representedClaimShape struct {
	ID         int64          `json:"id"`
	Currencies money.Currency `json:"currencies"`
	Disputed   int64          `json:"disputed"`
	Payable    int64          `json:"payable"`
	Represent  int64          `json:"represent"`
	Reason     *claim.Reason  `json:"reason"`
}

// representedPaymentShape is the disputed payment.
type representedPaymentShape struct {
	TransactionID      int64          `json:"transaction_id"`
	Channels           int64          `json:"channels"`
	Total              int64          `json:"total"`
	Currencies         money.Currency `json:"currencies"`
	EffectiveAt        string         `json:"effective_at"`
	Schemes            *string        `json:"schemes"`
	AuthCode           *string        `json:"auth_code"`
	BINNumber          *string        `json:"bin_number"`
	LastFourDigits     *string        `json:"last_four_digits"`
	Reference          *string        `json:"reference"`
	ProcessorReference *string        `json:"processor_reference"`
	AcquirerReference  *string        `json:"acquirer_reference"`
}

// representedBookingItem is a booking of the payment.
type representedBookingItem struct {
	Booking      int64      `json:"booking"`
	Reference    *string    `json:"reference"`
	Firstname    string     `json:"firstname"`
	Surname      string     `json:"surname"`
	DateStart    civil.Day  `json:"date_start"`
	Date         civil.Day  `json:"date"`
	Days         int64      `json:"days"`
	DaysProvided int64      `json:"days_provided"`
	ProvidedBy   civil.Day  `json:"provided_by"`
	LastDay      civil.Day  `json:"last_day"`
	DisputedOn   civil.Day  `json:"disputed_on"`
	DaysLate     int64      `json:"days_late"`
	Note         *noteShape `json:"traveller_note"`
}

// representedRefundShape is a refund of the payment.
type representedRefundShape struct {
	TransactionID      int64          `json:"transaction_id"`
	Total              int64          `json:"total"`
	Currencies         money.Currency `json:"currencies"`
	EffectiveAt        string         `json:"effective_at"`
	Reference          *string        `json:"reference"`
	ProcessorReference *string        `json:"processor_reference"`
	AcquirerReference  *string        `json:"acquirer_reference"`
}

// ShowRepresentment gives the shape of a representment, to be encoded as JSON.
func ShowRepresentment(r claims.Representment) representmentShape {
	t := r.Payment
	shape := representmentShape{
		Grounds: append([]claims.Ground{}, r.Grounds()...), Dispute: ShowDispute(r.Dispute), Claims: []representedClaimShape{},
		Payment: representedPaymentShape{
			t.ID, t.ChannelID, t.Total, t.Currency, civil.FormatInstant(t.EffectiveAt), view.OrNull(t.CardType), view.OrNull(t.AuthCode),
			view.OrNull(t.BIN), view.OrNull(t.LastFour), view.OrNull(t.Reference), view.OrNull(t.ProcessorReference), view.OrNull(t.AcquirerReference),
		},
		Bookings: []representedBookingItem{}, Refunds: []representedRefundShape{}, OtherDisputes: []disputeShape{}, Evidence: []evidenceShape{},
		At: civil.FormatInstant(r.At),
	}
	for _, c := range r.Claims {
		shape.Claims = append(shape.Claims, representedClaimShape{c.ID, c.Currency, c.Disputed, c.Payable, c.Represent, view.OrNull(c.Reason)})
	}
	for _, b := range r.Bookings {
		item := representedBookingItem{
			b.ID, view.OrNull(b.Reference), b.Firstname, b.Surname, b.Service.Start, b.Service.End, b.Service.Days, b.Service.Provided,
			b.Service.By, b.LastDay, b.Disputed, b.DaysLate, nil,
		}
		if !b.Note.At.IsZero() {
			item.Note = showNote(b.Note)
		}
		shape.Bookings = append(shape.Bookings, item)
	}
	for _, refund := range r.Refunds {
		shape.Refunds = append(shape.Refunds, representedRefundShape{
			refund.ID, refund.Total, refund.Currency, civil.FormatInstant(refund.EffectiveAt), view.OrNull(refund.Reference),
			view.OrNull(refund.ProcessorReference), view.OrNull(refund.AcquirerReference),
		})
	}
	for _, c := range r.Others {
		shape.OtherDisputes = append(shape.OtherDisputes, ShowDispute(c))
	}
	for _, e := range r.Evidence {
		shape.Evidence = append(shape.Evidence, ShowEvidence(e))
	}
	return shape
}

// claimSumsShape are the sums of claims in one currency in answers.
type claimSumsShape struct {
	Currencies money.Currency `json:"currencies"`
	Claims     int64          `json:"claims"`
	Disputed   int64          `json:"disputed"`
	Payable    int64          `json:"payable"`
	Represent  int64          `json:"represent"`
}

// ShowClaimSums gives the shape of sums, to be encoded as JSON.
func ShowClaimSums(s claims.Sums) claimSumsShape {
	return claimSumsShape{s.Currency, s.Claims, s.Disputed, s.Payable, s.Represent}
}
