package merchants

import (
	"holdfast/internal/travel"
)

// What the audit shows of a thing: its fields by the names of the wire, never a secret or the hash of one. Each is
// written out, so that a new field is shown only when somebody has looked at it.

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
	Status          string  `json:"channel_status"`
	StatementPeriod string  `json:"statement_period"`
	Locked          bool    `json:"locked"`
	Suppliers       []int64 `json:"suppliers"`
	*auditedProcessing
}

// auditedProcessing is what a channel has besides where it processes, or is set up for it.
type auditedProcessing struct {
	CardholderPresent  bool   `json:"cardholder_present"`
	MailFailures       bool   `json:"mail_failures"`
	ServerToServer     bool   `json:"server_to_server"`
	Processor          string `json:"processor"`
	TokenizerID        string `json:"tokenizer_id"`
	TokenizerKey       string `json:"tokenizer_api_key"` // its end
	BeneficiaryID      string `json:"beneficiary_id"`
	SettlementCurrency string `json:"settlement_currency"`
	ChargebackMail     string `json:"chargeback_mail"`
	PayoutMinimum      int64  `json:"payout_minimum"`
	Descriptor         string `json:"descriptor"`
}

func auditChannel(c travel.Channel) any {
	shape := auditedChannel{
		ID: c.ID, UUID: c.UUID, Name: c.Name, AccountType: c.AccountType, AccountMode: string(c.Mode),
		ProtectionType: c.ProtectionType, Currency: string(c.Currency), Language: c.Language, PrimaryMail: c.PrimaryMail,
		MailBCC: c.MailBCC, ReceiptLabel: c.ReceiptLabel, ExternalID: c.ExternalID, Status: c.Status(),
		StatementPeriod: c.StatementPeriod, Locked: c.Locked, Suppliers: append([]int64{}, c.Suppliers...),
	}
	if c.ProcessorConfig != (travel.ProcessorConfig{}) {
		shape.auditedProcessing = &auditedProcessing{
			CardholderPresent: c.CardholderPresent, MailFailures: c.MailFailures, ServerToServer: c.ServerToServer,
			Processor: c.Processor, TokenizerID: c.TokenizerID, TokenizerKey: c.TokenizerKey(), BeneficiaryID: c.BeneficiaryID,
			SettlementCurrency: c.SettlementCurrency, ChargebackMail: c.ChargebackMail, PayoutMinimum: c.PayoutMinimum,
			Descriptor: c.Descriptor,
		}
	}
	return shape
}

type auditedSupplier struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	URL      string `json:"url"`
	Category string `json:"category"`
	Country  string `json:"country"`
}

func auditSupplier(s travel.Supplier) any {
	return auditedSupplier{ID: s.ID, Name: s.Name, URL: s.URL, Category: s.Category, Country: s.Country}
}
