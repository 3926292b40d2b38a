package channels

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/shell"
)

// statementOrders are what the list can be ordered by.
var statementOrders = []string{"number", "issued", "due"}

// statements lists the statements of the site, the newest first.
func (p *pages) statements(v *shell.Visit) error {
	page, err := v.PageOf(statementOrders, true)
	if err != nil {
		return err
	}
	form := &shell.Form{Values: v.R.URL.Query()}
	f, err := statementFilter(form)
	if err != nil {
		return err
	}
	t := shell.Table{
		Name: "statements", Caption: "Statements", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: []shell.Column{
			{Name: "number", Title: "Number", Sorts: true}, {Name: "merchant", Title: "Channel"}, {Name: "period", Title: "Period"},
			{Name: "issued", Title: "Issued", Sorts: true, Minor: true}, {Name: "due", Title: "Due", Sorts: true}, {Name: "closing", Title: "Closing", Figure: true},
			{Name: "open", Title: "Open", Figure: true}, {Name: "state", Title: "State"}, {Name: "opening", Title: "Opening", Figure: true, Hidden: true},
			{Name: "payments", Title: "Payments", Figure: true, Hidden: true}, {Name: "channels", Title: "Number of the channel", Figure: true, Hidden: true},
		},
		Empty: shell.Empty{
			Title: "No statements here",
			Text:  "The premium of a period is charged on a statement of each channel, when the period has ended. You do not need to do anything.",
		},
	}
	err = v.Each(page, func(page travel.Page) (bool, error) {
		list, now, err := p.app.Statements.List(v.R.Context(), v.Actor, f, page)
		for _, s := range list.Items {
			t.Rows = append(t.Rows, shell.Row{Href: statementAt(v, s.ID, ""), Cells: []shell.Cell{
				shell.Ident(s.Number), shell.Linked(s.ChannelName, at(v, s.ChannelID, "")), shell.Words(s.Period.Name()), shell.AtInstant(s.IssuedAt),
				shell.OnDay(s.Due), shell.Sum(s.Closing, s.Currency), shell.Sum(s.Open, s.Currency), stateOf(s, now),
				shell.Sum(s.Opening, s.Currency), shell.Sum(s.Payments, s.Currency), shell.Ident(s.ChannelID),
			}})
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	if sent, err := v.File(made); sent || err != nil {
		return err
	}
	channels, err := choices.Channels(v, p.app, "All channels")
	if err != nil {
		return err
	}
	return v.Show(p.Pages, "statements.html", shell.Page{
		Title: "Statements", Menu: statementsMenu, Parts: v.Parts("statements", "/statements"), Data: struct {
			List              *shell.Table
			Filter            *shell.Form
			Periods, Channels any
			Send              string
		}{made, form, wordChoices(travel.StatementPeriods, "All"), channels, v.At("/statements")},
	})
}

func statementFilter(form *shell.Form) (f travel.StatementFilter, err error) {
	if text := form.Get("channels"); text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			return f, fault.WrongField("channels", "The number of a channel is expected, such as 3.")
		}
		f.Channels = []int64{id}
	}
	if period := form.Get("statement_period"); period != "" {
		if !slices.Contains(travel.StatementPeriods, period) {
			return f, fault.WrongField("statement_period", "There is no such period.")
		}
		f.Periods = []string{period}
	}
	if c := strings.ToUpper(form.Get("currencies")); c != "" {
		f.Currencies = []string{c}
	}
	if overdue := form.Get("overdue"); overdue != "" {
		f.Overdue = new(overdue == "1")
	}
	return f, nil
}

// stateOf says whether a statement is paid.
func stateOf(s protection.IssuedStatement, now time.Time) shell.Cell {
	switch {
	case s.Open <= 0:
		return shell.State("paid", "good")
	case s.OverdueOn(civil.DayOf(now)):
		return shell.State("overdue", "bad")
	}
	return shell.State("open", "warn")
}

func statementAt(v *shell.Visit, id int64, below string) string {
	return v.At("/statements/" + shell.Ident(id).Plain + below)
}

// aboveStatement leads from a page of one statement to the list and, with a number, to the statement.
func aboveStatement(v *shell.Visit, id, number int64) []shell.Link {
	path := []shell.Link{{Text: "Statements", Href: v.At("/statements")}}
	if number != 0 {
		path = append(path, shell.Link{Text: "Statement " + shell.Ident(number).Text, Href: statementAt(v, id, "")})
	}
	return path
}

// statement shows one statement: its sums, what is open, payments against it, and its lines.
func (p *pages) statement(v *shell.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	s, now, err := p.app.Statements.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	lines, err := p.lines(v, s)
	if err != nil {
		return err
	}
	if sent, err := v.File(lines); sent || err != nil {
		return err
	}
	payments, err := p.paymentsOf(v, s)
	if err != nil {
		return err
	}
	var acts []shell.Link
	if v.Can(auth.RecordStatementPayments) {
		acts = append(acts, shell.Link{Text: "Record a payment", Href: statementAt(v, id, "/pay")})
	}
	acts = append(acts, shell.Link{Text: "PDF", Href: statementAt(v, id, "/pdf"), Plain: true}, shell.Link{Text: "CSV", Href: statementAt(v, id, "/csv"), Plain: true})
	state := stateOf(s, now)
	facts := []shell.Fact{
		{Text: "State", Value: state.Text, Tone: state.Tone}, {Text: "Channel", Value: s.ChannelName, Href: at(v, s.ChannelID, "")},
		{Text: "Period", Value: s.Period.Name()}, {Text: "Issued", Value: shell.Instant(s.IssuedAt)}, {Text: "Due", Value: shell.Day(s.Due)},
	}
	for _, party := range []shell.Fact{{Text: "Issuer", Value: s.Issuer.Name}, {Text: "Policyholder", Value: s.Policyholder.Name}} {
		if party.Value != "" {
			facts = append(facts, party)
		}
	}
	return v.Show(p.Pages, "statement.html", shell.Page{
		Title: "Statement " + shell.Ident(s.Number).Text, Menu: statementsMenu, Path: aboveStatement(v, 0, 0), Acts: acts, Data: struct {
			S                     protection.IssuedStatement
			Facts                 []shell.Fact
			Sums, Lines, Payments *shell.Table
			ForMerchant           string
		}{s, facts, sumsOf(v, s), lines, payments, statementAt(v, id, "/pdf?for=merchant")},
	})
}

// sumsOf is how a statement adds up, from the opening to the closing.
func sumsOf(v *shell.Visit, s protection.IssuedStatement) *shell.Table {
	t := shell.Table{
		Name: "sums", Caption: "How the statement adds up", Bare: true,
		Columns: []shell.Column{{Name: "what", Title: "What"}, {Name: "lines", Title: "Lines", Figure: true}, {Name: "amount", Title: "Amount", Figure: true}},
	}
	row := func(what string, lines, amount int64) shell.Row {
		count := shell.Cell{}
		if lines > 0 {
			count = shell.Number(lines)
		}
		return shell.Row{Cells: []shell.Cell{shell.Words(what), count, shell.Sum(amount, s.Currency)}}
	}
	t.Rows = append(t.Rows, row("Opening", 0, s.Opening))
	for _, l := range s.Lines {
		t.Rows = append(t.Rows, row(shell.Say(l.Kind), l.Lines, l.Amount))
	}
	if s.Minimum != nil {
		t.Rows = append(t.Rows, row("To the minimum of "+s.Minimum.Month, 0, s.Minimum.Amount))
	}
	for _, tax := range s.Taxes {
		t.Rows = append(t.Rows, row(tax.Label+" ("+tax.Code+")", 0, tax.Amount))
	}
	t.Rows = append(t.Rows, row("Payments in the period", 0, -s.Payments))
	t.Foot = []shell.Row{row("Closing", 0, s.Closing)}
	return v.Table(t)
}

// lines is a page of the premium lines of a statement.
func (p *pages) lines(v *shell.Visit, s protection.IssuedStatement) (*shell.Table, error) {
	page, err := v.PageOf(travel.StatementLineOrders, false)
	if err != nil {
		return nil, err
	}
	t := shell.Table{
		Name: "statement-" + shell.Ident(s.Number).Plain + "-lines", Caption: "Premium lines", Number: page.Number, Total: -1,
		Columns: []shell.Column{
			{Name: "recorded_at", Title: "Recorded"}, {Name: "kind", Title: "Kind"}, {Name: "booking", Title: "Booking"},
			{Name: "booking_reference", Title: "Reference", Minor: true}, {Name: "transaction", Title: "Payment"}, {Name: "value", Title: "Value", Figure: true, Minor: true},
			{Name: "lead_days", Title: "Lead days", Figure: true, Minor: true}, {Name: "rate", Title: "Rate", Figure: true, Minor: true}, {Name: "amount", Title: "Amount", Figure: true},
			{Name: "cause", Title: "Cause", Hidden: true}, {Name: "original", Title: "Original", Figure: true, Hidden: true},
			{Name: "retained", Title: "Retained", Figure: true, Hidden: true}, {Name: "id", Title: "Line", Figure: true, Hidden: true},
		},
		Empty: shell.Empty{Title: "No premium lines", Text: "Nothing was charged or returned in this period. What is above comes from the period before, or is a minimum."},
	}
	err = v.Each(page, func(page travel.Page) (bool, error) {
		list, err := p.app.Statements.Lines(v.R.Context(), v.Actor, s.ID, page)
		for _, l := range list.Items {
			booking, payment := shell.Ident(l.BookingID), shell.Ident(l.TransactionID)
			booking.Href, payment.Href = v.At("/bookings/"+booking.Plain), v.At("/payments/"+payment.Plain)
			t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{
				shell.AtInstant(l.RecordedAt), shell.State(l.Kind, ""), booking, shell.Words(l.BookingReference), payment,
				shell.Sum(l.StateValue, s.Currency), shell.Number(l.LeadDays), shell.Words(percentText(l.PPM) + "\u00a0%"), shell.Sum(l.Amount, s.Currency),
				shell.State(l.Cause, ""), shell.Sum(l.StateAmount, l.Currency), shell.Sum(l.Retained, s.Currency), shell.Ident(l.ID),
			}})
		}
		t.More = list.More
		return list.More, err
	})
	return v.Table(t), err
}

// paymentsOf are the latest payments against a statement.
func (p *pages) paymentsOf(v *shell.Visit, s protection.IssuedStatement) (*shell.Table, error) {
	list, err := p.app.Statements.Payments(v.R.Context(), v.Actor, s.ID, travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "date", Descending: true})
	if err != nil {
		return nil, err
	}
	t := shell.Table{
		Name: "payments", Caption: "Payments against this statement", Bare: true,
		Columns: []shell.Column{
			{Name: "date", Title: "Day"}, {Name: "reference", Title: "Reference"}, {Name: "author", Title: "Recorded by"},
			{Name: "total", Title: "Amount", Figure: true},
		},
		Empty: shell.Empty{Title: "No payments yet", Text: "What was transferred for this statement stands here, once somebody has recorded it."},
	}
	for _, x := range list.Items {
		t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{
			shell.OnDay(x.PaidOn), shell.Words(x.Reference), shell.Words(x.Author), shell.Sum(x.Amount, x.Currency),
		}})
	}
	return v.Table(t), nil
}
