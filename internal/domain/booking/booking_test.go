package booking_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

// complete is a booking with every required field.
func complete() booking.BookingFields {
	return booking.BookingFields{
		ChannelID: new(int64(2)), Content: new("Flights"), Firstname: new("Ann"), Surname: new("Doe"),
		Email: new("ann@example.com"), End: new(today), Total: new(int64(9999)), Currency: new(money.EUR),
		Country: new("PT"),
	}
}

// wrongFields returns the names in a Problems, sorted; absent ones in brackets.
func wrongFields(t *testing.T, p *errs.Problems) []string {
	t.Helper()
	err := p.Err()
	if err == nil {
		return nil
	}
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		t.Fatalf("not a fault: %v", err)
	}
	names := slices.Sorted(maps.Keys(f.Params))
	for _, absent := range f.Absent {
		names = append(names, "["+absent+"]")
	}
	return names
}

func TestNewBooking(t *testing.T) {
	var p errs.Problems
	b := complete().NewBooking(&p)
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	if b.Start != civil.NoDay || b.FirstTravelDay() != today || b.Language != "enGB" || b.Pax != 0 || b.Unpaid() != 9999 {
		t.Errorf("defaults: %+v", b)
	}
	if got := b.StatusOn(today); got != booking.BookingUnpaid {
		t.Errorf("status %s", got)
	}
	b.SiteID, b.ID, b.Start = 3, 71, today-1
	if b.TrustID() != "3-71" || b.Title() != "3-71 | Doe | ann@example.com" || b.FirstTravelDay() != today-1 {
		t.Errorf("%s, %s, %s", b.TrustID(), b.Title(), b.FirstTravelDay())
	}
	b.Sums.Net = 10_000
	if b.Unpaid() != 0 {
		t.Errorf("overpaid, and yet unpaid: %d", b.Unpaid())
	}
}

func TestNewBookingNamesAllThatIsAbsent(t *testing.T) {
	var p errs.Problems
	p.Wrong("date", "This is no date.") // what the reader found is not absent
	booking.BookingFields{}.NewBooking(&p)
	want := "channels content countries currencies date email firstname surname total"
	if got := strings.Join(wrongFields(t, &p), " "); got != want {
		t.Errorf("absent: %s", got)
	}
}

func TestWrongFieldsOfABooking(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *booking.BookingFields)
		want   string
	}{
		"empty texts": {func(f *booking.BookingFields) {
			f.Content, f.Firstname, f.Surname, f.Email = new(""), new(" "), new("\t"), new("")
		}, "content email firstname surname"},
		"texts of several lines": {func(f *booking.BookingFields) {
			f.Content, f.Firstname, f.Surname, f.Reference, f.Email = new("a\nb\r\nc"), new("a\nb"), new("a\rb"), new("\u2028"), new("a@b.example\n")
		}, "email firstname reference surname"},
		"nobody travels":           {func(f *booking.BookingFields) { f.Pax = new(int64(0)) }, "pax"},
		"an unknown number travel": {func(f *booking.BookingFields) { f.Pax = new(int64(booking.NoPax)) }, ""},
		"long texts": {func(f *booking.BookingFields) {
			f.Content, f.Firstname, f.Reference = new(strings.Repeat("ü", 1024)), new(strings.Repeat("ü", 192)),
				new(strings.Repeat("x", 192))
		}, "content firstname reference"},
		"longest texts": {func(f *booking.BookingFields) {
			f.Content, f.Firstname, f.Reference = new(strings.Repeat("ü", 1023)), new(strings.Repeat("ü", 191)),
				new(strings.Repeat("x", 191))
		}, ""},
		"control characters": {func(f *booking.BookingFields) { f.Surname = new("a\x00b") }, "surname"},
		"not UTF-8":          {func(f *booking.BookingFields) { f.Surname = new("a\xff") }, "surname"},
		"new lines":          {func(f *booking.BookingFields) { f.Content = new("a\r\nb") }, ""},
		"two addresses":      {func(f *booking.BookingFields) { f.Email = new("a@example.com, b@example.com") }, "email"},
		"a named address":    {func(f *booking.BookingFields) { f.Email = new("Ann <a@example.com>") }, "email"},
		"start after end":    {func(f *booking.BookingFields) { f.Start = new(today + 1) }, "date_start"},
		"start on the end":   {func(f *booking.BookingFields) { f.Start = new(today) }, ""},
		"a negative total":   {func(f *booking.BookingFields) { f.Total = new(int64(-1)) }, "total"},
		"no total":           {func(f *booking.BookingFields) { f.Total = new(int64(0)) }, ""},
		"the largest total":  {func(f *booking.BookingFields) { f.Total = new(int64(1e15)) }, ""},
		"one more":           {func(f *booking.BookingFields) { f.Total = new(int64(1e15 + 1)) }, "total"},
		"too many people":    {func(f *booking.BookingFields) { f.Pax = new(int64(100_001)) }, "pax"},
		"fewer than none":    {func(f *booking.BookingFields) { f.Pax = new(int64(-1)) }, "pax"},
		"nobody's country":   {func(f *booking.BookingFields) { f.Country = new("XX") }, "countries"},
		"nobody's language":  {func(f *booking.BookingFields) { f.Language = new("en") }, "language"},
		"many suppliers": {func(f *booking.BookingFields) {
			many := make([]int64, 101)
			for i := range many {
				many[i] = int64(i)
			}
			f.Suppliers = &many
		}, "suppliers"},
	} {
		fields := complete()
		c.change(&fields)
		var p errs.Problems
		fields.NewBooking(&p)
		if got := strings.Join(wrongFields(t, &p), " "); got != c.want {
			t.Errorf("%s: wrong are %q, want %q", name, got, c.want)
		}
	}
}

