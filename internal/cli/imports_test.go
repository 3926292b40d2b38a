package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sample returns the sample file of the reader's own tests, with more rows appended.
func sample(t *testing.T, more ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "internal", "book", "paymentfile", "testdata", "sample.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + strings.Join(more, "")
}

// file puts a text into a file of the system's folder.
func (s *system) file(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

const (
	badTotal = "B-2,Direct,PT,EUR,,2026-07-08,2,many,Rui,Nobre,rui@example.org,Nights,B-2-P1,,purchase,2026-01-10 09:30:00,EUR,100,100,visa,411111,4242,psp\n"
	cardHere = "B-3,Direct,PT,EUR,,2026-07-08,2,100,Rui,Nobre,rui@example.org,card 4111 1111 1111 1111,B-3-P1,,purchase,2026-01-10 09:30:00,EUR,100,100,visa,411111,4242,psp\n"
)

// clockTime is a time of the real clock in what a command prints.
var clockTime = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)

func TestImportPayments(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *system) {
		s.must("site", "create", "acme", "--name", "Acme", "--currency", "GBP", "--sandbox")
		s.file("book.csv", sample(t))
		s.file("rates.csv", "Date,GBP,\n2026-03-09,0.87,\n2026-02-27,0.875,\n2026-01-09,0.88,\n")
		s.must("rates", "import", "rates.csv")
		take := []string{"import", "payments", "book.csv", "--site", "acme", "--mode", "protection-only", "--cover-start", "effective"}
		says := func(out string, wants ...string) {
			t.Helper()
			for _, want := range wants {
				if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		}
		says(s.must(append(take, "--dry-run")...), "bookings 1 would be created, 0 already exist", "payments 3 would be created",
			"merchants 1 would be created: Direct", "rejected 0", "Dry run")
		if list := s.must("merchant", "list", "--site", "acme"); strings.Contains(list, "Direct") {
			t.Errorf("the dry run left\n%s", list)
		}
		says(s.must(take...), "3 rows", "bookings 1 created, 0 already exist", "payments 3 created, 0 already exist", "merchants 1 created: Direct")
		exposure := func() string { // without known_at, which is now
			return clockTime.ReplaceAllString(s.must("exposure", "--site", "acme", "--as-of", "2026-03-10", "--csv"), "TIME")
		}
		before := exposure()
		says(s.must(take...), "bookings 0 created, 1 already exist", "payments 0 created, 3 already exist", "rejected 0")
		says(s.must(append(take, "--dry-run")...), "payments 0 would be created, 3 already exist")
		if after := exposure(); after != before || !strings.Contains(before, "Direct") {
			t.Errorf("the exposure was\n%sand is\n%s", before, after)
		}
		// Also from standard input.
		take[2] = "-"
		says(s.mustWith(sample(t), take...), "payments 0 created, 3 already exist")
	})
}

