package report

import (
	"fmt"
	"strconv"
	"strings"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
)

// Summarize summarizes explained allocations in words: what was paid and returned, what is at risk and until when, and
// what they are worth. Amounts are in major units. Each base currency gets its own sentences, because their amounts
// cannot be added up.
func Summarize(list []protection.Explained, m protection.Moment) string {
	s := newSummary(m)
	for _, x := range list {
		s.add(x)
	}
	return s.text()
}

// summarizeTransaction is the summary of all allocations, after a sentence about the transaction if they are not its own.
func summarizeTransaction(r ProtectionReport) string {
	t := r.Transaction
	text := ""
	if r.Adjusted {
		kind := strings.ReplaceAll(string(t.Type), "-", " ")
		text = fmt.Sprintf("This %s of %s adjusts transaction %d. ", kind, money.FormatSigned(t.Total, t.Currency), t.LinkedID)
	}
	switch {
	case len(r.Allocations) > 0:
		return text + Summarize(r.Allocations, r.Moment)
	case t.Type.Takes() && t.Status != payment.StatusComplete:
		return text + "The payment is not complete, so nothing is at risk."
	default:
		return text + "No money was taken, so nothing is at risk."
	}
}

// summary adds up allocations for Summarize, one at a time.
type summary struct {
	moment protection.Moment
	sums   []*currencySum // in order of their first allocation
}

func newSummary(m protection.Moment) *summary { return &summary{moment: m} }

func (s *summary) add(x protection.Explained) {
	if x.Paid() > s.moment.AsOf {
		return
	}
	for _, c := range s.sums {
		if c.currency == x.Currency {
			c.add(x, s.moment.AsOf)
			return
		}
	}
	c := &currencySum{currency: x.Currency}
	c.add(x, s.moment.AsOf)
	s.sums = append(s.sums, c)
}

func (s *summary) text() string {
	var texts []string
	for _, c := range s.sums {
		texts = append(texts, c.text())
	}
	if texts == nil {
		return fmt.Sprintf("No payment was taken by %s, so nothing is at risk.", s.moment.AsOf.Long())
	}
	return strings.Join(texts, " ")
}

// currencySum adds up the allocations of one base currency.
type currencySum struct {
	currency          money.Currency
	payments          int64
	tests             int64 // of the payments, those on test channels
	amounts           protection.Amounts
	remaining         int64
	twice             int64      // double recovery
	atRisk            dayAmount  // by the last day of dispute
	closed            dayAmount  // by the end of a dispute window that has closed
	uncovered         dayAmount  // by the day on which cover starts
	unprotected       int64      // what remains of it
	unprotectedClosed dayAmount  // unprotected, by the end of a dispute window that has closed
	reason            string     // why it is not protected; "" when there are several reasons
	travel            dayAmount  // the amount at risk after the trip, by its last day
	values            []valueSum // by policy currency
}

// dayAmount is an amount and the latest of its days.
type dayAmount struct {
	amount int64
	day    civil.Day
	many   bool // the days differ
}

func (d *dayAmount) add(amount int64, day civil.Day) { *d = d.and(dayAmount{amount: amount, day: day}) }

// and adds two amounts.
func (d dayAmount) and(other dayAmount) dayAmount {
	switch {
	case other.amount == 0:
		return d
	case d.amount == 0:
		return other
	}
	return dayAmount{d.amount + other.amount, max(d.day, other.day), d.many || other.many || d.day != other.day}
}

// valueSum is the value and the premium of allocations in one policy currency.
type valueSum struct {
	currency                 money.Currency
	value, premium, retained int64
	valued, priced, pending  int64 // how many have a value, a premium, and wait for a rate
}

