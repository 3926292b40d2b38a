package booking_test

import (
	"testing"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"

	"pgregory.net/rapid"
)

const today civil.Day = 20514 // 2026-03-02

func TestStatusOfABooking(t *testing.T) {
	sums := func(net, held, open, locked int64) booking.BookingSums {
		return booking.BookingSums{Net: net, Held: held, OpenAuthorised: open, LockedPayments: locked}
	}
	for _, c := range []struct {
		name    string
		booking booking.Booking // of 100
		end     civil.Day
		want    booking.BookingStatus
	}{
		{"new", booking.Booking{}, today, booking.BookingUnpaid},
		{"new, travelled", booking.Booking{}, today - 1, booking.BookingUnpaid},
		{"a pending payment", booking.Booking{Sums: sums(0, 100, 0, 0)}, today, booking.BookingUnpaid},
		{"authorised", booking.Booking{Sums: sums(0, 100, 100, 0)}, today, booking.BookingAuthorized},
		{"authorised, part captured", booking.Booking{Sums: sums(40, 100, 60, 0)}, today, booking.BookingPartialPayment},
		{"part", booking.Booking{Sums: sums(99, 99, 0, 0)}, today, booking.BookingPartialPayment},
		{"part, travelled", booking.Booking{Sums: sums(99, 99, 0, 0)}, today - 1, booking.BookingPartialPayment},
		{"paid", booking.Booking{Sums: sums(100, 100, 0, 0)}, today + 1, booking.BookingPaid},
		{"paid, on the end date", booking.Booking{Sums: sums(100, 100, 0, 0)}, today, booking.BookingPaid},
		{"paid, the day after", booking.Booking{Sums: sums(100, 100, 0, 0)}, today - 1, booking.BookingCompleted},
		{"fully refunded", booking.Booking{Sums: sums(0, 0, 0, 0)}, today - 1, booking.BookingUnpaid},
		{"charged back", booking.Booking{Sums: sums(0, 0, 0, 1)}, today - 1, booking.BookingUnpaid},
		{"charged back in part", booking.Booking{Sums: sums(60, 60, 0, 1)}, today, booking.BookingPartialPayment},
		{"charged back and paid again", booking.Booking{Sums: sums(100, 100, 0, 1)}, today, booking.BookingPaid},
		{"paid twice", booking.Booking{Sums: sums(200, 200, 0, 0)}, today, booking.BookingPaid},
		{"the modal's", booking.Booking{ModalDraft: true}, today, booking.BookingDraft},
		{"the modal's, travelled", booking.Booking{ModalDraft: true}, today - 1, booking.BookingDraft},
		{"the modal's, channel locked", booking.Booking{ModalDraft: true, ChannelLocked: true}, today, booking.BookingLocked},
		{"channel locked", booking.Booking{ChannelLocked: true}, today, booking.BookingLocked},
		{"channel locked, paid", booking.Booking{ChannelLocked: true, Sums: sums(100, 100, 0, 0)}, today - 1, booking.BookingLocked},
	} {
		c.booking.Total, c.booking.End = 100, c.end
		if got := c.booking.StatusOn(today); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := (booking.Booking{End: today}).StatusOn(today); got != booking.BookingUnpaid {
		t.Errorf("a booking that costs nothing is %s", got)
	}
}

func anyBooking(t *rapid.T) booking.Booking {
	total := rapid.Int64Range(0, 5).Draw(t, "total")
	return booking.Booking{
		Total:         total,
		End:           today + civil.Day(rapid.Int64Range(-2, 2).Draw(t, "days")),
		ModalDraft:    rapid.Bool().Draw(t, "draft"),
		ChannelLocked: rapid.Bool().Draw(t, "channel locked"),
		Sums: booking.BookingSums{
			Net:            rapid.Int64Range(0, total).Draw(t, "net"),
			OpenAuthorised: rapid.Int64Range(0, 2).Draw(t, "open"),
			LockedPayments: rapid.Int64Range(0, 1).Draw(t, "locked"),
		},
	}
}

// Each state, as in the rules: exactly one of them holds, and it is the one returned.
func TestStatusIsExactlyOneOfTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyBooking(t)
		locked := b.ChannelLocked
		free := !locked && !b.ModalDraft
		paid := free && b.Sums.Net > 0 && b.Sums.Net >= b.Total
		part := free && !paid && b.Sums.Net > 0
		open := free && !paid && b.Sums.Net == 0 && b.Sums.OpenAuthorised > 0
		rules := map[booking.BookingStatus]bool{
			booking.BookingLocked:         locked,
			booking.BookingDraft:          !locked && b.ModalDraft,
			booking.BookingCompleted:      paid && today > b.End,
			booking.BookingPaid:           paid && today <= b.End,
			booking.BookingPartialPayment: part,
			booking.BookingAuthorized:     open,
			booking.BookingUnpaid:         free && !paid && !part && !open,
		}
		got := b.StatusOn(today)
		for status, holds := range rules {
			if holds != (got == status) {
				t.Fatalf("%+v is %s; %s: %v", b, got, status, holds)
			}
		}
		if got == booking.BookingCompleted && b.StatusOn(b.End) != booking.BookingPaid {
			t.Fatalf("a completed booking was %s on its last day", b.StatusOn(b.End))
		}
	})
}
