package failures

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/paper"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/ops/rehearsal"
	"holdfast/internal/web/kit"
)

// insolvencyView is the data of the page of an insolvency.
type insolvencyView struct {
	Insolvency insolvencies.Insolvency
	Next       string // what happens next, or who has to do what
	Tone       string
	Facts      []kit.Fact
	Steps      []step
	Figures    *figuresView // nil until there is a snapshot
	Claims     string       // URL of its claims
	Affected   *kit.Table   // nil until there is a snapshot
	Snapshot   string       // URL of its text; "" without permission to export
	History    []happened
}

// step is one of the steps of every insolvency.
type step struct {
	Name, Text, Tone string
	At               time.Time // zero: not yet
}

// happened is a line of the history.
type happened struct {
	At         time.Time
	What, Text string
}

// insolvency shows one insolvency: how far it is, what it affects, and what happened.
func (p *pages) insolvency(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	i, err := p.app.Insolvencies.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	c, err := p.app.Channels.Get(v.R.Context(), v.Actor, i.ChannelID)
	if err != nil {
		return err
	}
	history, err := p.app.Insolvencies.History(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	view := insolvencyView{Insolvency: i, Facts: factsOf(v, i, c), Steps: stepsOf(i, history), History: historyOf(history)}
	view.Next, view.Tone = nextOf(v, i)
	acts := append(rehearsalActs(v, i), actsOf(v, i)...)
	if !i.Snapshot.MadeAt.IsZero() {
		if view.Figures, err = p.figures(v, id); err != nil {
			return err
		}
		if view.Figures.Approved {
			acts = slices.DeleteFunc(acts, func(l kit.Link) bool { return l.Href == at(v, id, "/withdraw") })
		}
		view.Claims = v.At("/claims?insolvencies=" + kit.Ident(id).Plain)
		if view.Affected, err = p.affected(v, i); err != nil {
			return err
		}
		if v.Can(access.Export) {
			view.Snapshot = at(v, id, "/snapshot.csv")
		}
	}
	return v.Show(p.Pages, "insolvency.html", kit.Page{
		Title: "Failure of " + c.Name, Menu: menu, Path: above(v), Acts: acts, Data: view,
		Refresh: i.State == insolvencies.Confirmed, Wide: true,
	})
}

// nextOf describes the next step in a sentence, with its tone.
func nextOf(v *kit.Visit, i insolvencies.Insolvency) (text, tone string) {
	own := i.ReportedByID == v.User.ID && !v.Site.Sandbox
	switch i.State {
	case insolvencies.Reported:
		switch {
		case v.Can(access.DecideFailures) && !own:
			return "Nothing has changed yet. If you confirm this, no payment logged from that moment on is protected.", "warned"
		case own && v.Can(access.DecideFailures):
			return "Nothing has changed yet. You reported this yourself, so another operator must confirm it.", "warned"
		}
		return "Nothing has changed yet. An operator must confirm it.", "warned"
	case insolvencies.Confirmed:
		return "New payments are no longer protected. The snapshot of the affected payments is being made.", "wrong"
	case insolvencies.Open:
		return "New payments are not protected. Cardholders dispute their payments with their banks.", "wrong"
	case insolvencies.ClaimsClosed:
		return "New payments are not protected. No more claims are taken.", "wrong"
	case insolvencies.Withdrawn:
		return "This was withdrawn: the merchant has not failed. Payments logged between confirmation and withdrawal stay unprotected.", ""
	case insolvencies.Closed:
		if i.ReinstatedAt.IsZero() {
			return "New payments are not protected until the merchant is reinstated, which takes two people.", "warned"
		}
		return "The merchant is reinstated: payments logged since then can be protected.", "done"
	}
	return "", ""
}

func factsOf(v *kit.Visit, i insolvencies.Insolvency, c merchant.Channel) []kit.Fact {
	state := kit.Say(i.State)
	facts := []kit.Fact{
		{Text: "Status", Value: state, Tone: tones[i.State]}, {Text: "Merchant", Value: c.Name, Href: v.At("/channels/" + kit.Ident(c.ID).Plain)},
		{Text: "Type", Value: kindOf(i.Kind)}, {Text: "Failed", Value: kit.Instant(i.TriggerAt)},
	}
	add := func(text, value string) {
		if value != "" {
			facts = append(facts, kit.Fact{Text: text, Value: value})
		}
	}
	if !i.Snapshot.MadeAt.IsZero() {
		add("Affected payments", kit.Count(i.Snapshot.Lines))
	}
	if rehearsal.Running(i) {
		add("Rehearsal", fmt.Sprintf("Day %d of %d", rehearsal.DayAt(i, v.Now()), rehearsal.Days))
	}
	if i.ProcessingAllowed {
		add("Refunds by the processor", "Allowed")
	}
	return facts
}

// stepsOf are the steps of an insolvency, with those that are still to come.
func stepsOf(i insolvencies.Insolvency, history []insolvencies.Happened) []step {
	when := map[string]insolvencies.Happened{}
	for _, h := range history {
		when[h.Step()] = h
	}
	by := func(action string) string {
		if h, ok := when[action]; ok && h.By != "" {
			return "by " + h.By
		}
		return ""
	}
	confirmed := by("confirm")
	if i.Alone {
		confirmed += ", without a second operator"
	}
	steps := []step{
		{Name: "Reported", Text: by("report"), At: when["report"].At}, {Name: "Confirmed", Text: confirmed, At: when["confirm"].At},
		{Name: "Snapshot made", At: when["open"].At}, {Name: "Claims closed", Text: by("close_claims"), At: when["close_claims"].At},
		{Name: "Closed", Text: by("close"), At: when["close"].At},
	}
	if i.State == insolvencies.Withdrawn {
		steps = append(steps[:1], step{Name: "Withdrawn", Text: by("withdraw"), At: when["withdraw"].At})
		if !i.ConfirmedAt.IsZero() {
			steps = append(steps[:1], step{Name: "Confirmed", Text: confirmed, At: when["confirm"].At}, steps[1])
		}
	} else if !i.ReinstatedAt.IsZero() {
		steps = append(steps, step{Name: "Reinstated", Text: by("reinstate"), At: i.ReinstatedAt})
	}
	for n := range steps {
		steps[n].Tone = "good"
		if steps[n].At.IsZero() {
			steps[n].Tone = "calm"
		}
	}
	return steps
}

// words are the display names of the actions in the history.
var words = map[string]string{
	"report": "Reported", "confirm": "Confirmed", "open": "Snapshot made", "withdraw": "Withdrawn", "close_claims": "Claims closed", "close": "Closed",
	"reinstate": "Merchant reinstated", "allow_processing": "Refunds by the processor allowed",
}

func historyOf(list []insolvencies.Happened) (lines []happened) {
	for _, h := range list {
		what, ok := words[h.Step()]
		if !ok {
			what = kit.Say(h.Step())
		}
		lines = append(lines, happened{h.At, what, saidBy(h.By, h.Reason)})
	}
	return lines
}

// affected is a page of the payments in the snapshot, those of people travelling now first.
func (p *pages) affected(v *kit.Visit, i insolvencies.Insolvency) (*kit.Table, error) {
	page, err := v.PageOf(insolvencies.AffectedOrders, false)
	if err != nil {
		return nil, err
	}
	list, err := p.app.Insolvencies.Affected(v.R.Context(), v.Actor, i.ID, page)
	if err != nil {
		return nil, err
	}
	t := kit.Table{
		Name: "affected", Caption: "Affected payments", Number: page.Number, Total: -1, More: list.More,
		Columns: []kit.Column{
			{Name: "traveller", Title: "Traveller"}, {Name: "travel", Title: "Travel"}, {Name: "date_start", Title: "From"}, {Name: "date", Title: "Until"},
			{Name: "booking", Title: "Booking"}, {Name: "payment", Title: "Payment", Hidden: true},
			{Name: "card", Title: "Card", Hidden: true}, {Name: "remaining", Title: "Not refunded", Currency: "currencies"},
			{Name: "undelivered", Title: "Undelivered", Currency: "currencies"}, {Name: "last_day_of_dispute", Title: "Dispute by"},
			{Name: "reason", Title: "Eligible", Minor: true}, {Name: "email", Title: "E-mail", Hidden: true},
			{Name: "booking_reference", Title: "Reference", Hidden: true}, {Name: "country", Title: "Country", Hidden: true},
			{Name: "other_protection", Title: "Other protection", Hidden: true}, {Name: "acquirer_reference", Title: "Acquirer reference", Hidden: true},
		},
		Empty: kit.Empty{Title: "No affected payments", Text: "When the merchant failed, all its payments were refunded, or could no longer be disputed."},
	}
	if v.Can(access.Export) {
		t.Files = []kit.Link{{Text: "CSV", Href: at(v, i.ID, "/affected.csv")}, {Text: "XLSX", Href: at(v, i.ID, "/affected.xlsx")}}
	}
	today := civil.DayOf(v.Now())
	for _, a := range list.Items {
		t.Rows = append(t.Rows, affectedRow(v, a, today))
	}
	return v.Table(t), nil
}

// affectedRow is a payment in the snapshot. Its first cell links to the booking.
func affectedRow(v *kit.Visit, a insolvencies.Affected, today civil.Day) kit.Row {
	first := a.Start
	if first == civil.NoDay {
		first = a.End
	}
	travel := kit.State("upcoming", "")
	switch {
	case a.Travelling:
		travel = kit.State("travelling now", "bad")
	case a.End < today:
		travel = kit.State("back", "calm")
	}
	card := kit.Words(strings.TrimSpace(kit.Say(a.Scheme.Label()) + "\u00a0" + a.LastFour))
	eligible := kit.State("yes", "good")
	if !a.Eligible() {
		eligible = kit.State(string(a.Ineligible), "calm")
	}
	name := a.Firstname + " " + a.Surname
	booking, payment := kit.Ident(a.BookingID), kit.Ident(a.TransactionID)
	booking.Href, payment.Href = v.At("/bookings/"+booking.Plain), v.At("/payments/"+payment.Plain)
	return kit.Row{Href: booking.Href, Cells: []kit.Cell{
		kit.Words(name), travel, kit.OnDay(first), kit.OnDay(a.End), booking, payment, card, kit.Sum(a.Remaining, a.Currency), kit.Sum(a.Undelivered, a.Currency),
		kit.OnDay(a.LastDay), eligible, kit.Words(a.Email), kit.Words(a.BookingReference), kit.Words(a.Country),
		kit.State(string(a.OtherProtection), ""), kit.Words(a.AcquirerReference),
	}}
}

// affectedCSV sends all affected payments with all columns.
func (p *pages) affectedCSV(v *kit.Visit) error {
	return p.download(v, "affected.csv", "text/csv; charset=utf-8", func(id int64, w io.Writer) error {
		return paper.WriteAffectedCSV(w, p.app.Insolvencies.AllAffected(v.R.Context(), v.Actor, id))
	})
}

// affectedXLSX sends them as a workbook.
func (p *pages) affectedXLSX(v *kit.Visit) error {
	return p.download(v, "affected.xlsx", spreadsheet, func(id int64, w io.Writer) error {
		return paper.WriteAffectedXLSX(w, p.app.Insolvencies.AllAffected(v.R.Context(), v.Actor, id))
	})
}

// snapshot sends the text whose hash is that of the snapshot.
func (p *pages) snapshot(v *kit.Visit) error {
	return p.download(v, "snapshot.csv", "text/csv; charset=utf-8", func(id int64, w io.Writer) error {
		return p.app.Insolvencies.WriteSnapshot(v.R.Context(), v.Actor, id, w)
	})
}

// download sends a file of an insolvency that has a snapshot.
func (p *pages) download(v *kit.Visit, name, kind string, write func(id int64, w io.Writer) error) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	if _, err := p.app.Insolvencies.Opened(v.R.Context(), v.Actor, id); err != nil {
		return err
	}
	return v.Stream("insolvency-"+kit.Ident(id).Plain+"-"+name, kind, func(w io.Writer) error { return write(id, w) })
}
