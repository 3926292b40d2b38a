// Package card knows card schemes and their number ranges, and detects card numbers in text. Start at SchemeOf and
// HoldsCardNumber.
package card

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scheme is a card scheme, as rulepacks and reports name it.
type Scheme string

// The schemes that have dispute windows (R5).
const (
	Visa       Scheme = "visa"
	Mastercard Scheme = "mastercard"
	Amex       Scheme = "amex"
	Discover   Scheme = "discover"
	Diners     Scheme = "diners"
	JCB        Scheme = "jcb"
	UnionPay   Scheme = "unionpay"
	Unknown    Scheme = "unknown"
)

// Schemes lists the known schemes.
var Schemes = []Scheme{Visa, Mastercard, Amex, Discover, Diners, JCB, UnionPay}

// Label is the name of the scheme as people write it.
func (s Scheme) Label() string {
	labels := map[Scheme]string{
		Visa: "Visa", Mastercard: "Mastercard", Amex: "Amex", Discover: "Discover", Diners: "Diners Club", JCB: "JCB", UnionPay: "UnionPay",
	}
	return cmp.Or(labels[s], string(s))
}

// issuerRange is a range of first digits of card numbers (ISO/IEC 7812), with the scheme and the lengths of the
// numbers. low and high have the same number of digits.
type issuerRange struct {
	low, high string
	scheme    Scheme
	lengths   []int
}

var sixteenToNineteen = []int{16, 17, 18, 19}

// issuerRanges is searched in order, so that a narrow range comes before the wide range that contains it.
var issuerRanges = []issuerRange{
	{"34", "34", Amex, []int{15}},
	{"37", "37", Amex, []int{15}},
	{"300", "305", Diners, []int{14, 15, 16, 17, 18, 19}},
	{"3095", "3095", Diners, []int{14, 15, 16, 17, 18, 19}},
	{"36", "36", Diners, []int{14, 15, 16, 17, 18, 19}},
	{"38", "39", Diners, []int{14, 15, 16, 17, 18, 19}},
	{"3528", "3589", JCB, sixteenToNineteen},
	{"2221", "2720", Mastercard, []int{16}},
	{"51", "55", Mastercard, []int{16}},
	{"4", "4", Visa, []int{13, 16, 19}},
	{"6011", "6011", Discover, sixteenToNineteen},
	{"622126", "622925", UnionPay, sixteenToNineteen},
	{"644", "649", Discover, sixteenToNineteen},
	{"65", "65", Discover, sixteenToNineteen},
	{"62", "62", UnionPay, sixteenToNineteen},
	{"81", "81", UnionPay, sixteenToNineteen},
	// Debit cards of other schemes: reports do not name them, but their numbers are card numbers too. Unlike many
	// telephone numbers, none has 13 digits today.
	{"50", "50", Unknown, []int{14, 15, 16, 17, 18, 19}},
	{"56", "58", Unknown, []int{14, 15, 16, 17, 18, 19}},
	{"60", "69", Unknown, []int{14, 15, 16, 17, 18, 19}},
}

func rangeOf(digits string) (issuerRange, bool) {
	for _, r := range issuerRanges {
		if n := len(r.low); len(digits) >= n && digits[:n] >= r.low && digits[:n] <= r.high {
			return r, true
		}
	}
	return issuerRange{}, false
}

// schemeWords are what processors call the schemes, in lower case and without separators. A word may have more behind it,
// such as "debit", if it is not one of the abbreviations.
var schemeWords = []struct {
	scheme        Scheme
	begins, short string
}{
	{Visa, "visa electron delta vpay", "vi vs vd"},
	{Mastercard, "mastercard master eurocard maestro cirrus debitmastercard", "mc ca md ec"},
	{Amex, "amex americanexpress", "ax ae am"},
	{Discover, "discover", "di ds"},
	{Diners, "diners dinersclub carteblanche", "dn dc dci"},
	{JCB, "jcb", "jc"},
	{UnionPay, "unionpay chinaunionpay", "cup up upi cn"},
}

