package reports

import (
	"holdfast/internal/api/view"
	"holdfast/internal/book/claims"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
)

// claimShape is a claim in answers. Amounts up to represent are minor units of its currency, those after it of policy_currency.
type claimShape struct {
	ID             int64          `json:"id"`
	Insolvency     int64          `json:"insolvencies"`
	Channel        int64          `json:"channels"`
	Payment        int64          `json:"payment"` // id of the payment record
	Transaction    int64          `json:"transaction"`
	Booking        int64          `json:"booking"`
	Source         string         `json:"source"`
	CaseID         string         `json:"case_id"`
	FirstDay       *civil.Day     `json:"date"` // of the first debit
	State          claim.State    `json:"state"`
	Currencies     money.Currency `json:"currencies"`
	Disputed       int64          `json:"disputed"`
	Loss           int64          `json:"loss"`
	Payable        int64          `json:"payable"`
	Represent      int64          `json:"represent"`
	Reason         *claim.Reason  `json:"reason"` // of represent
	PolicyCurrency money.Currency `json:"policy_currency"`
	Value          *int64         `json:"value"` // of payable; null while pending_rate
	Covered        int64          `json:"covered"`
	Paid           int64          `json:"paid"`
	Overpaid       int64          `json:"overpaid"`
	Released       bool           `json:"released"`
	Note           *noteShape     `json:"traveller_note"` // null without one
	MayBeDuplicate bool           `json:"may_be_duplicate"`
	AssessedBy     *string        `json:"assessed_by"`
	Approvals      int            `json:"approvals"`
	Created        string         `json:"created"`
	Modified       string         `json:"modified"`
}

// ShowClaim gives the shape of a claim, to be encoded as JSON.
func ShowClaim(c claims.Claim) claimShape {
	shape := claimShape{
		ID: c.ID, Insolvency: c.InsolvencyID, Channel: c.ChannelID, Payment: c.AllocationID, Transaction: c.TransactionID,
		Booking: c.BookingID, Source: c.Source, CaseID: c.CaseID, State: c.State, Currencies: c.Currency, Disputed: c.Disputed,
		Loss: c.Loss, Payable: c.Payable, Represent: c.Represent, Reason: view.OrNull(c.Reason), PolicyCurrency: c.PolicyCurrency,
		Covered: c.Covered, Paid: c.Paid, Overpaid: c.Overpaid, Released: c.Released, AssessedBy: view.OrNull(c.AssessedByName),
		Approvals: len(c.ApprovedBy), Created: civil.FormatInstant(c.CreatedAt), Modified: civil.FormatInstant(c.ModifiedAt),
	}
	if !c.Note.At.IsZero() {
		shape.Note, shape.MayBeDuplicate = showNote(c.Note), c.MayBeDuplicate()
	}
	if c.FirstDay != civil.LastDay {
		shape.FirstDay = &c.FirstDay
	}
	if c.Priced {
		shape.Value = &c.Value
	}
	return shape
}

// claimEventShape is a step in the history of a claim in answers.
type claimEventShape struct {
	ID      int64       `json:"id"`
	Action  string      `json:"action"`
	State   claim.State `json:"state"`
	Payable int64       `json:"payable"`
	By      string      `json:"by"`
	Reason  string      `json:"reason"`
	At      string      `json:"at"`
}

// ShowClaimHistory gives the shapes of the history of a claim, to be encoded as JSON.
func ShowClaimHistory(list []claims.Happened) []claimEventShape {
	shapes := []claimEventShape{}
	for _, h := range list {
		shapes = append(shapes, claimEventShape{h.ID, h.Step(), h.State, h.Payable, h.By, h.Reason, civil.FormatInstant(h.At)})
	}
	return shapes
}

