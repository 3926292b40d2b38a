package store

import (
	"slices"
	"strings"

	"holdfast/internal/protection"
)

// heap is a table whose rows may wait: nobody is given their ids. The rows of a write are inserted many at a time, at its
// end, or earlier when a statement names the table.
type heap struct{ name, columns string }

// The heaps, in the order in which their rows refer to each other.
const (
	allocationsHeap = iota
	termsHeap
	eventsHeap
	premiumHeap
	changesHeap
)

var heaps = [...]heap{
	allocationsHeap: {"allocations", `site_id, id, channel_id, booking_id, transaction_id, currency, amount, scheme,
		effective_at, recorded_at, protected, reason, simulated, late_logged, cover_from, rulepack, policy_currency,
		max_fixing_age, priced_at, value, from_provider, from_day, from_rate, to_provider, to_day, to_rate, policy_id`},
	termsHeap: {"allocation_terms", `site_id, allocation_id, effective_at, recorded_at, start_day, end_day, last_day,
		country, suppliers`},
	eventsHeap: {"allocation_events", `site_id, allocation_id, transaction_id, kind, amount, effective_at, recorded_at`},
	premiumHeap: {"premium_lines", `site_id, allocation_id, channel_id, booking_id, transaction_id, kind, cause,
		recorded_at, effective_at, currency, amount, retained, state_amount, state_value, lead_days, ppm, premium,
		minimum_applied, policy_id, rate_card, simulated`},
	changesHeap: {"limit_changes", `site_id, kind, transaction_id, allocation_id, recorded_at`},
}

// mostPerStatement bounds how many rows share a statement: their parameters stay far below what both engines take. Rows
// are cut into powers of two, so that there are few different texts, which engines prepare once.
const mostPerStatement = 64

// waiting is what a write has still to do before it ends.
type waiting struct {
	rows  [len(heaps)][][]any
	sums  []*heldBooking // whose sums are not stored yet
	risks []*heldBooking // whose buckets are not counted yet
}

func (tx *Tx) insertLater(heap int, values ...any) {
	tx.waiting.rows[heap] = append(tx.waiting.rows[heap], values)
	tx.waits = true
}

func (tx *Tx) saveSumsLater(b *heldBooking) {
	if !slices.Contains(tx.waiting.sums, b) {
		tx.waiting.sums = append(tx.waiting.sums, b)
	}
	tx.waits = true
}

func (tx *Tx) countLater(b *heldBooking) {
	if !slices.Contains(tx.waiting.risks, b) {
		tx.waiting.risks = append(tx.waiting.risks, b)
	}
	tx.waits = true
}

// flushBefore writes what a statement may want to see: rows of the tables that it names.
func (tx *Tx) flushBefore(query string) error {
	if !tx.waits {
		return nil
	}
	names := len(tx.waiting.sums) > 0 && strings.Contains(query, "bookings") ||
		len(tx.waiting.risks) > 0 && strings.Contains(query, "exposure_")
	for i, h := range heaps {
		names = names || len(tx.waiting.rows[i]) > 0 && strings.Contains(query, h.name)
	}
	if !names {
		return nil
	}
	return tx.flush()
}

// flush writes all that waits.
func (tx *Tx) flush() error {
	if !tx.waits {
		return nil
	}
	w := tx.waiting
	tx.waiting, tx.waits = waiting{}, false // at once, because what follows are statements, too
	for i, rows := range w.rows {
		if err := tx.insertRows(heaps[i], rows); err != nil {
			return err
		}
	}
	if err := tx.storeSums(w.sums); err != nil {
		return err
	}
	return tx.countRisks(w.risks)
}

func (tx *Tx) insertRows(h heap, rows [][]any) error {
	return inPowers(rows, func(rows [][]any) error {
		var w where
		texts := make([]string, len(rows))
		for i, values := range rows {
			texts[i] = w.values(values...)
		}
		_, err := tx.exec("INSERT INTO "+h.name+" ("+h.columns+") VALUES "+strings.Join(texts, ", "), w.args...)
		return err
	})
}

// storeSums stores the sums of bookings that are held, and the status that follows.
func (tx *Tx) storeSums(list []*heldBooking) error {
	return inPowers(list, func(list []*heldBooking) error {
		var w where
		modified := w.arg(micros(tx.Now))
		rows := make([]string, len(list))
		for i, h := range list {
			b := h.booking
			rows[i] = w.values(b.SiteID, b.ID, b.Sums.Net, b.Sums.Held, b.Sums.OpenAuthorised, b.Sums.LockedPayments,
				b.ModalDraft, string(b.StoredStatus()))
		}
		// The types of the first row are those of all.
		rows[0] = `(CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($6 AS BIGINT),
			CAST($7 AS BIGINT), CAST($8 AS BOOLEAN), CAST($9 AS TEXT))`
		_, err := tx.exec(`UPDATE bookings SET net = v.column3, held = v.column4, open_authorised = v.column5,
				locked_payments = v.column6, modal_draft = v.column7, status = v.column8, modified_at = `+modified+`
			FROM (VALUES `+strings.Join(rows, ", ")+`) AS v
			WHERE bookings.site_id = v.column1 AND bookings.id = v.column2`, w.args...)
		return err
	})
}

// countRisks adds to the buckets what the bookings that this write has made have become.
func (tx *Tx) countRisks(list []*heldBooking) error {
	bySite := map[int64][]protection.Delta{}
	for _, h := range list {
		now, err := h.risk.Deltas()
		if err != nil {
			return err
		}
		site := h.booking.SiteID
		bySite[site] = append(bySite[site], protection.Difference(h.counted, now)...)
		h.counted = now
	}
	for site, deltas := range bySite {
		if err := insertDeltas(tx, site, deltas); err != nil {
			return err
		}
	}
	return nil
}

// inPowers hands a list on in pieces whose lengths are powers of two, the longest first.
func inPowers[T any](list []T, each func([]T) error) error {
	for size := mostPerStatement; len(list) > 0; {
		if size > len(list) {
			size /= 2
			continue
		}
		if err := each(list[:size]); err != nil {
			return err
		}
		list = list[size:]
	}
	return nil
}
