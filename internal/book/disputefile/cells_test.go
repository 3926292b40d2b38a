package disputefile

import (
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
)

// of is a record of one cell.
func of(cell string) *record {
	names := []string{"cell"}
	return &record{names: names, index: indexOf(names), cells: []string{cell}}
}

// TestAmountsAreReadOrRefusedButNeverGuessed: a factor of a hundred or a thousand is the worst mistake that a file can make.
func TestAmountsAreReadOrRefusedButNeverGuessed(t *testing.T) {
	t.Parallel()
	const refused = -1 << 40
	for _, c := range []struct {
		text     string
		currency money.Currency
		comma    bool
		decimal  string
		want     int64
	}{
		{"1200.00", "EUR", false, "", 120000},
		{"1200", "EUR", false, "", 120000},
		{"1200.5", "EUR", false, "", 120050},
		{"1,200.00", "EUR", false, "", 120000},
		{"1,234,567.89", "EUR", false, "", 123456789},
		{"1,200", "EUR", false, "", 120000}, // in a file with commas, a comma separates thousands
		{"12,00", "EUR", false, "", 1200},
		{"1.50000000", "EUR", false, "", 150},
		{"-888.00", "EUR", false, "", -88800},
		{"\u2212888.00", "EUR", false, "", -88800},
		{"888.00-", "EUR", false, "", -88800},
		{"(888.00)", "EUR", false, "", -88800},
		{"+40", "EUR", false, "", 4000},
		{"160875", "JPY", false, "", 160875},
		{"160,875", "JPY", false, "", 160875},
		{"160875.00", "JPY", false, "", 160875},
		{"1.234", "KWD", false, "", 1234},
		{"1.200,50", "EUR", true, "", 120050},
		{"1200,50", "EUR", true, "", 120050},
		{"1 200,50", "EUR", true, "", 120050},
		{"1\u202f200,50", "EUR", true, "", 120050},
		{"1'200.50", "EUR", false, "", 120050},
		{"1,234", "KWD", true, "", 1234},
		{"1.200", "EUR", true, ",", 120000},
		{"1.200", "EUR", false, ".", 120},
		{"1,200", "EUR", true, ".", 120000},
		{"1.200", "EUR", false, "", refused},
		{"1.200", "EUR", true, "", refused},
		{"1,200", "EUR", true, "", refused},
		{"1.005", "EUR", false, ".", refused},
		{"160875.5", "JPY", false, "", refused},
		{"12,34.5", "EUR", false, "", refused},
		{"1.2E+03", "EUR", false, "", refused},
		{"12.", "EUR", false, "", refused},
		{"--5", "EUR", false, "", refused},
		{"", "EUR", false, "", refused},
		{"five", "EUR", false, "", refused},
		{"99999999999999999999", "EUR", false, "", refused},
		{"5", "", false, "", refused},
	} {
		r := of(c.text)
		r.comma, r.decimal = c.comma, c.decimal
		got, present := r.major(c.currency, "cell")
		if !present {
			got = refused
		}
		if got != c.want || present != (len(r.problems) == 0) && c.text != "" {
			t.Errorf("%q %s (%v %q): %d, present %v, %v", c.text, c.currency, c.comma, c.decimal, got, present, r.problems)
		}
	}
}

