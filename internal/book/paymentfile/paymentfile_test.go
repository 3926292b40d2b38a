package paymentfile_test

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"holdfast/internal/book/imports"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
)

// short is a file with the required columns only.
const short = "booking_reference,channel,countries,currencies,date,total,firstname,surname,email,content," +
	"payment_reference,transaction_types,paid_at,payment_currencies,payment_total,booking_total\n"

// good is a row of it.
const good = "B-1,Direct,PT,EUR,2026-07-08,120000,Ana,Sousa,ana@example.org,Seven nights,B-1-P1,purchase,2026-01-10 09:30:00,EUR,36000,36000\n"

// readAll returns all rows of a text that must have a valid header, in the order of the file.
func readAll(t *testing.T, text string) []imports.ImportedPayment {
	t.Helper()
	var rows []imports.ImportedPayment
	for row, err := range paymentfile.Read(strings.NewReader(text), nil) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b imports.ImportedPayment) int { return cmp.Compare(a.Line, b.Line) })
	return rows
}

// fileError returns the error that ends a file.
func fileError(t *testing.T, in io.Reader) error {
	t.Helper()
	for _, err := range paymentfile.Read(in, nil) {
		if err != nil {
			return err
		}
	}
	t.Fatal("the file was read without an error")
	return nil
}

func TestReadSample(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "sample.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := readAll(t, string(text))
	if len(rows) != 3 {
		t.Fatalf("%d rows, want 3", len(rows))
	}
	for i, row := range rows {
		if row.Refused != nil || row.Line != i+2 || row.Booking.Problems.Err() != nil || row.Payment.Problems.Err() != nil {
			t.Errorf("row %d: line %d, refused %v", i, row.Line, row.Refused)
		}
	}
	b, p := rows[1].Booking, rows[1].Payment
	if b.ImportKey != "B-1" || *b.Reference != "B-1" || rows[1].Channel != "Direct" || *b.Total != 120000 || *b.Currency != "EUR" ||
		*b.Start != civil.Date(2026, 7, 1) || *b.End != civil.Date(2026, 7, 8) || *b.Pax != 2 || *b.Content != "Seven nights, half board" {
		t.Errorf("the booking was read as %+v", b)
	}
	if p.ImportKey != "B-1-P2" || p.Reference != "B-1-P2" || *p.Type != payment.Purchase || *p.Currency != "GBP" || *p.Total != 72400 ||
		rows[1].BaseTotal != 84000 || p.EffectiveAt != time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC) ||
		p.CardType != "visa" || p.BIN != "411111" || p.LastFour != "4242" || p.PSP != "example_psp" {
		t.Errorf("the payment was read as %+v", p)
	}
	if rows[2].Linked != "B-1-P1" || *rows[2].Payment.Type != payment.Refund {
		t.Errorf("the refund was read as %+v", rows[2])
	}
}

func TestHeaderDecides(t *testing.T) {
	names := strings.Split(strings.TrimSpace(short)+",acquirer_reference,other_protection,processor_reference", ",")
	cells := strings.Split(strings.TrimSpace(good)+",74537605006000000012345,insurance,8836000000000011", ",")
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
		cells[i], cells[j] = cells[j], cells[i]
	}
	text := "\ufeffnote, " + strings.Join(names, " ,") + "\r\n\r\nwhatever," + strings.Join(cells, ",") + "\r\n"
	rows := readAll(t, text)
	if len(rows) != 1 || rows[0].Refused != nil || rows[0].Line != 3 || *rows[0].Booking.Surname != "Sousa" || rows[0].BaseTotal != 36000 {
		t.Errorf("read as %+v", rows)
	}
	if rows[0].Payment.ProcessorReference != "8836000000000011" || rows[0].Payment.AcquirerReference != "74537605006000000012345" || *rows[0].Booking.OtherProtection != "insurance" {
		t.Errorf("%q, %v", rows[0].Payment.AcquirerReference, rows[0].Booking.OtherProtection)
	}
	if rows[0].Booking.Start != nil {
		t.Errorf("a start day came from nowhere: %v", *rows[0].Booking.Start)
	}
}