func (c *currencySum) add(x protection.Explained, asOf civil.Day) {
	c.payments++
	if x.Decision.Simulated {
		c.tests++
	}
	c.amounts.Allocated = money.Sum(c.amounts.Allocated, x.Amount)
	c.amounts.Refunded = money.Sum(c.amounts.Refunded, x.Amounts.Refunded)
	c.amounts.ChargedBack = money.Sum(c.amounts.ChargedBack, x.Amounts.ChargedBack)
	c.amounts.Reversed = money.Sum(c.amounts.Reversed, x.Amounts.Reversed)
	c.remaining = money.Sum(c.remaining, x.Remaining)
	c.twice += x.Amounts.DoubleRecovery()
	c.addValue(x)
	switch {
	case x.Remaining == 0:
	case !x.Decision.Protected:
		if c.unprotected == 0 {
			c.reason = x.Decision.Reason
		} else if c.reason != x.Decision.Reason {
			c.reason = ""
		}
		c.unprotected = money.Sum(c.unprotected, x.Remaining)
		if x.State == protection.Expired {
			c.unprotectedClosed.add(x.Remaining, x.Terms.LastDay)
		}
	case x.State == protection.Expired:
		c.closed.add(x.Remaining, x.Terms.LastDay)
	case !x.Started:
		c.uncovered.add(x.Remaining, civil.DayOf(x.Decision.CoverFrom))
	default:
		c.atRisk.add(x.Remaining, x.Terms.LastDay)
		if asOf > x.Terms.End {
			c.travel.add(x.Remaining, x.Terms.End)
		}
	}
}

func (c *currencySum) addValue(x protection.Explained) {
	at := 0
	for at < len(c.values) && c.values[at].currency != x.PolicyCurrency {
		at++
	}
	if at == len(c.values) {
		c.values = append(c.values, valueSum{currency: x.PolicyCurrency})
	}
	v := &c.values[at]
	if x.HasValue {
		v.value, v.valued = money.Sum(v.value, x.Value), v.valued+1
	} else {
		v.pending++
	}
	if x.Premium.Priced {
		v.premium, v.priced = money.Sum(v.premium, x.Premium.Booked), v.priced+1
		v.retained = money.Sum(v.retained, x.Premium.Retained)
	}
}

func (c *currencySum) money(minor int64) string { return money.FormatSigned(minor, c.currency) }

// text starts with the amount at risk. The value of the payments follows.
func (c *currencySum) text() string {
	texts := []string{c.riskText()}
	if c.twice > 0 {
		texts = append(texts, c.money(c.twice)+" was returned twice.")
	}
	for _, v := range c.values {
		texts = append(texts, v.texts(c)...)
	}
	switch {
	case c.tests == 1 && c.payments == 1:
		texts = append(texts, "This is a test payment, excluded from all totals.")
	case c.tests > 0:
		texts = append(texts, "Test payments are excluded from all totals.")
	}
	return strings.Join(texts, " ")
}

func (c *currencySum) riskText() string {
	paid, a := c.money(c.amounts.Allocated), c.amounts
	switch {
	case c.remaining == 0 && a == (protection.Amounts{Allocated: a.Allocated, Refunded: a.Allocated}):
		return fmt.Sprintf("All of the %s paid was refunded; nothing is at risk.", paid)
	case c.remaining == 0 && a == (protection.Amounts{Allocated: a.Allocated, ChargedBack: a.Allocated}):
		return fmt.Sprintf("All of the %s paid was charged back; nothing is at risk.", paid)
	}
	paid = fmt.Sprintf("Of %s paid, %s", paid, c.returnedText())
	if closed := c.closed.and(c.unprotectedClosed); closed.amount > 0 && closed.amount == c.remaining {
		window := "the dispute window"
		if closed.many {
			window = "the last dispute window"
		}
		if c.unprotected > 0 {
			paid += "; " + c.unprotectedText()
		}
		return fmt.Sprintf("Nothing is at risk any more: %s closed on %s. %s.", window, closed.day.Long(), paid)
	}
	text := fmt.Sprintf("%s; %s.", paid, c.leftText())
	if r := c.unprotectedClosed; r.amount > 0 {
		window := "The dispute window for the unprotected %s closed on %s."
		if r.many {
			window = "The dispute windows for the unprotected %s closed by %s."
		}
		text += " " + fmt.Sprintf(window, c.money(r.amount), r.day.Long())
	}
	return text
}