func TestDaysAreThoseOfGMT(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, zone string
		us         bool
		want       string
	}{
		{"2026-05-12 00:30:00", "CEST", false, "2026-05-11"},
		{"2026-05-12 00:30:00", "", false, "2026-05-12"},
		{"2026-05-11 17:30:00", "PDT", false, "2026-05-12"},
		{"2026-02-11 16:00:00", "PST", false, "2026-02-12"},
		{"2026-02-11 15:59:59", "PST", false, "2026-02-11"},
		{"2026-05-12 00:30:00", "Europe/Madrid", false, "2026-05-11"},
		{"2026-01-12 00:30:00", "Europe/Madrid", false, "2026-01-11"},
		{"2026-05-12 00:30:00", "UTC+2", false, "2026-05-11"},
		{"2026-05-12 00:30:00", "+02:00", false, "2026-05-11"},
		{"2026-05-12 00:30:00 CEST", "", false, "2026-05-11"},
		{"2026-05-12 00:30:00 +0200", "", false, "2026-05-11"},
		{"2026-05-12T00:30:00+02:00", "PST", false, "2026-05-11"}, // the zone of the time itself counts
		{"2026-05-11T23:59:59.123Z", "CEST", false, "2026-05-11"},
		{"2026/05/20 18:38:07 -0700", "", false, "2026-05-21"},
		{"2026-05-12", "CEST", false, "2026-05-12"},
		{"5/6/2026", "", true, "2026-05-06"},
		{"05/06/2026 11:30 PM", "EST", true, "2026-05-07"},
		{"2026-05-06", "", true, "2026-05-06"},
		{"0000-00-00 00:00:00", "", false, "none"},
		{"5/6/2026", "", false, "wrong"},
		{"31/5/2026", "", true, "wrong"},
		{"2026-02-30", "", false, "wrong"},
		{"2026-05-12 00:30:00", "IST", false, "wrong"},
		{"1900-01-01", "", false, "wrong"},
		{"9999-12-31", "", false, "wrong"},
		{"46153.5", "", false, "wrong"},
	} {
		names := []string{"on", "zone"}
		r := &record{names: names, index: indexOf(names), cells: []string{c.text, c.zone}}
		got := "none"
		if d := r.day(calendar{us: c.us}, []string{"zone"}, "on"); d != civil.NoDay {
			got = d.String()
		} else if len(r.problems) > 0 {
			got = "wrong"
		}
		if got != c.want {
			t.Errorf("%q %q: %s %v, not %s", c.text, c.zone, got, r.problems, c.want)
		}
	}
	for letters := range offsets {
		if _, ok := zone(letters); !ok {
			t.Errorf("%s is not known", letters)
		}
	}
	if location, ok := zone("ACST"); !ok || time.Date(2026, 1, 1, 0, 0, 0, 0, location).UTC().Hour() != 14 {
		t.Errorf("ACST is %v", location)
	}
}

func TestMaskedCardsAndOtherClues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]dispute.Clues{
		"411111******1111":    {BIN: "411111", LastFour: "1111"},
		"402155XXXXXX0001":    {BIN: "402155", LastFour: "0001"},
		"41111111****1111":    {BIN: "41111111", LastFour: "1111"},
		"4111 11** **** 1111": {BIN: "411111", LastFour: "1111"},
		"XXXX-XXXX-XXXX-0005": {LastFour: "0005"},
		"****0005":            {LastFour: "0005"},
		"XXX1234":             {LastFour: "1234"},
		"1234":                {LastFour: "1234"},
		"411111":              {},
		"none":                {},
		"":                    {},
	} {
		var c dispute.Clues
		if of(text).card(&c, "cell"); c != want {
			t.Errorf("%q: %+v", text, c)
		}
	}
	for text, want := range map[string]string{"081273": "081273", "81273": "081273", "L10116": "L10116", "REFUND": "", "a b": "", "": ""} {
		if got := of(text).auth("cell"); got != want {
			t.Errorf("auth code %q: %q", text, got)
		}
	}
	for text, want := range map[string]string{"77": "0077", "1111": "1111", "11111": "", "x": ""} {
		if got := of(text).lastFour("cell"); got != want {
			t.Errorf("last four %q: %q", text, got)
		}
	}
	for text, noted := range map[string]bool{
		"24692166034100000000011": false, "": false, "5.54E+22": true, "2,47E+22": true, "765824407": true, `="24692166034100000000011"`: false,
	} {
		r := of(text)
		if got := r.acquirerReference("cell"); len(r.notes) > 0 != noted || noted && got != "" {
			t.Errorf("acquirer reference %q: %q, %v", text, got, r.notes)
		}
	}
}
