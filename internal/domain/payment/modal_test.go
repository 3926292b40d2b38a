package payment_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/modal"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
)

func TestAnotherAttempt(t *testing.T) {
	own := func(id int64, status payment.TransactionStatus, refused bool) payment.ModalAttempt {
		return payment.ModalAttempt{TransactionID: id, AuthHash: "a", Status: status, Refused: refused}
	}
	refusal, error := own(1, payment.StatusFailed, true), own(2, payment.StatusFailed, false)
	others := refusal
	others.AuthHash = "b"
	for name, c := range map[string]struct {
		before []payment.ModalAttempt
		reason string
		look   string
	}{
		"the first":                       {nil, "", ""},
		"after two refusals":              {[]payment.ModalAttempt{refusal, refusal, error}, "", ""},
		"after three":                     {[]payment.ModalAttempt{refusal, error, refusal, own(9, payment.StatusExpired, true)}, "attempts_used", "9"},
		"another auth string's":           {[]payment.ModalAttempt{others, others, others, refusal}, "", ""},
		"after ten errors":                {slices.Repeat([]payment.ModalAttempt{error}, 10), "attempts_used", "2"},
		"while one is pending":            {[]payment.ModalAttempt{own(3, payment.StatusPending, false)}, "attempt_open", "3"},
		"while one is unknown":            {[]payment.ModalAttempt{own(4, payment.StatusIncomplete, false)}, "attempt_open", "4"},
		"after it was paid":               {[]payment.ModalAttempt{refusal, own(5, payment.StatusComplete, false)}, "already_paid", "5"},
		"after it was charged back":       {[]payment.ModalAttempt{own(6, payment.StatusLocked, false)}, "already_paid", "6"},
		"of an instalment paid before it": {[]payment.ModalAttempt{{TransactionID: 7, AuthHash: "b", Status: payment.StatusComplete}}, "", ""},
	} {
		f, _ := errors.AsType[*errs.Error](payment.AnotherAttempt(c.before, "a"))
		switch {
		case c.reason == "" && f != nil:
			t.Errorf("%s: %v", name, f)
		case c.reason != "" && (f == nil || f.Kind != errs.NotPossible || f.Reason != c.reason || f.Params["transaction_id"] != c.look):
			t.Errorf("%s: %+v", name, f)
		}
	}
	if err := payment.AnotherAttempt([]payment.ModalAttempt{{AuthHash: "b", Status: payment.StatusPending}}, "a"); err == nil {
		t.Error("an open attempt of another auth string is no hindrance")
	}
}

func TestModalFieldsAreChecked(t *testing.T) {
	whole := map[string]string{"channels": "2", "currencies": "USD", "total": "9999"}
	check := func(change map[string]string, wrong ...string) {
		t.Helper()
		fields := maps.Clone(whole)
		maps.Copy(fields, change)
		var p errs.Problems
		modal.CheckFields(fields, &p)
		for _, name := range append(slices.Collect(maps.Keys(fields)), wrong...) {
			if p.Has(name) != slices.Contains(wrong, name) {
				t.Errorf("%v: %s is wrong: %v", change, name, p.Has(name))
			}
		}
	}
	check(nil)
	check(map[string]string{"allocations": `[{"total": 100}]`, "charge_channel": "7", "email": ""})
	check(map[string]string{"channels": ""}, "channels")
	check(map[string]string{"channels": "-2"}, "channels")
	check(map[string]string{"currencies": "usd "}, "currencies")
	for _, total := range []string{"0", "-1", "1.5", "1e3", "1000000000000001"} {
		check(map[string]string{"total": total}, "total")
	}
	check(map[string]string{"allocations": `{"total": 100}`}, "allocations")
	check(map[string]string{"allocations": `[`}, "allocations")
	check(map[string]string{"allocations": `[{}, null]`}, "allocations")
	check(map[string]string{"allocations": `[7]`}, "allocations")
	check(map[string]string{"charge_channel": "all"}, "charge_channel")
	check(map[string]string{"surname": "\x00"}, "surname")
}

