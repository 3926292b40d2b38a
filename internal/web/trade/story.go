package trade

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/notify/mail"
	"holdfast/internal/platform/events"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// mostInStory is the maximum number of payments, e-mails and events on an object's page.
const mostInStory = 100

// first is the first page of such a list.
func first(down bool) store.Page {
	return store.Page{Number: 1, Size: mostInStory, Offset: -1, OrderBy: "id", Descending: down}
}

// storyPage is the data of a booking's page.
type storyPage struct {
	Booking      booking.Booking
	Figures      []figure
	Facts        []kit.Fact
	Payments     *kit.Table
	MorePayments string // URL of all, if the page does not have them all
	Explained    explained
	Mails        *kit.Table
	History      []happening
}

// figure is a key figure at the top of a page.
type figure struct{ Text, Value, Href string }

// explained shows how the protection of some payments was computed.
type explained struct {
	Summary     string
	Steps       []protection.Step
	Allocations []explainedAllocation
	More        bool
	Open        bool // show the steps expanded
}

type explainedAllocation struct {
	Title, Href, State, Tone string
	Summary                  string // empty where it is that of the whole
	Facts                    []kit.Fact
	Steps                    []protection.Step
}

// happening is an entry in a booking's history.
type happening struct {
	At         time.Time
	What, Text string
	Href       string
}

func (p *pages) booking(v *kit.Visit) error {
	b, err := p.bookingOf(v)
	if err != nil {
		return err
	}
	ctx := v.R.Context()
	paid, err := p.app.Payments.List(ctx, v.Actor, payments.TransactionFilter{Bookings: []int64{b.ID}}, first(true))
	if err != nil {
		return err
	}
	report, err := p.app.Protection.ExplainBooking(ctx, v.Actor, b.ID, report.ProtectionQuery{},
		store.Page{Number: 1, Size: 20, Offset: -1, OrderBy: "id"})
	if err != nil {
		return err
	}
	mails, err := p.app.Mails.List(ctx, v.Actor, mail.Filter{Bookings: []int64{b.ID}}, first(true))
	if err != nil {
		return err
	}
	recorded, err := p.app.Events.List(ctx, v.Actor, events.Filter{Kind: event.Booking, Object: b.ID, Size: mostInStory})
	if err != nil {
		return err
	}
	names, err := p.channelNames(v, []int64{b.ChannelID})
	if err != nil {
		return err
	}
	data := storyPage{
		Booking: b, Figures: storyFigures(b, report), Facts: bookingFacts(v, b, names[b.ChannelID], report.Sums.LastDay),
		Payments: paymentsOfStory(v, paid.Items), Explained: explainedOf(v, report), Mails: mailsOf(v, mails.Items),
		History: history(v, b, paid.Items, mails.Items, recorded.Items),
	}
	if paid.More {
		data.MorePayments = v.At("/payments?bookings=" + strconv.FormatInt(b.ID, 10))
	}
	return v.Show(p.Pages, "booking.html", kit.Page{
		Title: bookingName(b), Menu: "/bookings", Path: []kit.Link{{Text: "Bookings", Href: v.At("/bookings")}},
		Acts: p.actsOfBooking(v, b), Data: data,
	})
}

// mayLogPayments reports whether the user may log payments with a form: where this service takes payments itself, a card is
// needed.
func (p *pages) mayLogPayments(v *kit.Visit) bool {
	return v.Can(access.WriteTransactions) && !p.app.Payments.Profile.Processes()
}

func (p *pages) actsOfBooking(v *kit.Visit, b booking.Booking) (acts []kit.Link) {
	at := bookingAt(v, b.ID)
	if p.mayLogPayments(v) && b.Total > b.Sums.Held {
		acts = append(acts, kit.Link{Text: "Log a payment", Href: at + "/pay"})
	}
	if v.Can(access.WriteBookings) {
		acts = append(acts, kit.Link{Text: "Edit", Href: at + "/edit", Plain: true})
		if len(b.TransactionIDs) == 0 {
			acts = append(acts, kit.Link{Text: "Delete", Href: at + "/delete", Plain: true})
		}
	}
	return append(acts, kit.Link{Text: "Certificate", Href: at + "/certificate", Plain: true})
}

func storyFigures(b booking.Booking, r report.BookingProtection) []figure {
	sums := r.Sums
	list := []figure{
		{Text: "Total", Value: kit.Money(b.Total, b.Currency)}, {Text: "Paid", Value: kit.Money(b.Sums.Net, b.Currency)},
		{Text: "Unpaid", Value: kit.Money(b.Unpaid(), b.Currency)},
	}
	protected := figure{Text: "Protected now", Value: kit.Money(sums.E1+sums.E2, b.Currency)}
	if sums.Simulated {
		protected.Text = "Protected (test)"
	}
	return append(list, protected)
}

