package card_test

import (
	"strings"
	"testing"

	"holdfast/internal/domain/card"
)

func TestHoldsCardNumber(t *testing.T) {
	for text, want := range map[string]bool{
		"4111111111111111":                   true, // the numbers that processors publish for tests
		"4222222222222":                      true,
		"5555555555554444":                   true,
		"2223003122003222":                   true,
		"378282246310005":                    true,
		"6011111111111117":                   true,
		"30569309025904":                     true,
		"3530111333300000":                   true,
		"6200000000000005":                   true,
		"6304000000000000":                   true,
		"4111 1111 1111 1111":                true,
		"4111-1111-1111-1111":                true,
		"4111 - 1111 - 1111 - 1111":          true,
		"4111\u00a01111\u20131111\u20131111": true,
		"card 4111111111111111, thanks":      true,
		"a4111111111111111b":                 true,
		"４１１１１１１１１１１１１１１１":                   true, // digits of other scripts
		"٤١١١١١١١١١١١١١١١":                   true,
		"𝟜𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙":                               true,
		"4111\u200b1111\u20601111\u200d1111":             true, // with invisible characters between them
		"https://a.example/?r=4111+1111+1111+1111":       true,
		"https://a.example/4111%201111%201111%201111":    true,
		"https://a.example/?r=4111%31%31%31111111111":    true,
		"https://a.example/4111111111111111?x=%zz":       true,
		"https://a.example/?r=4111+1111+1111+1112&x=50%": false,
		"4111+1111+1111+1111":                            false, // four runs, and no address
		"4111111111111112":                               false, // check digit
		"411111111111111":                                false, // too short for its issuer
		"41111111111111113":                              false, // 17 digits: no Visa, whatever the check digit
		"1111111111111117":                               false, // a prefix of no issuer
		"0041 11111111 11111111 55":                      false, // none of its stretches has an issuer
		"2026-03-02 4111111111111111":                    true,  // after a date
		"4000056655665556 12/27 123":                     true,  // before its expiry and its code
		"4000 0566 5566 5556 1227":                       true,
		"12/27 4000056655665556":                         true,
		"4111111111111111 4111111111111111":              true,
		"4111111111111111 / 2027_12":                     true,
		"4111.1111.1111.1111":                            true,
		"4111/1111/1111/1111":                            true,
		"4111_1111_1111_1111":                            true,
		"4111 . - / _ 1111\\11111111":                    true,
		"4111\n1111\t1111\r\n1111":                       true,
		"4111·1111∕1111−1111":                            true,
		"4111\u30001111\u203f1111\uff0f1111":             true,
		"4111:1111:1111:1111":                            false, // four runs
		"94111111111111111":                              false, // a group is not cut: 17 digits
		"94111111111111111 1":                            false,
		"4111111111111111 00000000000000000000":          true,  // before a long group
		"74000056655665556123456":                        false, // a reference of 23 digits
		"2024-06-03 12:00:00":                            false,
		"2024-06-03 12.00.00 - 2024-06-04 11.00.00":      false,
		"+351 21 123 45 67, +44 20 7946 0958":            false,
		"+49 176 04069006":                               false, // 13 digits with the check digit of a Visa card
		"tel:+4917604069006":                             false,
		"00 49 176 04069006":                             false,
		"0049 176 04069006":                              false,
		"+49 176 04069006 4111111111111111":              true, // after a telephone number
		"+4111 1111 1111 1111":                           true, // no telephone number is so long
		"00 4111 1111 1111 1111":                         true,
		"6304000000000":                                  false, // no debit card has 13 digits
		"5018000000007":                                  false,
		"52.4111111111111111":                            false, // decimals, such as coordinates
		"-0.4111111111111111":                            false,
		"+52.5200066, 13.4049540":                        false,
		"1.5200066 13.4049541":                           false,
		"52.5200 4111111111111111":                       true,
		"4111111111111111 52.5200":                       true,
		"1.2.4111111111111111":                           true, // not a decimal
		"4111.1111.1111.1111.":                           true,
		"422-2222222222":                                 false, // an e-ticket
		"422 2222222222":                                 false,
		"422-2222222222 4111111111111111":                true,
		"4222-222222222":                                 true,
		"":                                               false,
		"-":                                              false,
		"6f2d6b1e-3a52-4111-8111-111111111111":           false,
		"see 6f2d6b1e-3a52-4111-8111-111111111114 here":  false,
		"0cc175b9c0f1b6a831c399e269772661":               false,
	} {
		if got := card.HoldsCardNumber(text); got != want {
			t.Errorf("HoldsCardNumber(%q) = %v", text, got)
		}
	}
}

// In a long run of groups a number is found wherever it starts.
func TestACardNumberBehindALongRunIsFound(t *testing.T) {
	for groups := 980; groups < 1020; groups++ {
		long := strings.Repeat("1 ", groups)
		if !card.HoldsCardNumber(long+"4111 1111 1111 1111 "+long) || card.HoldsCardNumber(long+"4111 1111 1111 1112 "+long) {
			t.Errorf("behind %d groups", groups)
		}
	}
}

