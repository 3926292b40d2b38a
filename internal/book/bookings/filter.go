package bookings

import (
	"reflect"
	"time"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
)

// BookingFilter picks bookings from a list (section 4.4). An empty field picks all.
type BookingFilter struct {
	Include, Exclude      []int64
	Created, Modified     civil.Span
	Statuses              []booking.BookingStatus
	Channels              []int64
	Countries             []string
	Surname               string
	Email                 string
	DateBefore, DateAfter *time.Time // end date of travel, counted from the start of its day
	Reference             string
	// Find is the search text for a booking: its id, reference, surname or e-mail, or a part of them.
	Find string
}

// All reports whether a filter leaves nothing out.
func (f BookingFilter) All() bool { return reflect.ValueOf(f).IsZero() }

// BookingOrders lists the values of orderby for bookings.
var BookingOrders = []string{"id", "date", "created", "modified", "date_end", "date_start", "total", "include"}
