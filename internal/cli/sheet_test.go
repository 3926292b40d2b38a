package cli

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"holdfast/internal/domain/money"
)

// aSheet has names of all widths, amounts of three exponents, and a rate that is missing.
func aSheet() sheet {
	row := func(name string, c money.Currency, minor int64) []cell {
		return []cell{words(name), words(string(c)), amount(minor, c), count(minor % 7)}
	}
	s := sheet{columns: columnsOf("name currency e1 trips")}
	s.columns[2].title = "E1"
	s.rows = [][]cell{
		row("日本旅行", "JPY", 1234567), row("한국 Tours", "KWD", -1500), row("=SUM(A1)", "EUR", 99), row("Zoë\tⅨ", "EUR", 100),
		{words("no rate"), words("CHF"), unknown()},
	}
	s.foot = [][]cell{{words("total"), {}, amount(5, "GBP"), count(12)}}
	return s
}

func TestTablesAlignWideCharactersAndFigures(t *testing.T) {
	var out bytes.Buffer
	p := &program{stdout: &out}
	p.printTable(aSheet(), "")
	want := strings.Join([]string{
		"NAME        CURRENCY         E1  TRIPS",
		"日本旅行    JPY       1,234,567      5",
		"한국 Tours  KWD          -1.500     -2",
		"=SUM(A1)    EUR            0.99      1",
		"Zoë Ⅸ       EUR            1.00      2",
		"no rate     CHF       not known",
		"total                      0.05     12",
	}, "\n") + "\n"
	if out.String() != want {
		t.Errorf("the table is\n%s\ninstead of\n%s", out.String(), want)
	}
}

func TestCSVHasItsMomentAndMajorUnits(t *testing.T) {
	var out bytes.Buffer
	p := &program{stdout: &out}
	if err := p.printCSV(aSheet(), "2024-06-30"); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"as_of,name,currency,e1,trips", "2024-06-30,日本旅行,JPY,1234567,5", "2024-06-30,한국 Tours,KWD,-1.500,-2",
		"2024-06-30,'=SUM(A1),EUR,0.99,1", "2024-06-30,Zoë\tⅨ,EUR,1.00,2", "2024-06-30,no rate,CHF,,", "2024-06-30,total,,0.05,12",
	}
	for i, record := range records {
		if i >= len(want) || strings.Join(record, ",") != want[i] {
			t.Errorf("line %d is %q", i, strings.Join(record, ","))
		}
	}
}

func TestRowsAreSortedAndCut(t *testing.T) {
	for _, c := range []struct {
		order orderFlags
		want  string
	}{
		{orderFlags{}, "日本旅行 한국 Tours =SUM(A1) Zoë Ⅸ no rate"},
		{orderFlags{Limit: 2}, "日本旅行 한국 Tours"},
		{orderFlags{Sort: sortFlag{column: "e1"}}, "한국 Tours =SUM(A1) Zoë Ⅸ 日本旅行 no rate"},
		{orderFlags{Sort: sortFlag{"e1", true}, Limit: 3}, "日本旅行 Zoë Ⅸ =SUM(A1)"},
		{orderFlags{Sort: sortFlag{"currency", false}}, "no rate =SUM(A1) Zoë Ⅸ 日本旅行 한국 Tours"},
	} {
		s := aSheet()
		if err := s.arrange(c.order); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, row := range s.rows {
			names = append(names, row[0].text)
		}
		if got := strings.Join(names, " "); got != c.want || len(s.foot) != 1 {
			t.Errorf("%+v gives %s", c.order, got)
		}
	}
	for _, wrong := range []orderFlags{{Limit: -1}, {Sort: sortFlag{column: "place"}}} {
		s := aSheet()
		if err := s.arrange(wrong); err == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
}
