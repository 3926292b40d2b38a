package rehearsal

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
)

// answerIn is how many days the merchant has to answer a dispute.
const answerIn = 18

// file is a processor's file of one day.
type file struct {
	processor string
	body      []byte
}

// filed is a line of a file: an entry about a part.
type filed struct {
	entry
	part
	caseID string
	on     civil.Day // of the entry
	opened civil.Day // of the first entry about the case
}

// dueOn is the last day to answer.
func (f filed) dueOn() civil.Day { return f.opened + answerIn }

// book has what all files of a rehearsal share.
type book struct {
	insolvency int64
	merchant   string
	failed     civil.Day
	parts      []part
}

// files are those that arrive on a day, one for each processor.
func (b book) files(day int) (list []file) {
	writers := []struct {
		processor string
		write     func(b book, lines []filed) []byte
	}{
		{dispute.Adyen, book.adyen}, {dispute.Stripe, book.stripe}, {dispute.PayPal, book.paypal}, {dispute.Braintree, book.braintree},
		{dispute.JPMorgan, book.jpmorgan},
	}
	for _, w := range writers {
		if lines := b.lines(w.processor, day); len(lines) > 0 || b.strayOn(w.processor, day) {
			list = append(list, file{w.processor, w.write(b, lines)})
		}
	}
	return list
}

// lines are the entries of a processor on a day.
func (b book) lines(processor string, day int) (list []filed) {
	for _, p := range b.parts {
		for _, e := range p.entries {
			if e.processor != processor || e.day != day {
				continue
			}
			first := slices.IndexFunc(p.entries, func(other entry) bool { return other.again == e.again })
			list = append(list, filed{
				e, p, caseOf(b.insolvency, p.number, e.again), b.failed + civil.Day(e.day), b.failed + civil.Day(p.entries[first].day),
			})
		}
	}
	return list
}

// The case about an unknown payment: it stays unmatched.
const (
	strayDay    = 5
	strayNumber = MostPayments + 1
)

// strayOn reports whether a file has the line of this case.
func (b book) strayOn(processor string, day int) bool {
	return processor == dispute.Adyen && day == strayDay
}

// table writes rows as CSV.
func table(rows ...[]string) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	_ = w.WriteAll(rows) // a buffer takes everything
	return out.Bytes()
}

const midnight = " 00:00:00"

// masked is a card number as files show it; "" if it is unknown.
func (f filed) masked() string {
	if f.BIN == "" || f.LastFour == "" {
		return ""
	}
	return f.BIN + strings.Repeat("*", 16-len(f.BIN)-4) + f.LastFour
}

// scheme is the scheme's name; "" if it is unknown.
func (f filed) scheme() string {
	if f.Scheme == card.Unknown {
		return ""
	}
	return f.Scheme.Label()
}

func (f filed) major() string { return money.FormatPlain(f.PaymentTotal, f.PaymentCurrency) }

func (b book) adyen(lines []filed) []byte {
	rows := [][]string{{
		"Company Account", "Merchant Account", "Psp Reference", "Merchant Reference", "Payment Method", "Record Date", "Record Date TimeZone",
		"Dispute Currency", "Dispute Amount", "Record Type", "Dispute PSP Reference", "Dispute Reason", "CB Scheme Code", "CB Reason Code",
		"Payment Date", "Payment Date TimeZone", "Payment Currency", "Payment Amount", "Dispute Date", "Dispute Date TimeZone", "Dispute ARN",
		"Shopper PAN", "Dispute End Date", "Dispute End Date TimeZone",
	}}
	for _, f := range lines {
		psp, reference, arn := f.ProcessorReference, f.Reference, f.AcquirerReference
		if f.blind {
			psp, reference, arn = "", "", ""
		}
		scheme := f.scheme()
		rows = append(rows, []string{
			b.merchant, b.merchant, psp, reference, scheme, f.on.String() + midnight, "UTC", string(f.PaymentCurrency), f.major(), f.word, f.caseID,
			"Services Not Provided", scheme, reasonOf(f.Scheme), f.PaidAt.UTC().Format(time.DateTime), "UTC", string(f.PaymentCurrency), f.major(),
			f.opened.String() + midnight, "UTC", arn, f.masked(), f.dueOn().String() + midnight, "UTC",
		})
	}
	if day := b.failed + strayDay; len(lines) == 0 || lines[0].on == day {
		stray := caseOf(b.insolvency, strayNumber, false)
		rows = append(rows, []string{ // a payment of another merchant
			b.merchant, b.merchant, "PSP-" + stray, "ZZ-" + stray, "visa", day.String() + midnight, "UTC",
			"EUR", "77.00", "Chargeback", stray, "Services Not Provided", "visa", "13.1", (day - 200).String() + midnight, "UTC",
			"EUR", "77.00", day.String() + midnight, "UTC", "", "", (day + answerIn).String() + midnight, "UTC",
		})
	}
	return table(rows...)
}

func (b book) stripe(lines []filed) []byte {
	rows := [][]string{{
		"id", "Dispute Created (UTC)", "Charge Created (UTC)", "Dispute Amount", "Dispute Currency", "Charge Amount", "Charge Currency", "Charge ID",
		"Card Brand", "Reason", "Status", "Due By (UTC)", "Is Visa Rapid Dispute Resolution", "Payment Intent",
	}}
	for _, f := range lines {
		currency := strings.ToLower(string(f.PaymentCurrency))
		rows = append(rows, []string{
			f.caseID, f.opened.String() + " 00:00", f.PaidAt.UTC().Format("2006-01-02 15:04"), f.major(), currency, f.major(), currency,
			f.ProcessorReference, f.scheme(), "product_not_received", f.word, f.dueOn().String() + " 23:59", strconv.FormatBool(f.rapid), "",
		})
	}
	return table(rows...)
}

