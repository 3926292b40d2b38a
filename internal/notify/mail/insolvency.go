package mail

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/store"
)

// InsolvencyFacts is the data of an e-mail about the failure of a merchant.
type InsolvencyFacts struct {
	Event     event.Type        `json:"event"`
	Kind      insolvencies.Kind `json:"kind"`
	TriggerAt time.Time         `json:"trigger_at"`
	Evidence  string            `json:"evidence,omitempty"`
	Affected  int64             `json:"affected,omitempty"` // payments in the snapshot
	Page      string            `json:"page"`               // path below the dashboard's URL
}

// failures are the events about insolvencies that people get e-mails about.
var failures = []event.Type{event.InsolvencyReported, event.InsolvencyConfirmed, event.InsolvencyOpened, event.InsolvencyWithdrawn,
	event.InsolvencyClaimsClosed, event.InsolvencyClosed, event.InsolvencyReinstated}

// mailsAboutInsolvency creates the e-mails about the failure of a merchant: to operators when it is reported, so that one of them
// confirms it, and from then on to the site's admins. Outdated e-mails are not created.
func (m *Mails) mailsAboutInsolvency(tx *store.Tx, site merchant.Site, e event.Event) ([]Mail, error) {
	var details event.Details
	if err := json.Unmarshal(e.Details, &details); err != nil {
		return nil, err
	}
	i, err := insolvencies.ByID(tx, site.ID, e.ObjectID)
	if errors.Is(err, store.ErrNotFound) || err == nil && outdated(e.Type, i) {
		return nil, nil
	}
	var channel merchant.Channel
	if err == nil {
		channel, err = merchants.Channel(tx, site.ID, i.ChannelID)
	}
	if err != nil {
		return nil, err
	}
	kind, readers := Insolvency, people.Managers
	if e.Type == event.InsolvencyReported {
		kind, readers = InsolvencyReported, people.Operators
	}
	list, err := readers(tx, site.ID, maxCopies)
	if err != nil {
		return nil, err
	}
	letter := Letter{
		Channel: channel.Name, By: i.ReportedBy,
		Insolvency: &InsolvencyFacts{
			Event: e.Type, Kind: i.Kind, TriggerAt: i.TriggerAt, Evidence: i.Evidence, Affected: i.Snapshot.Lines,
			Page: fmt.Sprintf("/sites/%s/insolvencies/%d", site.Path, i.ID),
		},
	}
	return m.toStaff(tx, site, site.Sandbox, e, kind, list, letter), nil
}

// outdated reports whether an event no longer applies: a report that was decided, or a failure that was withdrawn. Only operators were
// notified of a report that was withdrawn before it was confirmed.
func outdated(t event.Type, i insolvencies.Insolvency) bool {
	switch {
	case t == event.InsolvencyReported:
		return i.State != insolvencies.Reported
	case t == event.InsolvencyWithdrawn:
		return i.ConfirmedAt.IsZero()
	}
	return i.State == insolvencies.Withdrawn
}

// aboutInsolvency reports the failure of a merchant. These mails are in English, as the dashboard is.
func (w *writer) aboutInsolvency(v *view, link string) {
	f, channel := w.Letter.Insolvency, clean(w.Channel, maxName)
	v.Greeting = w.say("mail.hello")
	v.Subject, v.Paragraphs = insolvencyText(f, w.merchant(), channel, inviter(w.By))
	v.Rows = append(v.Rows, row{"Type", kindWords(f.Kind)}, row{"Failed", f.TriggerAt.UTC().Format("2 January 2006 15:04") + " GMT"})
	if w.kind == InsolvencyReported || f.Event == event.InsolvencyConfirmed {
		v.Rows = append(v.Rows, row{"Evidence", clean(f.Evidence, maxAnswer)})
	}
	v.Title, v.Preheader, v.Footer = v.Subject, v.Paragraphs[0], w.merchant()
	if link != "" {
		text := "View insolvency"
		if w.kind == InsolvencyReported {
			text = "Review report"
		}
		v.Act = &act{text, link + f.Page}
	}
}

// insolvencyText is the subject of an e-mail and its paragraphs.
func insolvencyText(f *InsolvencyFacts, site, channel, by string) (subject string, paragraphs []string) {
	switch f.Event {
	case event.InsolvencyReported:
		return site + " reports that " + channel + " has failed", []string{
			by + " of " + site + " has reported that the merchant " + channel + " has failed.",
			"Nothing has changed yet: an operator must confirm it. From then on, none of the merchant's new payments is protected.",
		}
	case event.InsolvencyConfirmed:
		return channel + " is insolvent", []string{
			"The failure of the merchant " + channel + " is confirmed. From now on, none of its new payments is protected.",
			"The list of affected payments is being made.",
		}
	case event.InsolvencyOpened:
		affected := strconv.FormatInt(f.Affected, 10) + " affected payments"
		if f.Affected == 1 {
			affected = "1 affected payment"
		}
		return channel + ": " + affected, []string{
			"The list of payments affected by the failure of the merchant " + channel + " is ready: " + affected + ".",
			"People travelling now come first. Download the list as CSV or XLSX on the insolvency's page.",
		}
	case event.InsolvencyWithdrawn:
		return channel + " is not insolvent", []string{
			"The failure of the merchant " + channel + " was withdrawn. New payments are protected as before.",
			"Payments logged between confirmation and withdrawal stay unprotected.",
		}
	case event.InsolvencyClaimsClosed:
		return channel + ": claims closed", []string{"No more claims are taken for the failure of the merchant " + channel + "."}
	case event.InsolvencyReinstated:
		return channel + " is reinstated", []string{"The merchant " + channel + " is reinstated. Payments logged from now on can be protected again."}
	}
	return channel + ": insolvency closed", []string{
		"The insolvency of the merchant " + channel + " is closed. Its new payments stay unprotected until it is reinstated.",
	}
}

// kindWords names a kind of failure for people.
func kindWords(k insolvencies.Kind) string {
	text := strings.ReplaceAll(string(k), "_", " ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
