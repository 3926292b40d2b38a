package api

import (
	"holdfast/internal/api/view"
	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
)

// disputeShape is a case on the wire.
type disputeShape struct {
	ID             int64            `json:"id"`
	Source         string           `json:"source"`
	CaseID         string           `json:"case_id"`
	Stage          dispute.Stage    `json:"stage"`
	Status         dispute.Status   `json:"status"`
	Matched        dispute.Matching `json:"matched"`
	Channels       *int64           `json:"channels"`
	TransactionID  *int64           `json:"transaction_id"`
	Amount         int64            `json:"amount"`
	Currencies     money.Currency   `json:"currencies"`
	Debits         int64            `json:"debits"`
	Credits        int64            `json:"credits"`
	BaseCurrency   *money.Currency  `json:"base_currency"`
	Fees           []feeShape       `json:"fees"`
	WaitingForRate bool             `json:"waiting_for_rate"`
	ReasonCode     *string          `json:"reason_code"`
	Reason         *string          `json:"reason"`
	DueAt          *string          `json:"due_at"`
	Assigned       *string          `json:"assigned"`
	Opened         string           `json:"opened"`
	Merchant       *string          `json:"merchant"`
	Match          *matchShape      `json:"match"`
	Clues          cluesShape       `json:"clues"`
	Created        string           `json:"created"`
	Modified       string           `json:"modified"`
}

type feeShape struct {
	Amount     int64          `json:"amount"`
	Currencies money.Currency `json:"currencies"`
}

// matchShape says how the payment was found.
type matchShape struct {
	Rule        dispute.Rule `json:"rule"`
	RuleVersion string       `json:"rule_version"`
	Score       int          `json:"score"`
}

// cluesShape is what was reported about the payment.
type cluesShape struct {
	AcquirerReference  *string         `json:"acquirer_reference"`
	ProcessorReference *string         `json:"processor_reference"`
	Reference          *string         `json:"reference"`
	AuthCode           *string         `json:"auth_code"`
	LastFourDigits     *string         `json:"last_four_digits"`
	BINNumber          *string         `json:"bin_number"`
	PaidOn             *string         `json:"paid_on"`
	PaidTotal          *int64          `json:"paid_total"`
	PaidCurrencies     *money.Currency `json:"paid_currencies"`
}

// showDispute shows a case.
func showDispute(c disputes.Case) any {
	shape := disputeShape{
		ID: c.ID, Source: c.Source, CaseID: c.CaseID, Stage: c.Stage, Status: c.Status, Matched: c.Matching, Channels: view.OrNull(c.ChannelID),
		TransactionID: view.OrNull(c.TransactionID), Amount: c.Amount, Currencies: c.Currency, Debits: c.Debits, Credits: c.Credits,
		BaseCurrency: view.OrNull(c.BaseCurrency), Fees: []feeShape{}, WaitingForRate: c.Waiting > 0, ReasonCode: view.OrNull(c.ReasonCode),
		Reason: view.OrNull(c.Reason), DueAt: dayOrNull(c.DueOn), Assigned: view.OrNull(c.Assignee), Opened: c.OpenedOn.String(), Merchant: view.OrNull(c.Merchant),
		Clues: cluesShape{
			AcquirerReference: view.OrNull(c.Clues.AcquirerReference), ProcessorReference: view.OrNull(c.Clues.ProcessorReference),
			Reference: view.OrNull(c.Clues.PaymentReference), AuthCode: view.OrNull(c.Clues.AuthCode), LastFourDigits: view.OrNull(c.Clues.LastFour),
			BINNumber: view.OrNull(c.Clues.BIN), PaidOn: dayOrNull(c.Clues.PaidOn), PaidTotal: view.OrNull(c.Clues.PaidAmount),
			PaidCurrencies: view.OrNull(c.Clues.PaidCurrency),
		},
		Created: civil.FormatInstant(c.CreatedAt), Modified: civil.FormatInstant(c.ModifiedAt),
	}
	if c.Rule != "" {
		shape.Match = &matchShape{c.Rule, c.RuleVersion, c.Score}
	}
	for _, e := range c.Events {
		if e.Kind == dispute.Fee && e.SameAs == 0 {
			shape.Fees = append(shape.Fees, feeShape{e.Amount, e.Currency})
		}
	}
	return shape
}

func dayOrNull(d civil.Day) *string {
	if d == civil.NoDay {
		return nil
	}
	text := d.String()
	return &text
}
