package api

import (
	"cmp"
	"errors"

	"holdfast/internal/api/input"
	"holdfast/internal/book/checkout"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
)

// modalSession is an open session, as the frame of the payment modal gets it.
type modalSession struct {
	Token     string         `json:"token"`
	ExpiresAt *string        `json:"expires_at"` // by the clock of the site
	ExpiresIn int64          `json:"expires_in"` // seconds
	Site      string         `json:"site"`
	Channel   modalChannel   `json:"channel"`
	Tokenizer modalTokenizer `json:"tokenizer"`
}

// modalChannel is what the frame shows of the channel.
type modalChannel struct {
	ID             int64  `json:"id"`
	Name           string `json:"name"`
	Currencies     string `json:"currencies"`
	Test           bool   `json:"test"`
	ServerToServer bool   `json:"server_to_server"`
	Language       string `json:"language"`
	ReceiptLabel   string `json:"receipt_label"`
}

// modalTokenizer says how the frame gets the token of a card. All fields but Kind are set only for hosted fields.
type modalTokenizer struct {
	Kind              checkout.TokenizerKind `json:"kind"`
	Environment       string                 `json:"environment,omitempty"`
	Script            string                 `json:"script,omitempty"`
	ID                string                 `json:"id,omitempty"`
	Origin            string                 `json:"origin,omitempty"`
	Timestamp         string                 `json:"timestamp,omitempty"`
	Scheme            string                 `json:"scheme,omitempty"`
	AuthenticationKey string                 `json:"authentication_key,omitempty"`
}

// pageNames are the names in the modal's data of fields that a booking or transaction names otherwise.
type pageNames map[string]string

// Take copies a field from its name in the modal's data to its name in a booking or transaction, unless that one is
// given.
func (n pageNames) Take(in *input.Input, from, to string) {
	if in.Fields[to] != nil {
		return
	}
	if _, known := n[to]; !known || in.Fields[from] != nil {
		n[to] = from
	}
	in.Fields[to] = in.Fields[from]
}

// Translate makes an error name the fields as the page has named them.
func (n pageNames) Translate(err error) error {
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Kind != errs.Invalid && f.Kind != errs.Missing {
		return err
	}
	var p errs.Problems
	for _, name := range f.Absent {
		p.Missing(cmp.Or(n[name], name))
	}
	for name, message := range f.Params {
		p.Wrong(cmp.Or(n[name], name), "%s", message)
	}
	return cmp.Or(p.Err(), err)
}

// modalTransaction reads the fields of a payment that the shopper may set: the card's token and expiry, and the payer.
func modalTransaction(in *input.Input, names pageNames) payment.NewTransaction {
	names.Take(in, "transaction_type", "transaction_types")
	names.Take(in, "transactionType", "transaction_types")
	names.Take(in, "payee_country", "countries")
	all := input.NewTransaction(in)
	processor := "" // the channel's, but for the payment that completes on every test channel
	if all.PSP == payment.TestPSP && all.Token == payment.TestToken {
		processor = payment.TestPSP
	}
	return payment.NewTransaction{
		PSP:      processor,
		Problems: all.Problems, Type: all.Type, Token: all.Token, ExpiryMonth: all.ExpiryMonth, ExpiryYear: all.ExpiryYear,
		PayeeName: all.PayeeName, PayeeSurname: all.PayeeSurname, PayeeEmail: all.PayeeEmail, Country: all.Country,
	}
}

// namedBookings reads the bookings of a payment, which are in "booking_id" or in "bookings".
func namedBookings(in *input.Input) []payment.Item {
	var named []payment.Item
	if id := in.Integer("booking_id"); id != nil {
		named = append(named, payment.Item{BookingID: *id})
	}
	if parts := in.Parts("bookings"); parts != nil && !in.Problems.Has("bookings") {
		named = append(named, *parts...)
	}
	return named
}
