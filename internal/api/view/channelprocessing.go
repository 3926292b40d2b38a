package view

import (
	"encoding/json"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
)

// Processing has the fields that a channel has on the wire in the server-to-server profile only.
type Processing struct {
	QuoteCode          string  `json:"quote_code"` // deprecated: there are no quotes to name
	StatementPeriod    string  `json:"statement_period"`
	CardholderPresent  bool    `json:"cardholder_present"`
	ForexFeed          Forex   `json:"forex_feed"`
	MailFailures       bool    `json:"mail_failures"`
	ServerToServer     bool    `json:"server_to_server"`
	TokenizerID        string  `json:"tokenizer_id"`
	TokenizerKey       string  `json:"tokenizer_api_key"` // its last four characters
	BeneficiaryID      string  `json:"beneficiary_id"`
	SettlementCurrency string  `json:"settlement_currency"`
	ChargebackMail     string  `json:"chargeback_mail"`
	PayoutMinimum      int64   `json:"payout_minimum"`
	Descriptor         *string `json:"descriptor"`
	ChannelSecret      *string `json:"channel_secret"` // null if the caller may not see it
}

// Forex is a forex feed on the wire.
type Forex struct {
	Base   money.Currency                      `json:"base"`
	Symbol symbolShape                         `json:"symbol"`
	Rates  map[money.Currency]forexRateOfShape `json:"rates"`
}

type symbolShape struct {
	Grapheme string `json:"grapheme"`
	Template string `json:"template"`
	RTL      bool   `json:"rtl"`
}

type forexRateOfShape struct {
	Symbol   string      `json:"symbol"`
	QuoteID  int64       `json:"quote_id"`
	Rate     json.Number `json:"rate"` // written as the exact decimal that it is
	Provider fx.Provider `json:"provider"`
	Expires  string      `json:"expires"`
	Modified string      `json:"modified"`
}

// ShowForex returns the rates of a channel, from its base currency to the others.
func ShowForex(base money.Currency, rates []fx.FeedRate) Forex {
	symbol := base.Symbol()
	shape := Forex{
		Base:   base,
		Symbol: symbolShape{symbol.Grapheme, symbol.Template, symbol.RTL},
		Rates:  make(map[money.Currency]forexRateOfShape, len(rates)),
	}
	for _, r := range rates {
		shape.Rates[r.Currency] = forexRateOfShape{
			Symbol: r.Currency.Symbol().Grapheme, QuoteID: r.FixingID, Rate: json.Number(r.Rate), Provider: r.Provider,
			Expires: civil.FormatInstant(r.Expires), Modified: civil.FormatInstant(r.Modified),
		}
	}
	return shape
}

// ShowProcessing returns the fields of a channel that exist only in the server-to-server profile. secret is "" if it must not be shown.
func ShowProcessing(c merchant.Channel, secret string, feed Forex) *Processing {
	shape := &Processing{
		StatementPeriod: c.StatementPeriod, CardholderPresent: c.CardholderPresent, ForexFeed: feed,
		MailFailures: c.MailFailures, ServerToServer: c.ServerToServer, TokenizerID: c.TokenizerID,
		TokenizerKey: c.TokenizerKey(), BeneficiaryID: c.BeneficiaryID, SettlementCurrency: c.Settlement(),
		ChargebackMail: c.ChargebackMail, PayoutMinimum: c.PayoutMinimum,
	}
	if c.Descriptor != "" {
		shape.Descriptor = &c.Descriptor
	}
	if secret != "" { // it is empty if the caller may not see it
		shape.ChannelSecret = &secret
	}
	return shape
}

// ChannelSecret is the answer to a new secret.
type ChannelSecret struct {
	Secret string `json:"channel_secret"`
}