// Named is the scheme that a processor's word means, if it is known.
func Named(cardType string) (Scheme, bool) {
	word := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, cardType)
	for _, s := range schemeWords {
		for begin := range strings.FieldsSeq(s.begins) {
			if strings.HasPrefix(word, begin) {
				return s.scheme, true
			}
		}
		for short := range strings.FieldsSeq(s.short) {
			if word == short {
				return s.scheme, true
			}
		}
	}
	return Unknown, false
}

// SchemeOf is the scheme of a payment (R5): its card type when that is a known word, and otherwise the scheme of its BIN.
func SchemeOf(cardType, bin string) Scheme {
	if named, ok := Named(cardType); ok {
		return named
	}
	if r, ok := rangeOf(bin); ok {
		return r.scheme
	}
	return Unknown
}

// longestHash is how many characters the longest hash has that hashText matches.
const longestHash = 128

var (
	// hashText is a hash in hex, by its length. It may look like a card number, and is not checked.
	hashText = regexp.MustCompile(`^(?i:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$`)
	// uuidText is a UUID. It may look like a card number, and is not checked.
	uuidText = regexp.MustCompile(`\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b`)
)

// plain writes digits of all scripts as ASCII digits, and removes invisible characters.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x80:
			return r
		case unicode.Is(unicode.Cf, r):
			return -1
		case !unicode.IsDigit(r):
			return r
		}
		// Unicode has the ten digits of a script one after the other, from zero on.
		for _, tens := range unicode.Nd.R16 {
			if rune(tens.Lo) <= r && r <= rune(tens.Hi) {
				return '0' + (r-rune(tens.Lo))%10
			}
		}
		for _, tens := range unicode.Nd.R32 {
			if rune(tens.Lo) <= r && r <= rune(tens.Hi) {
				return '0' + (r-rune(tens.Lo))%10
			}
		}
		return r
	}, text)
}

// separates reports whether people write a character between the digits of a card number: a space, dash, dot, slash or
// underscore of any kind.
func separates(r rune) bool {
	switch r {
	case '-', '.', '/', '\\', '_', ' ':
		return true
	case '\u00b7', '\u2022', '\u2024', '\u2027', '\u3002', '\u30fb', '\uff0e', '\uff61': // dots
		return true
	case '\u2044', '\u2215', '\uff0f', '\uff3c': // slashes
		return true
	case '\u2212', '\u30fc': // a minus, and a long vowel that looks like a dash
		return true
	}
	return unicode.IsSpace(r) || r >= 0x80 && unicode.In(r, unicode.Zs, unicode.Pd, unicode.Pc)
}

// HoldsCardNumber reports whether a text contains a card number. It looks at each run of groups of digits with
// separators between them. A stretch of whole groups is a card number if it has 13 to 19 digits, a length that its
// issuer uses, and the right check digit. So a number is also found if an expiry or a date is next to it. Telephone
// numbers with their country code (+ or 00), decimals such as coordinates, and e-ticket numbers (three digits, then
// ten) are not card numbers. A URL is checked as it is written, and decoded. It runs in time proportional to the length
// of the text.
func HoldsCardNumber(text string) bool {
	if strings.Contains(text, "://") && strings.ContainsAny(text, "%+") {
		if reads, err := url.QueryUnescape(text); err == nil && reads != text && holdsCardNumber(reads) {
			return true
		}
	}
	return holdsCardNumber(text)
}

func holdsCardNumber(text string) bool {
	text = plain(text)
	if len(text) < CardDigitsMin || len(text) <= longestHash && hashText.MatchString(text) {
		return false
	}
	// A letter replaces a UUID, so that digits before and after it do not become one run.
	if strings.Contains(text, "-") {
		text = uuidText.ReplaceAllString(text, "u")
	}
	var run digitRun
	inGroup, before, skipTo := false, ' ', 0
	for i, r := range text {
		if i < skipTo {
			continue
		}
		digit := r >= '0' && r <= '9'
		if inGroup && !digit && run.endsInCardNumber() {
			return true
		}
		if digit && !inGroup && before != '.' {
			if skipTo = decimalEnd(text, i); skipTo > 0 {
				run.reset()
				inGroup, before = false, '0'
				continue
			}
		}
		switch {
		case digit && !inGroup:
			run.beginGroup(before == '+')
			fallthrough
		case digit:
			run.digits = append(run.digits, byte(r))
		case !separates(r):
			run.reset()
		}
		inGroup, before = digit, r
	}
	return inGroup && run.endsInCardNumber()
}

