package payment_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

var paidAt = time.Date(2026, 3, 2, 10, 20, 30, 0, time.UTC)

// report is a purchase with every required field.
func report() payment.NewTransaction {
	return payment.NewTransaction{
		ChannelID: new(int64(2)), Currency: new(money.EUR), Total: new(int64(9999)), Type: new(payment.Purchase),
		Items: &[]payment.Item{{BookingID: 7, Currency: money.EUR, Total: 9999}},
	}
}

func TestWrongFieldsOfATransaction(t *testing.T) {
	items := func(totals ...int64) *[]payment.Item {
		list := []payment.Item{}
		for i, total := range totals {
			list = append(list, payment.Item{BookingID: int64(i + 1), Currency: money.EUR, Total: total})
		}
		return &list
	}
	for name, c := range map[string]struct {
		change func(n *payment.NewTransaction)
		want   string
	}{
		"none":    {func(*payment.NewTransaction) {}, ""},
		"nothing": {func(n *payment.NewTransaction) { *n = payment.NewTransaction{} }, "[channels] [currencies] [total] [transaction_types] [bookings]"},
		"a refund without split": {func(n *payment.NewTransaction) {
			n.Type, n.Items, n.LinkedID = new(payment.Refund), nil, 3
		}, ""},
		"a refund of nothing": {func(n *payment.NewTransaction) { n.Type = new(payment.Refund) }, "[linked_id]"},
		"a linked purchase":   {func(n *payment.NewTransaction) { n.LinkedID = 3 }, "linked_id"},
		"nobody's type":       {func(n *payment.NewTransaction) { n.Type = new(payment.TransactionType("sale")) }, "transaction_types"},
		"the operator's type": {func(n *payment.NewTransaction) {
			n.Type, n.LinkedID = new(payment.Chargeback), 3
		}, ""},
		"3DS without address": {func(n *payment.NewTransaction) { n.Attempt3DS = true }, "[3ds_redirect_url]"},
		"3DS": {func(n *payment.NewTransaction) {
			n.Attempt3DS, n.RedirectURL = true, "https://shop.example/back?a=b"
		}, ""},
		"an address without 3DS": {func(n *payment.NewTransaction) { n.RedirectURL = "https://shop.example/" }, "3ds_redirect_url"},
		"no address":             {func(n *payment.NewTransaction) { n.Attempt3DS, n.RedirectURL = true, "javascript:alert(1)" }, "3ds_redirect_url"},
		"no total":               {func(n *payment.NewTransaction) { n.Total = new(int64(0)) }, "total"},
		"the largest total":      {func(n *payment.NewTransaction) { n.Total = new(int64(1e15)) }, ""},
		"one more":               {func(n *payment.NewTransaction) { n.Total = new(int64(1e15 + 1)) }, "total"},
		"no booking":             {func(n *payment.NewTransaction) { n.Items = items() }, "bookings"},
		"a hundred bookings":     {func(n *payment.NewTransaction) { n.Items = items(make99(100)...) }, ""},
		"one more booking":       {func(n *payment.NewTransaction) { n.Items = items(make99(101)...) }, "bookings"},
		"a part of nothing":      {func(n *payment.NewTransaction) { n.Items = items(1, 0) }, "bookings[1].total"},
		"a part too large":       {func(n *payment.NewTransaction) { n.Items = items(0, 1, 1e15+1) }, "bookings[0].total bookings[2].total"},
		"a booking twice":        {func(n *payment.NewTransaction) { *n.Items = append(*n.Items, (*n.Items)[0]) }, "bookings[1].id"},
		"a BIN of six":           {func(n *payment.NewTransaction) { n.BIN = "411111" }, ""},
		"a BIN of eight":         {func(n *payment.NewTransaction) { n.BIN = "41111111" }, ""},
		"a BIN of seven":         {func(n *payment.NewTransaction) { n.BIN = "4111111" }, "bin_number"},
		"last digits":            {func(n *payment.NewTransaction) { n.LastFour = "0001" }, ""},
		"last five digits":       {func(n *payment.NewTransaction) { n.LastFour = "00001" }, "last_four_digits"},
		"an IPv6 address":        {func(n *payment.NewTransaction) { n.IPAddress = "2001:db8::1" }, ""},
		"no IP address":          {func(n *payment.NewTransaction) { n.IPAddress = "shop.example" }, "ip_address"},
		"nobody's country":       {func(n *payment.NewTransaction) { n.Country = "ZZ" }, "countries"},
		"no e-mail address":      {func(n *payment.NewTransaction) { n.PayeeEmail = "ann" }, "payee_email"},
		"by bank":                {func(n *payment.NewTransaction) { n.Method = "bank-transfer" }, ""},
		"by cheque":              {func(n *payment.NewTransaction) { n.Method = "cheque" }, "payment_methods"},
		"now":                    {func(n *payment.NewTransaction) { n.EffectiveAt = paidAt }, ""},
		"in the future":          {func(n *payment.NewTransaction) { n.EffectiveAt = paidAt.Add(time.Second) }, "effective_at"},
		"texts of several lines": {func(n *payment.NewTransaction) {
			n.Content, n.PSP, n.PayeeName, n.PayeeSurname, n.PayeeEmail = "a\r\nb\tc", "a\nb", "a\rb", "a\u0085b", "ann@example.com\n"
			n.Reference, n.Token, n.CardType, n.AuthCode, n.ProcessorReference = "a\u2028b", "a\u2029", "\vvisa", "\f1", "\n1"
		}, "auth_code card_types payee_email payee_name payee_surname processor_reference psp reference token"},
		"texts too long": {func(n *payment.NewTransaction) { n.PSP, n.Content = long(192), long(1024) }, "content psp"},
		"texts as long as can": {func(n *payment.NewTransaction) {
			n.PSP, n.Reference, n.Content = long(191), long(191), long(1023)
		}, ""},
	} {
		n := report()
		c.change(&n)
		var p errs.Problems
		n.Check(paidAt, &p)
		if got := strings.Join(wrongFields(t, &p), " "); got != c.want {
			t.Errorf("%s: wrong are %q, want %q", name, got, c.want)
		}
	}
}

