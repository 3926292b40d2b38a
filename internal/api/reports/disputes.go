package reports

import (
	"cmp"
	"time"

	"holdfast/internal/api/view"
	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
)

// disputeShape is a case on the wire.
type disputeShape struct {
	ID             int64              `json:"id"`
	Source         string             `json:"source"`
	CaseID         string             `json:"case_id"`
	Stage          dispute.Stage      `json:"stage"`
	Status         dispute.Status     `json:"status"`
	Matched        dispute.Matching   `json:"matched"`
	Channels       *int64             `json:"channels"`
	TransactionID  *int64             `json:"transaction_id"`
	Amount         int64              `json:"amount"`
	Currencies     money.Currency     `json:"currencies"`
	Debits         int64              `json:"debits"`
	Credits        int64              `json:"credits"`
	BaseCurrency   *money.Currency    `json:"base_currency"`
	Fees           []disputeFeeShape  `json:"fees"`
	WaitingForRate bool               `json:"waiting_for_rate"`
	ReasonCode     *string            `json:"reason_code"`
	Reason         *string            `json:"reason"`
	ReasonFamily   *dispute.Family    `json:"reason_family"`
	Schemes        *string            `json:"schemes"`
	DueAt          *string            `json:"due_at"`
	Assigned       *string            `json:"assigned"`
	Opened         string             `json:"opened"`
	Merchant       *string            `json:"merchant"`
	Match          *disputeMatchShape `json:"match"`
	Clues          disputeCluesShape  `json:"clues"`
	Created        string             `json:"created"`
	Modified       string             `json:"modified"`
}

type disputeFeeShape struct {
	Amount     int64          `json:"amount"`
	Currencies money.Currency `json:"currencies"`
}

// disputeMatchShape says how the payment was found.
type disputeMatchShape struct {
	Rule        dispute.Rule `json:"rule"`
	RuleVersion string       `json:"rule_version"`
	Score       int          `json:"score"`
}

// disputeCluesShape is what was reported about the payment.
type disputeCluesShape struct {
	AcquirerReference  *string         `json:"acquirer_reference"`
	ProcessorReference *string         `json:"processor_reference"`
	ProcessorAlias     *string         `json:"processor_alias"`
	Reference          *string         `json:"reference"`
	AuthCode           *string         `json:"auth_code"`
	LastFourDigits     *string         `json:"last_four_digits"`
	BINNumber          *string         `json:"bin_number"`
	PaidOn             *string         `json:"paid_on"`
	PaidTotal          *int64          `json:"paid_total"`
	PaidCurrencies     *money.Currency `json:"paid_currencies"`
}

