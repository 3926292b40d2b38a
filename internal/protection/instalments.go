package protection

import (
	"maps"
	"slices"

	"holdfast/internal/civil"
)

// instalments is the booking whose positions are being added.
type instalments struct {
	id    int64
	first *Position // the first position of which something remains
	left  int64     // the part of the total that is not paid
}

// add adds the next position, with N = n at the end of a day.
func (b *instalments) add(p Position, n int64, day civil.Day) {
	if p.Paid <= day {
		b.left -= p.Amounts.Allocated
	}
	if n > 0 && b.first == nil {
		b.first = &p
	}
}

// due is E4 of the booking (R7) if its channel is protected: what is still to be paid, while the trip is not over and
// something remains of a payment.
func (b instalments) due(day civil.Day) int64 {
	if b.first == nil || day > b.first.Terms.End {
		return 0
	}
	return max(0, b.left)
}

// LeaveOut names the channels that are not protected on the day of the report: their bookings are not in E4 (R7). Call
// it before anything is added.
func (e *Exposure) LeaveOut(unprotected map[int64]bool) { e.unprotected = unprotected }

// TakeBack returns the channels whose future instalments must be taken out of the rows with TakeBackBucket, in order. They
// are named by LeaveOut, and were added by cells that do not tell channels apart. There are none after Add and AddBucket.
func (e *Exposure) TakeBack() []int64 {
	if !e.left || !e.blurred {
		return nil
	}
	return slices.Sorted(maps.Keys(e.unprotected))
}

// TakeBackBucket takes the future instalments of a bucket out of the rows again.
func (e *Exposure) TakeBackBucket(d Delta) {
	if d.Standing == Instalments {
		e.addBucket(d.Negative())
	}
}
