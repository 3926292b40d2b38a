package statements

import (
	"strings"
	"time"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

// StatementPayment is a payment against a statement: money that the merchant or the site has transferred (R11).
type StatementPayment struct {
	SiteID      int64
	ID          int64
	StatementID int64
	ChannelID   int64
	Currency    money.Currency
	PaidOn      civil.Day
	Amount      int64 // minor units of Currency; negative: money that was paid back, or a correction
	Reference   string
	Author      string
	RecordedAt  time.Time
}

// StatementPaymentFields are the fields of a request that records a payment against a statement. Absent fields are
// nil.
type StatementPaymentFields struct {
	Problems   errs.Problems
	PaidOn     *civil.Day
	Amount     *int64
	Currency   *money.Currency // if given, it must be that of the statement
	Reference  *string
	WithinOpen bool // refuse a payment above the open amount, with the reason overpaid
}

// Check adds the problems of the fields to p.
func (f StatementPaymentFields) Check(now time.Time, p *errs.Problems) {
	check.Required(p, "reference", f.Reference)
	if f.Reference != nil {
		check.Line(p, "reference", *f.Reference)
	}
	switch {
	case f.Amount == nil:
		if !p.Has("total") {
			p.Missing("total")
		}
	case *f.Amount == 0 || *f.Amount > check.MaxAmount || *f.Amount < -check.MaxAmount:
		p.Wrong("total", "Must not be 0, and must be at most %d minor units.", int64(check.MaxAmount))
	}
	switch {
	case f.PaidOn == nil:
		if !p.Has("date") {
			p.Missing("date")
		}
	case *f.PaidOn > civil.DayOf(now):
		p.Wrong("date", "Must not be in the future.")
	}
}

// Payment makes the payment against a statement of a channel and currency. Check must have found nothing wrong.
func (f StatementPaymentFields) Payment(siteID, statementID, channelID int64, c money.Currency, author string) StatementPayment {
	return StatementPayment{
		SiteID: siteID, StatementID: statementID, ChannelID: channelID, Currency: c, PaidOn: *f.PaidOn, Amount: *f.Amount,
		Reference: strings.TrimSpace(*f.Reference), Author: author,
	}
}

// Same reports whether the two payments agree in statement, reference, day and amount.
func (p StatementPayment) Same(o StatementPayment) bool {
	return p.StatementID == o.StatementID && p.Reference == o.Reference && p.PaidOn == o.PaidOn && p.Amount == o.Amount
}

// StatementFilter picks statements from a list. An empty field picks all.
type StatementFilter struct {
	Number     int64
	Channels   []int64
	Issued     civil.Span
	Periods    []string
	Currencies []string
	Overdue    *bool // due before today and not paid in full
}

// The values of orderby, besides those of every list, for statements and their payments.
var (
	StatementOrders        = []string{"number", "issued", "due"}
	StatementPaymentOrders = []string{"date"}
)
