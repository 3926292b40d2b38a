package trade

import (
	"net/http"
	"strconv"
	"strings"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// bookingFormPage is the data of the booking form.
type bookingFormPage struct {
	Form                         *kit.Form
	ID                           int64 // 0: a new booking
	Channels, Languages, Others  any
	Countries                    any
	Currency                     money.Currency // of an existing booking
	Act                          string
	Back                         string
	HasTransactions, ContentNeed bool
}

// bookingFormFields are the fields of the form.
var bookingFormFields = []string{
	"channels", "content", "firstname", "surname", "email", "date_start", "date", "pax", "reference", "total", "countries", "language",
	"suppliers", "other_protection",
}

func (p *pages) newBooking(v *kit.Visit) error {
	form := kit.Filled("channels", v.Query("channels"), "language", check.DefaultLanguage, "key", p.app.Bookings.NewUUID())
	if v.R.Method == http.MethodPost {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		made, err := p.makeBooking(v, form)
		if ok, err := took(v, form, err, append(bookingFormFields, "currencies")...); err != nil {
			return err
		} else if ok {
			return v.Done(bookingAt(v, made.ID), "Booking %d logged.", made.ID)
		}
	}
	page := bookingFormPage{Form: form, Act: "Log booking", Back: v.At("/bookings")}
	return p.showBookingForm(v, page, "New booking")
}

// makeBooking logs the form's booking, in the merchant's currency.
func (p *pages) makeBooking(v *kit.Visit, form *kit.Form) (booking.Booking, error) {
	r := form.Reading()
	channelID := r.Number("channels")
	var currency money.Currency
	if channelID != nil {
		c, err := p.app.Channels.Get(v.R.Context(), v.Actor, *channelID)
		if err != nil {
			return booking.Booking{}, err
		}
		currency = c.Currency
	} else {
		r.Problems.Wrong("channels", "Choose a merchant.")
		if form.Get("total") != "" {
			r.Problems.Wrong("total", "Choose a merchant first: it sets the currency.")
		}
	}
	in := bookingFields(r, currency)
	in.ChannelID = channelID
	if currency != "" {
		in.Currency = &currency
	} else {
		r.Problems.Wrong("currencies", "Must be the merchant's currency.")
	}
	in.Problems = r.Problems
	return p.app.Bookings.Create(v.R.Context(), v.Once(form), in)
}

// bookingFields reads a booking's fields, except merchant and currency. Amounts are in that currency.
func bookingFields(r *kit.Reading, c money.Currency) booking.BookingFields {
	in := booking.BookingFields{
		Content: r.Text("content"), Firstname: r.Text("firstname"), Surname: r.Text("surname"), Email: r.Text("email"),
		End: r.Day("date"), Pax: r.Number("pax"), Reference: r.Text("reference"), Total: r.Amount("total", c), Language: r.Text("language"),
	}
	if in.Start = r.Day("date_start"); in.Start == nil {
		none := civil.NoDay
		in.Start = &none
	}
	if in.Pax == nil {
		none := int64(booking.NoPax)
		in.Pax = &none
	}
	if country := r.Text("countries"); country != nil {
		code := strings.ToUpper(*country)
		in.Country = &code
	}
	if other := r.Text("other_protection"); other != nil {
		in.OtherProtection = (*merchant.OtherProtection)(other)
	}
	if r.Text("suppliers") != nil {
		f := &filter{form: r.Form}
		ids := f.ids("suppliers")
		if f.problems.Has("suppliers") {
			r.Problems.Wrong("suppliers", "Enter supplier IDs separated by commas, such as 17, 18.")
		}
		in.Suppliers = &ids
	}
	return in
}

func (p *pages) editBooking(v *kit.Visit) error {
	b, err := p.bookingOf(v)
	if err != nil {
		return err
	}
	form := formOf(b)
	if v.R.Method == http.MethodPost {
		if form, err = v.Form(); err != nil {
			return err
		}
		r := form.Reading()
		in := bookingFields(r, b.Currency)
		in.IfVersion, _ = strconv.ParseInt(form.Get("version"), 10, 64) // one that is no number is none
		if len(b.TransactionIDs) == 0 {
			in.ChannelID = r.Number("channels")
		}
		for name, absent := range map[string]bool{"date": in.End == nil, "total": in.Total == nil} {
			if absent && !r.Problems.Has(name) {
				r.Problems.Missing(name)
			}
		}
		in.Problems = r.Problems
		_, err := p.app.Bookings.Update(v.R.Context(), v.Actor, b.ID, in)
		if ok, err := v.TookOver(form, err, func() (*kit.Form, error) { return formOf(b), nil }); err != nil {
			return err
		} else if ok {
			return v.Done(bookingAt(v, b.ID), "Booking saved.")
		}
		unseen(form, bookingFormFields)
	}
	return p.showBookingForm(v, bookingFormPage{
		Form: form, ID: b.ID, Currency: b.Currency, Act: "Save", Back: bookingAt(v, b.ID), HasTransactions: len(b.TransactionIDs) > 0,
	}, "Edit booking", kit.Link{Text: bookingName(b), Href: bookingAt(v, b.ID)})
}

// formOf fills the form from a booking.
func formOf(b booking.Booking) *kit.Form {
	text := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	day := func(d civil.Day) string {
		if d == civil.NoDay {
			return ""
		}
		return d.String()
	}
	var suppliers []string
	for _, id := range b.Suppliers {
		suppliers = append(suppliers, text(id))
	}
	return kit.Filled("channels", text(b.ChannelID), "content", b.Content, "firstname", b.Firstname, "surname", b.Surname,
		"email", b.Email, "date_start", day(b.Start), "date", day(b.End), "pax", text(b.Pax), "reference", b.Reference,
		"total", money.FormatPlain(b.Total, b.Currency), "countries", b.Country, "language", b.Language,
		"suppliers", strings.Join(suppliers, ", "), "other_protection", string(b.OwnProtection), "version", text(b.Version))
}

func (p *pages) showBookingForm(v *kit.Visit, page bookingFormPage, title string, above ...kit.Link) error {
	channels, err := choices.Channels(v, p.app, "Choose a merchant")
	if err != nil {
		return err
	}
	page.Channels = channels
	page.Languages, page.Countries = choices.Languages(), choices.Countries()
	page.Others = kit.Options(append([]string{"", "Same as merchant"}, wordChoices("", merchant.OtherProtections)[2:]...)...)
	page.ContentNeed = !p.app.Bookings.Profile.Processes()
	return v.Show(p.Pages, "booking-form.html", kit.Page{
		Title: title, Menu: "/bookings", Path: append([]kit.Link{{Text: "Bookings", Href: v.At("/bookings")}}, above...), Data: page,
	})
}

// deleteBooking moves a booking without payments to the trash, after a confirmation.
func (p *pages) deleteBooking(v *kit.Visit) error {
	b, err := p.bookingOf(v)
	if err != nil {
		return err
	}
	var again *kit.Form
	if v.R.Method == http.MethodPost {
		if again, err = v.Form(); err != nil {
			return err
		}
		version, _ := strconv.ParseInt(again.Get("version"), 10, 64) // one that is no number is none
		if ok, err := v.Took(again, p.app.Bookings.Delete(v.R.Context(), v.Actor, b.ID, version)); err != nil {
			return err
		} else if ok {
			return v.Done(v.At("/bookings"), "Booking %d deleted.", b.ID)
		}
	}
	return v.Confirm(kit.Confirmation{
		Title: "Delete the booking?", Act: "Delete booking", Harm: true, Back: bookingAt(v, b.ID), Again: again,
		Fields: map[string][]string{"version": {strconv.FormatInt(b.Version, 10)}},
		Text:   []string{bookingName(b) + " disappears from all lists. This cannot be undone. Only bookings without payments can be deleted."},
	}, p.inBooking(v, b))
}

// bookingOf reads the booking in the URL.
func (p *pages) bookingOf(v *kit.Visit) (booking.Booking, error) {
	id, err := v.ID("id")
	if err != nil {
		return booking.Booking{}, err
	}
	return p.app.Bookings.Get(v.R.Context(), v.Actor, id)
}

// inBooking is a page below that of a booking.
func (p *pages) inBooking(v *kit.Visit, b booking.Booking) kit.Page {
	return kit.Page{Menu: "/bookings", Path: []kit.Link{
		{Text: "Bookings", Href: v.At("/bookings")}, {Text: bookingName(b), Href: bookingAt(v, b.ID)},
	}}
}

// bookingName is the display name of a booking.
func bookingName(b booking.Booking) string {
	if b.Reference != "" {
		return b.Reference
	}
	return "Booking " + strconv.FormatInt(b.ID, 10)
}
