package money

import "testing"

func TestEveryCurrencyHasOneSymbol(t *testing.T) {
	for _, table := range []map[Currency]string{before, after, rightToLeft} {
		for c := range table {
			if !c.known() {
				t.Errorf("%s has a symbol and is no currency", c)
			}
		}
	}
	for _, c := range Currencies() {
		tables := 0
		for _, table := range []map[Currency]string{before, after, rightToLeft} {
			if _, ok := table[c]; ok {
				tables++
			}
		}
		s := c.Symbol()
		if tables > 1 || s.Grapheme == "" || s.Template != "$1" && s.Template != "1 $" {
			t.Errorf("%s: %+v, from %d tables", c, s, tables)
		}
	}
	for c, want := range map[Currency]Symbol{
		"EUR": {"€", "$1", false}, "SEK": {"kr", "1 $", false}, "AED": {"د.إ", "1 $", true}, "CHF": {"CHF", "1 $", false},
	} {
		if got := c.Symbol(); got != want {
			t.Errorf("%s: %+v, want %+v", c, got, want)
		}
	}
}