func TestImportOfBadRows(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	s.must("site", "create", "acme", "--name", "Acme", "--currency", "GBP", "--sandbox")
	s.file("book.csv", sample(t, badTotal, cardHere, strings.Repeat(badTotal, 30)))
	r := s.run("", "import", "payments", "book.csv", "--site", "acme", "--mode", "draft", "--refused", "refused.csv")
	if r.code != 3 || !strings.Contains(r.stderr, `line 5 rejected: total: "many" is not a whole number.`) ||
		!strings.Contains(r.stderr, "line 6 rejected: The column content contains a card number.") ||
		!strings.Contains(r.stderr, "and 12 more: see refused.csv") || strings.Contains(r.stderr, "1111 1111") {
		t.Errorf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "refused.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil || len(lines) != 33 || lines[0][0] != "line" || lines[32][0] != "36" {
		t.Errorf("%d refused rows in the file, %v:\n%s", len(lines)-1, err, text)
	}

	r = s.run("", "import", "payments", "book.csv", "--site", "acme")
	if r.code != 3 || !strings.Contains(r.stderr, "use --refused FILE.csv") || !strings.Contains(r.stdout, "3 already exist") {
		t.Errorf("without a file: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

func TestImportOfWhatIsNoFileOfPayments(t *testing.T) {
	s := onSQLite(t)
	s.must("site", "create", "acme", "--name", "Acme", "--currency", "GBP", "--sandbox")
	s.file("half.csv", "booking_reference,channel\n")
	s.file("rates.csv", "Date,USD,\n2026-02-30,1.1,\n")
	for want, args := range map[string][]string{
		"lacks the column(s) countries":          {"import", "payments", "half.csv", "--site", "acme"},
		"cannot open the payments file":          {"import", "payments", "none.csv", "--site", "acme"},
		"cannot write the file of rejected rows": {"import", "payments", "half.csv", "--site", "acme", "--refused", "none/refused.csv"},
		"Line 2, column Date":                    {"rates", "import", "rates.csv"},
	} {
		if r := s.run("", args...); r.code != 1 || !strings.Contains(r.stderr, want) {
			t.Errorf("holdfast %s: exit code %d, no %q in %s", strings.Join(args, " "), r.code, want, r.stderr)
		}
	}
}

// hotelFigures are the figures of rules.md for the hotel file, as of 2016-06-30: E1 by channel in EUR cents, and locked
// in pence.
var hotelFigures = map[string]struct{ cents, locked int64 }{
	"Corporate": {105_760, 80_104}, "Direct": {2_190_357, 1_726_886}, "Groups": {7_020_546, 5_269_256},
	"Offline TA/TO": {7_721_217, 5_871_996}, "Online TA": {8_474_388, 6_616_849},
}

// exposureAnswer is the part of a report that is checked for the hotel file.
type exposureAnswer struct {
	Rows []struct {
		Key struct {
			Channel struct {
				ID   int64
				Name string
			}
		}
		Currencies string
		E1         int64
		E1Report   int64 `json:"e1_report"`
	}
	Total struct {
		E1Report int64 `json:"e1_report"`
	}
	PendingRate []any `json:"pending_rate"`
}

func TestHotelFile(t *testing.T) {
	t.Parallel()
	shared, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "data"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(shared, "hotel-payments.csv")); err != nil {
		t.Skip("../shared/data/hotel-payments.csv is missing, so its import is not tested")
	}
	if os.Getenv("HOLDFAST_TEST_HISTORIES") == "" { // `make test-long` also runs the longest test on PostgreSQL
		tryHotelFile(t, onSQLite(t), shared)
		return
	}
	onBoth(t, func(t *testing.T, s *system) { tryHotelFile(t, s, shared) })
}

// tryHotelFile imports the hotel file, and a part of it again, and compares every report with the figures of the rules.
func tryHotelFile(t *testing.T, s *system, shared string) {
	t.Helper()
	s.must("site", "create", "demo", "--name", "Hotels", "--currency", "GBP", "--sandbox")
	s.must("rates", "import", filepath.Join(shared, "eurofxref-hist.csv"))
	take := []string{
		"import", "payments", filepath.Join(shared, "hotel-payments.csv"), "--site", "demo", "--mode", "protection-only",
		"--cover-start", "effective",
	}
	if out := strings.Join(strings.Fields(s.must(take...)), " "); !strings.Contains(out, "bookings 14623 created") ||
		!strings.Contains(out, "payments 28818 created") || !strings.Contains(out, "rejected 0") {
		t.Errorf("the import says %s", out)
	}
	spot, locked := hotelExposure(t, s, "spot"), hotelExposure(t, s, "locked")
	s.file("again.csv", hotelAgain(t, take[2], 5000))
	take[2] = "again.csv"
	if out := strings.Join(strings.Fields(s.must(take...)), " "); !strings.Contains(out, "bookings 0 created,") ||
		!strings.Contains(out, "payments 0 created, 5000 already exist") {
		t.Errorf("the second import says %s", out)
	}
	if again := hotelExposure(t, s, "spot"); again.Total != spot.Total {
		t.Errorf("after the second import the exposure is %+v", again.Total)
	}
	for _, row := range spot.Rows {
		if want := hotelFigures[row.Key.Channel.Name].cents; row.E1 != want || row.Currencies != "EUR" {
			t.Errorf("%s: E1 %d %s, want %d EUR", row.Key.Channel.Name, row.E1, row.Currencies, want)
		}
	}
	var sum int64
	for _, row := range locked.Rows {
		if want := hotelFigures[row.Key.Channel.Name].locked; row.E1Report != want {
			t.Errorf("%s: locked E1 %d, want %d", row.Key.Channel.Name, row.E1Report, want)
		}
		sum += row.E1Report
		hotelReports(t, s, row.Key.Channel.ID, row.Key.Channel.Name)
	}
	if len(spot.Rows) < len(hotelFigures) || len(locked.Rows) < len(hotelFigures) || sum != locked.Total.E1Report || len(spot.PendingRate) > 0 {
		t.Errorf("spot %+v\nlocked %+v", spot, locked)
	}
}

// hotelAgain is the header of the file and its last lines: imported rows are found by their references, whatever their
// position.
func hotelAgain(t *testing.T, path string, rows int) string {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(whole), "\n"), "\n")
	return lines[0] + strings.Join(lines[len(lines)-rows:], "")
}