func bookingFacts(v *kit.Visit, b booking.Booking, channel string, lastDay civil.Day) []kit.Fact {
	today := civil.DayOf(v.Now())
	status := bookingState(b.StatusOn(today))
	travelled := kit.Day(b.End)
	if b.Start != civil.NoDay {
		travelled = kit.Day(b.Start) + " – " + travelled
	}
	list := []kit.Fact{
		{Text: "Status", Value: status.Text, Tone: status.Tone},
		{Text: "Merchant", Value: channel, Href: v.At("/channels/" + strconv.FormatInt(b.ChannelID, 10))},
		{Text: "Travel", Value: travelled}, {Text: "Dispute deadline", Value: kit.Day(lastDay)}, {Text: "Lead traveller", Value: strings.TrimSpace(b.Firstname + " " + b.Surname)},
		{Text: "E-mail", Value: b.Email}, {Text: "Country", Value: choices.Country(b.Country)}, {Text: "Reference", Value: b.Reference},
		{Text: "ID", Value: strconv.FormatInt(b.ID, 10)}, {Text: "Also protected by", Value: kit.Say(string(b.OtherProtection()))},
		{Text: "Language", Value: choices.Language(b.Language)}, {Text: "Logged", Value: kit.Instant(b.CreatedAt)}, {Text: "Logged by", Value: b.Author},
	}
	if b.Pax > 0 {
		list = append(list, kit.Fact{Text: "Travellers", Value: strconv.FormatInt(b.Pax, 10)})
	}
	if len(b.Suppliers) > 0 {
		var ids []string
		for _, id := range b.Suppliers {
			ids = append(ids, strconv.FormatInt(id, 10))
		}
		list = append(list, kit.Fact{Text: "Suppliers", Value: strings.Join(ids, ", ")})
	}
	return slices.DeleteFunc(list, func(f kit.Fact) bool { return f.Value == "" })
}

// explainedOf explains the protection of a booking and each of its payments.
func explainedOf(v *kit.Visit, r report.BookingProtection) explained {
	made := explained{Summary: r.Summary, Steps: r.Sums.Steps, More: r.Sums.Allocations > int64(len(r.Allocations.Items))}
	for _, x := range r.Allocations.Items {
		made.Allocations = append(made.Allocations, explainAllocation(v, x, "Payment "+strconv.FormatInt(x.TransactionID, 10)))
	}
	return made
}

func explainAllocation(v *kit.Visit, x protection.Explained, title string) explainedAllocation {
	state, tone := "Not protected", "warn"
	switch {
	case x.Decision.Protected && x.Decision.Simulated:
		state, tone = "Protected (test)", "calm"
	case x.Decision.Protected:
		state, tone = "Protected", "good"
	}
	facts := []kit.Fact{
		{Text: "Paid", Value: kit.Money(x.Amount, x.Currency)}, {Text: "Remaining", Value: kit.Money(x.Remaining, x.Currency)},
		{Text: "Undelivered", Value: kit.Money(x.Undelivered, x.Currency)}, {Text: "Dispute deadline", Value: kit.Day(x.Terms.LastDay)},
	}
	if x.HasValue {
		facts = append(facts, kit.Fact{Text: "Value", Value: kit.Money(x.Value, x.PolicyCurrency)})
	} else {
		facts = append(facts, kit.Fact{Text: "Value", Value: "Waiting for a rate", Tone: "warn"})
	}
	if x.Premium.Priced {
		facts = append(facts, kit.Fact{Text: "Premium", Value: kit.Money(x.Premium.Booked, x.PolicyCurrency)})
		if x.Premium.State.Premium != x.Premium.Booked {
			facts = append(facts, kit.Fact{Text: "Premium of the state", Value: kit.Money(x.Premium.State.Premium, x.PolicyCurrency)})
		}
	}
	return explainedAllocation{
		Title: title, Href: paymentAt(v, x.TransactionID), State: state, Tone: tone, Summary: x.Summary, Facts: facts,
		Steps: append(slices.Clone(x.Steps), x.Premium.Steps...),
	}
}

func mailsOf(v *kit.Visit, list []mail.Mail) *kit.Table {
	t := kit.Table{Bare: true, Name: "mails", Caption: "E-mails", Columns: []kit.Column{
		{Name: "queued", Title: "Created"}, {Name: "kind", Title: "Type"}, {Name: "to", Title: "To"}, {Name: "state", Title: "Status"},
	}}
	for _, m := range list {
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.AtInstant(m.QueuedAt), kit.Words(kit.Say(string(m.Kind))), kit.Words(m.Recipient), mailState(m.State),
		}})
	}
	return v.Table(t)
}

func mailState(s mail.State) kit.Cell {
	tone := map[mail.State]string{mail.Sent: "good", mail.Dead: "bad", mail.Unknown: "warn"}[s]
	return kit.State(string(s), cmp.Or(tone, "calm"))
}

// history is a booking's history, latest first. Events are kept for ninety days; entries from the booking and its payments
// are permanent.
func history(v *kit.Visit, b booking.Booking, paid []payment.Transaction, mails []mail.Mail, recorded []event.Event) (list []happening) {
	for _, e := range slices.Backward(recorded) { // the events are oldest first
		if e.Type == event.BookingCreated {
			continue
		}
		what := strings.TrimPrefix(string(e.Type), "booking.")
		if e.Type == event.BookingUpdated {
			what = "changed"
		}
		list = append(list, happening{At: e.At, What: "Booking " + what})
	}
	for _, t := range paid {
		list = append(list, happening{
			At: t.CreatedAt, What: kit.Say(string(t.Type)), Href: paymentAt(v, t.ID),
			Text: kit.Money(t.Total, t.Currency) + ", " + strings.ToLower(kit.Say(string(t.Status))),
		})
	}
	for _, m := range mails {
		if m.State == mail.Sent {
			list = append(list, happening{At: m.QueuedAt, What: "E-mail sent", Text: kit.Say(string(m.Kind)) + " to " + m.Recipient})
		}
	}
	list = append(list, happening{At: b.CreatedAt, What: "Booking logged", Text: "by " + b.Author})
	slices.SortStableFunc(list, func(a, b happening) int { return b.At.Compare(a.At) })
	return list
}
