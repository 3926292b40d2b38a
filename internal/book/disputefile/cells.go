package disputefile

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/lib/tabular"
)

// id reads a reference. One that a spreadsheet has destroyed is noted and not used.
func (r *record) id(names ...string) string {
	text, column := r.cell(names...)
	if tabular.Shortened(text) {
		r.note(column, "%s is what a spreadsheet has left of a number. It is no reference.", clip(text))
		return ""
	}
	if utf8.RuneCountInString(text) > maxText {
		r.note(column, "is longer than %d characters. It is no reference.", maxText)
		return ""
	}
	return text
}

// caseID reads the name of the case, without which a line is about nothing.
func (r *record) caseID(names ...string) string {
	text, column := r.cell(names...)
	switch {
	case text == "":
		r.wrong(column, "is empty. It names the case.")
	case tabular.Shortened(text):
		r.wrong(column, "%s is what a spreadsheet has left of the name of the case. Export the file again without opening it in a spreadsheet.", clip(text))
	case utf8.RuneCountInString(text) > maxText:
		r.wrong(column, "is longer than %d characters.", maxText)
	}
	return text
}

var arn = regexp.MustCompile(`^[0-9]{23}$`)

// acquirerReference reads an ARN of 23 digits. Anything else is noted and not used (R14).
func (r *record) acquirerReference(names ...string) string {
	text, column := r.cell(names...)
	text = strings.ReplaceAll(text, " ", "")
	switch {
	case text == "", arn.MatchString(text):
		return text
	case tabular.Shortened(text):
		r.note(column, "%s is what a spreadsheet has left of a number. It is no reference.", clip(text))
	default:
		r.note(column, "%s is no acquirer reference number: these have 23 digits.", clip(text))
	}
	return ""
}

var authCode = regexp.MustCompile(`^[0-9A-Za-z]{2,8}$`)

// auth reads an authorisation code. A spreadsheet takes the zeros before a number; the codes have six characters.
func (r *record) auth(names ...string) string {
	text, column := r.cell(names...)
	switch {
	case text == "":
		return ""
	case strings.EqualFold(text, "refund"), !authCode.MatchString(text):
		r.note(column, "%s is no authorisation code.", clip(text))
		return ""
	case len(text) < 6 && digits(text):
		return strings.Repeat("0", 6-len(text)) + text
	}
	return text
}

// card reads the first and last digits of a card number that is masked, as 411111******1111. Such a number is no card number.
func (r *record) card(c *dispute.Clues, names ...string) {
	text, column := r.cell(names...)
	text = strings.NewReplacer(" ", "", "-", "").Replace(text)
	if text == "" {
		return
	}
	first := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	last := text[len(strings.TrimRight(text, "0123456789")):]
	switch {
	case first == text && len(text) == 4:
		c.LastFour = text
		return
	case first == text:
		r.note(column, "is no masked card number.")
		return
	}
	if len(last) >= 4 {
		c.LastFour = last[len(last)-4:]
	}
	switch {
	case len(first) >= 8:
		c.BIN = first[:8]
	case len(first) >= 6:
		c.BIN = first[:6]
	}
}

// lastFour reads the last four digits alone. A spreadsheet takes the zeros before them.
func (r *record) lastFour(names ...string) string {
	text, column := r.cell(names...)
	switch {
	case text == "":
		return ""
	case !digits(text) || len(text) > 4:
		r.note(column, "%s are not the last four digits of a card.", clip(strings.TrimLeft(text, "0123456789")))
		return ""
	}
	return strings.Repeat("0", 4-len(text)) + text
}

// bin reads the first six or eight digits alone.
func (r *record) bin(names ...string) string {
	text, column := r.cell(names...)
	switch {
	case text == "", digits(text) && (len(text) == 6 || len(text) == 8):
		return text
	case digits(text) && len(text) == 7:
		return text[:6]
	}
	r.note(column, "is no BIN: these have six or eight digits.")
	return ""
}

// scheme reads a processor's word for a card scheme (R5). One that is not known is noted.
func (r *record) scheme(names ...string) string {
	text, column := r.cell(names...)
	if text == "" {
		return ""
	}
	scheme, ok := card.Named(text)
	if !ok {
		r.note(column, "%s is not known as a card scheme.", clip(text))
		return ""
	}
	return string(scheme)
}

func digits(text string) bool {
	return strings.TrimLeft(text, "0123456789") == ""
}

// currency reads an ISO 4217 code, ignoring case.
func (r *record) currency(names ...string) money.Currency {
	text, column := r.cell(names...)
	if text == "" {
		return ""
	}
	c, err := money.ParseCurrency(strings.ToUpper(text))
	if err != nil {
		r.wrong(column, "%v.", err)
		return ""
	}
	return c
}

