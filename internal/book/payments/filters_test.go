package payments_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// Each filter of transactions finds its rows by an index, and none reads all rows of the site. SQLite explains its
// plan; PostgreSQL's plan depends on the content of the tables.
func TestEachFilterHasAnIndex(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t), dbtest.AtStart)
	room := &payments.Room{DB: sites.NewDB(db, dbtest.AtStart)}
	lists := payments.NewPayments(room, payments.NewGatewayPayments(room))
	page := store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
	some := civil.Span{After: dbtest.Start, Before: dbtest.Start.Add(time.Minute)}
	for name, c := range map[string]struct {
		filter payments.TransactionFilter
		want   string
	}{
		"include":             {payments.TransactionFilter{}, "PRIMARY KEY"},
		"created":             {payments.TransactionFilter{Created: some}, "transactions_by_created"},
		"created since":       {payments.TransactionFilter{Created: civil.Span{After: dbtest.Start}}, "transactions_by_created"},
		"modified":            {payments.TransactionFilter{}, "transactions_by_modified"},
		"status":              {payments.TransactionFilter{Statuses: []payment.TransactionStatus{"pending", "failed"}}, "transactions_by_status"},
		"channels":            {payments.TransactionFilter{Channels: []int64{4}}, "transactions_by_channel"},
		"countries":           {payments.TransactionFilter{Countries: []string{"PT"}}, "transactions_by_country"},
		"reference":           {payments.TransactionFilter{Reference: "R"}, "transactions_by_reference"},
		"currencies":          {payments.TransactionFilter{Currencies: []string{"JPY"}}, "transactions_by_currency"},
		"one status":          {payments.TransactionFilter{Statuses: []payment.TransactionStatus{"pending"}}, "transactions_by_status"},
		"transaction_types":   {payments.TransactionFilter{Types: []payment.TransactionType{payment.Chargeback}}, "transactions_by_type"},
		"payment_methods":     {payments.TransactionFilter{Methods: []string{payment.BankTransfer}}, "transactions_by_method"},
		"card_types":          {payments.TransactionFilter{CardTypes: []string{"jcb"}}, "transactions_by_card_type"},
		"bin_number":          {payments.TransactionFilter{BIN: "424242"}, "transactions_by_bin"},
		"last_four_digits":    {payments.TransactionFilter{LastFour: "4242", BIN: "424242"}, "transactions_by_last_four"},
		"payee_email":         {payments.TransactionFilter{PayeeEmail: "a@b.example"}, "transactions_by_email"},
		"payee_surname":       {payments.TransactionFilter{PayeeSurname: "King"}, "transactions_by_surname"},
		"linked_id":           {payments.TransactionFilter{LinkedID: 7}, "transactions_by_linked"},
		"bookings":            {payments.TransactionFilter{Bookings: []int64{7, 8}}, "payments_by_booking"},
		"psp":                 {payments.TransactionFilter{PSP: "one"}, "transactions_by_psp"},
		"auth_code":           {payments.TransactionFilter{AuthCode: "083219", PSP: "one"}, "transactions_by_auth_code"},
		"acquirer_reference":  {payments.TransactionFilter{AcquirerReference: "7", Currencies: []string{"EUR"}}, "transactions_by_acquirer_reference"},
		"processor_reference": {payments.TransactionFilter{ProcessorReference: "ch_7", Currencies: []string{"EUR"}}, "transactions_by_processor_reference"},
		"protected":           {payments.TransactionFilter{Protected: new(bool)}, "transactions_unprotected"},
		"find":                {payments.TransactionFilter{Find: "King"}, "transactions_by_surname"},
		"find, by e-mail":     {payments.TransactionFilter{Find: "King"}, "transactions_by_email"},
		"find, reference":     {payments.TransactionFilter{Find: "King"}, "transactions_by_reference"},
		"of a channel":        {payments.TransactionFilter{Channels: []int64{4}, Currencies: []string{"EUR"}}, "transactions_by_channel"},
	} {
		page := page
		switch name {
		case "include":
			page.Include = []int64{5}
		case "modified":
			page.Modified = some
		}
		ran := dbtest.Reading(dbtest.Statements(db, func() {
			if _, err := lists.List(t.Context(), access.System(1), c.filter, page); err != nil {
				t.Error(err)
			}
		}), "transactions")
		for _, s := range ran { // the number of all, and the page
			if strings.Contains(s.Query, "gateway_charges") { // the check for expired authorisations
				continue
			}
			plan := strings.Join(dbtest.Plan(t, db, s), "\n")
			if !strings.Contains(plan, c.want) {
				t.Errorf("%s: want %s in\n%s\nfor %s", name, c.want, plan, s.Query)
			}
		}
	}
}

// TestCountingFlagsReadsFlaggedRows: the data quality of a merchant is counted from an index, whatever the size of the book.
func TestCountingFlagsReadsFlaggedRows(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		db := w.App.DB.Store
		w.Must(apptest.Report(payment.Purchase, w.Booking(c, 500, "2024-09-14"), 600))
		dbtest.Large(t, db, "transactions")
		ran := dbtest.Statements(db, func() {
			if _, err := w.App.Payments.FlagCounts(t.Context(), w.Actor, c.ID); err != nil {
				t.Fatal(err)
			}
		})
		reading := dbtest.Reading(ran, "transactions")
		if len(reading) != 1 {
			t.Fatalf("%d statements read transactions", len(reading))
		}
		for _, s := range reading {
			if plan := strings.Join(dbtest.Plan(t, db, s), "\n"); !strings.Contains(plan, "transactions_by_channel_flags") {
				t.Errorf("%s\n%s", s.Query, plan)
			}
		}
	})
}
