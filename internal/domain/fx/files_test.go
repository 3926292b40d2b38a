package fx_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"holdfast/internal/domain/fx"
	"holdfast/internal/errs"
)

const history = `Date,USD,JPY,DEM,EEK,GBP,
2024-06-28,1.0705,171.94,N/A,N/A,0.84638,
2024-06-27,1.0696,171.9,N/A,N/A,0.8464,
1999-01-04,1.1789,133.73,0.58231,15.6466,0.7111,
`

func readHistory(t testing.TB, r io.Reader) ([]fx.Fixing, fx.Counts, error) {
	t.Helper()
	var all []fx.Fixing
	counts, err := fx.ReadHistory(r, func(f fx.Fixing) error {
		all = append(all, f)
		return nil
	})
	return all, counts, err
}

func TestReadHistory(t *testing.T) {
	all, counts, err := readHistory(t, strings.NewReader(history))
	if err != nil {
		t.Fatal(err)
	}
	if want := (fx.Counts{Days: 3, Fixings: 10, Skipped: 1}); counts != want || len(all) != want.Fixings {
		t.Errorf("%+v and %d fixings, want %+v", counts, len(all), want)
	}
	want := fixing(t, fx.ECB, "2024-06-28", "JPY", "171.94")
	want.RecordedAt = all[1].RecordedAt
	if all[1] != want || !want.RecordedAt.IsZero() {
		t.Errorf("second fixing %+v, want %+v", all[1], want)
	}
}

func TestReadHistoryStopsWhenEmitFails(t *testing.T) {
	full := errors.New("disk full")
	n := 0
	_, err := fx.ReadHistory(strings.NewReader(history), func(fx.Fixing) error {
		n++
		return full
	})
	if !errors.Is(err, full) || n != 1 {
		t.Errorf("%v after %d calls", err, n)
	}
}

func TestReadHistoryNamesWhatIsBroken(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"empty", "", "empty"},
		{"header only", "Date,USD,\n", "no fixings"},
		{"no date column", "USD,JPY,\n", "Date"},
		{"no currency", "Date,\n", "Date and a currency"},
		{"code", "Date,USD,yen,\n", `column 3: "yen"`},
		{"hole in the header", "Date,,USD,\n", "column 2"},
		{"euro", "Date,EUR,\n", "EUR"},
		{"code twice", "Date,USD,USD,\n", "column 3: USD appears twice"},
		{"date", "Date,USD,\n04/01/1999,1.1,\n", `Line 2, column Date: "04/01/1999"`},
		{"day twice", "Date,USD,\n1999-01-04,1.1,\n1999-01-04,1.2,\n", "Line 3, column Date: 1999-01-04 appears twice"},
		{"rate", "Date,USD,JPY,\n1999-01-04,1.1,x,\n", `Line 2, column JPY: "x"`},
		{"no rate", "Date,USD,\n1999-01-04,,\n", "Line 2, column USD"},
		{"zero", "Date,USD,\n1999-01-04,0.0,\n", "Line 2, column USD"},
		{"rate of a currency no longer in use", "Date,CYP,\n1999-01-04,x,\n", "Line 2, column CYP"},
		{"cells missing", "Date,USD,JPY,\n1999-01-04,1.1\n", "line 2"},
		{"cells too many", "Date,USD,\n1999-01-04,1.1,2,\n", "line 2"},
		{"text at the end", "Date,USD,\n1999-01-04,1.1,2\n", "Line 2, column 3"},
		{"quote", "Date,USD,\n1999-01-04,\"1.1,\n", "line 2"},
		{"far too large", "Date,USD,\n" + strings.Repeat(" ", 17<<20), "too large for"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := readHistory(t, strings.NewReader(tt.file))
			if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want an invalid file with %q", err, tt.want)
			}
		})
	}
}

func TestAFailingReaderIsNotABrokenFile(t *testing.T) {
	gone := errors.New("connection reset")
	cut := func(s string) io.Reader { return io.MultiReader(strings.NewReader(s), iotest.ErrReader(gone)) }
	_, _, err := readHistory(t, cut(history))
	if !errors.Is(err, gone) || errs.Is(err, errs.Invalid) {
		t.Errorf("history: %v", err)
	}
	for _, part := range []string{"", daily[:len(daily)/2], `<Envelope><subject>`} {
		if _, err := fx.ReadDaily(cut(part)); !errors.Is(err, gone) || errs.Is(err, errs.Invalid) {
			t.Errorf("daily after %d bytes: %v", len(part), err)
		}
	}
}