func TestSuppliersAreKeptInOrderAndOnce(t *testing.T) {
	fields := complete()
	fields.Suppliers = &[]int64{9, 2, 9, 4}
	var p errs.Problems
	if got := fields.NewBooking(&p).Suppliers; !slices.Equal(got, []int64{2, 4, 9}) {
		t.Errorf("suppliers %v", got)
	}
}

func TestChangeOfABooking(t *testing.T) {
	var p errs.Problems
	before := complete().NewBooking(&p)
	before.ID, before.Start, before.Sums.Held = 7, today-3, 500
	paid := before
	paid.TransactionIDs = []int64{1}
	for name, c := range map[string]struct {
		of     booking.Booking
		fields booking.BookingFields
		want   string
	}{
		"nothing":                    {before, booking.BookingFields{}, ""},
		"an empty surname":           {before, booking.BookingFields{Surname: new("")}, "surname"},
		"the end before the start":   {before, booking.BookingFields{End: new(today - 4)}, "date"},
		"both dates":                 {before, booking.BookingFields{End: new(today - 4), Start: new(today - 4)}, ""},
		"the start taken away":       {before, booking.BookingFields{End: new(today - 4), Start: new(civil.NoDay)}, ""},
		"the total to what is held":  {before, booking.BookingFields{Total: new(int64(500))}, ""},
		"the total below it":         {before, booking.BookingFields{Total: new(int64(499))}, ""},
		"below it, where we take it": {before, booking.BookingFields{Profile: merchant.ServerToServerProfile, Total: new(int64(499))}, "total"},
		"the channel":                {before, booking.BookingFields{ChannelID: new(int64(9))}, ""},
		"the channel, once paid":     {paid, booking.BookingFields{ChannelID: new(int64(9))}, "channels"},
		"the currency, once paid":    {paid, booking.BookingFields{Currency: new(money.Currency("GBP"))}, "currencies"},
		"both as they are":           {paid, booking.BookingFields{ChannelID: new(int64(2)), Currency: new(money.EUR)}, ""},
		"the total of one once paid": {paid, booking.BookingFields{Total: new(int64(501))}, ""},
	} {
		var p errs.Problems
		c.fields.Change(c.of, &p)
		if got := strings.Join(wrongFields(t, &p), " "); got != c.want {
			t.Errorf("%s: wrong are %q, want %q", name, got, c.want)
		}
	}
	var none errs.Problems
	after := booking.BookingFields{Surname: new("Roe"), Pax: new(int64(73))}.Change(before, &none)
	if after.Surname != "Roe" || after.Pax != 73 || after.Firstname != "Ann" || after.Total != 9999 || after.Start != today-3 {
		t.Errorf("changed more or less than was asked: %+v", after)
	}
}

func TestCheckChannel(t *testing.T) {
	var p errs.Problems
	b := complete().NewBooking(&p)
	for name, c := range map[string]struct {
		channel merchant.Channel
		want    string
	}{
		"its currency":     {merchant.Channel{Currency: "EUR", Mode: merchant.ModeTest}, ""},
		"another currency": {merchant.Channel{Currency: "GBP", Mode: merchant.ModeTest}, "channels"},
		"closed":           {merchant.Channel{Currency: "EUR", Mode: merchant.ModeClosed}, "channels"},
	} {
		var p errs.Problems
		b.CheckChannel(c.channel, &p)
		if got := strings.Join(wrongFields(t, &p), " "); got != c.want {
			t.Errorf("%s: wrong are %q, want %q", name, got, c.want)
		}
	}
}
