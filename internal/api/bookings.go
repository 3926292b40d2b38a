package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/book/bookings"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
)

// ShowBooking gives the shape of a booking on a day without its links, to be encoded as JSON.
func ShowBooking(b booking.Booking, today civil.Day) any {
	return struct {
		view.Booking
		Links *view.Links `json:"_links,omitempty"`
	}{Booking: bookingOn(b, today)}
}

// showBooking returns the function that gives the shape of a booking. The status is the one on the day of the call.
func (s *server) showBooking(c *call) func(b booking.Booking) view.Booking {
	today := s.today(c)
	linksTo := s.linksAt(c.r.PathValue("site"), "bookings")
	return func(b booking.Booking) view.Booking {
		shape := bookingOn(b, today)
		shape.Links = linksTo(b.ID)
		return shape
	}
}

// today is the day of the caller's site.
func (s *server) today(c *call) civil.Day { return civil.DayOf(s.app.DB.Clock().Add(c.actor.Ahead)) }

// bookingOn gives the shape of a booking on a day, without its links.
func bookingOn(b booking.Booking, today civil.Day) view.Booking {
	shape := view.Booking{
		ID: b.ID, TrustID: b.TrustID(), UUID: b.UUID, InternalID: b.ID, Author: b.Author, Status: b.StatusOn(today),
		Title: b.Title(), Content: b.Content, Firstname: b.Firstname, Surname: b.Surname, Email: b.Email,
		Date: b.End.String(), Reference: b.Reference, Total: b.Total, TotalUnpaid: b.Unpaid(), Flags: b.Flags(), Currencies: b.Currency,
		Country: b.Country, Countries: b.Country, Channels: b.ChannelID, Language: b.Language, AuthorID: b.AuthorID,
		AuthorName: b.AuthorName, Created: civil.FormatInstant(b.CreatedAt), Modified: civil.FormatInstant(b.ModifiedOn(today)),
		OtherProtection: b.OtherProtection(),
		TransactionIDs:  view.NeverNull(b.TransactionIDs), Suppliers: view.NeverNull(b.Suppliers),
	}
	if b.Start != civil.NoDay {
		shape.DateStart = b.Start.String()
	}
	if pax := b.Pax; pax > 0 { // a pointer into the booking would keep all of it
		shape.Pax = &pax
	}
	return shape
}

func (s *server) bookingObject(c *call, b booking.Booking) object {
	return object{id: b.ID, version: b.Version, body: s.showBooking(c)(b)}
}

func (s *server) listBookings(c *call) error {
	q := c.query()
	page := q.SearchedPage(bookings.BookingOrders)
	filter := bookings.BookingFilter{
		Find:       q.Text("search"),
		Created:    q.Span(""),
		Statuses:   input.Words(q, "status", booking.BookingStatuses),
		Channels:   q.Ids("channels"),
		Countries:  q.Codes("countries"),
		Surname:    q.Text("surname"),
		Email:      q.Text("email"),
		DateBefore: q.Instant("date_before"),
		DateAfter:  q.Instant("date_after"),
		Reference:  q.Text("reference"),
		Flags:      input.Words(q, "flags", booking.Flags),
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Bookings.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	if err := paging(s, c, page, found); err != nil {
		return err
	}
	show := s.showBooking(c)
	listText(c, len(found.Items), func(i int, to []byte) []byte { return show(found.Items[i]).Write(to) })
	return nil
}

func (s *server) getBooking(c *call) error {
	found, err := s.findBooking(c, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, found)
}

func (s *server) findBooking(c *call, id int64) (object, error) {
	found, err := s.app.Bookings.Get(c.ctx, c.actor, id)
	if err != nil {
		return object{}, err
	}
	return s.bookingObject(c, found), nil
}

func (s *server) createBooking(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, err := s.app.Bookings.Create(c.ctx, c.actor, input.BookingFields(in))
		if err != nil {
			return object{}, err
		}
		return s.bookingObject(c, made), nil
	})
}

func (s *server) changeBooking(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := input.BookingFields(in)
	var changed booking.Booking
	err = c.ifVersion(func(version int64) (err error) {
		fields.IfVersion = version
		changed, err = s.app.Bookings.Update(c.ctx, c.actor, c.id, fields)
		return err
	})
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, s.bookingObject(c, changed))
}

func (s *server) deleteBooking(c *call) error {
	err := c.ifVersion(func(version int64) error { return s.app.Bookings.Delete(c.ctx, c.actor, c.id, version) })
	if err != nil {
		return err
	}
	c.json(http.StatusOK, trashed{Deleted: true, Status: "trash", ID: c.id})
	return nil
}

// trashed is the answer to the DELETE of a booking. The booking is kept in the trash, where it is hidden.
type trashed struct {
	Deleted bool   `json:"deleted"`
	Status  string `json:"status"`
	ID      int64  `json:"id"`
}
