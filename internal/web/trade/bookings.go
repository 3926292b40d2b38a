package trade

import (
	"strconv"
	"strings"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/travel"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/shell"
)

// bookingOrders are what the list of bookings can be ordered by.
var bookingOrders = []string{"id", "date_start", "date_end", "total", "created", "modified"}

// listPage is what a page with a list and a form above it shows.
type listPage struct {
	Form               *shell.Form
	List               *shell.Table
	Statuses, Channels any
	Types, Methods     any
	Kept               []shell.Link
	More               bool // show the rarer fields of the form
}

// moreOfBookings are the fields of the form that are seldom needed.
var moreOfBookings = []string{
	"countries", "reference", "surname", "email", "created_from", "created_to", "modified_from", "modified_to", "include", "exclude",
}

// bookingFilter reads what a list of bookings is asked for.
func bookingFilter(f *filter) travel.BookingFilter {
	found := travel.BookingFilter{
		Find: f.form.Get("q"), Include: f.ids("include"), Exclude: f.ids("exclude"), Created: f.span("created"),
		Modified: f.span("modified"), Statuses: words(f, "status", travel.BookingStatuses), Channels: f.ids("channels"),
		Countries: f.codes("countries"), Surname: f.form.Get("surname"), Email: f.form.Get("email"), Reference: f.form.Get("reference"),
	}
	if from := f.day("end_from"); from != civil.NoDay {
		found.DateAfter = instantOf(from - 1) // the room leaves out the day that it is given
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

func (p *pages) bookings(v *shell.Visit) error {
	page, err := v.PageOf(bookingOrders, true)
	if err != nil {
		return err
	}
	f := filterOf(v)
	wanted := bookingFilter(f)
	t := shell.Table{
		Name: "bookings", Caption: "Bookings", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: bookingColumns(v), Empty: p.noBookings(v),
	}
	made, sent, err := list(v, f, page, t, func(page travel.Page) ([]shell.Row, bool, error) {
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
	channels, err := choices.Channels(v, p.app, "All channels")
	if err != nil {
		return err
	}
	return v.Show(p.Pages, "bookings.html", shell.Page{Title: "Bookings", Menu: "/bookings", Wide: true, Acts: p.bookingActs(v), Data: listPage{
		Form: f.form, List: made, Channels: channels, Statuses: shell.Options(wordChoices("All", travel.BookingStatuses)...),
		Kept: kept(f.form.Values), More: f.more(moreOfBookings...),
	}})
}

// bookingActs are what can be done with bookings, for those who may.
func (p *pages) bookingActs(v *shell.Visit) (acts []shell.Link) {
	if v.Can(auth.WriteBookings) {
		acts = append(acts, shell.Link{Text: "New booking", Href: v.At("/bookings/new")})
	}
	if v.Can(auth.ImportBooks) {
		acts = append(acts, shell.Link{Text: "Import a file", Href: v.At("/bookings/import"), Plain: true})
	}
	return acts
}

func (p *pages) noBookings(v *shell.Visit) shell.Empty {
	if q := v.R.URL.Query(); len(q) > 0 {
		return shell.Empty{
			Title: "No booking is like this", Text: "Parts of words are looked for in the latest 5,000 bookings, whole ones in all. " +
				"Try the whole reference, surname or e-mail address, or fewer filters.",
			Act: shell.Link{Text: "Show all bookings", Href: v.At("/bookings")},
		}
	}
	e := shell.Empty{
		Title: "There are no bookings yet",
		Text:  "A booking is a trip that one of your channels has sold. Your systems log bookings over the API, and you can log one here.",
	}
	if v.Can(auth.WriteBookings) {
		e.Act = shell.Link{Text: "New booking", Href: v.At("/bookings/new")}
	}
	return e
}

// bookingColumns are the columns of bookings. A file says the currency in a column of its own.
func bookingColumns(v *shell.Visit) []shell.Column {
	return []shell.Column{
		{Name: "id", Title: "Booking", Sorts: true}, {Name: "reference", Title: "Reference"}, {Name: "traveller", Title: "Traveller"},
		{Name: "email", Title: "E-mail", Hidden: true}, {Name: "channel", Title: "Channel", Minor: true}, {Name: "status", Title: "Status"},
		{Name: "date_start", Title: "Start", Sorts: true, Hidden: true}, {Name: "date_end", Title: "End of travel", Sorts: true},
		{Name: "total", Title: "Total", Figure: true, Sorts: true}, {Name: "unpaid", Title: "Not paid yet", Figure: true, Minor: true},
		{Name: "currency", Title: "Currency", Hidden: v.Format() == ""}, {Name: "country", Title: "Country", Hidden: true},
		{Name: "pax", Title: "Travellers", Figure: true, Hidden: true}, {Name: "other_protection", Title: "Also protected by", Hidden: true},
		{Name: "language", Title: "Language", Hidden: true}, {Name: "content", Title: "Description", Hidden: true},
		{Name: "suppliers", Title: "Suppliers", Hidden: true}, {Name: "author", Title: "Logged by", Hidden: true},
		{Name: "created", Title: "Logged", Sorts: true, Hidden: true}, {Name: "modified", Title: "Changed", Sorts: true, Hidden: true},
	}
}

func (p *pages) bookingRows(v *shell.Visit, list []travel.Booking) (rows []shell.Row, err error) {
	var ids []int64
	for _, b := range list {
		ids = append(ids, b.ChannelID)
	}
	names, err := p.channelNames(v, ids)
	today := civil.DayOf(v.Now())
	for _, b := range list {
		pax := shell.Cell{}
		if b.Pax > 0 {
			pax = shell.Number(b.Pax)
		}
		var suppliers []string
		for _, id := range b.Suppliers {
			suppliers = append(suppliers, strconv.FormatInt(id, 10))
		}
		rows = append(rows, shell.Row{Href: bookingAt(v, b.ID), Cells: []shell.Cell{
			shell.Ident(b.ID), shell.Words(b.Reference), shell.Words(strings.TrimSpace(b.Firstname + " " + b.Surname)), shell.Words(b.Email),
			shell.Words(names[b.ChannelID]), bookingState(b.StatusOn(today)), shell.OnDay(b.Start), shell.OnDay(b.End),
			shell.Sum(b.Total, b.Currency), shell.Sum(b.Unpaid(), b.Currency), shell.Words(string(b.Currency)), shell.Words(b.Country),
			pax, shell.Words(shell.Say(string(b.OtherProtection()))), shell.Words(b.Language), shell.Words(b.Content),
			shell.Words(strings.Join(suppliers, " ")), shell.Words(b.Author), shell.AtInstant(b.CreatedAt), shell.AtInstant(b.ModifiedOn(today)),
		}})
	}
	return rows, err
}

// bookingState is the status of a booking with its colour.
func bookingState(s travel.BookingStatus) shell.Cell {
	tone := map[travel.BookingStatus]string{
		travel.BookingPaid: "good", travel.BookingCompleted: "good", travel.BookingLocked: "bad", // a deposit is nothing to look at
	}[s]
	if tone == "" {
		tone = "calm"
	}
	return shell.State(string(s), tone)
}

// Addresses of objects.
func bookingAt(v *shell.Visit, id int64) string {
	return v.At("/bookings/" + strconv.FormatInt(id, 10))
}
func paymentAt(v *shell.Visit, id int64) string {
	return v.At("/payments/" + strconv.FormatInt(id, 10))
}

// channelNames are the names of channels, by their numbers.
func (p *pages) channelNames(v *shell.Visit, ids []int64) (map[int64]string, error) {
	names := map[int64]string{}
	if len(ids) == 0 {
		return names, nil
	}
	found, err := p.app.Channels.List(v.R.Context(), v.Actor, travel.ChannelFilter{Include: ids},
		travel.Page{Number: 1, Size: choices.MostChannels, Offset: -1, OrderBy: "id"})
	for _, c := range found.Items {
		names[c.ID] = c.Name
	}
	return names, err
}
