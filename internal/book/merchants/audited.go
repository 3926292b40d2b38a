package merchants

import (
	"fmt"

	"holdfast/internal/domain/merchant"
)

// These are the shapes of the audit. They have the names of the wire, and never a secret or its hash. Each field is
// written out here, so that no field is added to the audit log by accident.

// auditedChannel is the shape of a channel in the audit.
type auditedChannel struct {
	ID              int64   `json:"id"`
	UUID            string  `json:"uuid"`
	Name            string  `json:"name"`
	AccountType     string  `json:"account_type"`
	AccountMode     string  `json:"account_mode"`
	ProtectionType  string  `json:"protection_type"`
	Currency        string  `json:"currencies"`
	Language        string  `json:"language"`
	PrimaryMail     string  `json:"primary_mail"`
	MailBCC         bool    `json:"mail_bcc_transactional_mails"`
	ReceiptLabel    string  `json:"receipt_label"`
	ExternalID      string  `json:"external_id"`
	OtherProtection string  `json:"other_protection"`
	Authorisation   int64   `json:"authorisation_days"`
	Status          string  `json:"channel_status"`
	StatementPeriod string  `json:"statement_period"`
	Locked          bool    `json:"locked"`
	LockReason      string  `json:"lock_reason"`
	Insolvency      int64   `json:"insolvency,omitempty"` // in force
	Suppliers       []int64 `json:"suppliers"`
	*auditedProcessing
}

// auditedProcessing are the fields of merchant.ProcessorConfig in the audit log. The two types convert into each other:
// a field added there must be added here.
type auditedProcessing struct {
	CardholderPresent  bool   `json:"cardholder_present"`
	MailFailures       bool   `json:"mail_failures"`
	ServerToServer     bool   `json:"server_to_server"`
	Processor          string `json:"processor"`
	TokenizerID        string `json:"tokenizer_id"`
	TokenizerKeyEnd    string `json:"tokenizer_api_key"` // as it is shown: its last characters
	BeneficiaryID      string `json:"beneficiary_id"`
	SettlementCurrency string `json:"settlement_currency"`
	ChargebackMail     string `json:"chargeback_mail"`
	PayoutMinimum      int64  `json:"payout_minimum"`
	Descriptor         string `json:"descriptor"`
}

// ChannelObject names a channel in the audit.
func ChannelObject(c merchant.Channel) string { return fmt.Sprintf("channel %d", c.ID) }

// AuditedChannel is the shape of a channel in the audit.
func AuditedChannel(c merchant.Channel) any {
	shape := auditedChannel{
		ID: c.ID, UUID: c.UUID, Name: c.Name, AccountType: c.AccountType, AccountMode: string(c.Mode),
		ProtectionType: c.ProtectionType, Currency: string(c.Currency), Language: c.Language, PrimaryMail: c.PrimaryMail,
		MailBCC: c.MailBCC, ReceiptLabel: c.ReceiptLabel, ExternalID: c.ExternalID,
		OtherProtection: string(c.OtherProtection), Authorisation: c.AuthorisationDays, Status: c.Status(),
		StatementPeriod: c.StatementPeriod, Locked: c.Locked, LockReason: c.LockReason, Suppliers: append([]int64{}, c.Suppliers...),
	}
	if c.Insolvency.InForce() {
		shape.Insolvency = c.Insolvency.ID
	}
	if c.ProcessorConfig != (merchant.ProcessorConfig{}) {
		processing := auditedProcessing(c.ProcessorConfig)
		processing.TokenizerKeyEnd = c.TokenizerKey()
		shape.auditedProcessing = &processing
	}
	return shape
}

// auditedSupplier is the shape of a supplier in the audit.
type auditedSupplier struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	URL      string `json:"url"`
	Category string `json:"category"`
	Country  string `json:"country"`
}

func auditSupplier(s merchant.Supplier) any {
	return auditedSupplier{ID: s.ID, Name: s.Name, URL: s.URL, Category: s.Category, Country: s.Country}
}
