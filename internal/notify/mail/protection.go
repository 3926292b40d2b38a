package mail

import (
	"encoding/json"
	"errors"
	"fmt"

	"holdfast/internal/account/people"
	"holdfast/internal/book/underwriting"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/store"
)

// ProtectionFacts is the data of an e-mail about a protection request.
type ProtectionFacts struct {
	State    underwriting.State `json:"state"`
	Company  string             `json:"company,omitempty"`
	Website  string             `json:"website,omitempty"`
	Turnover int64              `json:"turnover,omitempty"` // of a year, in minor units of Currency
	Currency money.Currency     `json:"currency,omitempty"`
	Note     string             `json:"note,omitempty"` // the operator's
	Page     string             `json:"page"`           // path below the dashboard's URL
}

// mailsAboutProtection creates the e-mails about a protection request: to operators when it is sent, and to the site's
// admins when it is answered. If it has changed since, a later event reports it.
func (m *Mails) mailsAboutProtection(tx *store.Tx, site merchant.Site, e event.Event) ([]Mail, error) {
	var details event.Details
	if err := json.Unmarshal(e.Details, &details); err != nil {
		return nil, err
	}
	r, err := underwriting.Stored(tx, site.ID, e.ObjectID)
	if errors.Is(err, store.ErrNotFound) || err == nil && string(r.State) != details.Status {
		return nil, nil
	}
	kind, readers := ProtectionAnswered, people.Managers
	if e.Type == event.ChannelProtectionAsked {
		kind, readers = ProtectionAsked, people.Operators
	}
	var list []string
	if err == nil {
		list, err = readers(tx, site.ID, maxCopies)
	}
	if err != nil {
		return nil, err
	}
	letter := Letter{
		Channel: r.ChannelName, By: r.AskedBy,
		Protection: &ProtectionFacts{
			State: r.State, Company: r.Facts.Company, Website: r.Facts.Website, Turnover: r.Facts.Turnover, Currency: r.Facts.Currency,
			Page: fmt.Sprintf("/sites/%s/channels/%d/protection", site.Path, r.ChannelID),
		},
	}
	if kind == ProtectionAnswered {
		letter.Protection.Note = r.Note
	}
	return m.toStaff(tx, site, site.Sandbox, e, kind, list, letter), nil
}

// aboutProtection reports a protection request or the operator's decision. These mails are in English, as the dashboard is.
func (w *writer) aboutProtection(v *view, link string) {
	p, channel := w.Letter.Protection, clean(w.Channel, maxName)
	v.Greeting = w.say("mail.hello")
	fact := func(label, value string) {
		if value != "" {
			v.Rows = append(v.Rows, row{label, value})
		}
	}
	switch {
	case w.kind == ProtectionAsked:
		v.Subject = w.merchant() + " requests protection for " + channel
		v.Paragraphs = []string{inviter(w.By) + " of " + w.merchant() + " has requested protection for the merchant " + channel + ". The request is waiting for your answer."}
	case p.State == underwriting.Taken:
		v.Subject = "Protection: " + channel + " accepted"
		v.Paragraphs = []string{"The operator accepted the request for the merchant " + channel + ". Payments are protected once the merchant's mode changes."}
	case p.State == underwriting.Refused:
		v.Subject = "Protection: request for " + channel + " declined"
		v.Paragraphs = []string{"The operator declined the request for the merchant " + channel + ". You can change it and send it again."}
	default:
		v.Subject = "Protection: question about " + channel
		v.Paragraphs = []string{"The operator has a question about the merchant " + channel + ". Answer it on the merchant's page and send the request again."}
	}
	fact("Note from the operator", clean(p.Note, maxAnswer))
	if w.kind == ProtectionAsked {
		fact("Company", clean(p.Company, maxName))
		fact("Website", clean(p.Website, maxName))
		if p.Turnover > 0 && p.Currency != "" {
			fact("Annual turnover", w.money(p.Turnover, p.Currency))
		}
	}
	v.Title, v.Preheader, v.Footer = v.Subject, v.Paragraphs[0], w.merchant()
	if link != "" {
		v.Act = &act{"View request", link + p.Page}
	}
}