// payoutShape is a payout in answers. value is minor units of policy_currency, total of currencies.
type payoutShape struct {
	ID             int64             `json:"id"`
	Number         int64             `json:"number"`
	Channel        int64             `json:"channels"`
	State          claim.PayoutState `json:"state"`
	PolicyCurrency money.Currency    `json:"policy_currency"`
	Value          int64             `json:"value"`
	Currencies     money.Currency    `json:"currencies"`
	Total          int64             `json:"total"`
	BeneficiaryID  string            `json:"beneficiary_id"`
	PlannedAt      string            `json:"planned_at"`
	SignedBy       *string           `json:"signed_by"`
	SettledBy      *string           `json:"settled_by"`
	BankReference  *string           `json:"bank_reference"`
	Failure        *string           `json:"failure"`
	Created        string            `json:"created"`
	Modified       string            `json:"modified"`
}

// ShowPayout gives the shape of a payout, to be encoded as JSON.
func ShowPayout(p claims.Payout) payoutShape {
	return payoutShape{
		ID: p.ID, Number: p.Number, Channel: p.ChannelID, State: p.State, PolicyCurrency: p.PolicyCurrency, Value: p.Value,
		Currencies: p.Quote.To, Total: p.Amount, BeneficiaryID: p.Beneficiary, PlannedAt: civil.FormatInstant(p.PlannedAt),
		SignedBy: view.OrNull(p.SignedBy), SettledBy: view.OrNull(p.SettledBy), BankReference: view.OrNull(p.BankReference), Failure: view.OrNull(p.Failure),
		Created: civil.FormatInstant(p.PlannedAt), Modified: civil.FormatInstant(p.ModifiedAt),
	}
}

// payoutLineShape is the amount that a payout pays for a claim, in minor units of its policy_currency.
type payoutLineShape struct {
	Claim int64 `json:"claims"`
	Value int64 `json:"value"`
}

// ShowPayoutLines gives the shapes of the lines of a payout, to be encoded as JSON.
func ShowPayoutLines(list []claims.PayoutLine) []payoutLineShape {
	shapes := []payoutLineShape{}
	for _, l := range list {
		shapes = append(shapes, payoutLineShape{l.ClaimID, l.Value})
	}
	return shapes
}

// recoveryShape is a recovery in answers. total is minor units of currencies, value of policy_currency.
type recoveryShape struct {
	ID             int64               `json:"id"`
	Insolvency     int64               `json:"insolvencies"`
	Channel        int64               `json:"channels"`
	Kind           claims.RecoveryKind `json:"kind"`
	Day            civil.Day           `json:"date"`
	Currencies     money.Currency      `json:"currencies"`
	Total          int64               `json:"total"`
	PolicyCurrency money.Currency      `json:"policy_currency"`
	Value          int64               `json:"value"`
	Reference      string              `json:"reference"`
	RecordedBy     string              `json:"recorded_by"`
	CancelledBy    *string             `json:"cancelled_by"`
	CancelledFor   *string             `json:"cancelled_for"`
	Created        string              `json:"created"`
	Modified       string              `json:"modified"`
}

// ShowRecovery gives the shape of a recovery, to be encoded as JSON.
func ShowRecovery(r claims.Recovery) recoveryShape {
	return recoveryShape{
		ID: r.ID, Insolvency: r.InsolvencyID, Channel: r.ChannelID, Kind: r.Kind, Day: r.Day, Currencies: r.Currency, Total: r.Amount,
		PolicyCurrency: r.PolicyCurrency, Value: r.Value, Reference: r.Reference, RecordedBy: r.RecordedBy, CancelledBy: view.OrNull(r.CancelledBy),
		CancelledFor: view.OrNull(r.CancelledFor), Created: civil.FormatInstant(r.RecordedAt), Modified: civil.FormatInstant(r.ModifiedAt),
	}
}

