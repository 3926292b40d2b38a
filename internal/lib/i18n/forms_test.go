package i18n_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/lib/i18n"
)

// shown makes spaces of all kinds visible as plain ones.
var shown = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ")

// TestFormsOfEveryLanguage: amounts, days, ranges, times and countries, as people write them in each country (CLDR 48).
func TestFormsOfEveryLanguage(t *testing.T) {
	day := civil.Date(2026, time.September, 5)
	at := time.Date(2026, time.September, 5, 9, 5, 59, 0, time.UTC)
	cases := map[string][]string{
		"deDE": {"1.234.567,50 €", "-0,05 €", "350.000 ¥", "1.234,500 KWD", "5. Sept. 2026", "5.–14. Sept. 2026", "5. Sept. – 2. Okt. 2026", "5. Sept. 2026 – 3. Jan. 2027", "5. Sept. 2026, 09:05 GMT", "Deutschland", "1.234"},
		"enGB": {"€1,234,567.50", "-€0.05", "JP¥350,000", "KWD 1,234.500", "5 Sept 2026", "5 – 14 Sept 2026", "5 Sept – 2 Oct 2026", "5 Sept 2026 – 3 Jan 2027", "5 Sept 2026, 09:05 GMT", "Germany", "1,234"},
		"esES": {"1.234.567,50 €", "-0,05 €", "350.000 JPY", "1234,500 KWD", "5 sept 2026", "5–14 sept 2026", "5 sept – 2 oct 2026", "5 sept 2026 – 3 ene 2027", "5 sept 2026, 9:05 GMT", "Alemania", "1234"},
		"frFR": {"1 234 567,50 €", "-0,05 €", "350 000 JPY", "1 234,500 KWD", "5 sept. 2026", "5–14 sept. 2026", "5 sept. – 2 oct. 2026", "5 sept. 2026 – 3 janv. 2027", "5 sept. 2026, 09:05 GMT", "Allemagne", "1 234"},
		"itIT": {"1.234.567,50 €", "-0,05 €", "350.000 JPY", "1234,500 KWD", "5 set 2026", "05–14 set 2026", "05 set – 02 ott 2026", "05 set 2026 – 03 gen 2027", "5 set 2026, 09:05 GMT", "Germania", "1234"},
		"jaJA": {"€1,234,567.50", "-€0.05", "￥350,000", "KWD 1,234.500", "2026年9月5日", "2026年9月5日～14日", "2026年9月5日～10月2日", "2026年9月5日～2027年1月3日", "2026年9月5日 9:05 GMT", "ドイツ", "1,234"},
		"kkKK": {"1 234 567,50 €", "-0,05 €", "350 000 JP¥", "1 234,500 KWD", "2026 ж. 5 қыр.", "2026 ж. 5–14 қыр.", "2026 ж. 5 қыр. – 2 қаз.", "2026 ж. 5 қыр. – 2027 ж. 3 қаң.", "2026 ж. 5 қыр., 09:05 GMT", "Германия", "1 234"},
		"koKO": {"€1,234,567.50", "-€0.05", "JP¥350,000", "KWD 1,234.500", "2026년 9월 5일", "2026년 9월 5일~14일", "2026년 9월 5일~10월 2일", "2026년 9월 5일~2027년 1월 3일", "2026년 9월 5일 09:05 GMT", "독일", "1,234"},
		"lvLV": {"1 234 567,50 €", "-0,05 €", "350 000 ¥", "1234,500 KWD", "2026. g. 5. sept.", "2026. gada 5.–14. sept.", "2026. gada 5. sept. – 2. okt.", "2026. gada 5. sept. – 2027. gada 3. janv.", "2026. g. 5. sept. 09:05 GMT", "Vācija", "1234"},
		"ptBR": {"€ 1.234.567,50", "-€ 0,05", "JP¥ 350.000", "KWD 1.234,500", "5 de set. de 2026", "5 – 14 de set. de 2026", "5 de set. – 2 de out. de 2026", "5 de set. de 2026 – 3 de jan. de 2027", "5 de set. de 2026 09:05 GMT", "Alemanha", "1.234"},
		"roRO": {"1.234.567,50 EUR", "-0,05 EUR", "350.000 JPY", "1.234,500 KWD", "5 sept. 2026", "5–14 sept. 2026", "5 sept. – 2 oct. 2026", "5 sept. 2026 – 3 ian. 2027", "5 sept. 2026, 09:05 GMT", "Germania", "1.234"},
		"ruRU": {"1 234 567,50 €", "-0,05 €", "350 000 ¥", "1 234,500 KWD", "5 сент. 2026 г.", "5–14 сент. 2026 г.", "5 сент. – 2 окт. 2026 г.", "5 сент. 2026 г. – 3 янв. 2027 г.", "5 сент. 2026 г., 09:05 GMT", "Германия", "1 234"},
		"ukUK": {"1 234 567,50 EUR", "-0,05 EUR", "350 000 ¥", "1 234,500 KWD", "5 вер. 2026 р.", "5–14 вер. 2026 р.", "5 вер. – 2 жовт. 2026 р.", "5 вер. 2026 – 3 січ. 2027 рр.", "5 вер. 2026 р., 09:05 GMT", "Німеччина", "1 234"},
		"uzUZ": {"1 234 567,50 €", "-0,05 €", "350 000 JP¥", "1 234,500 KWD", "5-sen, 2026", "5 – 14-sen, 2026", "5-sen – 2-okt, 2026", "5-sen, 2026 – 3-yan, 2027", "5-sen, 2026, 09:05 GMT", "Germaniya", "1 234"},
		"zhZH": {"€1,234,567.50", "-€0.05", "JP¥350,000", "KWD 1,234.500", "2026年9月5日", "2026年9月5日 – 14日", "2026年9月5日 – 10月2日", "2026年9月5日 – 2027年1月3日", "2026年9月5日 09:05 GMT", "德国", "1,234"},
	}
	for _, code := range i18n.Codes() {
		l := i18n.Of(code)
		got := []string{
			l.Money(123456750, "EUR"), l.Money(-5, "EUR"), l.Money(350000, "JPY"), l.Money(1234500, "KWD"),
			l.Day(day), l.Days(day, day+9), l.Days(day, day+27), l.Days(day, day+120), l.Moment(at), l.Country("DE"), l.Number(1234),
		}
		if len(cases[code]) != len(got) {
			t.Fatalf("%s has %d cases", code, len(cases[code]))
		}
		for i, want := range cases[code] {
			if text := shown.Replace(got[i]); text != want {
				t.Errorf("%s: %q, not %q", code, text, want)
			}
		}
		if l.Direction() != "ltr" {
			t.Errorf("%s is written %s", code, l.Direction())
		}
	}
}

