package paper

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"holdfast/internal/book/certificates"
	"holdfast/internal/book/claims"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/lib/pdf"
)

// section is a part of a representment: pairs, or a table.
type section struct {
	heading string
	pairs   [][2]string
	columns []plainColumn
	rows    [][]string
}

// groundWords are the grounds for people.
var groundWords = map[claims.Ground]string{
	claims.GroundRefunded: "refunded", claims.GroundProvided: "service provided", claims.GroundLate: "dispute received too late",
	claims.GroundDuplicate: "duplicate",
}

// askedWords are where travellers have asked for their money.
var askedWords = map[certificates.Asked]string{
	certificates.AskedBank: "bank", certificates.AskedInsurer: "insurer", certificates.AskedProtection: "guarantee fund or bond",
	certificates.AskedNobody: "nobody",
}

// WriteRepresentmentPDF prints the paper of a dispute, in English. The same representment gives the same bytes.
func WriteRepresentmentPDF(w io.Writer, fonts pdf.Fonts, r claims.Representment) error {
	sections := []section{caseSection(r), paymentSection(r)}
	for _, s := range []section{refundSection(r), serviceSection(r), lateSection(r), otherSection(r), noteSection(r), evidenceSection(r)} {
		if len(s.rows) > 0 {
			sections = append(sections, s)
		}
	}
	title, author := "Representment of dispute "+r.Dispute.CaseID, r.From
	doc, err := openPlain(fonts, func(with func(text string) string) {
		title, author = with(title), with(author)
		for _, s := range sections {
			for i := range s.pairs {
				s.pairs[i][1] = with(s.pairs[i][1])
			}
			for _, row := range s.rows {
				for i := range row {
					row[i] = with(row[i])
				}
			}
		}
	})
	if err != nil {
		return err
	}
	beginPlain(doc, title, author, r.At)
	for _, s := range sections {
		plainHeading(doc, s.heading)
		plainPairs(doc, s.pairs)
		if len(s.rows) == 0 {
			continue
		}
		row := plainTable(doc, s.columns...)
		for _, cells := range s.rows {
			row(cells...)
		}
	}
	return doc.Output(w)
}

func amountOf(minor int64, c money.Currency) string {
	if c == "" {
		return ""
	}
	return string(c) + " " + money.Format(minor, c)
}

func longDay(d civil.Day) string {
	if d == civil.NoDay {
		return ""
	}
	return d.Long()
}

func spaced[T ~string](word T) string { return strings.ReplaceAll(string(word), "_", " ") }

func caseSection(r claims.Representment) section {
	c := r.Dispute
	var grounds []string
	for _, g := range r.Grounds() {
		grounds = append(grounds, groundWords[g])
	}
	s := section{heading: "Case", pairs: [][2]string{
		{"Grounds", strings.Join(grounds, ", ")}, {"Processor", dispute.SourceText(c.Source)}, {"Case", c.CaseID},
		{"Stage", spaced(c.Stage) + ", " + spaced(c.Status)}, {"Reason", strings.TrimSpace(c.ReasonCode + " " + c.Reason)},
		{"Reason family", spaced(c.Family)}, {"Disputed amount", amountOf(c.Amount, c.Currency)}, {"Opened", longDay(c.OpenedOn)},
		{"Charged back on", longDay(c.FirstDay())}, {"Answer by", longDay(c.DueOn)}, {"Merchant", r.Merchant}, {"Prepared by", r.From},
		{"Prepared on", civil.DayOf(r.At).Long()},
	}}
	if c.Debits == 0 {
		s.pairs[8][1] = "" // nothing has been charged back
	}
	for _, one := range r.Claims {
		if one.Represent > 0 {
			s.pairs = append(s.pairs, [2]string{"Not payable", fmt.Sprintf("%s of %s: %s", amountOf(one.Represent, one.Currency),
				amountOf(one.Disputed, one.Currency), one.Reason.Text())})
		}
	}
	return s
}

