package view

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
)

// Channel is a channel in answers. The fields of Processing are there in the server-to-server profile only.
type Channel struct {
	ID                int64                    `json:"id"`
	UUID              string                   `json:"uuid"`
	Name              string                   `json:"name"`
	Slug              string                   `json:"slug"`
	AccountType       string                   `json:"account_type"`
	AccountMode       merchant.AccountMode     `json:"account_mode"`
	ProtectionType    string                   `json:"protection_type"`
	Currencies        money.Currency           `json:"currencies"`
	Language          string                   `json:"language"`
	PrimaryMail       string                   `json:"primary_mail"`
	MailBCC           bool                     `json:"mail_bcc_transactional_mails"`
	ReceiptLabel      string                   `json:"receipt_label"`
	ExternalID        string                   `json:"external_id"`
	ChannelStatus     string                   `json:"channel_status"`
	LockReason        *string                  `json:"lock_reason"`    // null unless the merchant is locked and a reason was given
	InsolventFrom     *string                  `json:"insolvent_from"` // null unless the merchant is insolvent
	OtherProtection   merchant.OtherProtection `json:"other_protection"`
	AuthorisationDays int64                    `json:"authorisation_days"`
	Suppliers         []int64                  `json:"suppliers"`
	*Processing
}

// ShowChannel gives the shape of a channel, to be encoded as JSON.
func ShowChannel(c merchant.Channel) Channel {
	shape := Channel{
		ID: c.ID, UUID: c.UUID, Name: c.Name, Slug: c.Slug, AccountType: c.AccountType, AccountMode: c.Mode,
		ProtectionType: c.ProtectionType, Currencies: c.Currency, Language: c.Language, PrimaryMail: c.PrimaryMail,
		MailBCC: c.MailBCC, ReceiptLabel: c.ReceiptLabel, ExternalID: c.ExternalID, ChannelStatus: c.Status(), LockReason: OrNull(c.LockReason),
		OtherProtection: c.OtherProtection, AuthorisationDays: c.AuthorisationDays,
		// An empty list is [], not null.
		Suppliers: append([]int64{}, c.Suppliers...),
	}
	if c.Insolvency.InForce() {
		from := civil.FormatInstant(c.Insolvency.TriggerAt)
		shape.InsolventFrom = &from
	}
	return shape
}
