package input

import (
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/terms"
)

// OtherProtection reads what else protects the traveller. null and an empty text let the booking follow its channel.
func (in *Input) OtherProtection() *merchant.OtherProtection {
	value, given := in.Fields["other_protection"]
	if given && value == nil {
		return new(merchant.OtherProtection)
	}
	return Word[merchant.OtherProtection](in, "other_protection")
}

// Pax reads the number of travellers. null and an empty text remove it.
func (in *Input) Pax() *int64 {
	value, given := in.Fields["pax"]
	if given && (value == nil || value == "") {
		none := int64(booking.NoPax)
		return &none
	}
	return in.Integer("pax")
}

// RateCard reads the lines of a rate card. It is nil when the field is absent.
func (in *Input) RateCard(name string) *terms.RateCard {
	items := in.Items(name)
	if items == nil {
		return nil
	}
	card := make(terms.RateCard, len(*items))
	for i, item := range *items {
		item.need("lead_from", "ppm")
		card[i] = terms.RateLine{
			ChannelID: valueOr(item.Integer("channel"), 0), From: valueOr(item.Integer("lead_from"), 0),
			To: valueOr(item.Integer("lead_to"), terms.NoEnd), PPM: valueOr(item.Integer("ppm"), 0),
		}
	}
	return &card
}

// TaxCodes reads the taxes of a policy. It is nil when the field is absent.
func (in *Input) TaxCodes(name string) *[]terms.TaxCode {
	items := in.Items(name)
	if items == nil {
		return nil
	}
	codes := make([]terms.TaxCode, len(*items))
	for i, item := range *items {
		item.need("rate_ppm")
		codes[i] = terms.TaxCode{
			Code: item.TextOr("code"), RatePPM: valueOr(item.Integer("rate_ppm"), 0), Label: item.TextOr("label"),
		}
	}
	return &codes
}

func valueOr[T any](given *T, absent T) T {
	if given == nil {
		return absent
	}
	return *given
}

// Reason reads the reason of a proposal or of a decision. The other person and the audit see it.
func (in *Input) Reason() string {
	text := in.TextOr("reason")
	check.Note(in.Problems, "reason", text)
	return text
}

// Party reads the fields of a party of statements, whose names begin with a prefix.
func (in *Input) Party(prefix string) merchant.PartyFields {
	return merchant.PartyFields{
		Name: in.Text(prefix + "name"), Address: in.Text(prefix + "address"), TaxNumber: in.Text(prefix + "tax_number"),
		BankDetails: in.Text(prefix + "bank_details"),
	}
}

// Parts reads how a payment is divided among bookings. It is nil if the field is absent or is not a list of objects.
// Absent or invalid values in an item are zero.
func (in *Input) Parts(name string) *[]payment.Item {
	given := in.Items(name)
	if given == nil {
		return nil
	}
	parts := []payment.Item{}
	for _, item := range *given {
		item.need("id", "currencies", "total")
		parts = append(parts, payment.Item{
			BookingID: valueOr(item.Integer("id"), 0), Currency: valueOr(item.Currency("currencies"), ""),
			Total: valueOr(item.Integer("total"), 0),
		})
	}
	return &parts
}