// decimalEnd returns where a decimal ends that begins at i: one to three digits, a point and the fraction. It returns 0
// if there is none, as in a date or an address with more than one point.
func decimalEnd(text string, i int) int {
	digitsFrom := func(i int) int {
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		return i
	}
	point := digitsFrom(i)
	if point > i+3 || point == len(text) || text[point] != '.' {
		return 0
	}
	end := digitsFrom(point + 1)
	if end == point+1 || end < len(text) && text[end] == '.' && digitsFrom(end+1) > end+1 {
		return 0
	}
	return end
}

// phoneDigits is the length of the longest telephone number (ITU-T E.164).
const phoneDigits = 15

// digitRun is a run of groups of digits.
type digitRun struct {
	digits []byte
	starts []int // where in digits each group begins
	phone  int   // how many of the first digits may be a telephone number
}

func (d *digitRun) reset() { d.digits, d.starts, d.phone = d.digits[:0], d.starts[:0], 0 }

// beginGroup begins a group, and forgets the beginning of a long run: no card number that ends later begins there.
func (d *digitRun) beginGroup(behindPlus bool) {
	const long = 1000
	switch {
	case len(d.digits) == 0 && behindPlus:
		d.phone = phoneDigits
	case string(d.digits) == "00":
		d.phone = len("00") + phoneDigits
	case len(d.digits) >= long:
		cut := len(d.digits) - cardDigitsMax
		kept := d.starts[:0]
		for _, start := range d.starts {
			if start >= cut {
				kept = append(kept, start-cut)
			}
		}
		d.digits, d.starts, d.phone = append(d.digits[:0], d.digits[cut:]...), kept, 0
	}
	d.starts = append(d.starts, len(d.digits))
}

// endsInCardNumber reports whether some of the last groups of a run make a card number together.
func (d *digitRun) endsInCardNumber() bool {
	if len(d.digits) <= d.phone {
		return false
	}
	for i := len(d.starts) - 1; i >= 0 && len(d.digits)-d.starts[i] <= cardDigitsMax; i-- {
		digits := d.digits[d.starts[i]:]
		eTicket := i == len(d.starts)-2 && d.starts[i+1]-d.starts[i] == 3 && len(digits) == eTicketDigits
		if !eTicket && isCardNumber(string(digits)) {
			return true
		}
	}
	return false
}

// IsCardNumber reports whether the whole text is a card number. It is for tokens, which may hold long numbers inside.
func IsCardNumber(text string) bool {
	text = strings.TrimSpace(plain(text))
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	if text == "" || separates(first) || separates(last) {
		return false
	}
	digits := strings.Map(func(r rune) rune {
		if separates(r) {
			return -1
		}
		return r
	}, text)
	return !strings.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) && isCardNumber(digits)
}

// The lengths of card numbers (ISO/IEC 7812).
const (
	// CardDigitsMin is the length of the shortest.
	CardDigitsMin = 13
	cardDigitsMax = 19
	// eTicketDigits is the length of an e-ticket number: the three digits of the airline, and ten.
	eTicketDigits = 13
)

// isCardNumber reports whether digits are a card number.
func isCardNumber(digits string) bool {
	if len(digits) < CardDigitsMin || len(digits) > cardDigitsMax {
		return false
	}
	if !luhn(digits) { // this comes first, because it is quick and sorts most out
		return false
	}
	r, known := rangeOf(digits)
	return known && slices.Contains(r.lengths, len(digits))
}

// luhn checks the last digit of a card number (ISO/IEC 7812-1, annex B).
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