func TestHeaderThatIsNone(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "is empty",
		"\n\n":                              "is empty",
		"booking_reference;channel;total\n": "semicolons",
		strings.Replace(short, "total,firstname", "firstname", 1): "lacks the column(s) total.",
		strings.Replace(short, "booking_total", "channel", 1):     "names column channel twice",
		`"channel` + "\n":           "cannot be read",
		strings.Repeat("x", 1<<17):  "longer than 64 KiB",
		"channel,email,surname\n1,": "booking_reference, countries, currencies, date, total",
	} {
		err := fileError(t, strings.NewReader(text))
		if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func TestFileThatBreaksOff(t *testing.T) {
	broken := errors.New("the disk is gone")
	for name, text := range map[string]string{"in the header": short[:20], "in a row": short + good + good[:20]} {
		err := fileError(t, io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEverythingWrongWithARowAtOnce(t *testing.T) {
	rows := readAll(t, short+"B-1,,PT,euro,2026-02-30,many,Ana,,ana@example.org,Nights,B-1-P1,purchase,yesterday,EUR,1.5,36000\n")
	booking, payment := problems(t, &rows[0].Booking.Problems), problems(t, &rows[0].Payment.Problems)
	for field, want := range map[string]string{
		"channels": "empty", "currencies": "ISO 4217", "date": "YYYY-MM-DD", "total": "whole number", "surname": "empty",
	} {
		if !strings.Contains(booking[field], want) {
			t.Errorf("booking %s: %q, want %q", field, booking[field], want)
		}
	}
	for field, want := range map[string]string{"effective_at": "YYYY-MM-DD HH:MM:SS", "total": "whole number"} {
		if !strings.Contains(payment[field], want) {
			t.Errorf("payment %s: %q, want %q", field, payment[field], want)
		}
	}
	if len(booking) != 5 || len(payment) != 2 {
		t.Errorf("found %v and %v", booking, payment)
	}
}

func problems(t *testing.T, p *errs.Problems) map[string]string {
	t.Helper()
	f, ok := errors.AsType[*errs.Error](p.Err())
	if !ok {
		t.Fatalf("no fault: %v", p.Err())
	}
	return f.Params
}

func TestBrokenRowsRefuseThemselvesOnly(t *testing.T) {
	for name, c := range map[string]struct{ bad, want string }{
		"too few cells":          {"B-2,Direct\n", "has 2 cells"},
		"too many cells":         {"x," + good, "has 17 cells"},
		"an open quotation mark": {`B-2,"Direct` + "\n", "quotation marks"},
		"a stray quotation mark": {`B-2,5" screen,x` + "\n", "quotation marks"},
		"too long":               {strings.Repeat("x", 200_000) + "\n", "64 KiB"},
		"a long quoted cell":     {`"` + strings.Repeat("x\n", 60_000), "quotation marks"},
		"a card number":          {strings.Replace(good, "Seven nights", "paid by 4111 1111 1111 1111", 1), "column content contains a card number"},
		"one where nobody looks": {strings.Replace(good, "B-1-P1", "B-1-P1,4111-1111-1111-1111", 1), "card number"},
	} {
		rows := readAll(t, short+good+c.bad+strings.Replace(good, "B-1-P1", "B-1-P2", 1))
		bad := rows[1]
		if bad.Refused == nil || bad.Line != 3 || !strings.Contains(bad.Refused.Error(), c.want) {
			t.Errorf("%s: line %d refused with %v, want %q", name, bad.Line, bad.Refused, c.want)
		}
		if strings.Contains(bad.Refused.Error(), "1111") {
			t.Errorf("%s: the card number is repeated: %v", name, bad.Refused)
		}
		last := rows[len(rows)-1]
		if rows[0].Refused != nil || last.Refused != nil || last.Booking.ImportKey != "B-1" {
			t.Errorf("%s: the good rows were refused: %v, %v", name, rows[0].Refused, last.Refused)
		}
	}
}

func TestCardNumberIsItsOwnKindOfFault(t *testing.T) {
	rows := readAll(t, short+strings.Replace(good, "Sousa", "378282246310005", 1))
	if !errs.Is(rows[0].Refused, errs.CardNumber) {
		t.Errorf("refused with %v", rows[0].Refused)
	}
}

func TestQuotedCellsHoldLineBreaks(t *testing.T) {
	rows := readAll(t, short+strings.Replace(good, "Seven nights", "\"Seven\nnights, \"\"sea view\"\"\"", 1)+good)
	if len(rows) != 2 || *rows[0].Booking.Content != "Seven\nnights, \"sea view\"" || rows[1].Line != 4 {
		t.Errorf("read as %+v", rows)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	// A line of a quarter of a gigabyte, which must not be kept in memory.
	const length = 1 << 28
	long := io.MultiReader(strings.NewReader(short), io.LimitReader(letters{}, length), strings.NewReader("\n"+good))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rows := 0
	for _, err := range paymentfile.Read(long, nil) {
		if err != nil {
			t.Fatal(err)
		}
		rows++
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; rows != 2 || allocated > length/100 {
		t.Errorf("%d rows, %d bytes allocated", rows, allocated)
	}
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestCellsAreNamedAsTheFileNamesThem compares the columns with the field names in problems.
func TestCellsAreNamedAsTheFileNamesThem(t *testing.T) {
	var header, cells []string
	for _, c := range paymentfile.Columns {
		if c.Required || c.Name == "channel" { // this one or channel_id
			header, cells = append(header, c.Name), append(cells, "")
		}
	}
	rows := readAll(t, strings.Join(header, ",")+"\n"+strings.Join(cells, ",")+"\n")
	var named []string
	for field := range problems(t, &rows[0].Booking.Problems) {
		named = append(named, imports.BookingCell(field))
	}
	for field := range problems(t, &rows[0].Payment.Problems) {
		named = append(named, imports.PaymentCell(field))
	}
	for _, name := range header {
		if !strings.Contains(" "+strings.Join(named, " ")+" ", " "+name+" ") {
			t.Errorf("an empty %s is reported as one of %v", name, named)
		}
	}
}

func FuzzRead(f *testing.F) {
	sample, err := os.ReadFile(filepath.Join("testdata", "sample.csv"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sample)
	f.Add([]byte(short + good))
	f.Add([]byte("\ufeff" + short + `B-2,"Direct` + "\n" + good))
	f.Add([]byte(short + strings.Replace(good, "Seven nights", "4111 1111 1111 1111", 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		line, met := 1, map[int]bool{}
		ended := false
		for row, err := range paymentfile.Read(bytes.NewReader(text), nil) {
			if ended {
				t.Fatal("the file goes on after its error")
			}
			if ended = err != nil; ended {
				continue
			}
			if met[row.Line] {
				t.Fatalf("line %d comes twice", row.Line)
			}
			line, met[row.Line] = max(line, row.Line), true
			if row.Refused != nil && card.HoldsCardNumber(row.Refused.Error()) {
				t.Fatalf("a refusal holds a card number: %v", row.Refused)
			}
		}
		if lines := bytes.Count(text, []byte("\n")) + 1; line > lines {
			t.Fatalf("line %d of %d", line, lines)
		}
	})
}

// TestDocumentationListsTheColumns checks docs/import.md, including its example.
func TestDocumentationListsTheColumns(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "import.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	for _, c := range paymentfile.Columns {
		required := ""
		if c.Required {
			required = "yes"
		}
		if row := "| `" + c.Name + "` | " + required + " | " + c.Meaning + " |\n"; !strings.Contains(doc, row) {
			t.Errorf("docs/import.md lacks the row\n%s", row)
		}
	}
	if n := strings.Count(doc, "\n| `"); n != len(paymentfile.Columns) {
		t.Errorf("docs/import.md lists %d columns, the program reads %d", n, len(paymentfile.Columns))
	}
	_, example, _ := strings.Cut(doc, "For example:\n\n```\n")
	example, _, _ = strings.Cut(example, "```")
	for _, row := range readAll(t, example) {
		if row.Refused != nil || row.Booking.Problems.Err() != nil || row.Payment.Problems.Err() != nil {
			t.Errorf("line %d of the example: %v", row.Line, row.Refused)
		}
	}
}
