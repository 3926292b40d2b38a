package input

import "holdfast/internal/domain/payment"

// NewTransaction reads the fields of a transaction that a caller reports.
func NewTransaction(in *Input) payment.NewTransaction {
	n := payment.NewTransaction{
		ChannelID:          in.Integer("channels"),
		Currency:           in.Currency("currencies"),
		Total:              in.Integer("total"),
		Type:               Word[payment.TransactionType](in, "transaction_types"),
		Items:              in.Parts("bookings"),
		PSP:                in.TextOr("psp"),
		Method:             in.TextOr("payment_methods"),
		PayeeName:          in.TextOr("payee_name"),
		PayeeSurname:       in.TextOr("payee_surname"),
		PayeeEmail:         in.TextOr("payee_email"),
		Country:            in.TextOr("countries"),
		Reference:          in.TextOr("reference"),
		Token:              in.TextOr("token"),
		IPAddress:          in.TextOr("ip_address"),
		BIN:                in.TextOr("bin_number"),
		LastFour:           in.TextOr("last_four_digits"),
		CardType:           in.TextOr("card_types"),
		AuthCode:           in.TextOr("auth_code"),
		AcquirerReference:  in.TextOr("acquirer_reference"),
		ProcessorReference: in.TextOr("processor_reference"),
		RedirectURL:        in.TextOr("3ds_redirect_url"),
		Content:            in.TextOr("content"),
		ReasonCode:         in.TextOr("reason_code"),
		ChallengeDay:       in.Day("challenge_date"),
	}
	if month := in.Integer("expiry_month"); month != nil {
		n.ExpiryMonth = *month
	}
	if year := in.Integer("expiry_year"); year != nil {
		n.ExpiryYear = *year
	}
	if attempted := in.Boolean("attempt_3ds"); attempted != nil {
		n.Attempt3DS = *attempted
	}
	if linked := in.Integer("linked_id"); linked != nil {
		n.LinkedID = *linked
	}
	if at := in.Instant("effective_at"); at != nil {
		n.EffectiveAt = *at
	}
	n.Problems = *in.Problems // now that all fields are read
	return n
}
