package payments_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/core"
	"holdfast/internal/dbtest"
	"holdfast/internal/payments"
	"holdfast/internal/travel"
)

// Each filter of transactions finds its rows by an index, and none reads all rows of the site. SQLite says how it would go
// about it; PostgreSQL goes by what the tables hold.
func TestEachFilterHasAnIndex(t *testing.T) {
	t.Parallel()
	store := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	c := &core.Core{Store: store, Clock: dbtest.AtStart}
	lists := payments.NewPayments(c, payments.NewGatewayPayments(c, nil))
	page := travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
	some := travel.Span{After: dbtest.Start, Before: dbtest.Start.Add(time.Minute)}
	for name, c := range map[string]struct {
		filter travel.TransactionFilter
		want   string
	}{
		"include":            {travel.TransactionFilter{Include: []int64{5}}, "PRIMARY KEY"},
		"created":            {travel.TransactionFilter{Created: some}, "transactions_by_created"},
		"created since":      {travel.TransactionFilter{Created: travel.Span{After: dbtest.Start}}, "transactions_by_created"},
		"modified":           {travel.TransactionFilter{Modified: some}, "transactions_by_modified"},
		"status":             {travel.TransactionFilter{Statuses: []travel.TransactionStatus{"pending", "failed"}}, "transactions_by_status"},
		"channels":           {travel.TransactionFilter{Channels: []int64{4}}, "transactions_by_channel"},
		"countries":          {travel.TransactionFilter{Countries: []string{"PT"}}, "transactions_by_country"},
		"reference":          {travel.TransactionFilter{Reference: "R"}, "transactions_by_reference"},
		"currencies":         {travel.TransactionFilter{Currencies: []string{"JPY"}}, "transactions_by_currency"},
		"one status":         {travel.TransactionFilter{Statuses: []travel.TransactionStatus{"pending"}}, "transactions_by_status"},
		"transaction_types":  {travel.TransactionFilter{Types: []travel.TransactionType{travel.Chargeback}}, "transactions_by_type"},
		"payment_methods":    {travel.TransactionFilter{Methods: []string{travel.BankTransfer}}, "transactions_by_method"},
		"card_types":         {travel.TransactionFilter{CardTypes: []string{"jcb"}}, "transactions_by_card_type"},
		"bin_number":         {travel.TransactionFilter{BIN: "424242"}, "transactions_by_bin"},
		"last_four_digits":   {travel.TransactionFilter{LastFour: "4242", BIN: "424242"}, "transactions_by_last_four"},
		"payee_email":        {travel.TransactionFilter{PayeeEmail: "a@b.example"}, "transactions_by_email"},
		"payee_surname":      {travel.TransactionFilter{PayeeSurname: "King"}, "transactions_by_surname"},
		"linked_id":          {travel.TransactionFilter{LinkedID: 7}, "transactions_by_linked"},
		"bookings":           {travel.TransactionFilter{Bookings: []int64{7, 8}}, "payments_by_booking"},
		"psp":                {travel.TransactionFilter{PSP: "one"}, "transactions_by_psp"},
		"auth_code":          {travel.TransactionFilter{AuthCode: "083219", PSP: "one"}, "transactions_by_auth_code"},
		"acquirer_reference": {travel.TransactionFilter{AcquirerReference: "7", Currencies: []string{"EUR"}}, "transactions_by_acquirer_reference"},
		"find":               {travel.TransactionFilter{Find: "King"}, "transactions_by_surname"},
		"find, by e-mail":    {travel.TransactionFilter{Find: "King"}, "transactions_by_email"},
		"find, reference":    {travel.TransactionFilter{Find: "King"}, "transactions_by_reference"},
		"of a channel":       {travel.TransactionFilter{Channels: []int64{4}, Currencies: []string{"EUR"}}, "transactions_by_channel"},
	} {
		ran := dbtest.Reading(dbtest.Statements(store, func() {
			if _, err := lists.List(t.Context(), auth.System(1), c.filter, page); err != nil {
				t.Error(err)
			}
		}), "transactions")
		for _, s := range ran { // the number of all, and the page
			if strings.Contains(s.Query, "gateway_charges") { // the look for authorisations that expire
				continue
			}
			plan := strings.Join(dbtest.Plan(t, store, s), "\n")
			if !strings.Contains(plan, c.want) {
				t.Errorf("%s: want %s in\n%s\nfor %s", name, c.want, plan, s.Query)
			}
		}
	}
}
