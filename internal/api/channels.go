package api

import (
	"net/http"

	"holdfast/internal/auth"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// channelShape is a channel in answers. The fields of processingShape are there in the server-to-server profile only.
type channelShape struct {
	ID              int64                  `json:"id"`
	UUID            string                 `json:"uuid"`
	Name            string                 `json:"name"`
	Slug            string                 `json:"slug"`
	AccountType     string                 `json:"account_type"`
	AccountMode     travel.AccountMode     `json:"account_mode"`
	ProtectionType  string                 `json:"protection_type"`
	Currencies      money.Currency         `json:"currencies"`
	Language        string                 `json:"language"`
	PrimaryMail     string                 `json:"primary_mail"`
	MailBCC         bool                   `json:"mail_bcc_transactional_mails"`
	ReceiptLabel    string                 `json:"receipt_label"`
	ExternalID      string                 `json:"external_id"`
	ChannelStatus   string                 `json:"channel_status"`
	OtherProtection travel.OtherProtection `json:"other_protection"`
	Suppliers       []int64                `json:"suppliers"`
	*processingShape
}

// ShowChannel gives the shape of a channel, to be encoded as JSON.
func ShowChannel(c travel.Channel) any { return showChannel(c) }

func showChannel(c travel.Channel) channelShape {
	return channelShape{
		ID: c.ID, UUID: c.UUID, Name: c.Name, Slug: c.Slug, AccountType: c.AccountType, AccountMode: c.Mode,
		ProtectionType: c.ProtectionType, Currencies: c.Currency, Language: c.Language, PrimaryMail: c.PrimaryMail,
		MailBCC: c.MailBCC, ReceiptLabel: c.ReceiptLabel, ExternalID: c.ExternalID, ChannelStatus: c.Status(),
		OtherProtection: c.OtherProtection,
		// An empty list is [], not null.
		Suppliers: append([]int64{}, c.Suppliers...),
	}
}

// channelObject makes the answer about a channel. It returns err as it is.
func (s *server) channelObject(c *call, channel travel.Channel, err error) (object, error) {
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
	page := q.page(travel.ChannelOrders)
	filter := travel.ChannelFilter{
		Include:         q.ids("include"),
		Exclude:         q.ids("exclude"),
		Modified:        q.span("modified_"),
		Modes:           words(q, "account_mode", s.core.Profile.Modes()),
		AccountType:     q.one("account_type", "", s.core.Profile.AccountTypes()),
		Currency:        q.text("currencies"),
		ExternalID:      q.text("external_id"),
		Name:            q.text("name"),
		StatementPeriod: q.one("statement_period", "", travel.StatementPeriods),
	}
	if err := q.err(); err != nil {
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
	fields.IfVersion = c.ifVersion()
	changed, err := s.app.Channels.Change(c.ctx, c.actor, c.id, fields)
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
	if err := s.app.Channels.Delete(c.ctx, c.actor, c.id, c.ifVersion()); err != nil {
		return err
	}
	c.json(http.StatusOK, deleted{true})
	return nil
}

// channelFields reads the fields of a channel. It reads the operator's own fields only from the operator: for a customer
// they are read-only, so they are ignored.
func (s *server) channelFields(c *call, in *input) travel.ChannelFields {
	f := travel.ChannelFields{
		Name:            in.text("name"),
		Currency:        in.currency("currencies"),
		Language:        in.text("language"),
		PrimaryMail:     in.text("primary_mail"),
		MailBCC:         in.boolean("mail_bcc_transactional_mails"),
		ReceiptLabel:    in.text("receipt_label"),
		ExternalID:      in.text("external_id"),
		OtherProtection: word[travel.OtherProtection](in, "other_protection"),
		ProcessorFields: s.processingFields(c, in),
	}
	byOperator := c.actor.Can(auth.SetChannelTerms)
	if byOperator || c.r.Method == http.MethodPost { // everybody chooses between test and draft for a new channel
		f.Mode = word[travel.AccountMode](in, "account_mode")
	}
	if byOperator {
		f.AccountType = in.text("account_type")
		f.ProtectionType = in.text("protection_type")
		f.Status = in.text("channel_status")
		f.StatementPeriod = in.text("statement_period")
		f.Locked = in.boolean("locked")
		f.Suppliers = in.integers("suppliers")
		f.Reason = in.reason()
	}
	f.Problems = *in.problems // now that all fields are read
	return f
}
