package trade

import (
	"strconv"
	"strings"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// bookingOrders are the sort orders of bookings.
var bookingOrders = []string{"id", "date_start", "date_end", "total", "created", "modified"}

// listPage is the data of a page with a list and its filters.
type listPage struct {
	Form               *kit.Form
	List               *kit.Table
	Statuses, Channels any
	Types, Methods     any
	Flags              any
	Kept               []kit.Link
	More               bool // show the advanced fields
}

// moreOfBookings are the advanced filter fields.
var moreOfBookings = []string{
	"countries", "reference", "surname", "email", "created_from", "created_to", "modified_from", "modified_to", "include", "exclude",
}

// bookingFilter reads the filter of a booking list.
func bookingFilter(f *filter) bookings.BookingFilter {
	found := bookings.BookingFilter{
		Find: f.form.Get("q"), Created: f.span("created"), Statuses: words(f, "status", booking.BookingStatuses), Channels: f.ids("channels"),
		Countries: f.codes("countries"), Surname: f.form.Get("surname"), Email: f.form.Get("email"), Reference: f.form.Get("reference"),
	}
	if from := f.day("end_from"); from != civil.NoDay {
		found.DateAfter = instantOf(from - 1) // the use case excludes the given day
	}
	if to := f.day("end_to"); to != civil.NoDay {
		found.DateBefore = instantOf(to + 1)
	}
	return found
}

func instantOf(d civil.Day) *time.Time {
	at := d.Start()
	return &at
}

func (p *pages) bookings(v *kit.Visit) error {
	page, err := v.PageOf(bookingOrders, true)
	if err != nil {
		return err
	}
	f := filterOf(v)
	wanted := bookingFilter(f)
	f.narrow(&page)
	t := kit.Table{
		Name: "bookings", Caption: "Bookings", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: bookingColumns(v), Empty: p.noBookings(v),
	}
	made, sent, err := list(v, f, page, t, func(page store.Page) ([]kit.Row, bool, error) {
		found, err := p.app.Bookings.List(v.R.Context(), v.Actor, wanted, page)
		if err != nil {
			return nil, false, err
		}
		rows, err := p.bookingRows(v, found.Items)
		return rows, found.More, err
	})
	if sent || err != nil {
		return err
	}
	channels, err := choices.Channels(v, p.app, "All merchants")
	if err != nil {
		return err
	}
	return v.Show(p.Pages, "bookings.html", kit.Page{Title: "Bookings", Menu: "/bookings", Wide: true, Acts: p.bookingActs(v), Data: listPage{
		Form: f.form, List: made, Channels: channels, Statuses: kit.Options(wordChoices("All", booking.BookingStatuses)...),
		Kept: kept(f.form.Values), More: f.more(moreOfBookings...),
	}})
}

// bookingActs are the actions on bookings that the user may perform.
func (p *pages) bookingActs(v *kit.Visit) (acts []kit.Link) {
	if v.Can(access.WriteBookings) {
		acts = append(acts, kit.Link{Text: "New booking", Href: v.At("/bookings/new")})
	}
	if v.Can(access.ImportBooks) {
		acts = append(acts, kit.Link{Text: "Import a file", Href: v.At("/bookings/import"), Plain: true})
	}
	return acts
}

func (p *pages) noBookings(v *kit.Visit) kit.Empty {
	if q := v.R.URL.Query(); len(q) > 0 {
		return kit.Empty{
			Title: "No matching bookings", Text: "Partial words are searched in the latest 5,000 bookings, whole words in all of them. " +
				"Try the whole reference, surname or e-mail address, or fewer filters.",
			Act: kit.Link{Text: "Clear filters", Href: v.At("/bookings")},
		}
	}
	e := kit.Empty{
		Title: "No bookings yet",
		Text:  "A booking is a trip sold by one of your merchants. Log bookings through the API, or log one here.",
	}
	if v.Can(access.WriteBookings) {
		e.Act = kit.Link{Text: "New booking", Href: v.At("/bookings/new")}
	}
	return e
}

// bookingColumns are the columns of bookings. Files have a separate currency column.
func bookingColumns(v *kit.Visit) []kit.Column {
	return []kit.Column{
		{Name: "id", Title: "Booking", Sorts: true}, {Name: "reference", Title: "Reference"}, {Name: "traveller", Title: "Traveller"},
		{Name: "email", Title: "E-mail", Hidden: true}, {Name: "channel", Title: "Merchant", Minor: true}, {Name: "status", Title: "Status"},
		{Name: "date_start", Title: "Start", Sorts: true, Hidden: true}, {Name: "date_end", Title: "End of travel", Sorts: true},
		{Name: "total", Title: "Total", Currency: "currency", Sorts: true}, {Name: "unpaid", Title: "Unpaid", Currency: "currency", Minor: true},
		{Name: "currency", Title: "Currency", Hidden: true}, {Name: "country", Title: "Country", Hidden: true},
		{Name: "pax", Title: "Travellers", Figure: true, Hidden: true}, {Name: "other_protection", Title: "Also protected by", Hidden: true},
		{Name: "language", Title: "Language", Hidden: true}, {Name: "content", Title: "Description", Hidden: true},
		{Name: "suppliers", Title: "Suppliers", Hidden: true}, {Name: "author", Title: "Logged by", Hidden: true},
		{Name: "created", Title: "Logged", Sorts: true, Hidden: true}, {Name: "modified", Title: "Changed", Sorts: true, Hidden: true},
	}
}

func (p *pages) bookingRows(v *kit.Visit, list []booking.Booking) (rows []kit.Row, err error) {
	var ids []int64
	for _, b := range list {
		ids = append(ids, b.ChannelID)
	}
	names, err := p.channelNames(v, ids)
	today := civil.DayOf(v.Now())
	for _, b := range list {
		pax := kit.Cell{}
		if b.Pax > 0 {
			pax = kit.Number(b.Pax)
		}
		var suppliers []string
		for _, id := range b.Suppliers {
			suppliers = append(suppliers, strconv.FormatInt(id, 10))
		}
		rows = append(rows, kit.Row{Href: bookingAt(v, b.ID), Cells: []kit.Cell{
			kit.Ident(b.ID), kit.Words(b.Reference), kit.Words(strings.TrimSpace(b.Firstname + " " + b.Surname)), kit.Words(b.Email),
			kit.Words(names[b.ChannelID]), bookingState(b.StatusOn(today)), kit.OnDay(b.Start), kit.OnDay(b.End),
			kit.Sum(b.Total, b.Currency), kit.Sum(b.Unpaid(), b.Currency), kit.Words(string(b.Currency)), kit.Words(b.Country),
			pax, kit.Words(kit.Say(string(b.OtherProtection()))), kit.Words(b.Language), kit.Words(b.Content),
			kit.Words(strings.Join(suppliers, " ")), kit.Words(b.Author), kit.AtInstant(b.CreatedAt), kit.AtInstant(b.ModifiedOn(today)),
		}})
	}
	return rows, err
}

// bookingState is the status of a booking with its colour.
func bookingState(s booking.BookingStatus) kit.Cell {
	tone := map[booking.BookingStatus]string{
		booking.BookingPaid: "good", booking.BookingCompleted: "good", booking.BookingLocked: "bad", // a deposit needs no attention
	}[s]
	if tone == "" {
		tone = "calm"
	}
	return kit.State(string(s), tone)
}

// URLs of objects.
func bookingAt(v *kit.Visit, id int64) string {
	return v.At("/bookings/" + strconv.FormatInt(id, 10))
}

func paymentAt(v *kit.Visit, id int64) string {
	return v.At("/payments/" + strconv.FormatInt(id, 10))
}

// channelNames returns merchant names by ID.
func (p *pages) channelNames(v *kit.Visit, ids []int64) (map[int64]string, error) {
	names := map[int64]string{}
	if len(ids) == 0 {
		return names, nil
	}
	found, err := p.app.Channels.List(v.R.Context(), v.Actor, merchants.ChannelFilter{},
		store.Page{Number: 1, Size: choices.MostChannels, Offset: -1, OrderBy: "id", Include: ids})
	for _, c := range found.Items {
		names[c.ID] = c.Name
	}
	return names, err
}
