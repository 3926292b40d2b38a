package travel_test

import (
	"testing"

	"pgregory.net/rapid"

	"holdfast/internal/civil"
	"holdfast/internal/travel"
)

const today civil.Day = 20514 // 2026-03-02

func TestStatusOfABooking(t *testing.T) {
	sums := func(net, held, open, locked int64) travel.BookingSums {
		return travel.BookingSums{Net: net, Held: held, OpenAuthorised: open, LockedPayments: locked}
	}
	for _, c := range []struct {
		name    string
		booking travel.Booking // of 100
		end     civil.Day
		want    travel.BookingStatus
	}{
		{"new", travel.Booking{}, today, travel.BookingUnpaid},
		{"new, travelled", travel.Booking{}, today - 1, travel.BookingUnpaid},
		{"a pending payment", travel.Booking{Sums: sums(0, 100, 0, 0)}, today, travel.BookingUnpaid},
		{"authorised", travel.Booking{Sums: sums(0, 100, 100, 0)}, today, travel.BookingAuthorized},
		{"authorised, part captured", travel.Booking{Sums: sums(40, 100, 60, 0)}, today, travel.BookingPartialPayment},
		{"part", travel.Booking{Sums: sums(99, 99, 0, 0)}, today, travel.BookingPartialPayment},
		{"part, travelled", travel.Booking{Sums: sums(99, 99, 0, 0)}, today - 1, travel.BookingPartialPayment},
		{"paid", travel.Booking{Sums: sums(100, 100, 0, 0)}, today + 1, travel.BookingPaid},
		{"paid, on the end date", travel.Booking{Sums: sums(100, 100, 0, 0)}, today, travel.BookingPaid},
		{"paid, the day after", travel.Booking{Sums: sums(100, 100, 0, 0)}, today - 1, travel.BookingCompleted},
		{"fully refunded", travel.Booking{Sums: sums(0, 0, 0, 0)}, today - 1, travel.BookingUnpaid},
		{"charged back", travel.Booking{Sums: sums(100, 100, 0, 1)}, today - 1, travel.BookingLocked},
		{"charged back once more than refunded", travel.Booking{Sums: sums(0, 0, 0, 1)}, today, travel.BookingLocked},
		{"the modal's", travel.Booking{ModalDraft: true}, today, travel.BookingDraft},
		{"the modal's, travelled", travel.Booking{ModalDraft: true}, today - 1, travel.BookingDraft},
		{"the modal's, channel locked", travel.Booking{ModalDraft: true, ChannelLocked: true}, today, travel.BookingLocked},
		{"channel locked", travel.Booking{ChannelLocked: true}, today, travel.BookingLocked},
		{"channel locked, paid", travel.Booking{ChannelLocked: true, Sums: sums(100, 100, 0, 0)}, today - 1, travel.BookingLocked},
	} {
		c.booking.Total, c.booking.End = 100, c.end
		if got := c.booking.StatusOn(today); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := (travel.Booking{End: today}).StatusOn(today); got != travel.BookingUnpaid {
		t.Errorf("a booking that costs nothing is %s", got)
	}
}

func anyBooking(t *rapid.T) travel.Booking {
	total := rapid.Int64Range(0, 5).Draw(t, "total")
	return travel.Booking{
		Total:         total,
		End:           today + civil.Day(rapid.Int64Range(-2, 2).Draw(t, "days")),
		ModalDraft:    rapid.Bool().Draw(t, "draft"),
		ChannelLocked: rapid.Bool().Draw(t, "channel locked"),
		Sums: travel.BookingSums{
			Net:            rapid.Int64Range(0, total).Draw(t, "net"),
			OpenAuthorised: rapid.Int64Range(0, 2).Draw(t, "open"),
			LockedPayments: rapid.Int64Range(0, 1).Draw(t, "locked"),
		},
	}
}

// Each state, as the rules put it: exactly one of them holds, and it is the one that is answered.
func TestStatusIsExactlyOneOfTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyBooking(t)
		locked := b.ChannelLocked || b.Sums.LockedPayments > 0
		free := !locked && !b.ModalDraft
		paid := free && b.Sums.Net > 0 && b.Sums.Net >= b.Total
		part := free && !paid && b.Sums.Net > 0
		open := free && !paid && b.Sums.Net == 0 && b.Sums.OpenAuthorised > 0
		rules := map[travel.BookingStatus]bool{
			travel.BookingLocked:         locked,
			travel.BookingDraft:          !locked && b.ModalDraft,
			travel.BookingCompleted:      paid && today > b.End,
			travel.BookingPaid:           paid && today <= b.End,
			travel.BookingPartialPayment: part,
			travel.BookingAuthorized:     open,
			travel.BookingUnpaid:         free && !paid && !part && !open,
		}
		got := b.StatusOn(today)
		for status, holds := range rules {
			if holds != (got == status) {
				t.Fatalf("%+v is %s; %s: %v", b, got, status, holds)
			}
		}
		if got == travel.BookingCompleted && b.StatusOn(b.End) != travel.BookingPaid {
			t.Fatalf("a completed booking was %s on its last day", b.StatusOn(b.End))
		}
	})
}
