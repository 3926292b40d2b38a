package view

import (
	"encoding/json"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
)

// Transaction is a transaction in answers. Some fields are always empty: holdfast does not need them, but clients of
// the API expect them. Amounts are in minor units of Currencies.
type Transaction struct {
	ID                 int64                     `json:"id"`
	UUID               string                    `json:"uuid"`
	TrustID            string                    `json:"trust_id"`
	Hash               string                    `json:"hash"`
	Token              string                    `json:"token"`
	Status             payment.TransactionStatus `json:"status"`
	Content            string                    `json:"content"`
	Title              string                    `json:"title"`
	Total              int64                     `json:"total"`
	TotalRemaining     int64                     `json:"total_remaining"`
	Currencies         money.Currency            `json:"currencies"`
	Countries          string                    `json:"countries"`
	Language           string                    `json:"language"`
	Channels           int64                     `json:"channels"`
	Author             string                    `json:"author"`
	AuthorName         string                    `json:"authorname"`
	AuthorID           int64                     `json:"author_id"`
	Bookings           []partShape               `json:"bookings"`
	PaymentIDs         []int64                   `json:"payment_ids"`
	PaymentMethods     string                    `json:"payment_methods"`
	TransactionType    payment.TransactionType   `json:"transaction_type"`
	TransactionTypes   payment.TransactionType   `json:"transaction_types"`
	CardType           *string                   `json:"card_type"`
	CardTypes          *string                   `json:"card_types"`
	BINNumber          *string                   `json:"bin_number"`
	LastFourDigits     *string                   `json:"last_four_digits"`
	AuthCode           *string                   `json:"auth_code"`
	AcquirerReference  *string                   `json:"acquirer_reference"`
	ProcessorReference *string                   `json:"processor_reference"`
	Attempt3DS         bool                      `json:"attempt_3ds,omitempty"`
	RedirectURL3DS     string                    `json:"3ds_redirect_url,omitempty"`
	RedirectURL        string                    `json:"redirect_url,omitempty"`
	Response3DS        any                       `json:"3ds_response,omitempty"` // the challenge, or its result
	Adjustments        []int64                   `json:"adjustments"`
	Allocations        any                       `json:"allocations"` // as the payment modal sent them, or an empty list
	APIURLs            []string                  `json:"api_urls"`
	Forex              *[]struct{}               `json:"forex"`
	ForexID            *int64                    `json:"forex_id"`
	ForexRate          *string                   `json:"forex_rate"`
	LinkedID           *int64                    `json:"linked_id"`
	PSP                string                    `json:"psp"`
	IPAddress          string                    `json:"ip_address"`
	PayeeEmail         string                    `json:"payee_email"`
	PayeeName          string                    `json:"payee_name"`
	PayeeSurname       string                    `json:"payee_surname"`
	StatementBatches   string                    `json:"statement_batches"`
	StatementDate      string                    `json:"statement_date"`
	Document           *string                   `json:"document"`
	Created            string                    `json:"created"`
	Modified           string                    `json:"modified"`
	Reference          string                    `json:"reference"`
	Flags              []string                  `json:"flags"`
	EffectiveAt        string                    `json:"effective_at"`
	Protected          bool                      `json:"protected"`
	// ProtectionReason is why a purchase or capture is not protected; null otherwise.
	ProtectionReason *string `json:"protection_reason"`
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
func ShowTransaction(t payment.Transaction, hash string) Transaction {
	shape := Transaction{
		ID: t.ID, UUID: t.UUID, TrustID: t.TrustID(), Token: t.Token, Status: t.Status, Content: t.Content,
		Hash: hash, Title: t.Title(), Total: t.Total, TotalRemaining: t.TotalRemaining(), Currencies: t.Currency, Countries: t.Country,
		Language: t.Language(), Channels: t.ChannelID, Author: t.Author, AuthorName: t.AuthorName,
		AuthorID: t.AuthorID, Bookings: []partShape{}, PaymentIDs: []int64{}, PaymentMethods: t.Method,
		TransactionType: t.Type, TransactionTypes: t.Type, CardType: OrNull(t.CardType), CardTypes: OrNull(t.CardType),
		BINNumber: OrNull(t.BIN), LastFourDigits: OrNull(t.LastFour), AuthCode: OrNull(t.AuthCode),
		AcquirerReference: OrNull(t.AcquirerReference), ProcessorReference: OrNull(t.ProcessorReference),
		Attempt3DS: t.Attempt3DS, Adjustments: append([]int64{}, t.Adjustments...), Allocations: []struct{}{},
		APIURLs: []string{}, ForexRate: OrNull(t.ForexRate), LinkedID: OrNull(t.LinkedID), PSP: t.PSP,
		IPAddress: t.IPAddress, PayeeEmail: t.PayeeEmail, PayeeName: t.PayeeName, PayeeSurname: t.PayeeSurname,
		Created: civil.FormatInstant(t.CreatedAt), Modified: civil.FormatInstant(t.ModifiedAt), Reference: t.Reference,
		Flags: t.AllFlags(), EffectiveAt: civil.FormatInstant(t.EffectiveAt),
		OverLimit: t.OverLimit, OverLimitCurrency: t.OverLimitCurrency, ChargeChannel: t.ModalCharge,
		processedShape: showProcessed(t),
	}
	if shape.Protected = t.Protected; !t.Protected {
		shape.ProtectionReason = OrNull(t.ProtectionReason)
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