// ShowDispute gives the shape of a dispute, to be encoded as JSON.
func ShowDispute(c disputes.Case) disputeShape {
	shape := disputeShape{
		ID: c.ID, Source: c.Source, CaseID: c.CaseID, Stage: c.Stage, Status: c.Status, Matched: c.Matching, Channels: view.OrNull(c.ChannelID),
		TransactionID: view.OrNull(c.TransactionID), Amount: c.Amount, Currencies: c.Currency, Debits: c.Debits, Credits: c.Credits,
		BaseCurrency: view.OrNull(c.BaseCurrency), Fees: []disputeFeeShape{}, WaitingForRate: c.Waiting > 0, ReasonCode: view.OrNull(c.ReasonCode),
		Reason: view.OrNull(c.Reason), ReasonFamily: view.OrNull(c.Family), Schemes: view.OrNull(c.Scheme), DueAt: dayOrNull(c.DueOn), Assigned: view.OrNull(c.Assignee), Opened: c.OpenedOn.String(), Merchant: view.OrNull(c.Merchant),
		Clues: disputeCluesShape{
			AcquirerReference: view.OrNull(c.Clues.AcquirerReference), ProcessorReference: view.OrNull(c.Clues.ProcessorReference),
			ProcessorAlias: view.OrNull(c.Clues.ProcessorAlias),
			Reference:      view.OrNull(c.Clues.PaymentReference), AuthCode: view.OrNull(c.Clues.AuthCode), LastFourDigits: view.OrNull(c.Clues.LastFour),
			BINNumber: view.OrNull(c.Clues.BIN), PaidOn: dayOrNull(c.Clues.PaidOn), PaidTotal: view.OrNull(c.Clues.PaidAmount),
			PaidCurrencies: view.OrNull(c.Clues.PaidCurrency),
		},
		Created: civil.FormatInstant(c.CreatedAt), Modified: civil.FormatInstant(c.ModifiedAt),
	}
	if c.Rule != "" {
		shape.Match = &disputeMatchShape{c.Rule, c.RuleVersion, c.Score}
	}
	for _, e := range c.Events {
		if e.Kind == dispute.Fee && e.SameAs == 0 {
			shape.Fees = append(shape.Fees, disputeFeeShape{e.Amount, e.Currency})
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

// disputeEventShape is an event of a dispute in answers.
type disputeEventShape struct {
	ID            int64                 `json:"id"`
	Kind          dispute.Kind          `json:"kind"`
	Number        *int                  `json:"number"`
	Day           string                `json:"day"`
	DayReported   bool                  `json:"day_reported"`
	Stage         *dispute.Stage        `json:"stage"`
	Status        *dispute.Status       `json:"status"`
	Amount        *int64                `json:"amount"`
	Currencies    *money.Currency       `json:"currencies"`
	DueAt         *string               `json:"due_at"`
	ReasonCode    *string               `json:"reason_code"`
	Reason        *string               `json:"reason"`
	RefersTo      *string               `json:"refers_to"`
	SameAs        *int64                `json:"same_as"`
	Movement      *disputeMovementShape `json:"movement"`
	TransactionID *int64                `json:"transaction_id"`
	Match         *disputeMatchShape    `json:"match"`
	Points        *dispute.Points       `json:"points"`
	Note          *string               `json:"note"`
	Origin        string                `json:"origin"`
	Raw           *string               `json:"raw"`
	Author        string                `json:"author"`
	Received      string                `json:"received"`
}

// disputeMovementShape is what an event moved in the ledger.
type disputeMovementShape struct {
	TransactionID int64 `json:"transaction_id"`
	Total         int64 `json:"total"`
	BaseTotal     int64 `json:"base_total"`
	Converted     bool  `json:"converted"`
}

// stateKind is the kind of an event that changes the state only.
const stateKind dispute.Kind = "state"

// ShowDisputeEvents gives the events of a dispute in order of receipt.
func ShowDisputeEvents(c disputes.Case) []disputeEventShape {
	list := make([]disputeEventShape, len(c.Events))
	for i, e := range c.Events {
		shape := disputeEventShape{
			ID: e.ID, Kind: cmp.Or(e.Kind, stateKind), Number: view.OrNull(e.Number), Day: e.On().String(), DayReported: e.Day != civil.NoDay,
			Stage: view.OrNull(e.Stage), Status: view.OrNull(e.Status), Amount: view.OrNull(e.Amount), Currencies: view.OrNull(e.Currency), DueAt: dayOrNull(e.DueOn),
			ReasonCode: view.OrNull(e.ReasonCode), Reason: view.OrNull(e.Reason), RefersTo: view.OrNull(e.RefersTo), SameAs: view.OrNull(e.SameAs),
			TransactionID: view.OrNull(e.ObjectID), Points: view.OrNull(e.Points), Note: view.OrNull(e.Note), Origin: e.Origin, Raw: view.OrNull(e.Raw),
			Author: e.Author, Received: civil.FormatInstant(e.ReceivedAt),
		}
		if e.Rule != "" {
			shape.Match = &disputeMatchShape{e.Rule, e.RuleVersion, e.Score}
		}
		for _, p := range c.InForce() {
			if p.EventID == e.ID {
				shape.Movement = &disputeMovementShape{p.MovementID, p.Paid, p.Base, p.Converted}
			}
		}
		list[i] = shape
	}
	return list
}

// candidateShape is a payment that a dispute may be about.
type candidateShape struct {
	TransactionID      int64                     `json:"transaction_id"`
	Rule               dispute.Rule              `json:"rule"`
	Score              int                       `json:"score"`
	Points             dispute.Points            `json:"points"`
	Channels           int64                     `json:"channels"`
	Bookings           []int64                   `json:"bookings"`
	Status             payment.TransactionStatus `json:"status"`
	Currencies         money.Currency            `json:"currencies"`
	Total              int64                     `json:"total"`
	BaseCurrency       money.Currency            `json:"base_currency"`
	BaseTotal          int64                     `json:"base_total"`
	AcquirerReference  *string                   `json:"acquirer_reference"`
	ProcessorReference *string                   `json:"processor_reference"`
	Reference          *string                   `json:"reference"`
	AuthCode           *string                   `json:"auth_code"`
	LastFourDigits     *string                   `json:"last_four_digits"`
	BINNumber          *string                   `json:"bin_number"`
	Schemes            string                    `json:"schemes"`
	PaidOn             string                    `json:"paid_on"`
}

// ShowCandidate gives the shape of a candidate, to be encoded as JSON.
func ShowCandidate(c disputes.Candidate) candidateShape {
	t := c.Payment
	shape := candidateShape{
		TransactionID: t.ID, Rule: c.Rule, Score: c.Points.Sum(), Points: c.Points, Channels: t.ChannelID, Bookings: []int64{}, Status: t.Status,
		Currencies: t.Currency, Total: t.Total, BaseCurrency: t.BaseCurrency, BaseTotal: t.BaseTotal,
		AcquirerReference: view.OrNull(t.AcquirerReference), ProcessorReference: view.OrNull(t.ProcessorReference), Reference: view.OrNull(t.Reference),
		AuthCode: view.OrNull(t.AuthCode), LastFourDigits: view.OrNull(t.LastFour), BINNumber: view.OrNull(t.BIN), Schemes: c.Scheme, PaidOn: c.PaidOn.String(),
	}
	for _, part := range t.Payments {
		shape.Bookings = append(shape.Bookings, part.BookingID)
	}
	return shape
}

// disputeCounts are numbers of disputes.
type disputeCounts struct {
	Total    int64                      `json:"total"`
	Overdue  int64                      `json:"overdue"`
	DueSoon  int64                      `json:"due_soon"`
	Matched  map[dispute.Matching]int64 `json:"matched"`
	Stages   map[dispute.Stage]int64    `json:"stage"`
	Statuses map[dispute.Status]int64   `json:"status"`
	Families map[dispute.Family]int64   `json:"reason_family"`
}

// ShowDisputeCounts gives counts with a number for each known word.
func ShowDisputeCounts(n disputes.Counts) disputeCounts {
	return disputeCounts{
		n.All, n.Overdue, n.DueSoon, counted(dispute.Matchings, n.Matching), counted(dispute.Stages, n.Stages), counted(dispute.Statuses, n.Statuses),
		counted(dispute.Families, n.Families),
	}
}

func counted[T ~string](words []T, n map[T]int64) map[T]int64 {
	all := map[T]int64{}
	for _, w := range words {
		all[w] = n[w]
	}
	return all
}

// evidenceShape is a file of a dispute in answers.
type evidenceShape struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Type   string `json:"type"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Note   string `json:"note"`
	Author string `json:"author"`
	Added  string `json:"added"`
}

// ShowEvidence gives the shape of a file of a dispute, to be encoded as JSON.
func ShowEvidence(e disputes.Evidence) evidenceShape {
	return evidenceShape{e.ID, e.Name, e.Type, e.Size, e.SHA256, e.Note, e.Author, civil.FormatInstant(e.AddedAt)}
}

// disputeFileShape is a processor's file in answers.
type disputeFileShape struct {
	ID        int64                `json:"id"`
	State     disputes.UploadState `json:"state"`
	DryRun    bool                 `json:"dry_run"`
	Format    string               `json:"format"`
	SHA256    string               `json:"sha256"`
	Bytes     int64                `json:"bytes"`
	Lines     int64                `json:"lines"`
	LinesDone int64                `json:"lines_done"`
	Matched   int64                `json:"matched"`
	Queued    int64                `json:"queue"`
	Unmatched int64                `json:"unmatched"`
	Repeated  int64                `json:"repeated"`
	Ignored   int64                `json:"ignored"`
	Refused   int64                `json:"refused"`
	Problem   string               `json:"problem"`
	Author    string               `json:"author"`
	Created   string               `json:"created"`
	Modified  string               `json:"modified"`
	Finished  *string              `json:"finished"`
}

// ShowDisputeFile gives the shape of a processor's file, to be encoded as JSON.
func ShowDisputeFile(u disputes.Upload) disputeFileShape {
	return disputeFileShape{
		ID: u.ID, State: u.State, DryRun: u.DryRun, Format: u.Format, SHA256: u.SHA256, Bytes: u.Bytes, Lines: u.Lines, LinesDone: u.Done,
		Matched: u.Outcomes[disputes.Outcome(dispute.Matched)], Queued: u.Outcomes[disputes.Outcome(dispute.Queued)],
		Unmatched: u.Outcomes[disputes.Outcome(dispute.Unmatched)], Repeated: u.Outcomes[disputes.LineRepeated],
		Ignored: u.Outcomes[disputes.LineIgnored], Refused: u.Outcomes[disputes.LineRefused], Problem: u.Problem, Author: u.Author,
		Created: civil.FormatInstant(u.CreatedAt), Modified: civil.FormatInstant(u.ModifiedAt), Finished: instantOrNull(u.FinishedAt),
	}
}

// disputeLineShape is the result of a line of a processor's file in answers.
type disputeLineShape struct {
	Line    int              `json:"line"`
	Outcome disputes.Outcome `json:"outcome"`
	Dispute *int64           `json:"dispute"`
	Source  *string          `json:"source"`
	CaseID  *string          `json:"case_id"`
	Kind    *dispute.Kind    `json:"kind"`
	Message string           `json:"message"`
}

// ShowDisputeLine gives the shape of a result, to be encoded as JSON.
func ShowDisputeLine(l disputes.Line) disputeLineShape {
	kind := &l.Kind
	if l.CaseID == "" {
		kind = nil
	} else if l.Kind == dispute.NoMoney {
		kind = new(stateKind)
	}
	return disputeLineShape{l.Number, l.Outcome, view.OrNull(l.DisputeID), view.OrNull(l.Source), view.OrNull(l.CaseID), kind, l.Message}
}

func instantOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(civil.FormatInstant(t))
}
