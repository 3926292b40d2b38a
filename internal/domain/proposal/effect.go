package proposal

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/domain/money"
)

// Effect says what a proposal would change, for the person who decides on it. Amounts are in minor units.
type Effect struct {
	Changes []Change `json:"changes"` // fields by the names of the wire
	// Currency is that of amounts in Changes after the change; empty where there are none. Before it, they may have another.
	Currency money.Currency `json:"currency"`
	Figures  []Figure       `json:"figures"` // what it means for the book
	File     *FileEffect    `json:"file"`    // what a file would import; nil for all other proposals
	// Problem is why the proposal can no longer be carried out; empty if it can.
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

// FileEffect is the effect of importing a file, counted by a dry run.
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
	Mode      string         `json:"account_mode"`
	Currency  money.Currency `json:"currencies"`
	Payments  int            `json:"payments"`   // those that it would create
	Added     int64          `json:"added"`      // purchases, captures and chargeback reversals
	Taken     int64          `json:"taken"`      // refunds and chargebacks
	FirstPaid string         `json:"first_paid"` // the days of the first and the last payment
	LastPaid  string         `json:"last_paid"`
}

// amountFields are the fields of changes that are amounts, in minor units.
var amountFields = []string{"amount", "minimum_per_line", "minimum_per_month", "payout_minimum"}

// currencyFields are the fields that say in which currency the amounts are.
var currencyFields = []string{"currency", "settlement_currency"}

// Text formats one side of a change for display; "" if it does not exist.
func (e Effect) Text(c Change, before bool) string {
	raw := c.After
	if before {
		raw = c.Before
	}
	var value any
	reader := json.NewDecoder(strings.NewReader(string(raw)))
	reader.UseNumber()
	if err := reader.Decode(&value); err != nil || value == nil {
		return ""
	}
	if n, ok := value.(json.Number); ok && slices.Contains(amountFields, c.Field) {
		minor, err := strconv.ParseInt(n.String(), 10, 64)
		if currency := e.currencyAt(before); err == nil && currency != "" {
			return string(currency) + " " + money.Format(minor, currency)
		}
	}
	switch v := value.(type) {
	case string:
		return v
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case []any:
		return listText(v)
	}
	return string(raw)
}

// currencyAt is the currency of the amounts on one side of a change.
func (e Effect) currencyAt(before bool) money.Currency {
	for _, c := range e.Changes {
		var text string
		if before && slices.Contains(currencyFields, c.Field) && json.Unmarshal(c.Before, &text) == nil && text != "" {
			return money.Currency(text)
		}
	}
	return e.Currency
}

// listText writes a list: each object of it as its values, such as "lead_from 0 ppm 9000".
func listText(list []any) string {
	parts := make([]string, len(list))
	for i, item := range list {
		object, ok := item.(map[string]any)
		if !ok {
			parts[i] = fmt.Sprint(item)
			continue
		}
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if object[name] != nil {
				fields = append(fields, fmt.Sprint(name, " ", object[name]))
			}
		}
		parts[i] = strings.Join(fields, " ")
	}
	return strings.Join(parts, "; ")
}
