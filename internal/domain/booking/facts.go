package booking

import "holdfast/internal/domain/civil"

// BookingFacts are the columns of Booking.Facts: the fields that a caller can set, and who created the booking. The sums are not among
// them, because they follow from the payments.
const BookingFacts = `site_id, uuid, channel_id, author_id, author, author_name, content, firstname, surname, email,
	start_day, end_day, pax, reference, total, currencies, country, language, suppliers, other_protection`

// Facts are the values of BookingFacts. suppliers is the text of the column.
func (b Booking) Facts(suppliers string) []any {
	var start any
	if b.Start != civil.NoDay {
		start = int64(b.Start)
	}
	return []any{
		b.SiteID, b.UUID, b.ChannelID, b.AuthorID, b.Author, b.AuthorName, b.Content, b.Firstname, b.Surname, b.Email,
		start, int64(b.End), b.Pax, b.Reference, b.Total, b.Currency, b.Country, b.Language, suppliers, b.OwnProtection,
	}
}
