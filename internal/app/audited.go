package app

import (
	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fx"
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
	if c.Processing != (travel.Processing{}) {
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

type auditedSite struct {
	ID            int64    `json:"id"`
	Path          string   `json:"path"`
	Name          string   `json:"name"`
	Sandbox       bool     `json:"sandbox"`
	Currency      string   `json:"currency"`
	PermittedURLs []string `json:"permitted_urls"`
}

func auditSite(s travel.Site) any {
	return auditedSite{
		ID: s.ID, Path: s.Path, Name: s.Name, Sandbox: s.Sandbox, Currency: string(s.Policy.Currency),
		PermittedURLs: append([]string{}, s.PermittedURLs...),
	}
}

type auditedUser struct {
	Username         string `json:"username"`
	Email            string `json:"email,omitempty"`
	DisplayName      string `json:"display_name,omitempty"`
	Role             string `json:"role,omitempty"`
	CanSignOffPayout bool   `json:"can_sign_off_payout"`
}

type auditedToken struct {
	ID        int64  `json:"id"`
	Name      string `json:"name"`
	UserID    int64  `json:"user_id"`
	ExpiresAt string `json:"expires_at,omitempty"`
}

func auditToken(t auth.APIToken) any {
	shape := auditedToken{ID: t.ID, Name: t.Name, UserID: t.UserID}
	if !t.ExpiresAt.IsZero() {
		shape.ExpiresAt = civil.FormatInstant(t.ExpiresAt)
	}
	return shape
}

type auditedRates struct {
	Provider string `json:"provider"`
	Created  int    `json:"created"`
	First    string `json:"first"`
	Last     string `json:"last"`
}

func auditRates(provider fx.Provider, done RatesReport) any {
	return auditedRates{Provider: string(provider), Created: done.Created, First: done.First.String(), Last: done.Last.String()}
}

type auditedImport struct {
	FileSHA256         string   `json:"file_sha256,omitempty"`
	Mode               string   `json:"mode,omitempty"`
	CoverFromEffective bool     `json:"cover_from_effective"`
	Rows               int      `json:"rows"`
	BookingsCreated    int      `json:"bookings_created"`
	BookingsThere      int      `json:"bookings_already_there"`
	PaymentsCreated    int      `json:"payments_created"`
	PaymentsThere      int      `json:"payments_already_there"`
	Channels           []string `json:"channels_created"`
	Refused            int      `json:"refused"`
	Failed             bool     `json:"failed"` // ended before the end of the file
}

func auditImport(opts ImportOptions, r ImportReport, failed bool) any {
	return auditedImport{
		FileSHA256: opts.SHA256, Mode: string(opts.Mode), CoverFromEffective: opts.CoverFromEffective, Rows: r.Rows,
		BookingsCreated: r.Bookings.Created, BookingsThere: r.Bookings.AlreadyThere,
		PaymentsCreated: r.Payments.Created, PaymentsThere: r.Payments.AlreadyThere,
		Channels: append([]string{}, r.Channels...), Refused: r.Refused, Failed: failed,
	}
}

type auditedClock struct {
	Now string `json:"now"`
}
