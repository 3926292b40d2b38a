package mail

import (
	"cmp"
	"errors"
	"fmt"

	"holdfast/internal/account/people"
	"holdfast/internal/book/disputes"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
)

// DisputeFacts is the data of an e-mail about a dispute that has to be answered.
type DisputeFacts struct {
	Source   string         `json:"source"`
	CaseID   string         `json:"case_id"`
	Stage    dispute.Stage  `json:"stage"`
	Amount   int64          `json:"amount,omitempty"` // minor units of Currency
	Currency money.Currency `json:"currency,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Due      day            `json:"due"`
	Page     string         `json:"page"` // path below the dashboard's URL
}

// mailsAboutDispute creates the e-mails about a dispute whose last day to answer is near: to the merchant's chargeback_mail or, if there is
// none, to the site's admins. It creates none if the dispute has been answered since.
func (m *Mails) mailsAboutDispute(tx *store.Tx, site merchant.Site, e event.Event) ([]Mail, error) {
	c, err := disputes.ByID(tx, site.ID, e.ObjectID)
	if errors.Is(err, store.ErrNotFound) || err == nil && c.Status != dispute.Open {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	letter := Letter{
		Dispute: &DisputeFacts{
			Source: c.Source, CaseID: c.CaseID, Stage: c.Stage, Amount: c.Amount, Currency: c.Currency, Reason: cmp.Or(c.Reason, c.ReasonCode),
			Due: day(c.DueOn), Page: fmt.Sprintf("/sites/%s/disputes/%d", site.Path, c.ID),
		},
	}
	readers, simulated := []string{}, false
	if c.ChannelID != 0 {
		channel, err := merchants.Channel(tx, site.ID, c.ChannelID)
		if err != nil {
			return nil, err
		}
		letter.Channel, simulated, readers = channel.Name, channel.WasTest, addresses(channel.ChargebackMail)
	}
	if len(readers) == 0 {
		if readers, err = people.Managers(tx, site.ID, maxCopies); err != nil {
			return nil, err
		}
	}
	return m.toStaff(tx, site, site.Sandbox || simulated, e, DisputeDue, readers, letter), nil
}

// aboutDispute reminds of a dispute. These mails are in English, as the dashboard is.
func (w *writer) aboutDispute(v *view, link string) {
	f := w.Letter.Dispute
	due := civil.Day(f.Due).Long()
	v.Greeting = w.say("mail.hello")
	v.Subject = fmt.Sprintf("Answer dispute %s by %s", clean(f.CaseID, maxName), due)
	text := "A dispute is open and must be answered by " + due + "."
	if w.Channel != "" {
		text = "A dispute of a payment to " + clean(w.Channel, maxName) + " is open and must be answered by " + due + "."
	}
	v.Paragraphs = []string{text, "Send the evidence to your processor, or accept the dispute. Without an answer in time, it is lost."}
	v.Rows = append(v.Rows, row{"Processor", clean(dispute.SourceText(f.Source), maxName)}, row{"Case", clean(f.CaseID, maxName)})
	if f.Currency != "" {
		v.Rows = append(v.Rows, row{"Amount", string(f.Currency) + " " + money.Format(f.Amount, f.Currency)})
	}
	if f.Reason != "" {
		v.Rows = append(v.Rows, row{"Reason", clean(f.Reason, maxAnswer)})
	}
	v.Title, v.Preheader, v.Footer = v.Subject, v.Paragraphs[0], w.merchant()
	if link != "" {
		v.Act = &act{"View dispute", link + f.Page}
	}
}
