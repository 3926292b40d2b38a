package settings

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/web/kit"
)

// Rate cards and taxes are entered as lines of text, because a growing table of fields would need JavaScript. The displayed
// text can be submitted unchanged.

// percent formats parts per million as a percentage, such as "0.25 %".
func percent(ppm int64) string { return money.FormatPercent(ppm) + " %" }

// cardText formats a rate card: a band of lead days and its price per line, such as "31-90: 0.5 %".
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

// band formats a line's lead days, such as "31-90" or "366-".
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

// ppm parses a percentage matched by one of these patterns.
func ppm(text string) int64 {
	n, _ := money.ParsePercent(text) // the patterns match nothing else
	return n
}

// readCard parses the format of cardText. An invalid line is an error of the field.
func readCard(r *kit.Reading, field string) *terms.RateCard {
	card := terms.RateCard{}
	for i, text := range lines(r, field) {
		m := cardLine.FindStringSubmatch(text)
		if m == nil {
			r.Problems.Wrong(field, "Line %d: enter a band such as 31-90: 0.5 %%.", i+1)
			return nil
		}
		l := terms.RateLine{To: terms.NoEnd, PPM: ppm(m[4])}
		l.ChannelID, _ = strconv.ParseInt(m[1], 10, 64) // the pattern limits the digits, so they fit
		l.From, _ = strconv.ParseInt(m[2], 10, 64)
		if m[3] != "" {
			l.To, _ = strconv.ParseInt(m[3], 10, 64)
		}
		card = append(card, l)
	}
	return &card
}

// taxText formats taxes: code, rate and label per line, such as "IPT 12 % Insurance premium tax".
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

// lines returns a text's non-empty lines.
func lines(r *kit.Reading, field string) (list []string) {
	for text := range strings.SplitSeq(r.Get(field), "\n") {
		if text = strings.TrimSpace(text); text != "" {
			list = append(list, text)
		}
	}
	return list
}

// minimum parses an amount in the new policy's currency. An empty field is 0.
func minimum(r *kit.Reading, field string, c money.Currency) *int64 {
	if r.Get(field) == "" {
		return new(int64)
	}
	return r.Amount(field, c)
}
