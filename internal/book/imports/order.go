package imports

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"time"

	"holdfast/internal/domain/payment"
)

// mostTogether is how many rows of one booking are sorted together. It bounds the memory.
const mostTogether = 5000

// channelText is shared by all rows that name a channel the same way.
func channelText(row ImportedPayment) string {
	if row.ChannelID != 0 {
		return "id " + strconv.FormatInt(row.ChannelID, 10)
	}
	return "name " + row.Channel
}

// bookingOf identifies the booking of a row within a file.
func bookingOf(row ImportedPayment) [2]string {
	return [2]string{channelText(row), row.Booking.ImportKey}
}

// together groups the rows of a file: consecutive rows of one booking form a list. A row that is already rejected keeps its place, in the
// list of the rows before it.
func together(rows iter.Seq2[ImportedPayment, error]) iter.Seq2[[]ImportedPayment, error] {
	return func(yield func([]ImportedPayment, error) bool) {
		var list []ImportedPayment
		var of [2]string
		for row, err := range rows {
			if err != nil {
				if len(list) == 0 || yield(list, nil) {
					yield(nil, err)
				}
				return
			}
			key := of
			if row.Refused == nil {
				key = bookingOf(row)
			}
			if len(list) > 0 && (key != of || len(list) == mostTogether) {
				if !yield(list, nil) {
					return
				}
				list = nil
			}
			list, of = append(list, row), key
		}
		if len(list) > 0 {
			yield(list, nil)
		}
	}
}

// inOrder sorts the rows of each booking so that a row comes after those it depends on, whatever their order in the file.
// The bookings keep the order of their first rows.
func inOrder(rows []ImportedPayment) []ImportedPayment {
	first := map[[2]string]int{}
	var bookings [][]ImportedPayment
	for _, row := range rows {
		i, met := first[bookingOf(row)]
		if !met {
			i = len(bookings)
			first[bookingOf(row)], bookings = i, append(bookings, nil)
		}
		bookings[i] = append(bookings[i], row)
	}
	sorted := make([]ImportedPayment, 0, len(rows))
	for _, list := range bookings {
		sorted = append(sorted, byTime(list)...)
	}
	return sorted
}

// byTime sorts the rows of one booking by payment time. A row that adjusts another comes after it, whatever its own time. At the same
// time, rows that free part of the booking's total come first. Rows that adjust each other in a circle are rejected.
func byTime(rows []ImportedPayment) []ImportedPayment {
	slices.SortStableFunc(rows, func(a, b ImportedPayment) int { return cmp.Compare(a.Line, b.Line) })
	made := map[string]int{} // the first row that makes a payment
	for i, row := range rows {
		if _, met := made[row.Payment.ImportKey]; !met && row.Refused == nil {
			made[row.Payment.ImportKey] = i
		}
	}
	// chain lists a row, the row that it adjusts, and so on, up to one that is already done.
	chain := func(i int, done []bool) (list []int) {
		for more := true; more && !done[i]; {
			if from := slices.Index(list, i); from >= 0 {
				refuseCircle(rows, list[from:])
				break
			}
			list = append(list, i)
			if rows[i].Linked == "" || rows[i].Refused != nil {
				break
			}
			i, more = made[rows[i].Linked]
		}
		slices.Reverse(list)
		return list
	}
	at, done := make([]time.Time, len(rows)), make([]bool, len(rows))
	order := make([]int, len(rows))
	for i := range rows {
		order[i] = i
		for _, k := range chain(i, done) {
			at[k], done[k] = rows[k].Payment.EffectiveAt, true
			if of, ok := made[rows[k].Linked]; ok && rows[k].Linked != "" && at[k].Before(at[of]) {
				at[k] = at[of]
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(at[a].Compare(at[b]), cmp.Compare(turn(rows[a]), turn(rows[b])))
	})
	clear(done)
	sorted := make([]ImportedPayment, 0, len(rows))
	for _, i := range order {
		for _, k := range chain(i, done) {
			done[k], sorted = true, append(sorted, rows[k])
		}
	}
	return sorted
}

// turn orders payments made in the same second.
func turn(row ImportedPayment) int {
	if row.Payment.Type == nil {
		return 0
	}
	switch *row.Payment.Type {
	case payment.Refund, payment.Void:
		return 1
	case payment.Capture:
		return 2
	case payment.Chargeback, payment.Prevented:
		return 4
	case payment.ChargebackReversal:
		return 5
	default:
		return 3
	}
}

func refuseCircle(rows []ImportedPayment, circle []int) {
	for i, at := range circle {
		if len(circle) == 1 {
			rows[at].Refused = refusedCell("linked_reference", "This payment adjusts itself.")
			continue
		}
		rows[at].Refused = refusedCell("linked_reference",
			"This payment adjusts that of line %d, which in turn adjusts this one, directly or through others.", rows[circle[(i+1)%len(circle)]].Line)
	}
}
