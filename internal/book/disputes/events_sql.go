package disputes

import (
	"database/sql"
	"encoding/json"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/lib/digest"
	"holdfast/internal/store"
)

// keptClues are clues as JSON, where no day is absent.
type keptClues struct {
	dispute.Clues
	PaidOn *civil.Day `json:",omitempty"`
}

// noClues are the clues of a report that has none.
var noClues = dispute.Clues{PaidOn: civil.NoDay}

func cluesText(c dispute.Clues) (string, error) {
	if c == noClues {
		return "", nil
	}
	kept := keptClues{Clues: c}
	if c.PaidOn != civil.NoDay {
		kept.PaidOn = &c.PaidOn
	}
	text, err := json.Marshal(kept)
	return string(text), err
}

func parseClues(text string) (dispute.Clues, error) {
	if text == "" {
		return noClues, nil
	}
	var kept keptClues
	err := json.Unmarshal([]byte(text), &kept)
	if kept.Clues.PaidOn = civil.NoDay; kept.PaidOn != nil {
		kept.Clues.PaidOn = *kept.PaidOn
	}
	return kept.Clues, err
}

const eventColumns = `e.id, e.dispute_id, e.kind, e.number, e.day, e.at, e.stage, e.status, e.amount, e.currency, e.whole, e.due_day, e.reason_code,
	e.reason, e.refers_to, e.source, e.case_id, e.merchant, e.clues, COALESCE(e.same_as, 0), COALESCE(e.object_id, 0), e.rule, e.rule_version,
	e.score, e.points, e.note, e.origin, e.raw, e.author_id, e.author, e.received_at`

func scanEvent(scan func(dest ...any) error) (e Event, disputeID int64, err error) {
	var day, at, due sql.NullInt64
	var clues, points string
	err = scan(&e.ID, &disputeID, &e.Kind, &e.Number, &day, &at, &e.Stage, &e.Status, &e.Amount, &e.Currency, &e.Whole, &due, &e.ReasonCode,
		&e.Reason, &e.RefersTo, &e.Source, &e.CaseID, &e.Merchant, &clues, &e.SameAs, &e.ObjectID, &e.Rule, &e.RuleVersion,
		&e.Score, &points, &e.Note, &e.Origin, &e.Raw, &e.AuthorID, &e.Author, store.Stored{Instant: &e.ReceivedAt})
	if err != nil {
		return e, disputeID, err
	}
	e.Day, e.DueOn, e.At = store.DayOr(day), store.DayOr(due), store.MaybeInstant(at)
	if e.Clues, err = parseClues(clues); err == nil && points != "" {
		err = json.Unmarshal([]byte(points), &e.Points)
	}
	return e, disputeID, err
}

// EventFacts are the columns of dispute_events that never change.
const EventFacts = `site_id, dispute_id, kind, number, day, at, stage, status, amount, currency, whole, due_day, reason_code, reason, refers_to,
	source, case_id, merchant, clues, same_as, object_id, rule, rule_version, score, points, note, origin, raw, author_id, author, received_at`

// insertEvent appends an event to a case.
func insertEvent(tx *store.Tx, c *Case, e Event) (Event, error) {
	clues, err := cluesText(e.Clues)
	if err != nil {
		return e, err
	}
	points, err := e.pointsText()
	if err != nil {
		return e, err
	}
	if e.ID, err = tx.NextID("dispute_events", c.SiteID); err != nil {
		return e, err
	}
	e.ReceivedAt = tx.Now
	facts := []any{
		c.SiteID, c.ID, e.Kind, e.Number, store.MaybeDay(e.Day), store.MaybeMicros(e.At), e.Stage, e.Status, e.Amount, e.Currency, e.Whole,
		store.MaybeDay(e.DueOn), e.ReasonCode, e.Reason, e.RefersTo, e.Source, e.CaseID, e.Merchant, clues, store.MaybeID(e.SameAs),
		store.MaybeID(e.ObjectID), e.Rule, e.RuleVersion, e.Score, points, e.Note, e.Origin, e.Raw, e.AuthorID, e.Author,
		store.Micros(e.ReceivedAt),
	}
	sum, err := digest.Of(facts...)
	if err != nil {
		return e, err
	}
	tx.Insert("dispute_events", "id, "+EventFacts+", digest", append(append([]any{e.ID}, facts...), sum))
	c.Events = append(c.Events, e)
	return e, nil
}

func (e Event) pointsText() (string, error) {
	if e.Points == (dispute.Points{}) {
		return "", nil
	}
	text, err := json.Marshal(e.Points)
	return string(text), err
}

const postingColumns = `p.id, p.dispute_id, p.event_id, p.transaction_id, p.movement_id, p.kind, p.paid, p.base, p.converted, p.day,
	COALESCE(p.undoes, 0), p.recorded_at`

func scanPosting(scan func(dest ...any) error) (p Posting, err error) {
	err = scan(&p.ID, &p.DisputeID, &p.EventID, &p.TransactionID, &p.MovementID, &p.Kind, &p.Paid, &p.Base, &p.Converted, &p.Day, &p.Undoes,
		store.Stored{Instant: &p.RecordedAt})
	return p, err
}

// PostingFacts are the columns of dispute_postings that never change.
const PostingFacts = `site_id, dispute_id, event_id, transaction_id, movement_id, kind, paid, base, converted, day, undoes, recorded_at`

func insertPosting(tx *store.Tx, c *Case, p Posting) error {
	id, err := tx.NextID("dispute_postings", c.SiteID)
	if err != nil {
		return err
	}
	p.ID, p.DisputeID, p.RecordedAt = id, c.ID, tx.Now
	facts := []any{
		c.SiteID, c.ID, p.EventID, p.TransactionID, p.MovementID, p.Kind, p.Paid, p.Base, p.Converted, p.Day, store.MaybeID(p.Undoes),
		store.Micros(p.RecordedAt),
	}
	sum, err := digest.Of(facts...)
	if err != nil {
		return err
	}
	tx.Insert("dispute_postings", "id, "+PostingFacts+", digest", append(append([]any{p.ID}, facts...), sum))
	c.Postings = append(c.Postings, p)
	return nil
}

// Posting is a movement of a case in the ledger.
type Posting struct {
	ID            int64
	DisputeID     int64
	EventID       int64
	TransactionID int64 // the payment
	MovementID    int64 // the transaction that records it
	Kind          dispute.Kind
	Paid, Base    int64 // minor units of the payment's currency and of its base currency
	Converted     bool
	Day           civil.Day // of the event, when the movement was recorded
	Undoes        int64     // the posting that this one takes back; 0: none
	RecordedAt    time.Time
}