func hotelExposure(t *testing.T, s *system, valuation string) exposureAnswer {
	t.Helper()
	out := s.must("exposure", "--site", "demo", "--as-of", "2016-06-30", "--currency", "GBP", "--by", "merchant", "--valuation", valuation, "--json")
	var answer exposureAnswer
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// level is E1 of one day: native, and in the report's currency.
type level struct {
	Native int64 `json:"e1"`
	Report int64 `json:"e1_report"`
}

// hotelReports compares the run-off, the ageing and the movement of a channel of the hotels with the exposure in the
// rules: their start, sum and closing.
func hotelReports(t *testing.T, s *system, channel int64, name string) {
	t.Helper()
	ask := func(answer any, args ...string) {
		t.Helper()
		args = append(args, "--site", "demo", "--currency", "GBP", "--valuation", "locked", "--merchants", fmt.Sprint(channel), "--json")
		if err := json.Unmarshal([]byte(s.must(args...)), answer); err != nil {
			t.Fatal(err)
		}
	}
	want := level{hotelFigures[name].cents, hotelFigures[name].locked}

	var runOff struct {
		HalfLife *struct{ Days int } `json:"half_life"`
		Peak     level
		Points   []struct {
			level
			E2         int64 `json:"e2_report"`
			Currencies []level
		}
	}
	ask(&runOff, "run-off", "--as-of", "2016-06-30")
	first, last := runOff.Points[0], runOff.Points[len(runOff.Points)-1]
	if got := (level{first.Currencies[0].Native, first.Report}); got != want {
		t.Errorf("the run-off of %s starts from %+v, want %+v", name, got, want)
	}
	if last.Report != 0 || last.E2 != 0 || len(last.Currencies) > 0 && last.Currencies[0].Native != 0 ||
		runOff.Peak.Report < want.Report || runOff.HalfLife == nil {
		t.Errorf("the exposure of %s ends at %+v, peaks at %+v and is half on day %v", name, last, runOff.Peak, runOff.HalfLife)
	}

	var ageing struct {
		Rows []struct {
			level
			Currencies []level
		}
		Rounding level
	}
	ask(&ageing, "ageing", "--as-of", "2016-06-30")
	sum := ageing.Rounding
	for _, row := range ageing.Rows {
		sum.Report += row.Report
		for _, in := range row.Currencies {
			sum.Native += in.Native
		}
	}
	if sum != want {
		t.Errorf("the ageing of %s comes to %+v, want %+v", name, sum, want)
	}

	type movement struct{ E1 struct{ Closing int64 } }
	var moved struct {
		Rows  []movement
		Total movement
	}
	ask(&moved, "movement", "--from", "2015-12-31", "--to", "2016-06-30")
	if got := (level{moved.Rows[0].E1.Closing, moved.Total.E1.Closing}); got != want {
		t.Errorf("the movement of %s leads to %+v, want %+v", name, got, want)
	}
}
