package api

import (
	"net/http"

	"holdfast/internal/api/shapes"
	"holdfast/internal/api/wire"
	"holdfast/internal/bookings"
	"holdfast/internal/civil"
	"holdfast/internal/travel"
)

// ShowBooking gives the shape of a booking on a day without its links, to be encoded as JSON.
func ShowBooking(b travel.Booking, today civil.Day) any {
	return struct {
		shapes.Booking
		Links *wire.Links `json:"_links,omitempty"`
	}{Booking: bookingOn(b, today)}
}

// showBooking returns the function that gives the shape of a booking. The status is the one on the day of the call.
func (s *server) showBooking(c *call) func(b travel.Booking) shapes.Booking {
	today := s.today(c)
	linksTo := s.linksAt(c.r.PathValue("site"), "bookings")
	return func(b travel.Booking) shapes.Booking {
		shape := bookingOn(b, today)
		shape.Links = linksTo(b.ID)
		return shape
	}
}

// today is the day of the caller's site.
func (s *server) today(c *call) civil.Day { return civil.DayOf(s.core.Clock().Add(c.actor.Ahead)) }

// bookingOn gives the shape of a booking on a day, without its links.
func bookingOn(b travel.Booking, today civil.Day) shapes.Booking {
	shape := shapes.Booking{
		ID: b.ID, TrustID: b.TrustID(), UUID: b.UUID, InternalID: b.ID, Author: b.Author, Status: b.StatusOn(today),
		Title: b.Title(), Content: b.Content, Firstname: b.Firstname, Surname: b.Surname, Email: b.Email,
		Date: b.End.String(), Reference: b.Reference, Total: b.Total, TotalUnpaid: b.Unpaid(), Currencies: b.Currency,
		Country: b.Country, Countries: b.Country, Channels: b.ChannelID, Language: b.Language, AuthorID: b.AuthorID,
		AuthorName: b.AuthorName, Created: civil.FormatInstant(b.CreatedAt), Modified: civil.FormatInstant(b.ModifiedOn(today)),
		OtherProtection: b.OtherProtection(),
		TransactionIDs:  wire.NeverNull(b.TransactionIDs), Suppliers: wire.NeverNull(b.Suppliers),
	}
	if b.Start != civil.NoDay {
		shape.DateStart = b.Start.String()
	}
	if pax := b.Pax; pax > 0 { // a pointer into the booking would keep all of it
		shape.Pax = &pax
	}
	return shape
}

func (s *server) bookingObject(c *call, b travel.Booking) object {
	return object{id: b.ID, version: b.Version, body: s.showBooking(c)(b)}
}

func (s *server) listBookings(c *call) error {
	q := c.query()
	page := q.Page(travel.BookingOrders)
	filter := travel.BookingFilter{
		Include:    q.Ids("include"),
		Exclude:    q.Ids("exclude"),
		Created:    q.Span(""),
		Modified:   q.Span("modified_"),
		Statuses:   wire.Words(q, "status", travel.BookingStatuses),
		Channels:   q.Ids("channels"),
		Countries:  q.Codes("countries"),
		Surname:    q.Text("surname"),
		Email:      q.Text("email"),
		DateBefore: q.Instant("date_before"),
		DateAfter:  q.Instant("date_after"),
		Reference:  q.Text("reference"),
	}
	if err := q.Err(); err != nil {
		return err
	}
	if filter.All() && s.askedLately(c, page) {
		return s.listAllBookings(c, page)
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

// shownBooking is all that a booking in a list depends on.
type shownBooking struct {
	site  string // its path, which is part of the links
	day   civil.Day
	stamp bookings.Stamp
}

// shownBytes is how much memory the bookings take that lists have shown lately: some 2,000 of them.
const shownBytes = 2 << 20

// askedPage is a page of all bookings of a site.
type askedPage struct {
	site string // its path
	page travel.Page
}

// askedBytes is how much memory it takes to know which pages of all bookings were asked for lately: some 500 of them.
const askedBytes = 100 << 10

// askedLately reports whether a page of all bookings was asked for before, and notes that it is.
func (s *server) askedLately(c *call, page travel.Page) bool {
	key := askedPage{c.r.PathValue("site"), page}
	if s.asked.Get(key) != nil {
		return true
	}
	s.asked.Put(key, []byte{1})
	return false
}

// listAllBookings answers with a page of all bookings that was asked for before. Many callers ask for the newest ones again and again, so
// what was shown of a booking is kept as long as its stamp in the database is the same. Who goes through all pages once finds
// nothing there, and would only pay for it.
func (s *server) listAllBookings(c *call, page travel.Page) error {
	show := s.showBooking(c)
	key := shownBooking{site: c.r.PathValue("site"), day: s.today(c)}
	var texts [][]byte // of the bookings of the page, nil where there is none
	found, rest, err := s.app.Bookings.ListUnknown(c.ctx, c.actor, page, func(page []bookings.Stamp) (unknown []int64) {
		texts = make([][]byte, len(page))
		for i, stamp := range page {
			key.stamp = stamp
			if texts[i] = s.shown.Get(key); texts[i] == nil {
				unknown = append(unknown, stamp.ID)
			}
		}
		return unknown
	})
	if err != nil {
		return err
	}
	if err := paging(s, c, page, found); err != nil {
		return err
	}
	listText(c, len(found.Items), func(i int, to []byte) []byte {
		if texts[i] != nil {
			return append(to, texts[i]...)
		}
		key.stamp = found.Items[i]
		at := len(to)
		to = show(rest[key.stamp.ID]).Write(to)
		s.shown.Put(key, to[at:])
		return to
	})
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
		made, err := s.app.Bookings.Create(c.ctx, c.actor, shapes.BookingFields(in))
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
	fields := shapes.BookingFields(in)
	fields.IfVersion = c.ifVersion()
	changed, err := s.app.Bookings.Update(c.ctx, c.actor, c.id, fields)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, s.bookingObject(c, changed))
}

func (s *server) deleteBooking(c *call) error {
	if err := s.app.Bookings.Delete(c.ctx, c.actor, c.id, c.ifVersion()); err != nil {
		return err
	}
	c.json(http.StatusOK, trashed{Deleted: true, Status: "trash", ID: c.id})
	return nil
}

// trashed is the answer to the DELETE of a booking. The booking is kept in the trash, where nobody sees it.
type trashed struct {
	Deleted bool   `json:"deleted"`
	Status  string `json:"status"`
	ID      int64  `json:"id"`
}
