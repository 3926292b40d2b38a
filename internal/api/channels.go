package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/terms"
)

// channelObject makes the answer about a channel. It returns err as it is.
func (s *server) channelObject(c *call, channel merchant.Channel, err error) (object, error) {
	if err != nil || channel.ID == 0 { // 0: the answer is a proposal instead
		return object{}, err
	}
	view, err := s.channelView(c, channel)
	if err != nil {
		return object{}, err
	}
	return object{id: channel.ID, version: channel.Version, body: view(channel)}, nil
}

func (s *server) listChannels(c *call) error {
	q := c.query()
	page := q.SearchedPage(merchants.ChannelOrders)
	filter := merchants.ChannelFilter{
		Search:          q.Text("search"),
		Modes:           input.Words(q, "account_mode", s.app.Config.Profile.Modes()),
		AccountType:     q.One("account_type", "", s.app.Config.Profile.AccountTypes()),
		Currency:        q.Text("currencies"),
		ExternalID:      q.Text("external_id"),
		Name:            q.Text("name"),
		StatementPeriod: q.One("statement_period", "", terms.StatementPeriods),
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Channels.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	view, err := s.channelView(c, found.Items...)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view)
}

func (s *server) getChannel(c *call) error {
	found, err := s.findChannel(c, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, found)
}

func (s *server) findChannel(c *call, id int64) (object, error) {
	found, err := s.app.Channels.Get(c.ctx, c.actor, id)
	return s.channelObject(c, found, err)
}

func (s *server) createChannel(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, err := s.app.Channels.Create(c.ctx, c.actor, s.channelFields(c, in))
		shown, err := s.channelObject(c, made, err)
		return waiting(made.Proposal, shown), err
	})
}

func (s *server) changeChannel(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := s.channelFields(c, in)
	var changed merchant.Channel
	err = c.ifVersion(func(version int64) (err error) {
		fields.IfVersion = version
		changed, err = s.app.Channels.Change(c.ctx, c.actor, c.id, fields)
		return err
	})
	if err != nil {
		return err
	}
	if changed.Proposal != nil {
		return s.accepted(c, waiting(changed.Proposal, object{}))
	}
	shown, err := s.channelObject(c, changed, nil)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, shown)
}

func (s *server) deleteChannel(c *call) error {
	err := c.ifVersion(func(version int64) error { return s.app.Channels.Delete(c.ctx, c.actor, c.id, version) })
	if err != nil {
		return err
	}
	c.json(http.StatusOK, view.Deleted{Deleted: true})
	return nil
}

// channelFields reads the fields of a channel. It reads the operator's own fields only from the operator: for a customer
// they are read-only, so they are ignored.
func (s *server) channelFields(c *call, in *input.Input) merchant.ChannelFields {
	f := merchant.ChannelFields{
		Name:              in.Text("name"),
		Currency:          in.Currency("currencies"),
		Language:          in.Text("language"),
		PrimaryMail:       in.Text("primary_mail"),
		MailBCC:           in.Boolean("mail_bcc_transactional_mails"),
		ReceiptLabel:      in.Text("receipt_label"),
		ExternalID:        in.Text("external_id"),
		OtherProtection:   input.Word[merchant.OtherProtection](in, "other_protection"),
		AuthorisationDays: in.Integer("authorisation_days"),
		ProcessorFields:   s.processingFields(c, in),
	}
	byOperator := c.actor.Can(access.SetChannelTerms)
	if byOperator || c.r.Method == http.MethodPost { // everybody chooses between test and draft for a new channel
		f.Mode = input.Word[merchant.AccountMode](in, "account_mode")
	}
	if byOperator {
		f.AccountType = in.Text("account_type")
		f.ProtectionType = in.Text("protection_type")
		f.Status = in.Text("channel_status")
		f.StatementPeriod = in.Text("statement_period")
		f.Locked = in.Boolean("locked")
		f.Suppliers = in.Integers("suppliers")
		f.Reason = in.Reason()
		if f.Locked != nil && *f.Locked && f.Reason != "" && !in.Problems.Has("reason") {
			f.LockReason = &f.Reason
		}
	}
	f.Problems = *in.Problems // now that all fields are read
	return f
}
