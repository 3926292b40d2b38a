package bookings

import (
	"reflect"
	"time"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
)

// BookingFilter picks bookings from a list (section 4.4). An empty field picks all.
type BookingFilter struct {
	Created               civil.Span
	Statuses              []booking.BookingStatus
	Channels              []int64
	Countries             []string
	Surname               string
	Email                 string
	DateBefore, DateAfter *time.Time // end date of travel, counted from the start of its day
	Reference             string
	Flags                 []string // any of them
	// Find is the search text for a booking: its id, reference, surname or e-mail, or a part of them.
	Find string
}

// All reports whether a filter leaves nothing out.
func (f BookingFilter) All() bool { return reflect.ValueOf(f).IsZero() }

// BookingOrders lists the values of orderby, besides those of every list, for bookings.
var BookingOrders = []string{"date", "created", "date_end", "date_start", "total", "surname", "email", "reference", "status"}
