package travel_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

func TestAnotherAttempt(t *testing.T) {
	own := func(id int64, status travel.TransactionStatus, refused bool) travel.ModalAttempt {
		return travel.ModalAttempt{TransactionID: id, AuthHash: "a", Status: status, Refused: refused}
	}
	refusal, error := own(1, travel.StatusFailed, true), own(2, travel.StatusFailed, false)
	others := refusal
	others.AuthHash = "b"
	for name, c := range map[string]struct {
		before []travel.ModalAttempt
		reason string
		look   string
	}{
		"the first":                       {nil, "", ""},
		"after two refusals":              {[]travel.ModalAttempt{refusal, refusal, error}, "", ""},
		"after three":                     {[]travel.ModalAttempt{refusal, error, refusal, own(9, travel.StatusExpired, true)}, "attempts_used", "9"},
		"another auth string's":           {[]travel.ModalAttempt{others, others, others, refusal}, "", ""},
		"after ten errors":                {slices.Repeat([]travel.ModalAttempt{error}, 10), "attempts_used", "2"},
		"while one is pending":            {[]travel.ModalAttempt{own(3, travel.StatusPending, false)}, "attempt_open", "3"},
		"while one is unknown":            {[]travel.ModalAttempt{own(4, travel.StatusIncomplete, false)}, "attempt_open", "4"},
		"after it was paid":               {[]travel.ModalAttempt{refusal, own(5, travel.StatusComplete, false)}, "already_paid", "5"},
		"after it was charged back":       {[]travel.ModalAttempt{own(6, travel.StatusLocked, false)}, "already_paid", "6"},
		"of an instalment paid before it": {[]travel.ModalAttempt{{TransactionID: 7, AuthHash: "b", Status: travel.StatusComplete}}, "", ""},
	} {
		f, _ := errors.AsType[*fault.Error](travel.AnotherAttempt(c.before, "a"))
		switch {
		case c.reason == "" && f != nil:
			t.Errorf("%s: %v", name, f)
		case c.reason != "" && (f == nil || f.Kind != fault.NotPossible || f.Reason != c.reason || f.Params["transaction_id"] != c.look):
			t.Errorf("%s: %+v", name, f)
		}
	}
	if err := travel.AnotherAttempt([]travel.ModalAttempt{{AuthHash: "b", Status: travel.StatusPending}}, "a"); err == nil {
		t.Error("an open attempt of another auth string is no hindrance")
	}
}

func TestModalFieldsAreChecked(t *testing.T) {
	whole := map[string]string{"channels": "2", "currencies": "USD", "total": "9999"}
	check := func(change map[string]string, wrong ...string) {
		t.Helper()
		fields := maps.Clone(whole)
		maps.Copy(fields, change)
		var p fault.Problems
		travel.CheckModalFields(fields, &p)
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
	b := travel.Booking{
		ID: 4, ChannelID: 2, Currency: "USD", Total: 20000, Email: "ada@example.com", Country: "PT", Surname: "Lovelace",
		End: civil.Date(2026, 5, 1),
	}
	session := func(change map[string]string) travel.ModalSession {
		fields := map[string]string{"channels": "2", "currencies": "USD", "total": "9999"}
		maps.Copy(fields, change)
		return travel.ModalSession{ChannelID: 2, Verified: fields, BookingID: 4}
	}
	fits := func(s travel.ModalSession, wrong string) {
		t.Helper()
		var p fault.Problems
		b.FitsModal(s, &p)
		if (p.Err() != nil) != (wrong != "") || wrong != "" && !p.Has(wrong) {
			t.Errorf("%v: %v", s.Verified, p.Err())
		}
	}
	fits(session(nil), "")
	fits(session(map[string]string{"email": "ada@example.com", "country": "PT", "date": "2026-05-01", "allocations": "[]"}), "")
	fits(session(map[string]string{"total": "20001"}), "total")
	fits(session(map[string]string{"currencies": "JPY", "total": "20001"}), "") // what it is worth is for the rates to tell
	for name, value := range map[string]string{"email": "eve@example.com", "country": "ES", "date": "2026-05-02", "surname": "", "reference": "R"} {
		fits(session(map[string]string{name: value}), "booking_id")
	}
	elsewhere := session(nil)
	elsewhere.ChannelID = 3
	fits(elsewhere, "booking_id")

	if got := travel.ModalItem(b, session(nil)); got != (travel.Item{BookingID: 4, Currency: "USD", Total: 9999}) {
		t.Errorf("in the booking's currency: %+v", got)
	}
	b.Sums.Net = 5000
	if got := travel.ModalItem(b, session(map[string]string{"currencies": "JPY"})); got != (travel.Item{BookingID: 4, Currency: "USD", Total: 15000}) {
		t.Errorf("in another currency: %+v", got)
	}
}

func TestWhatIsVerifiedIsFilledIn(t *testing.T) {
	s := travel.ModalSession{ID: 1, ChannelID: 2, Verified: map[string]string{
		"channels": "2", "currencies": "USD", "total": "9999", "email": "ada@example.com", "date": "2026-05-01",
	}}
	var f travel.BookingFields
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
	kind := travel.Refund
	n := travel.NewTransaction{Type: &kind, Token: "tok"}
	n.Fill(s, travel.Booking{ID: 4, Currency: "USD"})
	if !n.Problems.Has("transaction_types") || *n.Total != 9999 || !n.Attempt3DS || (*n.Items)[0].BookingID != 4 {
		t.Errorf("%+v", n)
	}
	if name, display := (travel.ModalSession{ChannelID: 2, ChannelName: "Alpine"}).Author(); name != "modal/2" || display != "Alpine: payment modal" {
		t.Errorf("author %s, %s", name, display)
	}
}
