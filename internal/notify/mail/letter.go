package mail

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/disputes"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Letter is the data of an e-mail's text. It is kept until the e-mail is forgotten, and rendered whenever it is sent or
// shown: always to the same text, in a twentieth of the space. Amounts are in minor units.
type Letter struct {
	Language  string         `json:"language"`       // one of check.Languages
	Sender    string         `json:"sender"`         // sender name: receipt_label, or else the site's name
	To        string         `json:"to"`             // address in the To header; in a copy, the traveller's
	Name      string         `json:"name,omitempty"` // of the reader
	Test      bool           `json:"test,omitempty"` // of a sandbox or a test channel: no money has moved
	Booking   string         `json:"booking,omitempty"`
	Reference string         `json:"reference,omitempty"` // of the booking
	Number    string         `json:"number,omitempty"`    // trust_id of the transaction
	Currency  money.Currency `json:"currency,omitempty"`  // of the booking, and of all amounts but Paid
	Amount    int64          `json:"amount,omitempty"`    // for this booking
	// PaidCurrency and Paid are what the card was charged or credited, if in another currency.
	PaidCurrency money.Currency `json:"paid_currency,omitempty"`
	Paid         int64          `json:"paid,omitempty"`
	Unpaid       int64          `json:"unpaid,omitempty"` // the unpaid rest of the booking's total
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
	Lines        []string       `json:"lines,omitempty"`      // of an e-mail with the chain heads
	Address      string         `json:"address,omitempty"`    // of a webhook
	Days         int64          `json:"days,omitempty"`       // how long a webhook has failed; 0: its receiver responded with 410
	Username     string         `json:"username,omitempty"`   // of the reader, who uses the service
	By           string         `json:"by,omitempty"`         // who invites the reader
	// Data of an e-mail about a protection request.
	Protection *ProtectionFacts `json:"protection_request,omitempty"`
	Report     *ReportFacts     `json:"report,omitempty"` // data of a report
	Insolvency *InsolvencyFacts `json:"insolvency,omitempty"`
	Dispute    *DisputeFacts    `json:"dispute,omitempty"`
	Payout     *PayoutFacts     `json:"payout,omitempty"`
	Link       string           `json:"link,omitempty"` // hash of the e-mail's one-time link, never its secret
}

// day is a civil.Day stored as a number.
type day civil.Day

// oldNews is how old a payment or refund may be when it is logged. Older ones are logged late and no longer news to the
// traveller. Chargebacks and reversals are always news: a chargeback's date is when the bank opened the dispute, and
// processors may report both much later.
const oldNews = 48 * time.Hour

// maxCopies is the maximum number of recipients from a setting.
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

// mails returns the e-mails about a happening: none if it is not news.
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
		list := []payment.Transaction{original}
		if err := disputes.Fill(tx, t.SiteID, list); err != nil {
			return nil, err
		}
		h.original = list[0]
		kind := Chargeback
		if t.Type == payment.ChargebackReversal {
			kind = Reversal
		}
		h.toMerchant(kind, h.channel.ChargebackMail)
	}
	return h.packed, nil
}

// isNews reports whether a transaction causes a notification.
func isNews(t payment.Transaction) bool {
	return t.ImportKey == "" && (t.Type.Operators() || t.CreatedAt.Sub(t.EffectiveAt) <= oldNews)
}

// tellsTravellers reports whether travellers are notified of complete transactions of a type.
func tellsTravellers(t payment.TransactionType) bool { return t.Takes() || t == payment.Refund }

// toTravellers adds an e-mail to each booking's lead traveller, and its copies.
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
		if len(h.payment.Payments) > 1 { // the charge covers all bookings together
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

// toMerchant adds an e-mail to each address of a merchant's setting.
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

// letter returns the data shared by all e-mails about the happening.
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

// add adds an e-mail. Without a valid address it is dead from the start: so it is visible, and can be sent once the address
// is corrected.
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
	case h.realTime.Sub(h.at) > giveUpAfter: // the job has not run for days; a sandbox's clock does not get here
		m.State, m.Answer = Dead, "The event was more than three days old when the e-mail was created."
	}
	if m.State != Waiting {
		m.NextAt, m.ForgetAt = time.Time{}, h.realTime.Add(remember)
	}
	h.packed = append(h.packed, m)
}

// toStaff creates the e-mails to people who work with the dashboard, in English as it is. Without an address it creates a dead one, which is
// visible. simulated is set if nothing real has happened.
func (m *Mails) toStaff(tx *store.Tx, site merchant.Site, simulated bool, e event.Event, kind Kind, list []string, letter Letter) []Mail {
	h := happening{facts: facts{site: site}, eventID: e.ID, at: e.At, outbox: m.onlyKept(simulated), realTime: sites.RealNow(tx)}
	letter.Language, letter.Sender, letter.Test = check.DefaultLanguage, site.Name, site.Sandbox
	letter.On, letter.Start, letter.End, letter.Until = day(civil.NoDay), day(civil.NoDay), day(civil.NoDay), day(civil.NoDay)
	if len(list) == 0 {
		list = []string{""}
	}
	for _, address := range list {
		letter.To = address
		h.add(kind, 0, false, address, letter)
	}
	return h.packed
}

// addresses splits a comma-separated setting into distinct addresses.
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
