package exposure

import (
	"slices"
	"time"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
)

// Scope says which part of the book a report is about (R7: exposure of any scope). An allocation is in it if it has one of
// the values of each field. An empty field allows all values.
type Scope struct {
	Channels   []int64
	Suppliers  []int64          // bookings with at least one of these suppliers
	Schemes    []card.Scheme    // if set, E4 is unknown, because unpaid amounts have no scheme yet
	Countries  []string         // of bookings
	Currencies []money.Currency // base currencies
	Months     []string         // YYYY-MM of the end date
}

// Narrow reports whether the scope is less than whole channels.
func (s Scope) Narrow() bool {
	return len(s.Suppliers)+len(s.Schemes)+len(s.Countries)+len(s.Currencies)+len(s.Months) > 0
}

// Position reports whether a position is in the scope.
func (s Scope) Position(p Position) bool {
	return s.has(p.ChannelID, p.Currency, p.Scheme, p.Terms)
}

// Bucket reports whether a bucket is in the scope.
func (s Scope) Bucket(b Bucket) bool {
	return s.has(b.ChannelID, b.Currency, b.Scheme, protection.Terms{End: b.End, Country: b.Country, Suppliers: b.Suppliers})
}

// History reports whether an allocation is in the scope, by its terms at the end of a day. So a booking that changes its
// country or its dates is in the scope on all days of a movement, or on none.
func (s Scope) History(h protection.History, day civil.Day, known time.Time) bool {
	return s.has(h.ChannelID, h.Currency, h.Scheme, protection.TermsAt(h.Terms, day.End(), known))
}

func (s Scope) has(channel int64, c money.Currency, scheme card.Scheme, t protection.Terms) bool {
	return allows(s.Channels, channel) && allows(s.Currencies, c) && allows(s.Schemes, scheme) &&
		allows(s.Countries, t.Country) && (len(s.Months) == 0 || allows(s.Months, t.End.Month())) &&
		(len(s.Suppliers) == 0 || slices.ContainsFunc(protection.SupplierIDs(t.Suppliers), func(id int64) bool {
			return slices.Contains(s.Suppliers, id)
		}))
}

func allows[T comparable](values []T, value T) bool {
	return len(values) == 0 || slices.Contains(values, value)
}
