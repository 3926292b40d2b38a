package shapes

import (
	"encoding/json"

	"holdfast/internal/api/wire"
	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// Transaction is a transaction in answers. Some fields are always empty: holdfast does not need them, but clients of
// the API expect them. Amounts are in minor units of Currencies.
type Transaction struct {
	ID                int64                    `json:"id"`
	UUID              string                   `json:"uuid"`
	TrustID           string                   `json:"trust_id"`
	Hash              string                   `json:"hash"`
	Token             string                   `json:"token"`
	Status            travel.TransactionStatus `json:"status"`
	Content           string                   `json:"content"`
	Title             string                   `json:"title"`
	Total             int64                    `json:"total"`
	TotalRemaining    int64                    `json:"total_remaining"`
	Currencies        money.Currency           `json:"currencies"`
	Countries         string                   `json:"countries"`
	Language          string                   `json:"language"`
	Channels          int64                    `json:"channels"`
	Author            string                   `json:"author"`
	AuthorName        string                   `json:"authorname"`
	AuthorID          int64                    `json:"author_id"`
	Bookings          []partShape              `json:"bookings"`
	PaymentIDs        []int64                  `json:"payment_ids"`
	PaymentMethods    string                   `json:"payment_methods"`
	TransactionType   travel.TransactionType   `json:"transaction_type"`
	TransactionTypes  travel.TransactionType   `json:"transaction_types"`
	CardType          *string                  `json:"card_type"`
	CardTypes         *string                  `json:"card_types"`
	BINNumber         *string                  `json:"bin_number"`
	LastFourDigits    *string                  `json:"last_four_digits"`
	AuthCode          *string                  `json:"auth_code"`
	AcquirerReference *string                  `json:"acquirer_reference"`
	Attempt3DS        bool                     `json:"attempt_3ds,omitempty"`
	RedirectURL3DS    string                   `json:"3ds_redirect_url,omitempty"`
	RedirectURL       string                   `json:"redirect_url,omitempty"`
	Response3DS       any                      `json:"3ds_response,omitempty"` // the challenge, or its result
	Adjustments       []int64                  `json:"adjustments"`
	Allocations       any                      `json:"allocations"` // as the payment modal sent them, or an empty list
	APIURLs           []string                 `json:"api_urls"`
	Forex             *[]struct{}              `json:"forex"`
	ForexID           *int64                   `json:"forex_id"`
	ForexRate         *string                  `json:"forex_rate"`
	LinkedID          *int64                   `json:"linked_id"`
	PSP               string                   `json:"psp"`
	IPAddress         string                   `json:"ip_address"`
	PayeeEmail        string                   `json:"payee_email"`
	PayeeName         string                   `json:"payee_name"`
	PayeeSurname      string                   `json:"payee_surname"`
	StatementBatches  string                   `json:"statement_batches"`
	StatementDate     string                   `json:"statement_date"`
	Document          *string                  `json:"document"`
	Created           string                   `json:"created"`
	Modified          string                   `json:"modified"`
	Reference         string                   `json:"reference"`
	Flags             []string                 `json:"flags"`
	EffectiveAt       string                   `json:"effective_at"`
	// OverLimit is the amount above a limit (R12), in minor units of OverLimitCurrency; absent when it is 0.
	OverLimit         int64          `json:"over_limit_amount,omitempty"`
	OverLimitCurrency money.Currency `json:"over_limit_currency,omitempty"`
	// ChargeChannel is as the payment modal sent it; absent in other transactions.
	ChargeChannel int64 `json:"charge_channel,omitempty"`
	processedShape
}

// partShape is the part of a payment that is for one booking, with some fields of that booking.
type partShape struct {
	ID         int64          `json:"id"`
	Total      int64          `json:"total"`
	Currencies money.Currency `json:"currencies"`
	Reference  string         `json:"reference"`
	Country    string         `json:"country"`
	Channels   int64          `json:"channels"`
}

// ShowTransaction gives the shape of a transaction with its hash, to be encoded as JSON.
func ShowTransaction(t travel.Transaction, hash string) Transaction {
	shape := Transaction{
		ID: t.ID, UUID: t.UUID, TrustID: t.TrustID(), Token: t.Token, Status: t.Status, Content: t.Content,
		Hash: hash, Title: t.Title(), Total: t.Total, TotalRemaining: t.TotalRemaining(), Currencies: t.Currency, Countries: t.Country,
		Language: t.Language(), Channels: t.ChannelID, Author: t.Author, AuthorName: t.AuthorName,
		AuthorID: t.AuthorID, Bookings: []partShape{}, PaymentIDs: []int64{}, PaymentMethods: t.Method,
		TransactionType: t.Type, TransactionTypes: t.Type, CardType: wire.OrNull(t.CardType), CardTypes: wire.OrNull(t.CardType),
		BINNumber: wire.OrNull(t.BIN), LastFourDigits: wire.OrNull(t.LastFour), AuthCode: wire.OrNull(t.AuthCode),
		AcquirerReference: wire.OrNull(t.AcquirerReference),
		Attempt3DS:        t.Attempt3DS, Adjustments: append([]int64{}, t.Adjustments...), Allocations: []struct{}{},
		APIURLs: []string{}, ForexRate: wire.OrNull(t.ForexRate), LinkedID: wire.OrNull(t.LinkedID), PSP: t.PSP,
		IPAddress: t.IPAddress, PayeeEmail: t.PayeeEmail, PayeeName: t.PayeeName, PayeeSurname: t.PayeeSurname,
		Created: civil.FormatInstant(t.CreatedAt), Modified: civil.FormatInstant(t.ModifiedAt), Reference: t.Reference,
		Flags: append([]string{}, t.Flags...), EffectiveAt: civil.FormatInstant(t.EffectiveAt),
		OverLimit: t.OverLimit, OverLimitCurrency: t.OverLimitCurrency, ChargeChannel: t.ModalCharge,
		processedShape: showProcessed(t),
	}
	if t.ModalAllocations != "" {
		shape.Allocations = json.RawMessage(t.ModalAllocations)
	}
	if t.Attempt3DS {
		shape.RedirectURL3DS, shape.RedirectURL, shape.Response3DS = t.RedirectURL, t.RedirectURL, response3DS(t)
	}
	if shape.StatementBatches = t.StatementBatches; t.StatementBatches != "" {
		shape.StatementDate = civil.DayOf(t.StatementDate).String()
	}
	for _, p := range t.Payments {
		shape.PaymentIDs = append(shape.PaymentIDs, p.ID)
		shape.Bookings = append(shape.Bookings, partShape{
			ID: p.BookingID, Total: p.Total, Currencies: p.Currency, Reference: p.BookingReference,
			Country: p.BookingCountry, Channels: p.ChannelID,
		})
	}
	return shape
}

// NewTransaction reads the fields of a transaction that a caller reports.
func NewTransaction(in *wire.Input) travel.NewTransaction {
	n := travel.NewTransaction{
		ChannelID:         in.Integer("channels"),
		Currency:          in.Currency("currencies"),
		Total:             in.Integer("total"),
		Type:              wire.Word[travel.TransactionType](in, "transaction_types"),
		Items:             in.Parts("bookings"),
		PSP:               in.TextOr("psp"),
		Method:            in.TextOr("payment_methods"),
		PayeeName:         in.TextOr("payee_name"),
		PayeeSurname:      in.TextOr("payee_surname"),
		PayeeEmail:        in.TextOr("payee_email"),
		Country:           in.TextOr("countries"),
		Reference:         in.TextOr("reference"),
		Token:             in.TextOr("token"),
		IPAddress:         in.TextOr("ip_address"),
		BIN:               in.TextOr("bin_number"),
		LastFour:          in.TextOr("last_four_digits"),
		CardType:          in.TextOr("card_types"),
		AuthCode:          in.TextOr("auth_code"),
		AcquirerReference: in.TextOr("acquirer_reference"),
		RedirectURL:       in.TextOr("3ds_redirect_url"),
		Content:           in.TextOr("content"),
		ReasonCode:        in.TextOr("reason_code"),
		ChallengeDay:      in.Day("challenge_date"),
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
