package booking

import (
	"strconv"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/modal"
	"holdfast/internal/errs"
)

// Vouched are the fields of a booking that an auth string can verify, as texts. Currency and total are not among
// them: the auth string has those of the payment.
func (b Booking) Vouched() map[string]string {
	fields := map[string]string{
		"channels": strconv.FormatInt(b.ChannelID, 10), "country": b.Country, "email": b.Email, "firstname": b.Firstname, "surname": b.Surname, "reference": b.Reference,
	}
	if b.End != civil.NoDay {
		fields["date"] = b.End.String()
	}
	return fields
}

// FitsModal adds a problem when a session cannot pay an earlier booking. The owner of an auth string learns only of
// bookings that the string is for: every other booking does not exist for them.
func (b Booking) FitsModal(s modal.Session, p *errs.Problems) {
	switch {
	case b.ChannelID != s.ChannelID || len(s.Differs(b.Vouched())) > 0:
		p.Wrong("booking_id", "%s", noSuchModalBooking)
	case b.Currency == s.Currency() && s.Total() > b.Total:
		p.Wrong("total", "The payment exceeds the total of the booking.")
	}
}

const noSuchModalBooking = "No such booking for this payment."

// RefuseForModal adds the problem that the modal has no booking with this id.
func RefuseForModal(p *errs.Problems) { p.Wrong("booking_id", "%s", noSuchModalBooking) }

// Fill completes the fields of a booking that the modal makes with the verified ones. It returns the given fields
// that differ from them, and then fills in nothing.
func (f *BookingFields) Fill(s modal.Session, given map[string]string) (differs []string) {
	if differs = s.Differs(given); len(differs) > 0 {
		return differs
	}
	id, currency, total := s.ChannelID, s.Currency(), s.Total()
	f.ChannelID, f.Currency, f.Total = &id, &currency, &total
	for name, target := range map[string]**string{
		"firstname": &f.Firstname, "surname": &f.Surname, "email": &f.Email, "reference": &f.Reference, "country": &f.Country,
	} {
		if value, ok := s.Verified[name]; ok {
			*target = &value
		}
	}
	if text, ok := s.Verified["date"]; ok {
		if day, err := civil.ParseDay(text); err != nil {
			f.Problems.Wrong("date", "Must be a date as YYYY-MM-DD, from %s to %s.", civil.FirstDay, civil.LastDay)
		} else {
			f.End = &day
		}
	}
	// The description is optional in the page, but the content of a booking is required in the protection-only
	// profile.
	if f.Content == nil || *f.Content == "" {
		text := modalContent
		f.Content = &text
	}
	f.ModalDraft, f.Modal = true, &s
	return nil
}

// modalContent is the content of a booking when the page gave no description.
const modalContent = "Booked in the payment modal"
