package api

import (
	"net/http"
	"time"

	"holdfast/internal/bookings"
	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// bookingShape is a booking in requests and answers. The names of its fields are fixed: clients depend on them.
type bookingShape struct {
	ID              int64                  `json:"id"`
	TrustID         string                 `json:"trust_id"`
	UUID            string                 `json:"uuid"`
	InternalID      int64                  `json:"internal_id"` // deprecated: the id
	Author          string                 `json:"author"`
	Status          travel.BookingStatus   `json:"status"`
	Title           string                 `json:"title"`
	Content         string                 `json:"content"`
	Firstname       string                 `json:"firstname"`
	Surname         string                 `json:"surname"`
	Email           string                 `json:"email"`
	Date            string                 `json:"date"`
	DateStart       string                 `json:"date_start"` // "" when only the end date is known
	Pax             *int64                 `json:"pax"`
	Reference       string                 `json:"reference"`
	Total           int64                  `json:"total"`
	TotalUnpaid     int64                  `json:"total_unpaid"`
	Currencies      money.Currency         `json:"currencies"`
	Country         string                 `json:"country"` // deprecated: the same as countries
	Countries       string                 `json:"countries"`
	TransactionIDs  []int64                `json:"transaction_ids"`
	Channels        int64                  `json:"channels"`
	Language        string                 `json:"language"`
	AuthorID        int64                  `json:"author_id"`
	AuthorName      string                 `json:"authorname"`
	Suppliers       []int64                `json:"suppliers"`
	OtherProtection travel.OtherProtection `json:"other_protection"`
	Created         string                 `json:"created"`
	Modified        string                 `json:"modified"`
	Links           links                  `json:"_links"`
}

// write appends the shape as JSON: the same bytes as encode, without reflection.
func (b bookingShape) write(to []byte) []byte {
	f := fields{append(to, '{')}
	f.number("id", b.ID)
	f.string("trust_id", b.TrustID)
	f.string("uuid", b.UUID)
	f.number("internal_id", b.InternalID)
	f.string("author", b.Author)
	f.string("status", string(b.Status))
	f.string("title", b.Title)
	f.string("content", b.Content)
	f.string("firstname", b.Firstname)
	f.string("surname", b.Surname)
	f.string("email", b.Email)
	f.string("date", b.Date)
	f.string("date_start", b.DateStart)
	if b.Pax == nil {
		f.name("pax")
		f.text = append(f.text, "null"...)
	} else {
		f.number("pax", *b.Pax)
	}
	f.string("reference", b.Reference)
	f.number("total", b.Total)
	f.number("total_unpaid", b.TotalUnpaid)
	f.string("currencies", string(b.Currencies))
	f.string("country", b.Country)
	f.string("countries", b.Countries)
	f.numbers("transaction_ids", b.TransactionIDs)
	f.number("channels", b.Channels)
	f.string("language", b.Language)
	f.number("author_id", b.AuthorID)
	f.string("authorname", b.AuthorName)
	f.numbers("suppliers", b.Suppliers)
	f.string("other_protection", string(b.OtherProtection))
	f.string("created", b.Created)
	f.string("modified", b.Modified)
	f.name("_links")
	return append(b.Links.write(f.text), '}')
}

// ShowBooking gives the shape of a booking on a day without its links, to be encoded as JSON.
func ShowBooking(b travel.Booking, today civil.Day) any {
	return struct {
		bookingShape
		Links *links `json:"_links,omitempty"`
	}{bookingShape: bookingOn(b, today)}
}

// showBooking returns the function that gives the shape of a booking. The status is the one on the day of the call.
func (s *server) showBooking(c *call) func(b travel.Booking) bookingShape {
	today := s.today(c)
	linksTo := s.linksAt(c.r.PathValue("site"), "bookings")
	return func(b travel.Booking) bookingShape {
		shape := bookingOn(b, today)
		shape.Links = linksTo(b.ID)
		return shape
	}
}

// today is the day of the caller's site.
func (s *server) today(c *call) civil.Day { return civil.DayOf(s.core.Clock().Add(c.actor.Ahead)) }

// bookingOn gives the shape of a booking on a day, without its links.
func bookingOn(b travel.Booking, today civil.Day) bookingShape {
	shape := bookingShape{
		ID: b.ID, TrustID: b.TrustID(), UUID: b.UUID, InternalID: b.ID, Author: b.Author, Status: b.StatusOn(today),
		Title: b.Title(), Content: b.Content, Firstname: b.Firstname, Surname: b.Surname, Email: b.Email,
		Date: b.End.String(), Reference: b.Reference, Total: b.Total, TotalUnpaid: b.Unpaid(), Currencies: b.Currency,
		Country: b.Country, Countries: b.Country, Channels: b.ChannelID, Language: b.Language, AuthorID: b.AuthorID,
		AuthorName: b.AuthorName, Created: civil.FormatInstant(b.CreatedAt), Modified: civil.FormatInstant(b.ModifiedOn(today)),
		OtherProtection: b.OtherProtection(),
		TransactionIDs:  neverNull(b.TransactionIDs), Suppliers: neverNull(b.Suppliers),
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
	page := q.page(travel.BookingOrders)
	filter := travel.BookingFilter{
		Include:    q.ids("include"),
		Exclude:    q.ids("exclude"),
		Created:    q.span(""),
		Modified:   q.span("modified_"),
		Statuses:   words(q, "status", travel.BookingStatuses),
		Channels:   q.ids("channels"),
		Countries:  q.codes("countries"),
		Surname:    q.text("surname"),
		Email:      q.text("email"),
		DateBefore: q.instant("date_before"),
		DateAfter:  q.instant("date_after"),
		Reference:  q.text("reference"),
	}
	if err := q.err(); err != nil {
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
	listText(c, len(found.Items), func(i int, to []byte) []byte { return show(found.Items[i]).write(to) })
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
		to = show(rest[key.stamp.ID]).write(to)
		s.shown.Put(key, to[at:])
		return to
	})
	return nil
}

// span reads after and before, with a prefix such as modified_.
func (q *query) span(prefix string) travel.Span {
	return travel.Span{After: q.instantOrZero(prefix + "after"), Before: q.instantOrZero(prefix + "before")}
}

// instantOrZero reads an instant. It is the zero time when the parameter is absent.
func (q *query) instantOrZero(name string) time.Time {
	if at := q.instant(name); at != nil {
		return *at
	}
	return time.Time{}
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
		made, err := s.app.Bookings.Create(c.ctx, c.actor, bookingFields(in))
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
	fields := bookingFields(in)
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

// bookingFields reads the fields of a booking. It ignores read-only fields.
func bookingFields(in *input) travel.BookingFields {
	f := travel.BookingFields{
		ChannelID:       in.integer("channels"),
		Content:         in.text("content"),
		Firstname:       in.text("firstname"),
		Surname:         in.text("surname"),
		Email:           in.text("email"),
		Start:           in.dayOrNone("date_start"),
		End:             in.day("date"),
		Pax:             in.pax(),
		Reference:       in.text("reference"),
		Total:           in.integer("total"),
		Currency:        in.currency("currencies"),
		Country:         in.text("countries"),
		Language:        in.text("language"),
		Suppliers:       in.integers("suppliers"),
		OtherProtection: in.otherProtection(),
	}
	f.Problems = *in.problems // now that all fields are read
	return f
}

// otherProtection reads what else protects the traveller. null and an empty text let the booking follow its channel.
func (in *input) otherProtection() *travel.OtherProtection {
	value, given := in.fields["other_protection"]
	if given && value == nil {
		return new(travel.OtherProtection)
	}
	return word[travel.OtherProtection](in, "other_protection")
}

// pax reads the number of travellers. null and an empty text remove it.
func (in *input) pax() *int64 {
	value, given := in.fields["pax"]
	if given && (value == nil || value == "") {
		none := int64(travel.NoPax)
		return &none
	}
	return in.integer("pax")
}
