package trade

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/events"
	"holdfast/internal/mail"
	"holdfast/internal/protection"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/shell"
)

// mostInStory is how many payments, mails and events a page about one object shows.
const mostInStory = 100

// first is the first page of a list of a story.
func first(down bool) travel.Page {
	return travel.Page{Number: 1, Size: mostInStory, Offset: -1, OrderBy: "id", Descending: down}
}

// storyPage is what the page of a booking shows.
type storyPage struct {
	Booking      travel.Booking
	Figures      []figure
	Facts        []shell.Fact
	Payments     *shell.Table
	MorePayments string // the address of all, where there are more than the page has
	Explained    explained
	Mails        *shell.Table
	History      []happening
}

// figure is one number at the head of a page.
type figure struct{ Text, Value, Href string }

// explained is how the protection of some payments was computed.
type explained struct {
	Steps       []protection.Step
	Allocations []explainedAllocation
	More        bool
	Open        bool // show the steps at once
}

type explainedAllocation struct {
	Title, Href, State, Tone string
	Facts                    []shell.Fact
	Steps                    []protection.Step
}

// happening is one thing in the history of a booking.
type happening struct {
	At         time.Time
	What, Text string
	Href       string
}

func (p *pages) booking(v *shell.Visit) error {
	b, err := p.bookingOf(v)
	if err != nil {
		return err
	}
	ctx := v.R.Context()
	paid, err := p.app.Payments.List(ctx, v.Actor, travel.TransactionFilter{Bookings: []int64{b.ID}}, first(true))
	if err != nil {
		return err
	}
	report, err := p.app.Protection.ExplainBooking(ctx, v.Actor, b.ID, reports.ProtectionQuery{},
		travel.Page{Number: 1, Size: 20, Offset: -1, OrderBy: "id"})
	if err != nil {
		return err
	}
	mails, err := p.app.Mails.List(ctx, v.Actor, mail.Filter{Bookings: []int64{b.ID}}, first(true))
	if err != nil {
		return err
	}
	told, err := p.app.Events.List(ctx, v.Actor, events.Filter{Kind: events.Booking, Object: b.ID, Size: mostInStory})
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
		History: history(v, b, paid.Items, mails.Items, told.Items),
	}
	if paid.More {
		data.MorePayments = v.At("/payments?bookings=" + strconv.FormatInt(b.ID, 10))
	}
	return v.Show(p.Pages, "booking.html", shell.Page{
		Title: bookingName(b), Menu: "/bookings", Path: []shell.Link{{Text: "Bookings", Href: v.At("/bookings")}},
		Acts: p.actsOfBooking(v, b), Data: data,
	})
}

// mayLogPayments says whether the user may report payments by a form: where this service takes them itself, a card is needed.
func (p *pages) mayLogPayments(v *shell.Visit) bool {
	return v.Can(auth.WriteTransactions) && !p.app.Payments.Profile.Processes()
}

func (p *pages) actsOfBooking(v *shell.Visit, b travel.Booking) (acts []shell.Link) {
	at := bookingAt(v, b.ID)
	if p.mayLogPayments(v) && b.Total > b.Sums.Held {
		acts = append(acts, shell.Link{Text: "Log a payment", Href: at + "/pay"})
	}
	if v.Can(auth.WriteBookings) {
		acts = append(acts, shell.Link{Text: "Change", Href: at + "/edit", Plain: true})
		if len(b.TransactionIDs) == 0 {
			acts = append(acts, shell.Link{Text: "Delete", Href: at + "/delete", Plain: true})
		}
	}
	return append(acts, shell.Link{Text: "Certificate", Href: at + "/certificate", Plain: true})
}

func storyFigures(b travel.Booking, r reports.BookingProtection) []figure {
	sums := r.Sums
	list := []figure{
		{Text: "Total", Value: shell.Money(b.Total, b.Currency)}, {Text: "Paid", Value: shell.Money(b.Sums.Net, b.Currency)},
		{Text: "Not paid yet", Value: shell.Money(b.Unpaid(), b.Currency)},
	}
	protected := figure{Text: "Protected now", Value: shell.Money(sums.E1+sums.E2, b.Currency)}
	if sums.Simulated {
		protected.Text = "Protected, as a test"
	}
	return append(list, protected)
}

