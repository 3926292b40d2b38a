package travel

import (
	"encoding/json"

	"holdfast/internal/money"
)

// Effect says what a proposal would change, for whoever decides on it. Amounts are in minor units.
type Effect struct {
	Changes []Change `json:"changes"` // fields by the names of the wire
	// Currency is that of amounts in Changes after the change; empty where there are none. Before it, they may have another.
	Currency money.Currency `json:"currency"`
	Figures  []Figure       `json:"figures"` // what it means for the book
	File     *FileEffect    `json:"file"`    // what a file would bring in; nil for all other proposals
	// Problem says why the proposal cannot be carried out any more; empty if it can.
	Problem string `json:"problem"`
}

// Change is a field before and after. A value that does not exist is null.
type Change struct {
	Field  string          `json:"field"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// Figure is a number, or an amount, that the change touches. Count or Amount is nil.
type Figure struct {
	Name     string         `json:"name"`
	Count    *int64         `json:"count"`
	Amount   *int64         `json:"amount"`
	Currency money.Currency `json:"currency"`
}

// CountOf makes a figure of a number.
func CountOf(name string, n int64) Figure { return Figure{Name: name, Count: &n} }

// AmountOf makes a figure of an amount.
func AmountOf(name string, minor int64, c money.Currency) Figure {
	return Figure{Name: name, Amount: &minor, Currency: c}
}

// FileEffect is what the import of a file would do, counted by a dry run.
type FileEffect struct {
	Rows            int          `json:"rows"`
	Refused         int          `json:"refused"` // rows
	BookingsCreated int          `json:"bookings_created"`
	BookingsThere   int          `json:"bookings_already_there"`
	PaymentsCreated int          `json:"payments_created"`
	PaymentsThere   int          `json:"payments_already_there"`
	Channels        []FileShares `json:"channels"`
}

// FileShares is the part of a file that goes to one channel. Its sums are in the currency of the channel.
type FileShares struct {
	Channel   string         `json:"channel"`
	Created   bool           `json:"created"` // the import would create the channel
	Mode      AccountMode    `json:"account_mode"`
	Currency  money.Currency `json:"currencies"`
	Payments  int            `json:"payments"`   // those that it would create
	Added     int64          `json:"added"`      // purchases, captures and chargeback reversals
	Taken     int64          `json:"taken"`      // refunds and chargebacks
	FirstPaid string         `json:"first_paid"` // the days of the first and the last payment
	LastPaid  string         `json:"last_paid"`
}
