package input

import "holdfast/internal/domain/booking"

// BookingFields reads the fields of a booking. It ignores read-only fields.
func BookingFields(in *Input) booking.BookingFields {
	f := booking.BookingFields{
		ChannelID:       in.Integer("channels"),
		Content:         in.Text("content"),
		Firstname:       in.Text("firstname"),
		Surname:         in.Text("surname"),
		Email:           in.Text("email"),
		Start:           in.DayOrNone("date_start"),
		End:             in.Day("date"),
		Pax:             in.Pax(),
		Reference:       in.Text("reference"),
		Total:           in.Integer("total"),
		Currency:        in.Currency("currencies"),
		Country:         in.Text("countries"),
		Language:        in.Text("language"),
		Suppliers:       in.Integers("suppliers"),
		OtherProtection: in.OtherProtection(),
	}
	f.Problems = *in.Problems // now that all fields are read
	return f
}