func TestTheWholeHistoryOfTheECB(t *testing.T) {
	const path = "../../../../shared/data/eurofxref-hist.csv"
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("skipped: the ECB's history is not part of the repository and was not found at %s", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all, counts, err := readHistory(t, file)
	if err != nil {
		t.Fatal(err)
	}
	if counts.Days != 6983 || counts.Fixings != len(all) || counts.Fixings == 0 || counts.Skipped != 0 {
		t.Errorf("%+v", counts)
	}
	table := fx.NewTable(all)
	paid := day(t, "2025-12-30")
	q, ok := fx.Lock(table, "BGN", "EUR", paid, paid.End(), 7)
	if value, err := q.Convert(195580); !ok || err != nil || value != 100000 {
		t.Errorf("BGN 1,955.80 paid on %s are worth %d, %v, %v", paid, value, ok, err)
	}
	paid = day(t, "2024-07-01")
	q, ok = fx.Lock(table, "JPY", "GBP", paid, paid.End(), 7)
	if value, err := q.Convert(350000); !ok || err != nil || value != 172289 {
		t.Errorf("JPY 350,000 paid on %s are worth %d, %v, %v", paid, value, ok, err)
	}
}

const daily = `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
	<gesmes:subject>Reference rates</gesmes:subject>
	<gesmes:Sender>
		<gesmes:name>European Central Bank</gesmes:name>
	</gesmes:Sender>
	<Cube>
		<Cube time='2024-06-28'>
			<Cube currency='USD' rate='1.0705'/>
			<Cube currency='JPY' rate='171.94'/>
			<Cube currency='DEM' rate='1.95583'/>
			<Cube currency='GBP' rate='0.84638'/>
		</Cube>
	</Cube>
</gesmes:Envelope>
`

// cubes wraps the inside of a daily file.
func cubes(inside string) string { return "<Envelope><Cube>" + inside + "</Cube></Envelope>" }

func TestReadDaily(t *testing.T) {
	all, err := fx.ReadDaily(strings.NewReader(daily))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 || all[0].Currency != "USD" || all[2].Currency != "GBP" { // no amount is in marks
		t.Fatalf("%+v", all)
	}
	want := fixing(t, fx.ECB, "2024-06-28", "JPY", "171.94")
	want.RecordedAt = all[1].RecordedAt
	if all[1] != want || !want.RecordedAt.IsZero() {
		t.Errorf("second fixing %+v, want %+v", all[1], want)
	}
	several, err := fx.ReadDaily(strings.NewReader(cubes(`<Cube time="2024-06-28"><Cube currency="GBP" rate="0.84638"/></Cube>` +
		`<Cube time="2024-06-27"><Cube currency="GBP" rate="0.8464"/></Cube>`)))
	if err != nil || len(several) != 2 || several[1].Day != several[0].Day-1 {
		t.Errorf("two days: %+v, %v", several, err)
	}
}

func TestReadDailyNamesWhatIsBroken(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"empty", "", "no rates"},
		{"not XML", "Date,USD", "no rates"},
		{"a page", "<html><body>Moved</body></html>", "unexpected <html>"},
		{"cut", daily[:len(daily)-20], "cannot be read"},
		{"no rates", cubes(`<Cube time="2024-06-28"></Cube>`), "no rates"},
		{"no day", cubes(`<Cube currency="USD" rate="1.1"/>`), `"" is not a date`},
		{"date", cubes("\n<Cube time=\"28.06.2024\"/>"), "Line 2, column 26"},
		{"day twice", cubes(strings.Repeat(`<Cube time="2024-06-28"/>`, 2)), "twice"},
		{"code twice", cubes(`<Cube time="2024-06-28">` + strings.Repeat(`<Cube currency="USD" rate="1.1"/>`, 2) + `</Cube>`), "USD appears twice"},
		{"rate", strings.Replace(daily, "171.94", "171,94", 1), `Line 10, column 40 of the rates file: JPY: "171,94"`},
		{"no rate", strings.Replace(daily, "rate='171.94'", "", 1), "JPY"},
		{"code", strings.Replace(daily, "'JPY'", "'Yen'", 1), `"Yen"`},
		{"euro", strings.Replace(daily, "'JPY'", "'EUR'", 1), "EUR"},
		{"stranger inside", cubes("<Table/>"), "unexpected <Table>"},
		{"too deep", cubes(`<Cube time="2024-06-28"><Cube currency="USD" rate="1.1"><Cube/></Cube></Cube>`), "unexpected <"},
		{"two files in one", daily + strings.TrimPrefix(daily, `<?xml version="1.0" encoding="UTF-8"?>`), "unexpected <"},
		{"strange letters", `<?xml version="1.0" encoding="latin1"?><Envelope/>`, "cannot be read"},
		{"far too large", "<Envelope>" + strings.Repeat(" ", 2<<20), "too large for"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := fx.ReadDaily(strings.NewReader(tt.file))
			if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want an invalid file with %q", err, tt.want)
			}
		})
	}
}

// checkRead checks accepted files: each fixing is the ECB's, and no currency has two on one day.
func checkRead(t *testing.T, all []fx.Fixing) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range all {
		key := f.Day.String() + string(f.Currency)
		if seen[key] || f.Provider != fx.ECB || f.Rate.IsZero() || f.Currency == "EUR" {
			t.Errorf("%+v", f)
		}
		seen[key] = true
	}
	fx.NewTable(all)
}

func FuzzReadHistory(f *testing.F) {
	for _, s := range []string{history, "", "Date,USD,\n", "Date,USD\n1999-01-04,1.1\n", "Date,CYP,\n1999-01-04,0.58,\n", "\"Date\",USD,\r\n1999-01-04,N/A,\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		all, counts, err := readHistory(t, bytes.NewReader(file))
		if counts.Fixings != len(all) {
			t.Errorf("%d fixings counted, %d given", counts.Fixings, len(all))
		}
		if err == nil && counts.Days == 0 {
			t.Error("an empty file was accepted")
		}
		if err != nil && !errs.Is(err, errs.Invalid) {
			t.Errorf("%v is not laid at the file's door", err)
		}
		checkRead(t, all)
	})
}

func FuzzReadDaily(f *testing.F) {
	for _, s := range []string{
		daily, "", "<html/>", cubes(`<Cube time="2024-06-28"/>`), cubes(`<Cube time="2024-06-28"><Cube currency="GBP" rate="1"/></Cube>`),
		"<Envelope><a><b></b></a><Cube/></Envelope>", `<!DOCTYPE x [<!ENTITY a "b">]><Envelope>&a;</Envelope>`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		all, err := fx.ReadDaily(bytes.NewReader(file))
		if (err == nil) != (len(all) > 0) {
			t.Errorf("%d fixings and error %v", len(all), err)
		}
		if err != nil && !errs.Is(err, errs.Invalid) {
			t.Errorf("%v is not laid at the file's door", err)
		}
		checkRead(t, all)
	})
}