// returnedText says what was refunded, charged back and reversed.
func (c *currencySum) returnedText() string {
	a := c.amounts
	refunded, chargedBack, reversed := c.money(a.Refunded), c.money(a.ChargedBack), c.money(a.Reversed)
	dispute := ""
	switch {
	case a.ChargedBack == 0 && a.Reversed == 0:
	case a.Reversed == 0:
		dispute = chargedBack + " was charged back"
	case a.ChargedBack == 0:
		dispute = "a chargeback of " + reversed + " was reversed"
	case a.ChargedBack == a.Reversed:
		dispute = chargedBack + " was charged back and later reversed"
	default:
		dispute = chargedBack + " was charged back and " + reversed + " was reversed"
	}
	switch {
	case a.Refunded == 0 && dispute == "":
		return "nothing was refunded"
	case dispute == "":
		return refunded + " was refunded"
	case a.Refunded == 0:
		return dispute
	case a.ChargedBack > 0 && a.Reversed > 0:
		return refunded + " was refunded, " + dispute
	default:
		return refunded + " was refunded and " + dispute
	}
}

// leftText describes the remaining amount: at risk, not covered yet, past its dispute window, or not protected.
func (c *currencySum) leftText() string {
	if c.remaining == 0 {
		return "nothing is at risk"
	}
	part := func(amount int64) string {
		if c.untouched(amount) {
			return "all of it"
		}
		return c.money(amount)
	}
	var texts []string
	if r := c.atRisk; r.amount > 0 {
		text := "%s is at risk until %s"
		if c.travel.amount == r.amount && r.amount == c.remaining && !c.travel.many {
			text = "the trip ended on " + c.travel.day.Long() + ", but %s is at risk until %s"
		}
		if r.many {
			text += " at the latest"
		}
		texts = append(texts, fmt.Sprintf(text, part(r.amount), r.day.Long()))
	}
	if r := c.uncovered; r.amount > 0 {
		text := "cover for %s starts on %s"
		if r.many {
			text = "cover for %s starts by %s"
		}
		texts = append(texts, fmt.Sprintf(text, part(r.amount), r.day.Long()))
	}
	if r := c.closed; r.amount > 0 {
		text := "the dispute window for %s closed on %s"
		if r.many {
			text = "the dispute windows for %s closed by %s"
		}
		texts = append(texts, fmt.Sprintf(text, c.money(r.amount), r.day.Long()))
	}
	if c.unprotected > 0 {
		texts = append(texts, c.unprotectedText())
	}
	return enumerate(texts)
}

// untouched reports whether an amount is everything that was paid, and none of it was ever returned.
func (c *currencySum) untouched(amount int64) bool {
	return c.amounts == protection.Amounts{Allocated: amount} && c.remaining == amount
}

func (c *currencySum) unprotectedText() string {
	text := c.money(c.unprotected) + " is not protected"
	if c.untouched(c.unprotected) {
		text = "none of it is protected"
	}
	switch c.reason {
	case protection.ReasonMode:
		return text + " because the merchant was in a mode without protection"
	case protection.ReasonType:
		return text + " because the merchant's account type did not include protection"
	case protection.ReasonLocked:
		return text + " because the merchant was locked"
	case protection.ReasonNotCardPayment:
		return text + " because it was not paid by card"
	default:
		return text
	}
}

// texts say what the payments are worth. The value is left out where it is the amount.
func (v valueSum) texts(c *currencySum) (texts []string) {
	premium := ""
	if v.priced > 0 {
		premium = "the premium is " + money.FormatSigned(v.premium, v.currency)
		if v.retained > 0 {
			premium += ", of which " + money.FormatSigned(v.retained, v.currency) + " was retained"
		}
	}
	switch {
	case v.valued > 0 && v.currency != c.currency:
		text := "The payment is valued at "
		if v.valued > 1 {
			text = "The payments are valued at "
		} else if c.payments > 1 {
			text = "One payment is valued at "
		}
		text += money.FormatSigned(v.value, v.currency)
		if premium != "" {
			text += "; " + premium
		}
		texts = append(texts, text+".")
	case premium != "":
		texts = append(texts, "T"+premium[1:]+".")
	}
	switch {
	case v.pending == 1 && c.payments == 1:
		texts = append(texts, fmt.Sprintf("Its value in %s is pending until an exchange rate is available.", v.currency))
	case v.pending == 1:
		texts = append(texts, fmt.Sprintf("The value of one payment in %s is pending until an exchange rate is available.", v.currency))
	case v.pending > 1:
		texts = append(texts, fmt.Sprintf("The values of %s payments in %s are pending until exchange rates are available.",
			strconv.FormatInt(v.pending, 10), v.currency))
	}
	return texts
}

// enumerate joins texts with commas and an "and".
func enumerate(texts []string) string {
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}
