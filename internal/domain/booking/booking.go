// Package booking defines bookings and the rules for their fields and states (sections 2.4 and 3). Start at Booking.
package booking

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/modal"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

// Booking is a trip with a total cost, sold by a channel (section 2.4). Amounts are minor units of Currency.
type Booking struct {
	SiteID        int64
	ID            int64
	UUID          string
	ChannelID     int64
	AuthorID      int64
	Author        string // user name
	AuthorName    string // display name
	Content       string
	Firstname     string // lead traveller
	Surname       string
	Email         string
	Start         civil.Day // civil.NoDay when only the end is known
	End           civil.Day
	Pax           int64 // 0 when not given
	Reference     string
	Total         int64
	Currency      money.Currency // base currency of the channel
	Country       string
	Language      string
	Suppliers     []int64
	OwnProtection merchant.OtherProtection // other_protection, where the booking has its own; "" follows the channel
	ModalDraft    bool                     // made by the payment modal, without an attempt to pay yet
	Sums          BookingSums
	ChannelLocked bool
	// ChannelProtection is the other_protection of the channel.
	ChannelProtection merchant.OtherProtection
	TotalChanged      bool    // whether the total has changed since the booking was made
	Payments          int64   // number of purchases and captures that took money
	TransactionIDs    []int64 // in order of the ids: the last one is the latest attempt
	ImportKey         string  // reference of an imported booking, unique in its channel
	Version           int64
	CreatedAt         time.Time
	ModifiedAt        time.Time
}

// TrustID is the trust_id: the id of the site, a dash and the id of the booking (section 2.4).
func (b Booking) TrustID() string {
	return strconv.FormatInt(b.SiteID, 10) + "-" + strconv.FormatInt(b.ID, 10)
}

// Title is composed of trust_id, surname and e-mail (section 2.4).
func (b Booking) Title() string { return check.Title(b.TrustID(), b.Surname, b.Email) }

// ModifiedOn is when the booking was last changed, as seen on a day. It counts as a change that the booking is completed.
func (b Booking) ModifiedOn(today civil.Day) time.Time {
	if completed := (b.End + 1).Start(); b.StatusOn(today) == BookingCompleted && completed.After(b.ModifiedAt) {
		return completed
	}
	return b.ModifiedAt
}

// OtherProtection returns the other protection of the traveller: the booking's own value, or else its channel's.
func (b Booking) OtherProtection() merchant.OtherProtection {
	return cmp.Or(b.OwnProtection, b.ChannelProtection)
}

// Unpaid is the part of the total that is still to be paid.
func (b Booking) Unpaid() int64 { return max(0, b.Total-b.Sums.Net) }

// FlagAboveTotal is the flag of a booking of which more was paid than it costs (R2).
const FlagAboveTotal = "above_total"

// Flags are all flags of bookings.
var Flags = []string{FlagAboveTotal}

// Flags are hints for readers. Nothing is refused because of them.
func (b Booking) Flags() []string {
	if b.Sums.Net > b.Total {
		return []string{FlagAboveTotal}
	}
	return []string{}
}

// FirstTravelDay is S of R4: the start date, or the end date when there is no start date.
func (b Booking) FirstTravelDay() civil.Day {
	if b.Start == civil.NoDay {
		return b.End
	}
	return b.Start
}

// NoPax in a request removes the number of travellers.
const NoPax = math.MinInt64

// BookingFields are the fields of a request that makes or changes a booking. Absent fields are nil.
type BookingFields struct {
	Profile   merchant.Profile // of the deployment
	IfVersion int64            // from If-Match; 0 without it
	Problems  errs.Problems    // the problems found so far
	ChannelID *int64
	Content   *string
	Firstname *string
	Surname   *string
	Email     *string
	Start     *civil.Day // civil.NoDay removes the start date
	End       *civil.Day
	Pax       *int64 // NoPax removes the number
	Reference *string
	Total     *int64
	Currency  *money.Currency
	Country   *string
	Language  *string
	Suppliers *[]int64
	// OtherProtection is "" to follow the channel.
	OtherProtection *merchant.OtherProtection
	ModalDraft      bool
	Modal           *modal.Session // the session that makes it; nil outside the payment modal
	ImportKey       string
}

// NewBooking makes a booking from the fields and their defaults. It adds problems to p. CheckChannel checks what
// needs the channel.
func (f BookingFields) NewBooking(p *errs.Problems) Booking {
	need := func(field string, absent bool) {
		if absent && !p.Has(field) {
			p.Missing(field)
		}
	}
	if !f.Profile.Processes() {
		check.Required(p, "content", f.Content)
	}
	check.Required(p, "firstname", f.Firstname)
	check.Required(p, "surname", f.Surname)
	need("email", f.Email == nil)
	need("date", f.End == nil)
	need("total", f.Total == nil)
	need("currencies", f.Currency == nil)
	need("countries", f.Country == nil)
	need("channels", f.ChannelID == nil)
	b := Booking{Start: civil.NoDay, End: civil.NoDay, Language: check.DefaultLanguage, ModalDraft: f.ModalDraft, ImportKey: f.ImportKey}
	return f.apply(b, p)
}

