package mail

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
)

// Letter is what the text of a mail is made of. It is kept until the mail is forgotten, and the text is made of it whenever
// it is sent or shown: it is always the same text, and takes a twentieth of the room. Amounts are minor units.
type Letter struct {
	Language  string         `json:"language"`       // one of check.Languages
	Sender    string         `json:"sender"`         // who writes: receipt_label, or else the site's name
	To        string         `json:"to"`             // the address in the head of the mail; of a copy the traveller's
	Name      string         `json:"name,omitempty"` // of the reader
	Test      bool           `json:"test,omitempty"` // of a sandbox or a test channel: no money has moved
	Booking   string         `json:"booking,omitempty"`
	Reference string         `json:"reference,omitempty"` // of the booking
	Number    string         `json:"number,omitempty"`    // trust_id of the transaction
	Currency  money.Currency `json:"currency,omitempty"`  // of the booking, and of all amounts but Paid
	Amount    int64          `json:"amount,omitempty"`    // for this booking
	// PaidCurrency and Paid are what the card was charged or credited, where it has another currency.
	PaidCurrency money.Currency `json:"paid_currency,omitempty"`
	Paid         int64          `json:"paid,omitempty"`
	Unpaid       int64          `json:"unpaid,omitempty"` // the rest of the booking's total
	On           day            `json:"on"`               // the day of the payment
	Scheme       card.Scheme    `json:"scheme,omitempty"` // of the card
	Digits       string         `json:"digits,omitempty"` // the last four of the card
	Start        day            `json:"start"`
	End          day            `json:"end"`
	Country      string         `json:"country,omitempty"`
	Protected    int64          `json:"protected,omitempty"`  // of the booking, now
	Until        day            `json:"until"`                // the last day on which it can be charged back; with Protected
	Descriptor   string         `json:"descriptor,omitempty"` // on the statement of the card
	Reason       string         `json:"reason,omitempty"`     // of a failure or a chargeback, as the processor says it
	ARN          string         `json:"arn,omitempty"`        // the acquirer's number of the payment
	Channel      string         `json:"channel,omitempty"`    // its name, for the merchant
	Lines        []string       `json:"lines,omitempty"`      // of a mail with the heads of the chains
	Address      string         `json:"address,omitempty"`    // of a webhook
	Days         int64          `json:"days,omitempty"`       // how long a webhook took nothing; 0: its receiver wants no more
	Username     string         `json:"username,omitempty"`   // of the reader, who uses the service
	By           string         `json:"by,omitempty"`         // who invites the reader
	// What a mail about a request for protection says.
	Protection *ProtectionFacts `json:"protection_request,omitempty"`
	Report     *ReportFacts     `json:"report,omitempty"` // what a report says
	Link       string           `json:"link,omitempty"`   // which one-time link the mail has: its hash, and never its secret
}

// day is a civil.Day that is kept as a number.
type day civil.Day

// oldNews is how old a payment or a refund may be when it is reported. What is older is a book that somebody enters late, and
// no news to the traveller. Chargebacks and their reversals are always news: the day of a chargeback is that on which the bank
// opened the dispute, and the processor may tell both much later.
const oldNews = 48 * time.Hour

// maxCopies bounds how many addresses of a setting get a mail.
const maxCopies = 20

// happening is a completed transaction, with what a mail about it needs.
type happening struct {
	facts
	eventID  int64
	at       time.Time // by the site's clock
	failed   bool
	channel  merchant.Channel
	payment  payment.Transaction
	original payment.Transaction // of a chargeback or a reversal
	outbox   bool                // it is shown and never sent
	packed   []Mail
	realTime time.Time
}

// mails are the mails about a happening: none for what is no news.
func (h *happening) mails(tx *store.Tx) ([]Mail, error) {
	t := h.payment
	switch {
	case !isNews(t):
	case h.failed:
		if h.channel.MailFailures {
			h.toMerchant(Failure, h.channel.PrimaryMail)
		}
	case tellsTravellers(t.Type):
		err := h.toTravellers()
		return h.packed, err
	case t.Type.Operators() && h.channel.ChargebackMail != "":
		original, err := payments.Transaction(tx, t.SiteID, t.LinkedID)
		if err != nil {
			return nil, err
		}
		h.original = original
		kind := Chargeback
		if t.Type == payment.ChargebackReversal {
			kind = Reversal
		}
		h.toMerchant(kind, h.channel.ChargebackMail)
	}
	return h.packed, nil
}

// isNews reports whether anybody is notified of a transaction.
func isNews(t payment.Transaction) bool {
	return t.ImportKey == "" && (t.Type.Operators() || t.CreatedAt.Sub(t.EffectiveAt) <= oldNews)
}

// tellsTravellers reports whether travellers are notified of complete transactions of a type.
func tellsTravellers(t payment.TransactionType) bool { return t.Takes() || t == payment.Refund }

