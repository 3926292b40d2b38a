package disputefile

import (
	"strconv"
	"strings"

	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
)

// paypal is PayPal's Settlement report (STL). The first cell of a row says what it is: SH and CH begin a section and name its columns, SB is a
// transaction, and SF, SC, RF, RC and FF hold sums and counts, which are checked. Amounts are in minor units without a sign.
var paypal = format{
	Format: Format{"paypal-settlement", "PayPal Settlement report"}, sections: true,
	needs: []string{
		"CH", "Transaction ID", "PayPal Reference ID", "Transaction Event Code", "Transaction Completion Date|Transaction Initiation Date",
		"Transaction Debit or Credit", "Gross Transaction Amount", "Gross Transaction Currency", "Transactional Status|Transaction Event Code",
	},
	open: func() func(r *record) []dispute.Report {
		return (&paypalReport{file: newPaypalSums(), section: newPaypalSums()}).read
	},
}

// paypalReport is the state of a file: whose section is read, and what its rows have added up to.
type paypalReport struct {
	account       string
	section, file *paypalSums
}

// paypalSums adds up rows. Reports may or may not count rows that have not completed.
type paypalSums struct {
	rows, settled int
	sums          map[money.Currency]*paypalSum
}

type paypalSum struct {
	all, settled struct{ credits, debits int64 }
}

func newPaypalSums() *paypalSums { return &paypalSums{sums: map[money.Currency]*paypalSum{}} }

func (s *paypalSums) add(c money.Currency, debit bool, amount int64, settled bool) {
	sum := s.sums[c]
	if sum == nil {
		sum = &paypalSum{}
		s.sums[c] = sum
	}
	count := func(credits, debits *int64) {
		to := credits
		if debit {
			to = debits
		}
		*to = money.UpTo(*to, amount) // a sum beyond any real one agrees with nothing
	}
	if count(&sum.all.credits, &sum.all.debits); settled {
		count(&sum.settled.credits, &sum.settled.debits)
	}
}

func (p *paypalReport) read(r *record) []dispute.Report {
	cell := func(i int) string {
		if i < len(r.cells) {
			return strings.TrimSpace(r.cells[i])
		}
		return ""
	}
	switch cell(0) {
	case "SH":
		p.section = newPaypalSums()
		p.account = cell(3)
	case "SB":
		return p.row(r)
	case "SF":
		p.section.check(r, "section")
	case "RF":
		p.file.check(r, "report")
	case "SC":
		p.section.checkCount(r, "section")
	case "RC", "FF":
		p.file.checkCount(r, "report")
	}
	return r.ignore(noRow)
}

// row reads a transaction.
func (p *paypalReport) row(r *record) []dispute.Report {
	status := strings.ToUpper(r.text("Transactional Status", "Transaction Status"))
	settled := status == "S" || status == "" && !r.has("Transactional Status") && !r.has("Transaction Status")
	p.section.rows, p.file.rows = p.section.rows+1, p.file.rows+1
	if settled {
		p.section.settled, p.file.settled = p.section.settled+1, p.file.settled+1
	}
	currency := r.currency("Gross Transaction Currency")
	amount, present := r.minor(currency, "Gross Transaction Amount")
	side := strings.ToUpper(r.text("Transaction Debit or Credit"))
	if present {
		p.section.add(currency, side == "DR", abs(amount), settled)
		p.file.add(currency, side == "DR", abs(amount), settled)
	}
	code, _, m, ok := r.word(dispute.PayPal, "Transaction Event Code")
	switch {
	case !ok || len(m.Moves) == 0:
		r.problems = nil // the row is none of ours
		return r.ignore("%s: no dispute.", clip(code))
	case !settled:
		r.problems = nil
		return r.ignore("Status %s: no money has moved.", clip(status))
	case side != "DR" && side != "CR":
		r.wrong("Transaction Debit or Credit", "%q is neither DR nor CR.", clip(side))
	case !present || amount == 0:
		r.wrong("Gross Transaction Amount", "is empty or zero.")
	}
	report := dispute.Report{
		Source: dispute.PayPal, Stage: m.Stage, Status: m.Status, Kind: m.Moves[0].Kind, Currency: currency, Amount: abs(amount), Merchant: p.account, DueOn: noDay,
		Day:   r.mustDay(calendar{}, nil, "Transaction Completion Date", "Transaction Initiation Date"),
		Clues: dispute.Clues{PaymentReference: r.id("Invoice ID"), PaidOn: noDay},
	}
	reference := r.id("PayPal Reference ID")
	if strings.EqualFold(code, "T1201") { // the chargeback is the case, and refers to the payment
		report.CaseID, report.Clues.ProcessorReference = r.caseID("Transaction ID"), reference
	} else { // a credit or a fee refers to the chargeback
		report.CaseID, report.RefersTo = r.caseID("PayPal Reference ID"), reference
	}
	switch { // what DR and CR say about money is the fact
	case report.Kind == dispute.Debit && side == "CR":
		report.Kind = dispute.Credit
	case report.Kind == dispute.Credit && side == "DR":
		report.Kind = dispute.Debit
	case report.Kind == dispute.Fee && side == "CR":
		return r.ignore("A fee that was given back.")
	}
	return append([]dispute.Report{report}, p.fee(r, report)...)
}

// fee is the fee in the columns next to the amount of a chargeback.
func (p *paypalReport) fee(r *record, of dispute.Report) []dispute.Report {
	currency := r.currency("Fee Currency")
	amount, present := r.minor(currency, "Fee Amount")
	if !present || amount == 0 || strings.EqualFold(r.text("Fee Debit or Credit"), "CR") || of.Kind == dispute.Fee {
		return nil
	}
	of.Stage, of.Status, of.Kind, of.Amount, of.Currency = "", "", dispute.Fee, abs(amount), currency
	return []dispute.Report{of}
}

// check compares the sums of a footer with the rows above it: credits, then debits. Some footers have DR or CR between them. A single number is a
// count.
func (s *paypalSums) check(r *record, of string) {
	var currency money.Currency
	var numbers []int64
	for _, cell := range r.cells[1:] {
		cell = strings.TrimSpace(cell)
		if c, err := money.ParseCurrency(cell); err == nil {
			currency = c
		} else if n, err := strconv.ParseInt(cell, 10, 64); err == nil {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) < 2 {
		s.checkCount(r, of)
		return
	}
	sum := s.sums[currency]
	if sum == nil {
		sum = &paypalSum{}
	}
	stated := struct{ credits, debits int64 }{numbers[0], numbers[1]}
	if stated != sum.all && stated != sum.settled {
		r.problems = append(r.problems, "The "+of+" says that its credits in "+string(currency)+" are "+strconv.FormatInt(stated.credits, 10)+" and its debits "+
			strconv.FormatInt(stated.debits, 10)+", but its rows add up to "+strconv.FormatInt(sum.all.credits, 10)+" and "+strconv.FormatInt(sum.all.debits, 10)+
			". Rows may be missing or changed.")
	}
}

// checkCount compares the last number of a row with the number of rows above it.
func (s *paypalSums) checkCount(r *record, of string) {
	for i := len(r.cells) - 1; i > 0; i-- {
		n, err := strconv.Atoi(strings.TrimSpace(r.cells[i]))
		if err != nil {
			continue
		}
		if n != s.rows && n != s.settled {
			r.problems = append(r.problems, "The "+of+" says that it has "+strconv.Itoa(n)+" rows, but it has "+strconv.Itoa(s.rows)+". Rows may be missing.")
		}
		return
	}
}
