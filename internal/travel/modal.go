package travel

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/money"
)

// ModalAlways are the fields that every auth string of the payment modal verifies (docs/modal.md).
var ModalAlways = []string{"channels", "currencies", "total"}

// ModalVerifiable are the fields that an auth string may verify, too.
var ModalVerifiable = []string{
	"allocations", "charge_channel", "country", "date", "email", "firstname", "reference", "surname",
}

// ModalSession is one use of the payment modal. It allows only what the integrator's auth string verifies.
type ModalSession struct {
	SiteID    int64
	ID        int64
	ChannelID int64
	TokenHash string // of the token with which the frame sends its requests
	AuthHash  string // of the auth string: attempts are counted over all sessions with the same one
	Origin    string // of the page that opened the modal
	// Verified are the fields of the auth string, as texts: amounts as digits, lists as JSON.
	Verified  map[string]string
	BookingID int64 // the booking that is paid; 0 when it is not known yet
	Made      bool  // whether this session made the booking
	CreatedAt time.Time
	ExpiresAt time.Time
	// Of the site and the channel.
	SitePath    string
	ChannelName string
}

// Author is the author of what the modal logs. No user can have this name.
func (s ModalSession) Author() (username, display string) {
	return "modal/" + strconv.FormatInt(s.ChannelID, 10), s.ChannelName + ": payment modal"
}

// Currency is the verified currency.
func (s ModalSession) Currency() money.Currency { return money.Currency(s.Verified["currencies"]) }

// Total is the verified total, in minor units.
func (s ModalSession) Total() int64 {
	total, _ := strconv.ParseInt(s.Verified["total"], 10, 64) // CheckModalFields has checked it
	return total
}

// Differs lists the given fields that differ from their verified values, in order of the names.
func (s ModalSession) Differs(given map[string]string) []string {
	var names []string
	for name, value := range given {
		if verified, ok := s.Verified[name]; ok && value != verified {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// ModalAttempt is one attempt to pay a booking in the modal.
type ModalAttempt struct {
	TransactionID int64
	AuthHash      string
	Status        TransactionStatus
	Refused       bool // by the bank, or because the shopper did not pass the challenge
}

// How many refusals, and how many attempts in all, one auth string has for one booking. An attempt that did not reach
// the bank is no refusal.
const (
	modalRefusals = 3
	modalAttempts = 10
)

// AnotherAttempt returns nil when the modal may try to pay a booking with an auth string. Otherwise it returns a
// NotPossible error with the reason attempt_open, already_paid or attempts_used. Its parameter transaction_id is the
// transaction that is the reason.
func AnotherAttempt(before []ModalAttempt, authHash string) error {
	refusals, own := 0, 0
	var last int64
	for _, a := range before {
		switch {
		case a.Status == StatusPending || a.Status == StatusIncomplete:
			return lookAt(a.TransactionID, "attempt_open", "The outcome of an earlier attempt is not known yet.")
		case a.AuthHash != authHash:
			continue
		case a.Status == StatusComplete || a.Status == StatusLocked:
			return lookAt(a.TransactionID, "already_paid", "This was paid before.")
		}
		own++
		last = a.TransactionID
		if a.Refused {
			refusals++
		}
	}
	if refusals >= modalRefusals || own >= modalAttempts {
		return lookAt(last, "attempts_used", "There are no attempts left for this payment.")
	}
	return nil
}

func lookAt(transactionID int64, reason, message string) error {
	f := fault.NotPossibleBecause(reason, "%s", message)
	f.Params = map[string]string{"transaction_id": strconv.FormatInt(transactionID, 10)}
	return f
}

// CheckModalFields adds what is wrong with the fields of an auth string to p. It does not need the database.
func CheckModalFields(fields map[string]string, p *fault.Problems) {
	for _, name := range ModalAlways {
		if fields[name] == "" && !p.Has(name) {
			p.Missing(name)
		}
	}
	if id, err := strconv.ParseInt(fields["channels"], 10, 64); err != nil || id <= 0 {
		p.Wrong("channels", "An id is expected.")
	}
	if total, err := strconv.ParseInt(fields["total"], 10, 64); err != nil || total < 1 || total > MaxAmount {
		p.Wrong("total", "An amount lies between 1 and %d minor units, as digits only.", int64(MaxAmount))
	}
	if _, err := money.ParseCurrency(fields["currencies"]); err != nil {
		p.Wrong("currencies", "This is not an ISO 4217 currency code.")
	}
	if text, ok := fields["allocations"]; ok {
		var list []map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &list) != nil || slices.ContainsFunc(list, func(item map[string]json.RawMessage) bool { return item == nil }) {
			p.Wrong("allocations", "A JSON array of objects is expected.")
		}
	}
	if text, ok := fields["charge_channel"]; ok {
		if id, err := strconv.ParseInt(text, 10, 64); err != nil || id <= 0 {
			p.Wrong("charge_channel", "An id is expected.")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name == "allocations" {
			CheckNote(p, name, fields[name])
			continue
		}
		CheckLine(p, name, fields[name])
	}
}

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
func (b Booking) FitsModal(s ModalSession, p *fault.Problems) {
	switch {
	case b.ChannelID != s.ChannelID || len(s.Differs(b.Vouched())) > 0:
		p.Wrong("booking_id", "%s", noSuchModalBooking)
	case b.Currency == s.Currency() && s.Total() > b.Total:
		p.Wrong("total", "The payment is more than the booking costs.")
	}
}

const noSuchModalBooking = "There is no such booking for this payment."

// NoSuchModalBooking adds the problem that the modal has no booking with this id.
func NoSuchModalBooking(p *fault.Problems) { p.Wrong("booking_id", "%s", noSuchModalBooking) }

// Fill completes the fields of a booking that the modal makes with the verified ones. It returns the given fields
// that differ from them, and then fills in nothing.
func (f *BookingFields) Fill(s ModalSession, given map[string]string) (differs []string) {
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
			f.Problems.Wrong("date", "A date as YYYY-MM-DD is expected, from %s to %s.", civil.FirstDay, civil.LastDay)
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

// Fill completes a payment of the modal with the verified fields. When its currency is not that of the booking, it
// pays all that is unpaid: the integrator has converted the amount.
func (n *NewTransaction) Fill(s ModalSession, b Booking) {
	id, currency, total := s.ChannelID, s.Currency(), s.Total()
	kind := Purchase
	if n.Type != nil {
		kind = cmp.Or(*n.Type, Purchase)
	}
	if kind != Purchase && kind != Authorize {
		n.Problems.Wrong("transaction_types", "The payment modal takes a purchase or an authorize.")
		kind = Purchase
	}
	n.ChannelID, n.Currency, n.Total, n.Type = &id, &currency, &total, &kind
	n.Items = &[]Item{ModalItem(b, s)}
	n.Method, n.Attempt3DS, n.Modal = CreditCard, true, &s
}

// ModalItem is the part of the modal's payment for the booking: all of the payment, or, in another currency, all that
// is unpaid. It is at least 1: that a booking is paid already is found by AnotherAttempt, or by the check of the
// total.
func ModalItem(b Booking, s ModalSession) Item {
	item := Item{BookingID: b.ID, Currency: b.Currency, Total: s.Total()}
	if b.Currency != s.Currency() {
		item.Total = max(1, b.Unpaid())
	}
	return item
}
