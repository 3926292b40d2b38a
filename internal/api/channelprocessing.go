package api

import (
	"context"
	"encoding/json"
	"net/http"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// processingShape has the fields that a channel has on the wire in the server-to-server profile only.
type processingShape struct {
	QuoteCode          string     `json:"quote_code"` // deprecated: there are no quotes to name
	StatementPeriod    string     `json:"statement_period"`
	CardholderPresent  bool       `json:"cardholder_present"`
	ForexFeed          forexShape `json:"forex_feed"`
	MailFailures       bool       `json:"mail_failures"`
	ServerToServer     bool       `json:"server_to_server"`
	TokenizerID        string     `json:"tokenizer_id"`
	TokenizerKey       string     `json:"tokenizer_api_key"` // its last four characters
	BeneficiaryID      string     `json:"beneficiary_id"`
	SettlementCurrency string     `json:"settlement_currency"`
	ChargebackMail     string     `json:"chargeback_mail"`
	PayoutMinimum      int64      `json:"payout_minimum"`
	Descriptor         *string    `json:"descriptor"`
	ChannelSecret      *string    `json:"channel_secret"` // null if the caller may not see it
}

// forexShape is a forex feed on the wire.
type forexShape struct {
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

func showForex(base money.Currency, rates []fx.FeedRate) forexShape {
	symbol := base.Symbol()
	shape := forexShape{
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

func showProcessing(c travel.Channel, secret string, feed forexShape) *processingShape {
	shape := &processingShape{
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

// channelView returns the function that shows channels in the profile of the deployment.
func (s *server) channelView(c *call, channels ...travel.Channel) (func(travel.Channel) channelShape, error) {
	secrets := make(map[int64]string, len(channels))
	for _, channel := range channels {
		if !s.core.Profile.Processes() {
			break // it shows no secret
		}
		secret, err := s.app.Channels.Secret(channel)
		if err != nil {
			return nil, err
		}
		secrets[channel.ID] = secret
	}
	return s.channelViewWith(c.ctx, c.actor, secrets, channels)
}

// channelViewWith is channelView with the secrets to show, by the ids of the channels.
func (s *server) channelViewWith(
	ctx context.Context, actor auth.Actor, secrets map[int64]string, channels []travel.Channel,
) (func(travel.Channel) channelShape, error) {
	if !s.core.Profile.Processes() {
		return showChannel, nil
	}
	bases := make([]money.Currency, len(channels))
	for i, channel := range channels {
		bases[i] = channel.Currency
	}
	feeds, err := s.app.Rates.Feeds(ctx, actor, bases)
	if err != nil {
		return nil, err
	}
	shapes := make(map[money.Currency]forexShape, len(feeds)) // channels with the same currency share one
	for base, rates := range feeds {
		shapes[base] = showForex(base, rates)
	}
	return func(channel travel.Channel) channelShape {
		shape := showChannel(channel)
		shape.processingShape = showProcessing(channel, secrets[channel.ID], shapes[channel.Currency])
		return shape
	}, nil
}

// processingFields reads the fields that a channel has in the server-to-server profile only. In the other profile they
// are unknown fields, and ignored.
func (s *server) processingFields(c *call, in *input) travel.ProcessorFields {
	if !s.core.Profile.Processes() {
		return travel.ProcessorFields{}
	}
	f := travel.ProcessorFields{
		MailFailures:   in.boolean("mail_failures"),
		ChargebackMail: in.text("chargeback_mail"),
		TokenizerID:    in.text("tokenizer_id"),
		TokenizerKey:   in.text("tokenizer_api_key"),
	}
	if c.actor.Can(auth.SetChannelTerms) {
		f.CardholderPresent = in.boolean("cardholder_present")
		f.ServerToServer = in.boolean("server_to_server")
		f.BeneficiaryID = in.text("beneficiary_id")
		f.SettlementCurrency = in.text("settlement_currency")
		f.PayoutMinimum = in.integer("payout_minimum")
		f.Descriptor = in.text("descriptor")
	}
	return f
}

// channelSecret is the answer to a new secret.
type channelSecret struct {
	Secret string `json:"channel_secret"`
}

func (s *server) rotateChannelSecret(c *call) error {
	changed, err := s.app.Channels.RotateSecret(c.ctx, c.actor, c.id, c.ifVersion())
	if err != nil {
		return err
	}
	secret, err := s.app.Channels.Secret(changed)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{version: changed.Version, body: channelSecret{secret}, secret: true})
}