// paypal writes a settlement report. Its amounts are in minor units, and its sums are checked when it is read.
func (b book) paypal(lines []filed) []byte {
	const layout = "2006/01/02 15:04:05 -0700"
	from := lines[0].on.Start()
	rows := [][]string{
		{"SH", from.Format(layout), lines[0].on.End().Format(layout), b.merchant},
		{
			"CH", "Transaction ID", "Invoice ID", "PayPal Reference ID", "PayPal Reference ID Type", "Transaction Event Code",
			"Transaction Initiation Date", "Transaction Completion Date", "Transaction Debit or Credit", "Gross Transaction Amount",
			"Gross Transaction Currency", "Fee Debit or Credit", "Fee Amount", "Fee Currency", "Transactional Status",
		},
	}
	type sum struct {
		currency money.Currency
		debits   int64
		rows     int
	}
	var sums []sum
	for _, f := range lines {
		id, reference, invoice, amount := f.caseID, f.ProcessorReference, f.Reference, f.PaymentTotal
		if f.word == "T0106" { // the fee refers to the chargeback
			id, reference, invoice, amount = f.caseID+"F", f.caseID, "", 20_00
		}
		at := from.Format(layout)
		rows = append(rows, []string{
			"SB", id, invoice, reference, "TXN", f.word, at, at, "DR", strconv.FormatInt(amount, 10), string(f.PaymentCurrency), "", "", "", "S",
		})
		i := slices.IndexFunc(sums, func(s sum) bool { return s.currency == f.PaymentCurrency })
		if i < 0 {
			i, sums = len(sums), append(sums, sum{currency: f.PaymentCurrency})
		}
		sums[i].debits, sums[i].rows = sums[i].debits+amount, sums[i].rows+1
	}
	footer := func(kind string) {
		for _, s := range sums {
			rows = append(rows, []string{kind, string(s.currency), "0", "CR", strconv.FormatInt(s.debits, 10), "DR", strconv.Itoa(s.rows)})
		}
	}
	footer("SF")
	rows = append(rows, []string{"SC", strconv.Itoa(len(lines))})
	footer("RF")
	rows = append(rows, []string{"RC", strconv.Itoa(len(lines))}, []string{"FF", strconv.Itoa(len(lines))})
	var out bytes.Buffer
	for _, row := range rows { // the rows have different lengths
		out.Write(table(row))
	}
	return out.Bytes()
}

// braintree writes cases with their history up to the day of the file.
func (b book) braintree(lines []filed) []byte {
	type amount struct {
		Value    string `json:"value"`
		Currency string `json:"currencyCode"`
	}
	list := make([]map[string]any, len(lines))
	for i, f := range lines {
		total := amount{f.major(), string(f.PaymentCurrency)}
		var history []map[string]any // the newest first
		for _, e := range slices.Backward(f.entries) {
			if on := b.failed + civil.Day(e.day); on <= f.on {
				step := map[string]any{"status": e.word, "effectiveDate": on.String()}
				if on == f.opened {
					step["disbursementDate"] = on.String()
				}
				history = append(history, step)
			}
		}
		list[i] = map[string]any{
			"id": f.caseID, "type": "CHARGEBACK", "status": f.word, "receivedDate": f.opened.String(), "replyByDate": f.dueOn().String(),
			"amountDisputed": total, "reason": "PRODUCT_UNSATISFACTORY", "reasonCode": reasonOf(f.Scheme), "merchantAccountId": b.merchant, "statusHistory": history,
			"transaction": map[string]any{
				"id": f.ProcessorReference, "orderId": f.Reference, "createdAt": f.PaidAt.UTC().Format(time.RFC3339), "amount": total,
				"paymentMethodSnapshot": map[string]any{"brandCode": f.scheme(), "last4": f.LastFour, "bin": f.BIN},
			},
		}
	}
	text, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		panic(fmt.Sprintf("rehearsal: %v", err)) // not reached: plain values can be encoded
	}
	return text
}

// jpmorgan writes a report without order numbers: the payment is found by its card, authorization code, amount and day.
func (b book) jpmorgan(lines []filed) []byte {
	const day = "1/2/2006"
	rows := [][]string{{
		"Account Number", "Acquirer Reference Number", "Activity Date", "Authorization Code", "Company Name", "Dispute Category Code",
		"Dispute Category Code Text", "Dispute Due Date", "Dispute Initiate Date", "Dispute Transaction Sequence Number",
		"Financial Non-Financial Code", "Merchant Order Number", "Payment Brand Dispute Reason Code", "Payment Brand Dispute Reason Text",
		"Payment Method Code Text", "Post Deposit Event Action Presentment Currency Amount", "Post Deposit Event Dispute Type Code",
		"Post Deposit Event Dispute Type Code Text", "Presentment Currency Code", "Transaction Date",
	}}
	for _, f := range lines {
		rows = append(rows, []string{
			f.masked(), "", f.on.Start().Format(day), f.AuthCode, b.merchant, f.word, "Received", f.dueOn().Start().Format(day), f.opened.Start().Format(day),
			f.caseID, "FIN", "", reasonOf(f.Scheme), "SERVICES NOT PROVIDED", strings.ToUpper(f.scheme()), f.major(), "CB", "Chargeback",
			string(f.PaymentCurrency), f.PaidAt.UTC().Format(day),
		})
	}
	return table(rows...)
}