func long(n int) string { return strings.Repeat("é", n) }

func make99(n int) []int64 {
	totals := make([]int64, n)
	for i := range totals {
		totals[i] = 99
	}
	return totals
}

// The hash distinguishes two reports, and ignores fields of the request that are not about the payment.
func TestHashOfAReport(t *testing.T) {
	n := report()
	same := report()
	same.Problems.Wrong("total", "wrong")
	if n.Hash() != same.Hash() {
		t.Error("two reports that say the same have two hashes")
	}
	for name, change := range map[string]func(n *payment.NewTransaction){
		"total": func(n *payment.NewTransaction) { n.Total = new(int64(9998)) },
		"split": func(n *payment.NewTransaction) {
			n.Items = &[]payment.Item{{BookingID: 8, Currency: money.EUR, Total: 9999}}
		},
		"content": func(n *payment.NewTransaction) { n.Content = "x" },
		"time":    func(n *payment.NewTransaction) { n.EffectiveAt = paidAt },
		"type":    func(n *payment.NewTransaction) { n.Type = new(payment.Authorize) },
	} {
		other := report()
		if change(&other); other.Hash() == n.Hash() {
			t.Errorf("another %s has the same hash", name)
		}
	}
}

func TestTheOrderOfItemsAndADefaultSayNothing(t *testing.T) {
	n, other := report(), report()
	n.Items = &[]payment.Item{{BookingID: 7, Currency: money.EUR, Total: 1}, {BookingID: 8, Currency: money.EUR, Total: 2}}
	other.Items = &[]payment.Item{(*n.Items)[1], (*n.Items)[0]}
	n.Method, other.Method = "", payment.CreditCard
	if n.Hash() != other.Hash() {
		t.Error("the same report has two hashes")
	}
	if (*other.Items)[0].BookingID != 8 {
		t.Error("hashing a report changed it")
	}
}

func TestAnAuthorisationIsCapturedInTime(t *testing.T) {
	a := payment.Transaction{
		Type: payment.Authorize, Status: payment.StatusComplete, Remaining: 1, EffectiveAt: paidAt, CaptureBy: paidAt.Add(7 * 24 * time.Hour),
		Payments: []payment.Payment{{Remaining: 1}},
	}
	last := paidAt.Add(7 * 24 * time.Hour)
	if !a.InTime(last.Add(-time.Microsecond)) || a.InTime(last) {
		t.Error("an authorisation can be captured for seven days, and no longer")
	}
	if a.TotalRemaining() != 1 {
		t.Error("an open authorisation has nothing left")
	}
	if a.Status = payment.StatusExpired; a.TotalRemaining() != 0 {
		t.Error("an expired authorisation has something left")
	}
}

func TestWhatTypesOfTransactionsDo(t *testing.T) {
	for _, c := range []struct {
		of                       payment.TransactionType
		linked, operators, takes bool
	}{
		{payment.Purchase, false, false, true},
		{payment.Authorize, false, false, false},
		{payment.Capture, true, false, true},
		{payment.Refund, true, false, false},
		{payment.Void, true, false, false},
		{payment.Chargeback, true, true, false},
		{payment.ChargebackReversal, true, true, false},
	} {
		if c.of.Linked() != c.linked || c.of.Operators() != c.operators || c.of.Takes() != c.takes {
			t.Errorf("%s: linked %v, the operator's %v, takes %v", c.of, c.of.Linked(), c.of.Operators(), c.of.Takes())
		}
	}
}

func TestPages(t *testing.T) {
	for _, c := range []struct {
		page store.Page
		want int
	}{
		{store.Page{Number: 1, Size: 3, Offset: -1}, 0},
		{store.Page{Number: 4, Size: 3, Offset: -1}, 9},
		{store.Page{Number: 4, Size: 3, Offset: 0}, 0},
		{store.Page{Number: 1, Size: 3, Offset: 5}, 5},
	} {
		if got := c.page.Skip(); got != c.want {
			t.Errorf("%+v skips %d, want %d", c.page, got, c.want)
		}
	}
}
