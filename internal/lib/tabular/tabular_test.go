package tabular_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"holdfast/internal/lib/tabular"
)

// read returns the rows of a file as text, broken ones as line and error.
func read(t *testing.T, text string) (rows []string) {
	t.Helper()
	in, err := tabular.Open(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for {
		row, err := in.Next()
		switch {
		case err == io.EOF:
			return rows
		case errors.Is(err, tabular.ErrQuotes), errors.Is(err, tabular.ErrTooLong):
			rows = append(rows, fmt.Sprintf("%d! %s", row.Line, row.Text))
		case err != nil:
			t.Fatal(err)
		default:
			rows = append(rows, fmt.Sprintf("%d %s", row.Line, strings.Join(row.Cells, "|")))
		}
	}
}

func TestFilesHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	const plain = "case,reason,amount\n1,Größe,12.50\n2,\"a, b\",3\n"
	want := []string{"1 case|reason|amount", "2 1|Größe|12.50", "3 2|a, b|3"}
	with := func(separator string) string {
		return strings.ReplaceAll(strings.ReplaceAll(plain, ",", separator), "a"+separator+" b", "a, b")
	}
	latin := strings.NewReplacer("ö", "\xf6", "ß", "\xdf")
	for name, text := range map[string]string{
		"commas":          plain,
		"semicolons":      with(";"),
		"tabs":            with("\t"),
		"bars":            with("|"),
		"CRLF":            strings.ReplaceAll(plain, "\n", "\r\n"),
		"CR":              strings.ReplaceAll(plain, "\n", "\r"),
		"no end":          strings.TrimSpace(plain),
		"a mark":          "\ufeff" + plain,
		"UTF-16LE, mark":  sixteen(plain, true, true),
		"UTF-16BE, mark":  sixteen(plain, false, true),
		"UTF-16LE":        sixteen(plain, true, false),
		"UTF-16BE, tabs":  sixteen(with("\t"), false, false),
		"Latin-1":         latin.Replace(plain),
		"Latin-1, tabs":   latin.Replace(with("\t")),
		"quoted header":   "\ufeff\"case\",\"reason\",\"amount\"\n" + strings.SplitN(plain, "\n", 2)[1],
		"space, quotes":   strings.Replace(plain, `,"a`, `, "a`, 1),
		"semicolons, all": strings.Replace(with(";"), "Größe", `"Größe"`, 1),
	} {
		if got := read(t, text); !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func sixteen(text string, little, mark bool) string {
	if mark {
		text = "\ufeff" + text
	}
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		if little {
			b.Write([]byte{byte(u), byte(u >> 8)})
		} else {
			b.Write([]byte{byte(u >> 8), byte(u)})
		}
	}
	return b.String()
}

func TestTheSeparatorIsThatOfMostLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]rune{
		"a;b;c\n1;x, y, z, and, more, of, it;2\n3;4,50;5,60\n": ';',
		"Key=1,Name=2\na,b,c,d\n1,2;3,4,5\n":                   ',',
		"one column\nof words\n":                               ',',
		"":                                                     ',',
		"sep=|\na;b|c\n":                                       '|',
		"a\tb,c\td\n\t\t\n":                                    '\t',
		"\"a;b;c;d\",e\n\"f;g;h;i\",j\n":                       ',',
	} {
		in, err := tabular.Open(strings.NewReader(text))
		if err != nil || in.Separator() != want {
			t.Errorf("%q: %q, %v", text, in.Separator(), err)
		}
	}
	if got := read(t, "sep=;\r\na;b\r\n"); !slices.Equal(got, []string{"2 a|b"}) {
		t.Errorf("the line that names the separator: %q", got)
	}
	if got := read(t, "a\tb\tc\n\t\t3\n1\t\t\n"); !slices.Equal(got, []string{"1 a|b|c", "2 ||3", "3 1||"}) {
		t.Errorf("empty cells between tabs: %q", got)
	}
}

// TestABrokenRowIsAloneWrong: a quotation mark that is never closed does not swallow the rows after it, and neither
// does a row without an end.
func TestABrokenRowIsAloneWrong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70_000)
	text := "a,b\n1,\"two\nlines\"\n2,\"never closed\n3,c\n\n" + long + ",y\n4,d\n5,e\"f\n6,g\n"
	want := []string{"1 a|b", "2 1|two\nlines", "4! 2,\"never closed", "5 3|c", "7! ", "8 4|d", "9! 5,e\"f", "10 6|g"}
	if got := read(t, text); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestABrokenFileIsReported(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	if _, err := tabular.Open(failing{broken}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	in := tabular.New(io.MultiReader(strings.NewReader("a,b\n1,"), failing{broken}), ',')
	if _, err := in.Next(); err != nil {
		t.Errorf("%v", err)
	}
	if _, err := in.Next(); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestTakenCountsTheBytesOfWholeRows(t *testing.T) {
	t.Parallel()
	const text = "\ufeffa,b\r\n\"1\n2\",c\nd,e"
	in := tabular.New(strings.NewReader(text), ',')
	for _, want := range []int64{8, 16, 19} {
		if _, err := in.Next(); err != nil {
			t.Fatal(err)
		}
		if taken, whole := in.Taken(); taken != want || !whole {
			t.Errorf("%d bytes, whole %v, not %d", taken, whole, want)
		}
	}
}

// FuzzOpen: whatever a file holds, reading ends, and no row is larger than its bound.
func FuzzOpen(f *testing.F) {
	for _, text := range []string{"", "a,b\n1,2\n", "\ufeffa;b\r1;2", "\xff\xfea\x00,\x00", "sep=;\n", "a\t\"b\n", "\"\n\"\n\"", "\x00\x00\x00\x00\x00", "a|\xe4\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		in, err := tabular.Open(strings.NewReader(string(text)))
		if err != nil {
			return
		}
		for last := 0; ; {
			row, err := in.Next()
			if err != nil && !errors.Is(err, tabular.ErrQuotes) && !errors.Is(err, tabular.ErrTooLong) {
				return
			}
			if row.Line <= last || len(row.Text) > 4*(64<<10) {
				t.Fatalf("line %d after %d, %d bytes", row.Line, last, len(row.Text))
			}
			last = row.Line
		}
	})
}

func TestShortenedNumbers(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]bool{"5.54E+22": true, "9,97e+11": true, "1E12": true, "-2.5E+15": true, "E12": false, "9.97": false, "B1E+11": false, "": false} {
		if tabular.Shortened(cell) != want {
			t.Errorf("%q: not %v", cell, want)
		}
	}
}
