package verify

import "holdfast/internal/domain/civil"

// storedEnd is the end of an allocation as stored in its row.
type storedEnd struct {
	after         civil.Day // its last day of dispute
	ended, closed bool
}

// allocationEnds: an allocation that the row calls closed is left out of every report from today on, so its last day of dispute and
// its trip must be over. One that has ended, and is not told so yet, waits for a job.
func allocationEnds(l *look, at place, a *allocated) error {
	terms, ok := lastTerms(a.History)
	if !ok {
		return nil // the check of the terms says so
	}
	today := civil.DayOf(l.tx.Now)
	same(l, at, "ends_after", a.end.after, terms.LastDay)
	if a.end.ended && terms.LastDay >= today {
		l.wrong(at, "ended", true, "false until "+show(terms.LastDay)+" is over")
	}
	if last := max(terms.LastDay, terms.End); a.end.closed && last >= today {
		l.wrong(at, "closed", true, "false until "+show(last)+" is over")
	}
	return nil
}

func (l *look) readEnds(byID map[int64]*booked, args []any) error {
	return l.tx.Query(`SELECT booking_id, id, ends_after, ended, closed FROM allocations
		WHERE site_id = $1 AND booking_id BETWEEN $2 AND $3`, args, func(scan func(dest ...any) error) error {
		var booking, id int64
		var end storedEnd
		err := scan(&booking, &id, &end.after, &end.ended, &end.closed)
		if b := byID[booking]; b != nil {
			b.ends[id] = end
		}
		return err
	})
}