func TestIsCardNumberLooksAtTheWholeText(t *testing.T) {
	for text, want := range map[string]bool{
		"4111111111111111":       true,
		" 4111 1111 1111 1111":   true,
		"4111.1111/1111_1111":    true,
		"４１１１ 1111 1111 1111":    true,
		"tok_4111111111111111":   false,
		"4111111111111111 12/27": false, // more than the number
		"-4111111111111111":      false,
		"41111111111111111234":   false,
		"4111111111111111x":      false,
		"4111111111111112":       false,
		"":                       false,
	} {
		if got := card.IsCardNumber(text); got != want {
			t.Errorf("IsCardNumber(%q) = %v", text, got)
		}
	}
}

func TestSchemeOf(t *testing.T) {
	for _, c := range []struct {
		cardType, bin string
		want          card.Scheme
	}{
		{"visa", "", card.Visa},
		{" MasterCard ", "411111", card.Mastercard}, // the caller's scheme takes precedence over the number
		{"Amex", "", card.Amex},
		{"unionpay", "", card.UnionPay},
		{"VI", "", card.Visa}, // words of processors
		{"Visa Debit", "", card.Visa},
		{"visa_electron", "", card.Visa},
		{"Electron", "", card.Visa},
		{"mc", "", card.Mastercard},
		{"eurocard", "", card.Mastercard},
		{"Maestro", "", card.Mastercard},
		{"Master Card", "", card.Mastercard},
		{"Debit Mastercard", "", card.Mastercard},
		{"AX", "", card.Amex},
		{"American Express", "", card.Amex},
		{"di", "", card.Discover},
		{"dn", "", card.Diners},
		{"diners_club", "", card.Diners},
		{"jc", "", card.JCB},
		{"CUP", "", card.UnionPay},
		{"China UnionPay", "", card.UnionPay},
		{"vip", "", card.Unknown}, // an abbreviation is the whole word
		{"mcx", "555555", card.Mastercard},
		{"something else", "411111", card.Visa},
		{"", "411111", card.Visa},
		{"", "55555555", card.Mastercard},
		{"", "222100", card.Mastercard},
		{"", "272099", card.Mastercard},
		{"", "222099", card.Unknown},
		{"", "272100", card.Unknown},
		{"", "340000", card.Amex},
		{"", "370000", card.Amex},
		{"", "305999", card.Diners},
		{"", "309500", card.Diners},
		{"", "360000", card.Diners},
		{"", "352800", card.JCB},
		{"", "358999", card.JCB},
		{"", "352799", card.Unknown},
		{"", "601100", card.Discover},
		{"", "650000", card.Discover},
		{"", "622126", card.UnionPay},
		{"", "622925", card.UnionPay},
		{"", "810000", card.UnionPay},
		{"", "500000", card.Unknown},
		{"", "999999", card.Unknown},
		{"", "", card.Unknown},
	} {
		if got := card.SchemeOf(c.cardType, c.bin); got != c.want {
			t.Errorf("SchemeOf(%q, %q) = %s, want %s", c.cardType, c.bin, got, c.want)
		}
	}
}

// The result does not depend on how digits are grouped or on the letters around them.
func FuzzHoldsCardNumber(f *testing.F) {
	for _, seed := range []string{
		"", "4111111111111111", "card 4111 1111-1111 1111!", "378282246310005", "6f2d6b1e-3a52-4111-8111-111111111114",
		"2026-03-02 10:20:30", "4111\u00a01111\u20131111\u20131111", "\xff4111111111111111", "٤١١١", "4000056655665556 12/27 123", "4111.1111/1111_1111",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := card.HoldsCardNumber(text)
		digits := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, text)
		if found && len(digits) < 13 {
			t.Fatalf("found in %q, which has %d digits", text, len(digits))
		}
		if card.IsCardNumber(text) && !found {
			t.Fatalf("%q is a card number and holds none", text)
		}
		// A UUID at the end of a text is not one if a letter is adjacent.
		if got := card.HoldsCardNumber("x" + text + "x"); got != found && strings.Count(text, "-") < 4 {
			t.Fatalf("%q: %v, between letters: %v", text, found, got)
		}
		if card.IsCardNumber(digits) && !card.HoldsCardNumber(strings.Join(strings.Split(digits, ""), " - ")) {
			t.Fatalf("%q is a card number, but not when it is spaced out", digits)
		}
		for _, more := range []string{text + " 12/27 123", "2026-03-02 " + text} {
			if card.IsCardNumber(text) && !card.HoldsCardNumber(more) {
				t.Fatalf("%q is a card number, but %q holds none", text, more)
			}
		}
	})
}

func TestSchemesAreWrittenAsPeopleWriteThem(t *testing.T) {
	var labels []string
	for _, s := range card.Schemes {
		labels = append(labels, s.Label())
	}
	if got := strings.Join(labels, ", "); got != "Visa, Mastercard, Amex, Discover, Diners Club, JCB, UnionPay" || card.Scheme("other").Label() != "other" {
		t.Errorf("got %s", got)
	}
}