// toTravellers adds a mail to the lead traveller of each booking, and the copies of it.
func (h *happening) toTravellers() error {
	kind := Receipt
	if h.payment.Type == payment.Refund {
		kind = Refund
	}
	for _, p := range h.payment.Payments {
		b, known := h.bookings[p.BookingID]
		if !known {
			return fmt.Errorf("booking %d: %w", p.BookingID, store.ErrNotFound)
		}
		letter := h.letter(cmp.Or(b.Language, h.channel.Language))
		letter.To, letter.Name = b.Email, strings.TrimSpace(b.Firstname+" "+b.Surname)
		letter.Booking, letter.Reference, letter.Currency, letter.Amount = b.TrustID(), b.Reference, p.Currency, p.Total
		letter.Start, letter.End, letter.Country, letter.Unpaid = day(b.FirstTravelDay()), day(b.End), b.Country, b.Unpaid()
		if len(h.payment.Payments) > 1 { // the charge is that of all bookings together
			letter.PaidCurrency, letter.Paid = "", 0
		}
		letter.Protected, letter.Until = h.protected[p.BookingID].Amount, day(h.protected[p.BookingID].Until)
		h.add(kind, p.BookingID, false, b.Email, letter)
		if h.channel.MailBCC {
			for _, address := range addresses(h.channel.PrimaryMail) {
				h.add(kind, p.BookingID, true, address, letter)
			}
		}
	}
	return nil
}

// toMerchant adds a mail to each address of a setting of the channel.
func (h *happening) toMerchant(kind Kind, list string) {
	letter := h.letter(h.channel.Language)
	letter.Currency, letter.Amount = h.payment.Currency, h.payment.Total
	letter.PaidCurrency, letter.Paid = "", 0
	letter.Channel, letter.Reason, letter.ARN = h.channel.Name, h.payment.Content, cmp.Or(h.payment.AcquirerReference, h.original.AcquirerReference)
	for _, d := range h.original.Disputes {
		if d.ChargebackID == h.payment.ID || d.ReversalID == h.payment.ID {
			letter.Reason = cmp.Or(d.ReasonCode, letter.Reason)
		}
	}
	b := int64(0)
	if len(h.payment.Payments) > 0 {
		first := h.payment.Payments[0]
		b, letter.Reference = first.BookingID, first.BookingReference
		letter.Booking = booking.Booking{SiteID: first.SiteID, ID: first.BookingID}.TrustID()
	}
	for _, address := range addresses(list) {
		letter.To = address
		h.add(kind, b, false, address, letter)
	}
}

// letter is what all letters about the happening have in common.
func (h *happening) letter(language string) Letter {
	t := h.payment
	letter := Letter{
		Language: language, Sender: cmp.Or(h.channel.ReceiptLabel, h.site.Name), Test: h.site.Sandbox || t.Simulated,
		Number: t.TrustID(), On: day(civil.DayOf(t.EffectiveAt)), Start: day(civil.NoDay), End: day(civil.NoDay), Until: day(civil.NoDay),
		Descriptor: h.channel.Descriptor, Scheme: card.Scheme(t.CardType), Digits: t.LastFour,
	}
	if t.Currency != t.BaseCurrency {
		letter.PaidCurrency, letter.Paid = t.Currency, t.Total
	}
	return letter
}

// add puts a mail beside the others. One that has no good address is dead from the beginning: so it is seen, and can be
// sent when the address is mended.
func (h *happening) add(kind Kind, booking int64, copied bool, address string, letter Letter) {
	m := Mail{
		SiteID: h.site.ID, EventID: h.eventID, Number: int64(len(h.packed)) + 1, Kind: kind, TransactionID: h.payment.ID,
		BookingID: booking, Copy: copied, Recipient: address, Letter: letter, State: Waiting, NextAt: h.realTime,
	}
	problem := checkAddress(address)
	switch {
	case problem != "":
		m.State, m.Answer = Dead, problem
	case h.outbox:
		m.State = Outbox
	case h.realTime.Sub(h.at) > giveUpAfter: // the job has not run for days; a sandbox's clock does not come here
		m.State, m.Answer = Dead, "The event was more than three days old when the e-mail was created."
	}
	if m.State != Waiting {
		m.NextAt, m.ForgetAt = time.Time{}, h.realTime.Add(remember)
	}
	h.packed = append(h.packed, m)
}

// addresses are the addresses of a setting with commas between, each once.
func addresses(list string) []string {
	var found []string
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" && len(found) < maxCopies {
			found = append(found, part)
		}
	}
	return found
}

func bookingOf(tx *store.Tx, siteID, id int64) (booking.Booking, error) {
	return bookings.Alone(tx, siteID, id)
}

func siteOf(tx *store.Tx, id int64) (merchant.Site, error) { return merchants.Site(tx, id) }