func paymentSection(r claims.Representment) section {
	t := r.Payment
	s := section{heading: "Payment", pairs: [][2]string{
		{"Amount", amountOf(t.Total, t.Currency)}, {"Paid on", civil.DayOf(t.EffectiveAt).Long()}, {"Card scheme", t.CardType},
		{"Auth code", t.AuthCode}, {"BIN", t.BIN}, {"Last four digits", t.LastFour}, {"Reference", t.Reference},
		{"Processor reference", t.ProcessorReference}, {"Acquirer reference", t.AcquirerReference}, {"Payment", strconv.FormatInt(t.ID, 10)},
	}}
	for _, b := range r.Bookings {
		parts := []string{strconv.FormatInt(b.ID, 10), b.Reference, strings.TrimSpace(b.Firstname + " " + b.Surname)}
		s.pairs = append(s.pairs, [2]string{"Booking", strings.Join(strings.FieldsFunc(strings.Join(parts, "\x00"), func(r rune) bool { return r == 0 }), ", ")},
			[2]string{"Travel", longDay(b.Service.Start) + " to " + longDay(b.Service.End)})
	}
	return s
}

func refundSection(r claims.Representment) section {
	s := section{heading: "Refunds", columns: []plainColumn{
		{"Date", 34, "L"}, {"Amount", 34, "R"}, {"Reference", 36, "L"}, {"Processor reference", 38, "L"}, {"Acquirer reference", textWidth - 142, "L"},
	}}
	for _, t := range r.Refunds {
		s.rows = append(s.rows, []string{
			civil.DayOf(t.EffectiveAt).Long(), amountOf(t.Total, t.Currency), t.Reference, t.ProcessorReference, t.AcquirerReference,
		})
	}
	return s
}

// serviceSection has the services that were provided, at least partly, before the dispute and the failure of the merchant.
func serviceSection(r claims.Representment) section {
	s := section{heading: "Service provided", columns: []plainColumn{
		{"Booking", 24, "L"}, {"First day", 36, "L"}, {"Last day", 36, "L"}, {"Provided by", 36, "L"}, {"Days provided", textWidth - 132, "L"},
	}}
	for _, b := range r.Bookings {
		if b.Service.Provided > 0 {
			s.rows = append(s.rows, []string{
				strconv.FormatInt(b.ID, 10), longDay(b.Service.Start), longDay(b.Service.End), longDay(b.Service.By),
				fmt.Sprintf("%d of %d", b.Service.Provided, b.Service.Days),
			})
		}
	}
	return s
}

func lateSection(r claims.Representment) section {
	s := section{heading: "Dispute received too late", columns: []plainColumn{
		{"Booking", 24, "L"}, {"Last day of dispute", 44, "L"}, {"Disputed on", 44, "L"}, {"Days late", textWidth - 112, "L"},
	}}
	for _, b := range r.Bookings {
		if b.DaysLate > 0 {
			s.rows = append(s.rows, []string{strconv.FormatInt(b.ID, 10), longDay(b.LastDay), longDay(b.Disputed), strconv.FormatInt(b.DaysLate, 10)})
		}
	}
	return s
}

func otherSection(r claims.Representment) section {
	s := section{heading: "Other disputes of this payment", columns: []plainColumn{
		{"Processor", 34, "L"}, {"Case", 48, "L"}, {"Disputed on", 36, "L"}, {"Status", 24, "L"}, {"Charged back", textWidth - 142, "R"},
	}}
	for _, c := range r.Others {
		s.rows = append(s.rows, []string{dispute.SourceText(c.Source), c.CaseID, longDay(c.FirstDay()), spaced(c.Status), amountOf(c.Debits-c.Credits, c.BaseCurrency)})
	}
	return s
}

// noteSection has what travellers have said about money from others.
func noteSection(r claims.Representment) section {
	s := section{heading: "Statements of the traveller", columns: []plainColumn{
		{"Booking", 24, "L"}, {"Date", 36, "L"}, {"Asked for the money", 60, "L"}, {"Already paid back", textWidth - 120, "R"},
	}}
	for _, b := range r.Bookings {
		if b.PaidByOthers() {
			s.rows = append(s.rows, []string{
				strconv.FormatInt(b.ID, 10), civil.DayOf(b.Note.At).Long(), askedWords[b.Note.Asked], amountOf(b.Note.PaidBack, b.Currency),
			})
		}
	}
	return s
}

func evidenceSection(r claims.Representment) section {
	s := section{heading: "Files attached", columns: []plainColumn{
		{"File", 60, "L"}, {"Added", 36, "L"}, {"Note", textWidth - 96, "L"},
	}}
	for _, e := range r.Evidence {
		s.rows = append(s.rows, []string{e.Name, civil.DayOf(e.AddedAt).Long(), e.Note})
	}
	return s
}