func bookingFacts(v *shell.Visit, b travel.Booking, channel string, lastDay civil.Day) []shell.Fact {
	today := civil.DayOf(v.Now())
	status := bookingState(b.StatusOn(today))
	travelled := shell.Day(b.End)
	if b.Start != civil.NoDay {
		travelled = shell.Day(b.Start) + " – " + travelled
	}
	list := []shell.Fact{
		{Text: "Status", Value: status.Text, Tone: status.Tone},
		{Text: "Channel", Value: channel, Href: v.At("/channels/" + strconv.FormatInt(b.ChannelID, 10))},
		{Text: "Travel", Value: travelled}, {Text: "Last day of dispute", Value: shell.Day(lastDay)}, {Text: "Lead traveller", Value: strings.TrimSpace(b.Firstname + " " + b.Surname)},
		{Text: "E-mail", Value: b.Email}, {Text: "Country", Value: choices.Country(b.Country)}, {Text: "Reference", Value: b.Reference},
		{Text: "Number", Value: strconv.FormatInt(b.ID, 10)}, {Text: "Also protected by", Value: shell.Say(string(b.OtherProtection()))},
		{Text: "Language", Value: choices.Language(b.Language)}, {Text: "Logged", Value: shell.Instant(b.CreatedAt)}, {Text: "Logged by", Value: b.Author},
	}
	if b.Pax > 0 {
		list = append(list, shell.Fact{Text: "Travellers", Value: strconv.FormatInt(b.Pax, 10)})
	}
	if len(b.Suppliers) > 0 {
		var ids []string
		for _, id := range b.Suppliers {
			ids = append(ids, strconv.FormatInt(id, 10))
		}
		list = append(list, shell.Fact{Text: "Suppliers", Value: strings.Join(ids, ", ")})
	}
	return slices.DeleteFunc(list, func(f shell.Fact) bool { return f.Value == "" })
}

// explainedOf is the explanation of a booking, and of each of its payments.
func explainedOf(v *shell.Visit, r reports.BookingProtection) explained {
	made := explained{Steps: r.Sums.Steps, More: r.Sums.Allocations > int64(len(r.Allocations.Items))}
	for _, x := range r.Allocations.Items {
		made.Allocations = append(made.Allocations, explainAllocation(v, x, "Payment "+strconv.FormatInt(x.TransactionID, 10)))
	}
	return made
}

func explainAllocation(v *shell.Visit, x protection.Explained, title string) explainedAllocation {
	state, tone := "Not protected", "warn"
	switch {
	case x.Decision.Protected && x.Decision.Simulated:
		state, tone = "Protected, as a test", "calm"
	case x.Decision.Protected:
		state, tone = "Protected", "good"
	}
	facts := []shell.Fact{
		{Text: "Paid", Value: shell.Money(x.Amount, x.Currency)}, {Text: "Left", Value: shell.Money(x.Remaining, x.Currency)},
		{Text: "Not delivered", Value: shell.Money(x.Undelivered, x.Currency)}, {Text: "Last day of dispute", Value: shell.Day(x.Terms.LastDay)},
	}
	if x.HasValue {
		facts = append(facts, shell.Fact{Text: "Value", Value: shell.Money(x.Value, x.PolicyCurrency)})
	} else {
		facts = append(facts, shell.Fact{Text: "Value", Value: "Waits for a rate", Tone: "warn"})
	}
	if x.Premium.Priced {
		facts = append(facts, shell.Fact{Text: "Premium", Value: shell.Money(x.Premium.Booked, x.PolicyCurrency)})
	}
	return explainedAllocation{
		Title: title, Href: paymentAt(v, x.TransactionID), State: state, Tone: tone, Facts: facts,
		Steps: append(slices.Clone(x.Steps), x.Premium.Steps...),
	}
}

func mailsOf(v *shell.Visit, list []mail.Mail) *shell.Table {
	t := shell.Table{Bare: true, Name: "mails", Caption: "Mails", Columns: []shell.Column{
		{Name: "queued", Title: "Written"}, {Name: "kind", Title: "Kind"}, {Name: "to", Title: "To"}, {Name: "state", Title: "State"},
	}}
	for _, m := range list {
		t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{
			shell.AtInstant(m.QueuedAt), shell.Words(shell.Say(string(m.Kind))), shell.Words(m.Recipient), mailState(m.State),
		}})
	}
	return v.Table(t)
}

func mailState(s mail.State) shell.Cell {
	tone := map[mail.State]string{mail.Sent: "good", mail.Dead: "bad", mail.Unknown: "warn"}[s]
	return shell.State(string(s), cmp.Or(tone, "calm"))
}

// history is what became of a booking, the latest first. Events are kept for ninety days; what the booking and its payments
// say themselves is there for ever.
func history(v *shell.Visit, b travel.Booking, paid []travel.Transaction, mails []mail.Mail, told []events.Event) (list []happening) {
	for _, e := range slices.Backward(told) { // the oldest is the first of them
		if e.Type == events.BookingCreated {
			continue
		}
		what := strings.TrimPrefix(string(e.Type), "booking.")
		if e.Type == events.BookingUpdated {
			what = "changed"
		}
		list = append(list, happening{At: e.At, What: "Booking " + what})
	}
	for _, t := range paid {
		list = append(list, happening{
			At: t.CreatedAt, What: shell.Say(string(t.Type)), Href: paymentAt(v, t.ID),
			Text: shell.Money(t.Total, t.Currency) + ", " + strings.ToLower(shell.Say(string(t.Status))),
		})
	}
	for _, m := range mails {
		if m.State == mail.Sent {
			list = append(list, happening{At: m.QueuedAt, What: "Mail sent", Text: shell.Say(string(m.Kind)) + " to " + m.Recipient})
		}
	}
	list = append(list, happening{At: b.CreatedAt, What: "Booking logged", Text: "by " + b.Author})
	slices.SortStableFunc(list, func(a, b happening) int { return b.At.Compare(a.At) })
	return list
}
