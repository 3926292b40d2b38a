package terms

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/web/kit"
)

// Rate cards and taxes are typed as lines, because a table of fields would need a script to grow. What a page shows can be
// sent back as it is.

// percent writes parts per million as a percentage, such as "0.25 %".
func percent(ppm int64) string { return percentPlain(ppm) + " %" }

// percentPlain is percent without its sign.
func percentPlain(ppm int64) string {
	text := fmt.Sprintf("%d.%04d", ppm/10_000, ppm%10_000)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// cardText writes a rate card: a band of leads and its price in each line, such as "31-90: 0.5 %".
func cardText(card terms.RateCard) string {
	var out strings.Builder
	for _, l := range card {
		if l.ChannelID != 0 {
			fmt.Fprintf(&out, "channel %d: ", l.ChannelID)
		}
		fmt.Fprintf(&out, "%s: %s\n", band(l), percent(l.PPM))
	}
	return out.String()
}

// band is the leads of a line, such as "31-90" or "366-".
func band(l terms.RateLine) string {
	if l.To == terms.NoEnd {
		return fmt.Sprintf("%d-", l.From)
	}
	return fmt.Sprintf("%d-%d", l.From, l.To)
}

var (
	cardLine = regexp.MustCompile(`^(?:channel (\d{1,18}):? *)?(\d{1,9}) *[-–] *(\d{1,9})? *: *(\d{1,3}(?:\.\d{1,4})?) *%$`)
	taxLine  = regexp.MustCompile(`^(\S+) +(\d{1,3}(?:\.\d{1,4})?) *% *(.*)$`)
)

// ppm reads a percentage that an expression has found, with at most four decimals: in parts per million it is a whole number.
func ppm(text string) int64 {
	whole, part, _ := strings.Cut(text, ".")
	n, _ := strconv.ParseInt(whole+(part + "0000")[:4], 10, 64) // seven digits at most
	return n
}

// readCard reads what cardText writes. A line that it cannot read is a problem of the field.
func readCard(r *kit.Reading, field string) *terms.RateCard {
	card := terms.RateCard{}
	for i, text := range lines(r, field) {
		m := cardLine.FindStringSubmatch(text)
		if m == nil {
			r.Problems.Wrong(field, "Line %d: enter a band such as 31-90: 0.5 %%.", i+1)
			return nil
		}
		l := terms.RateLine{To: terms.NoEnd, PPM: ppm(m[4])}
		l.ChannelID, _ = strconv.ParseInt(m[1], 10, 64) // these have as few digits as fit
		l.From, _ = strconv.ParseInt(m[2], 10, 64)
		if m[3] != "" {
			l.To, _ = strconv.ParseInt(m[3], 10, 64)
		}
		card = append(card, l)
	}
	return &card
}

// taxText writes tax codes: a code, its rate and its label in each line, such as "IPT 12 % Insurance premium tax".
func taxText(list []terms.TaxCode) string {
	var out strings.Builder
	for _, t := range list {
		fmt.Fprintf(&out, "%s %s %s\n", t.Code, percent(t.RatePPM), t.Label)
	}
	return out.String()
}

func readTaxes(r *kit.Reading, field string) *[]terms.TaxCode {
	list := []terms.TaxCode{}
	for i, text := range lines(r, field) {
		m := taxLine.FindStringSubmatch(text)
		if m == nil {
			r.Problems.Wrong(field, "Line %d: enter a tax such as IPT 12 %% Insurance premium tax.", i+1)
			return nil
		}
		list = append(list, terms.TaxCode{Code: m[1], RatePPM: ppm(m[2]), Label: strings.TrimSpace(m[3])})
	}
	return &list
}

// lines are those of a text that are not empty.
func lines(r *kit.Reading, field string) (list []string) {
	for text := range strings.SplitSeq(r.Get(field), "\n") {
		if text = strings.TrimSpace(text); text != "" {
			list = append(list, text)
		}
	}
	return list
}

// minimum reads an amount in the currency that a policy shall have. An empty field is 0.
func minimum(r *kit.Reading, field string, c money.Currency) *int64 {
	if r.Get(field) == "" {
		return new(int64)
	}
	return r.Amount(field, c)
}
