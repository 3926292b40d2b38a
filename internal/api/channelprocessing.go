package api

import (
	"context"
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
)

// channelView returns the function that shows channels in the profile of the deployment.
func (s *server) channelView(c *call, channels ...merchant.Channel) (func(merchant.Channel) view.Channel, error) {
	secrets := make(map[int64]string, len(channels))
	for _, channel := range channels {
		if !s.app.Config.Profile.Processes() {
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
	ctx context.Context, actor access.Actor, secrets map[int64]string, channels []merchant.Channel,
) (func(merchant.Channel) view.Channel, error) {
	if !s.app.Config.Profile.Processes() {
		return view.ShowChannel, nil
	}
	bases := make([]money.Currency, len(channels))
	for i, channel := range channels {
		bases[i] = channel.Currency
	}
	feeds, err := s.app.Rates.Feeds(ctx, actor, bases)
	if err != nil {
		return nil, err
	}
	forex := make(map[money.Currency]view.Forex, len(feeds)) // channels with the same currency share one
	for base, rates := range feeds {
		forex[base] = view.ShowForex(base, rates)
	}
	return func(channel merchant.Channel) view.Channel {
		shape := view.ShowChannel(channel)
		shape.Processing = view.ShowProcessing(channel, secrets[channel.ID], forex[channel.Currency])
		return shape
	}, nil
}

// processingFields reads the fields that a channel has in the server-to-server profile only. In the other profile they
// are unknown fields, and ignored.
func (s *server) processingFields(c *call, in *input.Input) merchant.ProcessorFields {
	if !s.app.Config.Profile.Processes() {
		return merchant.ProcessorFields{}
	}
	f := merchant.ProcessorFields{
		MailFailures:   in.Boolean("mail_failures"),
		ChargebackMail: in.Text("chargeback_mail"),
		TokenizerID:    in.Text("tokenizer_id"),
		TokenizerKey:   in.Text("tokenizer_api_key"),
	}
	if c.actor.Can(access.SetChannelTerms) {
		f.CardholderPresent = in.Boolean("cardholder_present")
		f.ServerToServer = in.Boolean("server_to_server")
		f.BeneficiaryID = in.Text("beneficiary_id")
		f.SettlementCurrency = in.Text("settlement_currency")
		f.PayoutMinimum = in.Integer("payout_minimum")
		f.Descriptor = in.Text("descriptor")
	}
	return f
}

func (s *server) rotateChannelSecret(c *call) error {
	var changed merchant.Channel
	err := c.ifVersion(func(version int64) (err error) {
		changed, err = s.app.Channels.RotateSecret(c.ctx, c.actor, c.id, version)
		return err
	})
	if err != nil {
		return err
	}
	secret, err := s.app.Channels.Secret(changed)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{version: changed.Version, body: view.ChannelSecret{Secret: secret}, secret: true})
}
