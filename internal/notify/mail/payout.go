package mail

import (
	"errors"
	"fmt"
	"strconv"

	"holdfast/internal/account/people"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
)

// PayoutFacts is the data of an e-mail about a payout.
type PayoutFacts struct {
	State         claim.PayoutState `json:"state"`
	Number        int64             `json:"number"`
	Amount        int64             `json:"amount"` // minor units of Currency
	Currency      money.Currency    `json:"currency"`
	Beneficiary   string            `json:"beneficiary,omitempty"`
	BankReference string            `json:"bank_reference,omitempty"`
	Failure       string            `json:"failure,omitempty"`
	Others        int64             `json:"others,omitempty"` // other payouts that wait for a signature
	Page          string            `json:"page"`             // path below the dashboard's URL
}

// payouts are the events about payouts that people get e-mails about.
var payouts = []event.Type{event.PayoutPlanned, event.PayoutPaid, event.PayoutFailed}

// mailsAboutPayout creates the e-mails about a payout: to the people who sign it off when it is planned, and to the site's admins when it was
// paid or has failed. While payouts wait for a signature, only the first of them gets e-mails.
func (m *Mails) mailsAboutPayout(tx *store.Tx, site merchant.Site, e event.Event) ([]Mail, error) {
	p, err := claims.PayoutByID(tx, site.ID, e.ObjectID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	readers, others := people.Managers, int64(0)
	if e.Type == event.PayoutPlanned {
		readers = people.Signers
		first, count, err := claims.Planned(tx, site.ID)
		if err != nil || first != p.ID {
			return nil, err
		}
		others = count - 1
	}
	channel, err := merchants.Channel(tx, site.ID, p.ChannelID)
	if err != nil {
		return nil, err
	}
	list, err := readers(tx, site.ID, maxCopies)
	if err != nil {
		return nil, err
	}
	letter := Letter{
		Channel: channel.Name,
		Payout: &PayoutFacts{
			State: p.State, Number: p.Number, Amount: p.Amount, Currency: p.Quote.To, Beneficiary: p.Beneficiary,
			BankReference: p.BankReference, Failure: p.Failure, Others: others, Page: fmt.Sprintf("/sites/%s/payouts/%d", site.Path, p.ID),
		},
	}
	return m.toStaff(tx, site, site.Sandbox, e, PayoutKind, list, letter), nil
}

// aboutPayout says what happened to a payout. These mails are in English, as the dashboard is.
func (w *writer) aboutPayout(v *view, link string) {
	f, channel := w.Letter.Payout, clean(w.Channel, maxName)
	v.Greeting = w.say("mail.hello")
	number, amount := strconv.FormatInt(f.Number, 10), money.FormatSigned(f.Amount, f.Currency)
	text := ""
	switch f.State {
	case claim.PayoutPaid:
		v.Subject = "Payout " + number + " was paid"
		text = fmt.Sprintf("Payout %s of %s for the claims of the merchant %s was paid.", number, amount, channel)
	case claim.PayoutFailed:
		v.Subject = "Payout " + number + " has failed"
		text = fmt.Sprintf("Payout %s of %s for the claims of the merchant %s was not paid. Its claims are planned again.", number, amount, channel)
	default:
		v.Subject = "Payout " + number + " is waiting to be signed off"
		text = fmt.Sprintf("Payout %s of %s for the claims of the merchant %s is waiting to be signed off.", number, amount, channel)
	}
	v.Paragraphs = append(v.Paragraphs, text)
	switch {
	case f.Others == 1:
		v.Paragraphs = append(v.Paragraphs, "Another payout is waiting, too.")
	case f.Others > 1:
		v.Paragraphs = append(v.Paragraphs, fmt.Sprintf("Another %d payouts are waiting, too.", f.Others))
	}
	v.Rows = append(v.Rows, row{"Merchant", channel}, row{"Amount", amount})
	for _, r := range []row{
		{"Beneficiary", clean(f.Beneficiary, maxAnswer)}, {"Bank reference", clean(f.BankReference, maxAnswer)}, {"Reason", clean(f.Failure, maxAnswer)},
	} {
		if r.Value != "" {
			v.Rows = append(v.Rows, r)
		}
	}
	v.Title, v.Preheader, v.Footer = v.Subject, text, w.merchant()
	if link != "" {
		v.Act = &act{"View payout", link + f.Page}
	}
}