func TestAModalIsForItsBookingOnly(t *testing.T) {
	b := booking.Booking{
		ID: 4, ChannelID: 2, Currency: "USD", Total: 20000, Email: "ada@example.com", Country: "PT", Surname: "Lovelace",
		End: civil.Date(2026, 5, 1),
	}
	session := func(change map[string]string) modal.Session {
		fields := map[string]string{"channels": "2", "currencies": "USD", "total": "9999"}
		maps.Copy(fields, change)
		return modal.Session{ChannelID: 2, Verified: fields, BookingID: 4}
	}
	fits := func(s modal.Session, wrong string) {
		t.Helper()
		var p errs.Problems
		b.FitsModal(s, &p)
		if (p.Err() != nil) != (wrong != "") || wrong != "" && !p.Has(wrong) {
			t.Errorf("%v: %v", s.Verified, p.Err())
		}
	}
	fits(session(nil), "")
	fits(session(map[string]string{"email": "ada@example.com", "country": "PT", "date": "2026-05-01", "allocations": "[]"}), "")
	fits(session(map[string]string{"total": "20001"}), "total")
	fits(session(map[string]string{"currencies": "JPY", "total": "20001"}), "") // its value depends on the rates
	for name, value := range map[string]string{"email": "eve@example.com", "country": "ES", "date": "2026-05-02", "surname": "", "reference": "R"} {
		fits(session(map[string]string{name: value}), "booking_id")
	}
	elsewhere := session(nil)
	elsewhere.ChannelID = 3
	fits(elsewhere, "booking_id")

	if got := payment.ModalItem(b, session(nil)); got != (payment.Item{BookingID: 4, Currency: "USD", Total: 9999}) {
		t.Errorf("in the booking's currency: %+v", got)
	}
	b.Sums.Net = 5000
	if got := payment.ModalItem(b, session(map[string]string{"currencies": "JPY"})); got != (payment.Item{BookingID: 4, Currency: "USD", Total: 15000}) {
		t.Errorf("in another currency: %+v", got)
	}
}

func TestWhatIsVerifiedIsFilledIn(t *testing.T) {
	s := modal.Session{ID: 1, ChannelID: 2, Verified: map[string]string{
		"channels": "2", "currencies": "USD", "total": "9999", "email": "ada@example.com", "date": "2026-05-01",
	}}
	var f booking.BookingFields
	if differs := f.Fill(s, map[string]string{"email": "eve@example.com", "total": "1", "firstname": "Eve"}); !slices.Equal(differs, []string{"email", "total"}) {
		t.Errorf("differs in %v", differs)
	}
	if differs := f.Fill(s, map[string]string{"email": "ada@example.com", "channels": "2"}); differs != nil {
		t.Errorf("differs in %v", differs)
	}
	if *f.ChannelID != 2 || *f.Currency != "USD" || *f.Total != 9999 || *f.Email != "ada@example.com" || *f.End != civil.Date(2026, 5, 1) ||
		*f.Content == "" || !f.ModalDraft || f.Modal.ID != 1 || f.Firstname != nil {
		t.Errorf("%+v", f)
	}
	kind := payment.Refund
	n := payment.NewTransaction{Type: &kind, Token: "tok"}
	n.Fill(s, booking.Booking{ID: 4, Currency: "USD"})
	if !n.Problems.Has("transaction_types") || *n.Total != 9999 || !n.Attempt3DS || (*n.Items)[0].BookingID != 4 {
		t.Errorf("%+v", n)
	}
	if name, display := (modal.Session{ChannelID: 2, ChannelName: "Alpine"}).Author(); name != "modal/2" || display != "Alpine: payment modal" {
		t.Errorf("author %s, %s", name, display)
	}
}
