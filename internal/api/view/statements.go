package view

import (
	"time"

	"holdfast/internal/book/statements"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// statementShape is a statement on the wire. Amounts are minor units of its currency. Only open and overdue can
// change.
type statementShape struct {
	ID              int64                      `json:"id"`
	Number          int64                      `json:"number"`
	Channels        int64                      `json:"channels"`
	Issuer          string                     `json:"issuer"`
	Policyholder    string                     `json:"policyholder"`
	Merchant        string                     `json:"merchant"`
	StatementPeriod string                     `json:"statement_period"`
	Period          string                     `json:"period"`
	DateStart       civil.Day                  `json:"date_start"`
	Date            civil.Day                  `json:"date"`
	Issued          string                     `json:"issued"`
	Due             civil.Day                  `json:"due"`
	Currencies      money.Currency             `json:"currencies"`
	Language        string                     `json:"language"`
	Opening         int64                      `json:"opening"`
	Lines           []protection.StatementSum  `json:"lines"`
	Minimum         *protection.MonthlyMinimum `json:"minimum"`
	Taxes           []protection.StatementTax  `json:"taxes"`
	Payments        int64                      `json:"payments"`
	Closing         int64                      `json:"closing"`
	Open            int64                      `json:"open"`
	Credit          int64                      `json:"credit"`
	Overdue         bool                       `json:"overdue"`
}

// ShowStatement gives a statement in the shape of the wire. now is when its open amount was read.
func ShowStatement(s protection.IssuedStatement, now time.Time) any {
	return statementShape{
		ID: s.ID, Number: s.Number, Channels: s.ChannelID, Issuer: s.Issuer.Name,
		Policyholder: s.Policyholder.Name, Merchant: s.ChannelName,
		StatementPeriod: s.Period.Kind, Period: s.Period.Name(), DateStart: s.Period.First, Date: s.Period.Last,
		Issued: civil.FormatInstant(s.IssuedAt), Due: s.Due, Currencies: s.Currency, Language: s.Language,
		Opening: s.Opening, Lines: append([]protection.StatementSum{}, s.Lines...), Minimum: s.Minimum,
		Taxes: append([]protection.StatementTax{}, s.Taxes...), Payments: s.Payments, Closing: s.Closing, Open: s.Open, Credit: s.Credit,
		Overdue: s.OverdueOn(civil.DayOf(now)),
	}
}

// statementLineShape is a premium line of a statement on the wire. Amount and retained are in the currency of the
// statement.
type statementLineShape struct {
	ID               int64              `json:"id"`
	RecordedAt       string             `json:"recorded_at"`
	EffectiveAt      string             `json:"effective_at"`
	Kind             string             `json:"kind"`
	Cause            string             `json:"cause"`
	Transaction      int64              `json:"transaction"`
	Booking          int64              `json:"booking"`
	BookingReference string             `json:"booking_reference"`
	Payment          int64              `json:"payment"`
	State            statementLineState `json:"state"`
	Amount           int64              `json:"amount"`
	Retained         int64              `json:"retained"`
	RefersTo         *int64             `json:"refers_to"`
}

// statementLineState has the inputs from which the premium of a line is computed.
type statementLineState struct {
	Currencies     money.Currency `json:"currencies"`
	Total          int64          `json:"total"`
	RateOfExchange string         `json:"rate_of_exchange"`
	Value          int64          `json:"value"`
	LeadDays       int64          `json:"lead_days"`
	RatePPM        int64          `json:"rate_ppm"`
	Premium        int64          `json:"premium_of_state"`
	MinimumApplied bool           `json:"minimum_applied"`
}

// ShowStatementLine gives a line of a statement.
func ShowStatementLine(l protection.StatementLine) statementLineShape {
	return statementLineShape{
		ID: l.ID, RecordedAt: civil.FormatInstant(l.RecordedAt), EffectiveAt: civil.FormatInstant(l.EffectiveAt),
		Kind: l.Kind, Cause: l.Cause, Transaction: l.TransactionID, Booking: l.BookingID,
		BookingReference: l.BookingReference, Payment: l.AllocationID, Amount: l.Amount, Retained: l.Retained,
		RefersTo: OrNull(l.RefersTo),
		State: statementLineState{
			Currencies: l.Currency, Total: l.StateAmount, RateOfExchange: l.Exchange.String(), Value: l.StateValue,
			LeadDays: l.LeadDays, RatePPM: l.PPM, Premium: l.Premium, MinimumApplied: l.MinimumApplied,
		},
	}
}

// statementPaymentShape is a payment against a statement on the wire.
type statementPaymentShape struct {
	ID         int64          `json:"id"`
	Statement  int64          `json:"statement"`
	Date       civil.Day      `json:"date"`
	Currencies money.Currency `json:"currencies"`
	Total      int64          `json:"total"`
	Reference  string         `json:"reference"`
	Author     string         `json:"author"`
	Created    string         `json:"created"`
}

// ShowStatementPayment gives a payment of a statement.
func ShowStatementPayment(p statements.StatementPayment) statementPaymentShape {
	return statementPaymentShape{
		p.ID, p.StatementID, p.PaidOn, p.Currency, p.Amount, p.Reference, p.Author, civil.FormatInstant(p.RecordedAt),
	}
}
