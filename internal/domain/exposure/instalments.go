package exposure

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// Outstanding is what E4 of a booking (R7) depends on, from a day on until the next one: how much of its total is paid,
// and whether something remains of a payment. A booking keeps a list of them, in order of their days, so that the next
// payment needs to read no earlier one.
type Outstanding struct {
	Day     civil.Day // civil.NoDay for the first one, which counts for all days before the second one
	Total   int64     // of the booking
	Paid    int64     // purchases and captures before refunds
	Remains bool      // N > 0 of some payment
	// These are the terms of the first such payment. They are empty when nothing remains.
	End       civil.Day
	Country   string
	Suppliers string // as in Terms
}

// Unpaid is the list of a booking for which nothing was paid, and whose total never changed.
func Unpaid(total int64) []Outstanding { return []Outstanding{{Day: civil.NoDay, Total: total}} }

// Outstanding is the list of the booking.
func (b BookingRisk) Outstanding() []Outstanding { return b.counted().outstanding() }

func (b BookingRisk) outstanding() []Outstanding {
	list := Unpaid(b.TotalOn(civil.NoDay))
	for _, day := range b.days() {
		now := b.outstandingOn(day)
		same := list[len(list)-1]
		if same.Day = day; now != same {
			list = append(list, now)
		}
	}
	return list
}

func (b BookingRisk) outstandingOn(day civil.Day) Outstanding {
	o := Outstanding{Day: day, Total: b.TotalOn(day)}
	for _, a := range b.Allocations {
		if a.Paid() > day {
			continue
		}
		o.Paid = money.Sum(o.Paid, a.Amount)
		if o.Remains || a.AmountsAt(a.Events, day, allKnown).Remaining(a.Paid(), day) == 0 {
			continue
		}
		o.remains(protection.TermsAt(a.Terms, day.End(), allKnown))
	}
	return o
}

func (o *Outstanding) remains(t protection.Terms) {
	o.Remains, o.End, o.Country, o.Suppliers = true, t.End, t.Country, t.Suppliers
}

// PayMore returns the list after a further payment, which counts from a day on and has these terms.
func PayMore(list []Outstanding, day civil.Day, amount int64, t protection.Terms) []Outstanding {
	at, found := slices.BinarySearchFunc(list, day, func(o Outstanding, day civil.Day) int { return int(o.Day - day) })
	list = slices.Clone(list)
	if !found {
		before := list[at-1]
		before.Day = day
		list = slices.Insert(list, at, before)
	}
	for i := range list[at:] {
		o := &list[at+i]
		if o.Paid = money.Sum(o.Paid, amount); !o.Remains {
			o.remains(t)
		}
	}
	return list
}

// InstalmentDeltas makes the deltas of the outstanding amount of a booking: E4 if its channel is protected. An amount belongs
// to the bucket of the first payment with a remaining amount.
func InstalmentDeltas(list []Outstanding, channelID int64, currency money.Currency) (deltas []Delta) {
	var before Delta
	for _, o := range list {
		now := Delta{}
		if left := o.Total - o.Paid; o.Remains && left > 0 {
			now = Delta{Count: 1, Amount: left, Bucket: Bucket{
				ChannelID: channelID, Currency: currency, Country: o.Country, Suppliers: o.Suppliers,
				Category: Instalments, Start: o.End, End: o.End, LastDay: o.End,
			}}
		}
		now.Day, before.Day = o.Day, o.Day
		if now != before {
			deltas = append(deltas, before.Negative(), now)
		}
		before = now
	}
	return deltas
}

// OutstandingText writes a list as it is stored: day, total and paid, and end, country and suppliers where something
// remains, with "|" between them and ";" between the days.
func OutstandingText(list []Outstanding) string {
	texts := make([]string, len(list))
	for i, o := range list {
		texts[i] = fmt.Sprintf("%d|%d|%d", int64(o.Day), o.Total, o.Paid)
		if o.Remains {
			texts[i] += fmt.Sprintf("|%d|%s|%s", int64(o.End), o.Country, o.Suppliers)
		}
	}
	return strings.Join(texts, ";")
}

// ReadOutstanding is the reverse of OutstandingText.
func ReadOutstanding(text string) ([]Outstanding, error) {
	var list []Outstanding
	for entry := range strings.SplitSeq(text, ";") {
		parts := strings.Split(entry, "|")
		if len(parts) != 3 && len(parts) != 6 {
			return nil, fmt.Errorf("invalid entry %q in the outstanding amounts", entry)
		}
		var numbers [4]int64
		for i := range min(len(parts), len(numbers)) {
			var err error
			if numbers[i], err = strconv.ParseInt(parts[i], 10, 64); err != nil {
				return nil, fmt.Errorf("outstanding amounts: %w", err)
			}
		}
		o := Outstanding{Day: civil.Day(numbers[0]), Total: numbers[1], Paid: numbers[2]}
		if len(parts) == 6 {
			o.remains(protection.Terms{End: civil.Day(numbers[3]), Country: parts[4], Suppliers: parts[5]})
		}
		list = append(list, o)
	}
	return list, nil
}

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

// due is E4 of the booking (R7) if its channel is protected: the outstanding amount, while the trip is not over and
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

// TakeBack returns the channels whose future instalments must be taken out of the rows with TakeBackBucket, in order.
// They are named by LeaveOut, and were added by cells that do not distinguish channels. There are none after Add and
// AddBucket.
func (e *Exposure) TakeBack() []int64 {
	if !e.left || !e.blurred {
		return nil
	}
	return slices.Sorted(maps.Keys(e.unprotected))
}

// TakeBackBucket takes the future instalments of a bucket out of the rows again.
func (e *Exposure) TakeBackBucket(d Delta) {
	if d.Category == Instalments {
		e.addBucket(d.Negative())
	}
}