// major reads an amount in major units, such as 1200.00, with its sign. An empty cell is no amount.
func (r *record) major(c money.Currency, names ...string) (amount int64, present bool) {
	text, column := r.cell(names...)
	switch {
	case text == "":
		return 0, false
	case c == "":
		r.wrong(column, "has no currency.")
		return 0, false
	}
	plain, problem := plainAmount(text, r.comma, r.decimal, c.Exponent())
	if problem == "" {
		n, err := money.ParsePlain(plain, c)
		if err == nil {
			return n, true
		}
		problem = err.Error()
	}
	r.wrong(column, "%s.", problem)
	return 0, false
}

// minor reads an amount in minor units, such as 120000 for EUR 1,200.00, with its sign.
func (r *record) minor(c money.Currency, names ...string) (amount int64, present bool) {
	text, column := r.cell(names...)
	switch {
	case text == "":
		return 0, false
	case c == "":
		r.wrong(column, "has no currency.")
		return 0, false
	case strings.ContainsAny(text, ".,"):
		r.wrong(column, "%.24q has decimals. Its amounts are whole numbers of minor units.", text)
		return 0, false
	}
	// Minor units are major ones of a currency without decimals.
	n, err := money.ParsePlain(strings.TrimPrefix(text, "+"), "JPY")
	if err != nil {
		r.wrong(column, "%.24q is not a whole number of minor units.", text)
		return 0, false
	}
	return n, true
}

var (
	amountText = regexp.MustCompile(`^[0-9]+([.,' \x{a0}\x{202f}][0-9]+)*$`)
	oneMark    = regexp.MustCompile(`^[0-9]+[.,][0-9]{3}$`)
)

// plainAmount formats an amount for money.ParsePlain, without superfluous decimals. comma allows a decimal comma, as in
// files with semicolons; decimal is the decimal separator, if it is known.
func plainAmount(text string, comma bool, decimal string, exponent int) (plain, problem string) {
	notAmount := "\"" + clip(text) + "\" is not an amount such as 1234.50"
	sign, body := "", text
	if inner, ok := strings.CutPrefix(body, "("); ok && strings.HasSuffix(inner, ")") { // accounting notation for negative amounts
		sign, body = "-", strings.TrimSuffix(inner, ")")
	}
	for _, mark := range []string{"-", "\u2212", "+"} {
		rest, before := strings.CutPrefix(body, mark)
		if !before {
			var after bool
			if rest, after = strings.CutSuffix(body, mark); !after {
				continue
			}
		}
		if body = strings.TrimSpace(rest); mark != "+" {
			sign = "-"
		}
		break
	}
	if !amountText.MatchString(body) {
		return "", notAmount
	}
	switch dot, last := strings.LastIndex(body, "."), strings.LastIndex(body, ","); {
	case decimal != "" && !strings.Contains(body, decimal):
		decimal = ""
	case decimal != "":
	case dot >= 0 && last >= 0 && dot > last:
		decimal = "."
	case dot >= 0 && last >= 0:
		decimal = ","
	case oneMark.MatchString(body) && exponent != 3 && (dot >= 0 || comma):
		return "", "it is not clear whether \"" + clip(text) + "\" has thousands or decimals"
	case dot >= 0 && strings.Count(body, ".") == 1:
		decimal = "."
	case last >= 0 && strings.Count(body, ",") == 1 && !oneMark.MatchString(body):
		decimal = ","
	case last >= 0 && strings.Count(body, ",") == 1 && exponent == 3 && comma:
		decimal = ","
	}
	whole, fraction := body, ""
	if decimal != "" {
		at := strings.LastIndex(body, decimal)
		whole, fraction = body[:at], body[at+1:]
		if strings.Contains(whole, decimal) {
			return "", notAmount
		}
	}
	if whole, problem = grouped(whole); problem != "" {
		return "", notAmount
	}
	for len(fraction) > exponent && strings.HasSuffix(fraction, "0") {
		fraction = fraction[:len(fraction)-1]
	}
	if fraction == "" {
		return sign + whole, ""
	}
	return sign + whole + "." + fraction, ""
}

var thousands = regexp.MustCompile(`^[0-9]{1,3}([.,' \x{a0}\x{202f}][0-9]{3})+$`)

// grouped is a whole number without the marks between its thousands.
func grouped(whole string) (plain, problem string) {
	switch {
	case digits(whole):
		return whole, ""
	case !thousands.MatchString(whole):
		return "", "no number"
	}
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, whole), ""
}

// abs is the size of an amount. No amount is the smallest int64: see money.
func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// word reads a word that the line is about, and its meaning. ok is false if it is not known: the caller decides whether that is a problem.
func (r *record) word(source string, names ...string) (word, column string, m dispute.Meaning, ok bool) {
	word, column = r.cell(names...)
	m, ok = dispute.Means(source, word)
	return word, column, m, ok
}