// insolvencyReport has the figures of an insolvency in answers, in minor units of policy_currency.
type insolvencyReport struct {
	Insolvency     int64                  `json:"insolvencies"`
	PolicyCurrency money.Currency         `json:"policy_currency"`
	AsOf           civil.Day              `json:"as_of"`
	Affected       int64                  `json:"affected"`
	Exposed        int64                  `json:"exposed"`
	PendingRate    int64                  `json:"pending_rate"` // affected payments without a rate, not included in the amounts
	Claims         map[claim.State]int64  `json:"claims"`
	Payable        int64                  `json:"payable"`
	Covered        int64                  `json:"covered"`
	Paid           int64                  `json:"paid"`
	Overpaid       int64                  `json:"overpaid"`
	Reserve        int64                  `json:"reserve"`
	Incurred       int64                  `json:"incurred"`
	Recovered      int64                  `json:"recovered"`
	Shares         map[terms.Bearer]int64 `json:"shares"`
	Surplus        int64                  `json:"surplus"`
	Represent      map[claim.Reason]int64 `json:"represent"` // claims by reason
	Disputed       int64                  `json:"disputed"`
	Days           []daySum               `json:"days"`
	Schemes        []schemeSum            `json:"schemes"`
	Reasons        []reasonSum            `json:"reasons"`
	RunOff         []claimRunOffPoint     `json:"run_off"`
}

// claimSum adds up claims in answers, in minor units of policy_currency.
type claimSum struct {
	Claims   int64 `json:"claims"`
	Disputed int64 `json:"disputed"`
	Payable  int64 `json:"payable"`
	Covered  int64 `json:"covered"`
	Paid     int64 `json:"paid"`
}

type daySum struct {
	Day civil.Day `json:"date"`
	claimSum
}

type schemeSum struct {
	Scheme card.Scheme `json:"scheme"`
	claimSum
}

type reasonSum struct {
	Reason *claim.Reason `json:"reason"` // null for claims that are payable in full
	claimSum
}

type claimRunOffPoint struct {
	Day     civil.Day `json:"date"`
	Payable int64     `json:"payable"`
	Open    int64     `json:"open"`
}

// ShowInsolvencyReport gives the shape of the figures of an insolvency, to be encoded as JSON.
func ShowInsolvencyReport(r claims.Report) insolvencyReport {
	return insolvencyReport{
		Insolvency: r.Insolvency.ID, PolicyCurrency: r.Currency, AsOf: r.AsOf, Affected: r.Insolvency.Snapshot.Lines, Exposed: r.Exposed,
		PendingRate: r.Pending, Claims: r.Claims, Payable: r.Payable, Covered: r.Covered, Paid: r.Paid, Overpaid: r.OverpaidTotal(),
		Reserve: r.Reserve, Incurred: r.Incurred(), Recovered: r.Recovered.Total, Shares: r.Recovered.Shares, Surplus: r.Recovered.Surplus,
		Represent: r.Represent, Disputed: r.Breakdown.Total.Disputed,
		Days:    view.Each(r.Breakdown.Days, func(s claims.DaySum) daySum { return daySum{s.Day, claimSum(s.Sum)} }),
		Schemes: view.Each(r.Breakdown.Schemes, func(s claims.SchemeSum) schemeSum { return schemeSum{s.Scheme, claimSum(s.Sum)} }),
		Reasons: view.Each(r.Breakdown.Reasons, func(s claims.ReasonSum) reasonSum { return reasonSum{view.OrNull(s.Reason), claimSum(s.Sum)} }),
		RunOff:  view.Each(r.Breakdown.RunOff, func(p claim.RunOffPoint) claimRunOffPoint { return claimRunOffPoint(p) }),
	}
}

// claimStep is a step of the calculation of a claim in answers.
type claimStep struct {
	Rule string `json:"rule"`
	Name string `json:"name"`
	Text string `json:"text"`
}

// claimExplanation is the explanation of a claim in answers.
type claimExplanation struct {
	Summary string      `json:"summary"`
	Steps   []claimStep `json:"steps"`
}

// ShowClaimExplanation gives the shape of the explanation of a claim, to be encoded as JSON.
func ShowClaimExplanation(x claims.Explanation) claimExplanation {
	return claimExplanation{x.Summary, view.Each(x.Steps, func(s protection.Step) claimStep { return claimStep(s) })}
}