// TestForms at the edges: no first day, a first day after the last, the largest amounts, unknown codes.
func TestFormsAtTheEdges(t *testing.T) {
	l := i18n.Of("enGB")
	day := civil.Date(2026, time.March, 31)
	for _, c := range [][2]string{
		{l.Days(civil.NoDay, day), "31 Mar 2026"}, {l.Days(day, day), "31 Mar 2026"}, {l.Days(day+1, day), "31 Mar 2026"},
		{l.Day(civil.NoDay), ""}, {l.Country("QQ"), "QQ"}, {l.Number(-1234), "-1,234"}, {l.Number(math.MinInt64), "-9,223,372,036,854,775,808"},
		{l.Money(math.MaxInt64, "EUR"), "€92,233,720,368,547,758.07"}, {l.Money(0, "GBP"), "£0.00"}, {l.Amount(-123456, "EUR"), "-1,234.56"},
		{l.Money(100, "BGN"), "BGN 1.00"}, {i18n.Of("esES").Amount(123456, "EUR"), "1234,56"},
	} {
		if got := shown.Replace(c[0]); got != c[1] {
			t.Errorf("%q, not %q", got, c[1])
		}
	}
	for _, c := range money.Currencies() { // each has a form, with as many decimals as ISO says
		for _, code := range i18n.Codes() {
			if got := i18n.Of(code).Money(1, c); !strings.ContainsAny(got, "1") || strings.ContainsAny(got, "{}¤") {
				t.Errorf("%s in %s: %q", c, code, got)
			}
		}
	}
}
