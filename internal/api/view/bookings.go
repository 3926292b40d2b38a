// Package view defines the JSON representation of everything the API returns: which fields a response has, and in
// which order. The command line prints the same JSON. Each file covers one topic, like the files of package api.
package view

import (
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
)

// Booking is a booking in requests and answers. The names of its fields are fixed: clients depend on them.
type Booking struct {
	ID              int64                    `json:"id"`
	TrustID         string                   `json:"trust_id"`
	UUID            string                   `json:"uuid"`
	InternalID      int64                    `json:"internal_id"` // deprecated: the id
	Author          string                   `json:"author"`
	Status          booking.BookingStatus    `json:"status"`
	Title           string                   `json:"title"`
	Content         string                   `json:"content"`
	Firstname       string                   `json:"firstname"`
	Surname         string                   `json:"surname"`
	Email           string                   `json:"email"`
	Date            string                   `json:"date"`
	DateStart       string                   `json:"date_start"` // "" when only the end date is known
	Pax             *int64                   `json:"pax"`
	Reference       string                   `json:"reference"`
	Total           int64                    `json:"total"`
	TotalUnpaid     int64                    `json:"total_unpaid"`
	Flags           []string                 `json:"flags"`
	Currencies      money.Currency           `json:"currencies"`
	Country         string                   `json:"country"` // deprecated: the same as countries
	Countries       string                   `json:"countries"`
	TransactionIDs  []int64                  `json:"transaction_ids"`
	Channels        int64                    `json:"channels"`
	Language        string                   `json:"language"`
	AuthorID        int64                    `json:"author_id"`
	AuthorName      string                   `json:"authorname"`
	Suppliers       []int64                  `json:"suppliers"`
	OtherProtection merchant.OtherProtection `json:"other_protection"`
	Created         string                   `json:"created"`
	Modified        string                   `json:"modified"`
	Links           Links                    `json:"_links"`
}

// Write appends the shape as JSON: the same bytes as view.Encode, without reflection.
func (b Booking) Write(to []byte) []byte {
	f := Fields{Text: append(to, '{')}
	f.Number("id", b.ID)
	f.String("trust_id", b.TrustID)
	f.String("uuid", b.UUID)
	f.Number("internal_id", b.InternalID)
	f.String("author", b.Author)
	f.String("status", string(b.Status))
	f.String("title", b.Title)
	f.String("content", b.Content)
	f.String("firstname", b.Firstname)
	f.String("surname", b.Surname)
	f.String("email", b.Email)
	f.String("date", b.Date)
	f.String("date_start", b.DateStart)
	if b.Pax == nil {
		f.Name("pax")
		f.Text = append(f.Text, "null"...)
	} else {
		f.Number("pax", *b.Pax)
	}
	f.String("reference", b.Reference)
	f.Number("total", b.Total)
	f.Number("total_unpaid", b.TotalUnpaid)
	f.Strings("flags", b.Flags)
	f.String("currencies", string(b.Currencies))
	f.String("country", b.Country)
	f.String("countries", b.Countries)
	f.Numbers("transaction_ids", b.TransactionIDs)
	f.Number("channels", b.Channels)
	f.String("language", b.Language)
	f.Number("author_id", b.AuthorID)
	f.String("authorname", b.AuthorName)
	f.Numbers("suppliers", b.Suppliers)
	f.String("other_protection", string(b.OtherProtection))
	f.String("created", b.Created)
	f.String("modified", b.Modified)
	f.Name("_links")
	return append(b.Links.Write(f.Text), '}')
}
