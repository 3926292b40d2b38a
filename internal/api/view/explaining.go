package view

import (
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/report"
)

// bookingProtectionShape is the explanation of a booking on the wire: the sums of all its allocations, and one page of
// them.
type bookingProtectionShape struct {
	Summary     string            `json:"summary"`
	Booking     int64             `json:"booking"`
	AsOf        civil.Day         `json:"as_of"`
	KnownAt     string            `json:"known_at"`
	Policy      policyShape       `json:"policy"`
	Currencies  money.Currency    `json:"currencies"`
	Simulated   bool              `json:"simulated"`
	Sums        bookingSumsShape  `json:"sums"`
	Steps       []stepShape       `json:"steps"`
	Allocations []allocationShape `json:"allocations"`
}

// bookingSumsShape is in minor units of the booking's currency, and each value in those of its own currency.
type bookingSumsShape struct {
	Allocations int64               `json:"allocations"`
	Total       int64               `json:"total"`
	Paid        int64               `json:"paid"`
	Refunded    int64               `json:"refunded"`
	ChargedBack int64               `json:"charged_back"`
	Reversed    int64               `json:"reversed"`
	Remaining   int64               `json:"remaining"`
	Undelivered int64               `json:"undelivered"`
	State       protection.State    `json:"state"`
	LastDay     *civil.Day          `json:"last_day_of_dispute"`
	E1          int64               `json:"e1"`
	E2          int64               `json:"e2"`
	E4          int64               `json:"e4"`
	E5          int64               `json:"e5"`
	Values      []bookingValueShape `json:"values"`
}

type bookingValueShape struct {
	Currencies money.Currency `json:"currencies"`
	Value      int64          `json:"value"`
	Pending    int64          `json:"pending_rate"`
	Premium    int64          `json:"premium_of_state"`
	Booked     int64          `json:"booked"`
	Retained   int64          `json:"retained"`
}

// ShowBookingProtection returns the explanation of a booking as in the API, to be encoded as JSON. The command line
// also prints it.
func ShowBookingProtection(r report.BookingProtection) any {
	b := r.Sums
	shape := bookingProtectionShape{
		Summary: r.Summary, Booking: r.Booking.ID, AsOf: r.Moment.AsOf, KnownAt: r.Moment.KnownAt.UTC().Format(ISOMicros),
		Policy: showPolicyOf(r.Policy), Currencies: r.Booking.Currency, Simulated: b.Simulated,
		Sums: bookingSumsShape{
			Allocations: b.Allocations, Total: b.Total, Paid: b.Paid, Refunded: b.Refunded, ChargedBack: b.ChargedBack,
			Reversed: b.Reversed, Remaining: b.Remaining, Undelivered: b.Undelivered, State: b.State, E1: b.E1, E2: b.E2,
			E4: b.E4, E5: b.E5, Values: Each(b.Values, showBookingValue),
		},
		Steps: Each(b.Steps, showStep), Allocations: Each(r.Allocations.Items, showAllocation),
	}
	if b.LastDay != civil.NoDay {
		shape.Sums.LastDay = &b.LastDay
	}
	return shape
}

func showBookingValue(v exposure.BookingValue) bookingValueShape {
	return bookingValueShape{v.Currency, v.Value, v.Pending, v.Premium, v.Booked, v.Retained}
}

func showStep(s protection.Step) stepShape { return stepShape(s) }

// Each shows each item of a list. An empty list is [], not null.
func Each[T, W any](list []T, show func(T) W) []W {
	shown := make([]W, len(list))
	for i, item := range list {
		shown[i] = show(item)
	}
	return shown
}

// statementLineProtectionShape is the explanation of a line of a statement on the wire. Amounts are minor units of its
// currency.
type statementLineProtectionShape struct {
	Summary      string                  `json:"summary"`
	Statement    int64                   `json:"statement"`
	Number       int64                   `json:"number"`
	Line         string                  `json:"line"`
	AsOf         civil.Day               `json:"as_of"`
	KnownAt      string                  `json:"known_at"`
	Currencies   money.Currency          `json:"currencies"`
	Lines        int64                   `json:"lines"`
	Amount       int64                   `json:"amount"`
	Retained     int64                   `json:"retained"`
	Inputs       []statementInputShape   `json:"inputs"`
	Steps        []stepShape             `json:"steps"`
	PremiumLines []explainedLineShape    `json:"premium_lines"`
	Payments     []statementPaymentShape `json:"payments"`
}

type statementInputShape struct {
	Name      string `json:"name"`
	Statement *int64 `json:"statement"`
	Policy    *int64 `json:"policy"`
	RatePPM   *int64 `json:"rate_ppm"`
	Lines     *int64 `json:"lines"`
	Amount    int64  `json:"amount"`
}

// explainedLineShape is a premium line of a statement, with the previous line and the allocation that it belongs to.
type explainedLineShape struct {
	Summary string `json:"summary"`
	statementLineShape
	Before     *linePlaceShape `json:"before"`
	Policy     int64           `json:"policy"`
	RateCard   *rateLineShape  `json:"rate_card"`
	Steps      []stepShape     `json:"steps"`
	Allocation allocationShape `json:"allocation"`
}

// linePlaceShape is the previous line of the same allocation. It may be on an earlier statement.
type linePlaceShape struct {
	Line      int64             `json:"line"`
	Statement *int64            `json:"statement"`
	State     premiumStateShape `json:"state"`
}

// ShowStatementLineProtection returns the explanation of a line of a statement as in the API, to be encoded as JSON.
// The command line also prints it.
func ShowStatementLineProtection(r report.StatementLineProtection) any {
	p := r.Part
	return statementLineProtectionShape{
		Summary: r.Summary, Statement: r.Statement.ID, Number: r.Statement.Number, Line: p.Name, AsOf: r.Moment.AsOf,
		KnownAt: r.Moment.KnownAt.UTC().Format(ISOMicros), Currencies: r.Statement.Currency, Lines: p.Lines,
		Amount: p.Amount, Retained: p.Retained, Inputs: Each(p.Inputs, showStatementInput),
		Steps: Each(p.Steps, showStep), PremiumLines: Each(r.Premium.Items, showExplainedLine),
		Payments: Each(r.Payments.Items, ShowStatementPayment),
	}
}

func showStatementInput(i protection.StatementInput) statementInputShape {
	shape := statementInputShape{
		Name: i.Name, Statement: OrNull(i.StatementID), Policy: OrNull(i.PolicyID), Lines: OrNull(i.Lines), Amount: i.Amount,
	}
	if i.Taxed {
		shape.RatePPM = &i.RatePPM
	}
	return shape
}

func showExplainedLine(l protection.ExplainedLine) explainedLineShape {
	shape := explainedLineShape{
		Summary: l.Summary, statementLineShape: ShowStatementLine(l.StatementLine), Policy: l.Line.PolicyID,
		Steps: Each(l.Steps, showStep), Allocation: showAllocation(l.Of),
	}
	if b := l.Before; b != nil {
		shape.Before = &linePlaceShape{Line: b.ID, Statement: OrNull(b.StatementID), State: showPremiumState(b.State, b.BaseCurrency)}
	}
	if l.Line.State.Line.ID != 0 {
		line := showRateLine(l.Line.State.Line)
		shape.RateCard = &line
	}
	return shape
}