// Change returns the booking with the given fields set. It adds problems to p: where holdfast takes the payments itself,
// the total cannot be below that of the linked transactions (section 7); elsewhere that is a fact (R2).
// A booking with transactions cannot change its channel or its currency.
func (f BookingFields) Change(b Booking, p *errs.Problems) Booking {
	needed := map[string]*string{"content": f.Content, "firstname": f.Firstname, "surname": f.Surname}
	if f.Profile.Processes() {
		delete(needed, "content")
	}
	for field, text := range needed {
		if text != nil {
			check.Required(p, field, text)
		}
	}
	if len(b.TransactionIDs) > 0 {
		if f.ChannelID != nil && *f.ChannelID != b.ChannelID {
			p.Wrong("channels", "The channel cannot change because the booking has transactions.")
		}
		if f.Currency != nil && *f.Currency != b.Currency {
			p.Wrong("currencies", "The currency cannot change because the booking has transactions.")
		}
	}
	if f.Profile.Processes() && f.Total != nil && *f.Total >= 0 && *f.Total < b.Sums.Held {
		p.Wrong("total", "The total cannot be less than the total of the linked transactions, %s %s.",
			b.Currency, money.Format(b.Sums.Held, b.Currency))
	}
	if f.OtherProtection != nil && *f.OtherProtection == b.OtherProtection() {
		f.OtherProtection = nil // a PUT may repeat the value it has read: this does not detach the booking from its channel
	}
	return f.apply(b, p)
}

func (f BookingFields) apply(b Booking, p *errs.Problems) Booking {
	check.Set(&b.ChannelID, f.ChannelID)
	check.Set(&b.Content, f.Content)
	check.Set(&b.Firstname, f.Firstname)
	check.Set(&b.Surname, f.Surname)
	check.Set(&b.Email, f.Email)
	check.Set(&b.Start, f.Start)
	check.Set(&b.End, f.End)
	if check.Set(&b.Pax, f.Pax); b.Pax == NoPax {
		b.Pax = 0
	}
	check.Set(&b.Reference, f.Reference)
	check.Set(&b.Total, f.Total)
	check.Set(&b.Currency, f.Currency)
	check.Set(&b.Country, f.Country)
	check.Set(&b.Language, f.Language)
	check.Set(&b.OwnProtection, f.OtherProtection)
	if f.Suppliers != nil {
		b.Suppliers = slices.Compact(slices.Sorted(slices.Values(*f.Suppliers)))
	}
	if f.Content != nil {
		check.Note(p, "content", b.Content)
	}
	for field, given := range map[string]*string{"firstname": f.Firstname, "surname": f.Surname, "reference": f.Reference} {
		if given != nil {
			check.Line(p, field, *given)
		}
	}
	if f.Email != nil {
		check.Email(p, "email", b.Email)
	}
	if b.Start != civil.NoDay && b.End != civil.NoDay && b.Start > b.End {
		field := "date_start"
		if f.Start == nil { // only the end has changed
			field = "date"
		}
		p.Wrong(field, "The start date must not be after the end date.")
	}
	if f.Pax != nil && *f.Pax != NoPax && (*f.Pax < 1 || *f.Pax > check.MaxPax) {
		p.Wrong("pax", "Must be between 1 and %d travellers. Omit the field if the number is unknown.", check.MaxPax)
	}
	if b.Total < 0 || b.Total > check.MaxAmount {
		p.Wrong("total", "Must be between 0 and %d minor units.", int64(check.MaxAmount))
	}
	if f.Country != nil {
		check.Country(p, "countries", b.Country)
	}
	check.OneOf(p, "language", b.Language, check.Languages)
	if b.OwnProtection != "" {
		check.OneOf(p, "other_protection", b.OwnProtection, merchant.OtherProtections)
	}
	if len(b.Suppliers) > check.MaxList {
		p.Wrong("suppliers", "At most %d suppliers are allowed.", check.MaxList)
	}
	return b
}

// CheckChannel adds a problem when the currency of the booking is not that of its channel (section 7), and when the
// channel is closed.
func (b Booking) CheckChannel(c merchant.Channel, p *errs.Problems) {
	if b.Currency != c.Currency && b.Currency != "" {
		p.Wrong("channels", "The booking currency, %s, does not match the channel's base currency, %s.", b.Currency, c.Currency)
	}
	if c.Mode == merchant.ModeClosed {
		p.Wrong("channels", "The channel is closed.")
	}
}

// Same reports whether two states of a booking are equal in everything that a caller can set, ignoring the order of
// suppliers.
func Same(a, b Booking) bool {
	a.Suppliers, b.Suppliers = slices.Sorted(slices.Values(a.Suppliers)), slices.Sorted(slices.Values(b.Suppliers))
	return reflect.DeepEqual(a, b)
}
