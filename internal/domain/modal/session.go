// Package modal defines the payment modal's sessions and the fields that an auth string verifies. Start at Session.
package modal

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"holdfast/internal/domain/check"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
)

// Always are the fields that every auth string of the payment modal verifies (docs/modal.md).
var Always = []string{"channels", "currencies", "total"}

// Verifiable are the optional fields that an auth string can also verify.
var Verifiable = []string{
	"allocations", "charge_channel", "country", "date", "email", "firstname", "reference", "surname",
}

// Session is one use of the payment modal. It allows only what the integrator's auth string verifies.
type Session struct {
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

// Author is the author of records that the modal creates. No user can have this name.
func (s Session) Author() (username, display string) {
	return "modal/" + strconv.FormatInt(s.ChannelID, 10), s.ChannelName + ": payment modal"
}

// Currency is the verified currency.
func (s Session) Currency() money.Currency { return money.Currency(s.Verified["currencies"]) }

// Total is the verified total, in minor units.
func (s Session) Total() int64 {
	total, _ := strconv.ParseInt(s.Verified["total"], 10, 64) // CheckModalFields has checked it
	return total
}

// Differs lists the given fields that differ from their verified values, in order of the names.
func (s Session) Differs(given map[string]string) []string {
	var names []string
	for name, value := range given {
		if verified, ok := s.Verified[name]; ok && value != verified {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// CheckFields adds the problems of the fields of an auth string to p. It does not need the database.
func CheckFields(fields map[string]string, p *errs.Problems) {
	for _, name := range Always {
		if fields[name] == "" && !p.Has(name) {
			p.Missing(name)
		}
	}
	if id, err := strconv.ParseInt(fields["channels"], 10, 64); err != nil || id <= 0 {
		p.Wrong("channels", "Must be an id.")
	}
	if total, err := strconv.ParseInt(fields["total"], 10, 64); err != nil || total < 1 || total > check.MaxAmount {
		p.Wrong("total", "Must be between 1 and %d minor units, digits only.", int64(check.MaxAmount))
	}
	if _, err := money.ParseCurrency(fields["currencies"]); err != nil {
		p.Wrong("currencies", "Must be an ISO 4217 currency code.")
	}
	if text, ok := fields["allocations"]; ok {
		var list []map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &list) != nil || slices.ContainsFunc(list, func(item map[string]json.RawMessage) bool { return item == nil }) {
			p.Wrong("allocations", "Must be a JSON array of objects.")
		}
	}
	if text, ok := fields["charge_channel"]; ok {
		if id, err := strconv.ParseInt(text, 10, 64); err != nil || id <= 0 {
			p.Wrong("charge_channel", "Must be an id.")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name == "allocations" {
			check.Note(p, name, fields[name])
			continue
		}
		check.Line(p, name, fields[name])
	}
}
