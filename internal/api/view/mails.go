package view

import (
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/notify/mail"
)

// mailShape is a mail in lists.
type mailShape struct {
	ID          int64      `json:"id"`
	Kind        mail.Kind  `json:"kind"`
	State       mail.State `json:"state"`
	Recipient   string     `json:"recipient"`
	Copy        bool       `json:"copy"`
	Booking     *int64     `json:"booking"`
	Transaction *int64     `json:"transaction"`
	Event       *int64     `json:"event"`
	Answer      string     `json:"answer"`
	Attempts    int64      `json:"attempts"`
	Resends     int64      `json:"resends"`
	QueuedAt    string     `json:"queued_at"`
	TriedAt     *string    `json:"tried_at"`
	NextAt      *string    `json:"next_at"`
	Forgotten   bool       `json:"forgotten"`
}

// mailTextShape is one mail with its text.
type mailTextShape struct {
	mailShape
	Language string `json:"language"`
	From     string `json:"from"`
	Subject  string `json:"subject"`
	Text     string `json:"text"`
	HTML     string `json:"html"`
}

// ShowMail gives a mail in the shape of a list, to be encoded as JSON.
func ShowMail(m mail.Mail) mailShape {
	return mailShape{
		ID: m.ID, Kind: m.Kind, State: m.State, Recipient: m.Recipient, Copy: m.Copy, Booking: idOrNull(m.BookingID),
		Transaction: idOrNull(m.TransactionID), Event: idOrNull(m.EventID), Answer: m.Answer, Attempts: m.Attempts, Resends: m.Resends,
		QueuedAt: civil.FormatInstant(m.QueuedAt), TriedAt: instantOrNull(m.TriedAt), NextAt: instantOrNull(m.NextAt),
		Forgotten: m.Forgotten,
	}
}

// ShowMailText gives a mail with its text, to be encoded as JSON.
func ShowMailText(m mail.Mail, text mail.Message) mailTextShape {
	return mailTextShape{
		mailShape: ShowMail(m), Language: text.Language, From: m.Letter.Sender, Subject: text.Subject, Text: text.Text, HTML: text.Page(),
	}
}

func idOrNull(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

func instantOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := civil.FormatInstant(t)
	return &text
}
