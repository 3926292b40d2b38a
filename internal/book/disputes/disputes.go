// Package disputes keeps disputes of payments as cases: what processors and people report about them, which payment each is about,
// and what it moves in the ledger (R14). It owns disputes and dispute_*. Start at room.take, then Case.match and Case.post.
package disputes

import (
	"context"
	"log/slog"
	"time"

	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Disputes are the use cases of disputes.
type Disputes struct {
	*sites.DB
	Payments *payments.Payments
	Gateway  *payments.GatewayPayments
	Log      *slog.Logger
}

// Manual is the source of a case that a person recorded.
const Manual = dispute.Manual

// Case is a dispute of a payment, as one processor knows it.
type Case struct {
	SiteID, ID    int64
	Source        string
	CaseID        string // the processor's id of the case
	ChannelID     int64  // 0: not known
	TransactionID int64  // the payment; 0: not matched
	Matching      dispute.Matching
	Rule          dispute.Rule // that matched it; "" if it is not matched
	RuleVersion   string
	Score         int
	Candidates    []dispute.Candidate // of a case in the queue, the best first
	dispute.State
	Family       dispute.Family // of its reason; "" if unknown
	Scheme       string         // of the payment's card, otherwise as reported; "" if unknown
	Assignee     string
	Merchant     string // as the processor names it
	Clues        dispute.Clues
	Amount       int64 // disputed, as reported
	Currency     money.Currency
	OpenedOn     civil.Day
	Waiting      int64          // movements of a matched case that wait for a rate
	AlertedFor   civil.Day      // the deadline of which an alert was recorded
	BaseCurrency money.Currency // of the payment; "" if it is not matched
	// What the case took and gave back in the ledger, in minor units of BaseCurrency.
	Debits, Credits int64
	Events          []Event   // in order of receipt
	Postings        []Posting // in order of recording
	Version         int64
	triedAt         time.Time // when it was last tried to match it, or to convert what waits
	CreatedAt       time.Time
	ModifiedAt      time.Time
}

// Event is an event of a case with where it comes from.
type Event struct {
	dispute.Event
	ObjectID    int64        // of a match and its undoing: the payment
	Rule        dispute.Rule // of a match
	RuleVersion string
	Score       int
	Points      dispute.Points // the parts of the score
	Note        string         // of a person: a note, a reason, or who works on the case
	Origin      string         // processor, file, transaction or person
	Raw         string         // as received
	AuthorID    int64
	Author      string
}

// reported are the events without their origin.
func (c Case) reported() []dispute.Event {
	list := make([]dispute.Event, len(c.Events))
	for i, e := range c.Events {
		list[i] = e.Event
	}
	return list
}

// FirstDay is the day of the first debit or, without one, on which the case was opened.
func (c Case) FirstDay() civil.Day {
	first := civil.LastDay
	for _, e := range c.movements() {
		if e.Kind != dispute.Credit {
			first = min(first, e.On())
		}
	}
	if first == civil.LastDay {
		return c.OpenedOn
	}
	return first
}

// Filter selects cases. Empty fields select all.
type Filter struct {
	Channels     []int64
	Transactions []int64
	Stages       []dispute.Stage
	Statuses     []dispute.Status
	Matchings    []dispute.Matching
	Sources      []string
	CaseIDs      []string
	Assigned     []string
	Families     []dispute.Family
	Schemes      []string
	Insolvencies []int64    // of whose snapshots the payment is part
	Search       string     // the case id, or a reference of the payment
	DueBefore    *civil.Day // the last day to answer is before this one
}

// The sort orders of cases. Those without a deadline come last.
const (
	OrderDue    = "due_at"
	OrderOpened = "opened"
)

// Counts are numbers of cases by each axis.
type Counts struct {
	All      int64
	Overdue  int64 // open cases whose deadline is over
	DueSoon  int64 // open cases whose deadline is at most three days away
	Matching map[dispute.Matching]int64
	Stages   map[dispute.Stage]int64
	Statuses map[dispute.Status]int64
	Families map[dispute.Family]int64 // "" where the reason is unknown
}

// List reads one page of cases, with their events and postings. It needs the permission ReadDisputes.
func (d *Disputes) List(ctx context.Context, actor access.Actor, f Filter, page store.Page) (list store.List[Case], err error) {
	if err := actor.Require(access.ReadDisputes); err != nil {
		return list, err
	}
	return sites.ReadPage(ctx, d.DB, actor, page, func(tx *store.Tx) (store.List[Case], error) { return casesPage(tx, actor.SiteID, f, page) })
}

// Get reads a case. If there is none, the error has the kind RecordNotFound.
func (d *Disputes) Get(ctx context.Context, actor access.Actor, id int64) (Case, error) {
	if err := actor.Require(access.ReadDisputes); err != nil {
		return Case{}, err
	}
	c, err := sites.Read(ctx, d.DB, actor, func(tx *store.Tx) (Case, error) { return ByID(tx, actor.SiteID, id) })
	return c, unknownCase(err, id)
}

// Count counts the cases of the actor's site that a filter selects.
func (d *Disputes) Count(ctx context.Context, actor access.Actor, f Filter) (Counts, error) {
	if err := actor.Require(access.ReadDisputes); err != nil {
		return Counts{}, err
	}
	return sites.Read(ctx, d.DB, actor, func(tx *store.Tx) (Counts, error) { return counts(tx, actor.SiteID, f, civil.DayOf(tx.Now)) })
}

func unknownCase(err error, id int64) error {
	return store.NotFoundAs(errs.RecordNotFound, err, "Dispute %d not found.", id)
}
