package statements

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// statementOrders are the sort orders of the list.
var statementOrders = []string{"number", "issued", "due"}

// statements lists the site's statements, newest first.
func (p *pages) statements(v *kit.Visit) error {
	page, err := v.PageOf(statementOrders, true)
	if err != nil {
		return err
	}
	form := &kit.Form{Values: v.R.URL.Query()}
	f, err := statementFilter(form)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "statements", Caption: "Statements", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: []kit.Column{
			{Name: "number", Title: "Number", Sorts: true}, {Name: "merchant", Title: "Merchant"}, {Name: "period", Title: "Period"},
			{Name: "issued", Title: "Issued", Sorts: true, Minor: true}, {Name: "due", Title: "Due", Sorts: true}, {Name: "closing", Title: "Closing", Currency: "currency"},
			{Name: "open", Title: "Open", Currency: "currency"}, {Name: "credit", Title: "Credit", Currency: "currency", Hidden: true}, {Name: "state", Title: "Status"}, {Name: "opening", Title: "Opening", Currency: "currency", Hidden: true},
			{Name: "payments", Title: "Payments", Currency: "currency", Hidden: true}, {Name: "channels", Title: "Merchant ID", Figure: true, Hidden: true},
		},
		Empty: kit.Empty{
			Title: "No statements found",
			Text:  "Each merchant gets a statement at the end of each period, with the premium charged for it. You do not need to do anything.",
		},
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, now, err := p.app.Statements.List(v.R.Context(), v.Actor, f, page)
		if err != nil {
			return false, err
		}
		insolvent, err := p.insolvent(v, list.Items...)
		for _, s := range list.Items {
			merchant := kit.Linked(s.ChannelName, merchantAt(v, s.ChannelID))
			if _, failed := insolvent[s.ChannelID]; failed {
				merchant.Text = choices.InsolventName(merchant.Text)
			}
			t.Rows = append(t.Rows, kit.Row{Href: statementAt(v, s.ID, ""), Cells: []kit.Cell{
				kit.Ident(s.Number), merchant, kit.Words(s.Period.Name()), kit.AtInstant(s.IssuedAt),
				kit.OnDay(s.Due), kit.Sum(s.Closing, s.Currency), kit.Sum(s.Open, s.Currency), kit.Sum(s.Credit, s.Currency), stateOf(s, now),
				kit.Sum(s.Opening, s.Currency), kit.Sum(s.Payments, s.Currency), kit.Ident(s.ChannelID),
			}})
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	channels, err := choices.Channels(v, p.app, "All merchants")
	if err != nil {
		return err
	}
	return v.ShowTable(p.Pages, "statements.html", made, kit.Page{
		Title: "Statements", Menu: menu, Parts: v.Parts("statements", "/statements"), Data: struct {
			List              *kit.Table
			Filter            *kit.Form
			Periods, Channels any
			Send              string
		}{made, form, choices.Words(terms.StatementPeriods, "All"), channels, v.At("/statements")},
	})
}

// insolvent reads which merchants of statements are insolvent.
func (p *pages) insolvent(v *kit.Visit, list ...protection.IssuedStatement) (map[int64]merchant.Channel, error) {
	var ids []int64
	for _, s := range list {
		ids = append(ids, s.ChannelID)
	}
	return choices.Insolvent(v, p.app, ids)
}

func statementFilter(form *kit.Form) (f statements.StatementFilter, err error) {
	if text := form.Get("channels"); text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			return f, errs.WrongField("channels", "Enter a merchant ID, such as 3.")
		}
		f.Channels = []int64{id}
	}
	if period := form.Get("statement_period"); period != "" {
		if !slices.Contains(terms.StatementPeriods, period) {
			return f, errs.WrongField("statement_period", "Unknown period.")
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

// stateOf is the payment status of a statement.
func stateOf(s protection.IssuedStatement, now time.Time) kit.Cell {
	switch {
	case s.Open <= 0:
		return kit.State("paid", "good")
	case s.OverdueOn(civil.DayOf(now)):
		return kit.State("overdue", "bad")
	}
	return kit.State("open", "warn")
}

// merchantAt returns the URL of a merchant.
func merchantAt(v *kit.Visit, id int64) string { return v.At("/channels/" + kit.Ident(id).Plain) }

func statementAt(v *kit.Visit, id int64, below string) string {
	return v.At("/statements/" + kit.Ident(id).Plain + below)
}

// aboveStatement is the breadcrumb trail of a statement's page: the list and, with a number, the statement.
func aboveStatement(v *kit.Visit, id, number int64) []kit.Link {
	path := []kit.Link{{Text: "Statements", Href: v.At("/statements")}}
	if number != 0 {
		path = append(path, kit.Link{Text: "Statement " + kit.Ident(number).Text, Href: statementAt(v, id, "")})
	}
	return path
}

// statement shows one statement: summary, amount open, payments and lines.
func (p *pages) statement(v *kit.Visit) error {
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
	insolvent, err := p.insolvent(v, s)
	if err != nil {
		return err
	}
	warning := ""
	if c, failed := insolvent[s.ChannelID]; failed {
		warning = kit.LockedText(c)
	}
	var acts []kit.Link
	if v.Can(access.RecordStatementPayments) {
		acts = append(acts, kit.Link{Text: "Record payment", Href: statementAt(v, id, "/pay")})
	}
	acts = append(acts, kit.Link{Text: "PDF", Href: statementAt(v, id, "/pdf"), Plain: true}, kit.Link{Text: "CSV", Href: statementAt(v, id, "/csv"), Plain: true})
	state := stateOf(s, now)
	facts := []kit.Fact{
		{Text: "Status", Value: state.Text, Tone: state.Tone}, {Text: "Merchant", Value: s.ChannelName, Href: merchantAt(v, s.ChannelID)},
		{Text: "Period", Value: s.Period.Name()}, {Text: "Issued", Value: kit.Instant(s.IssuedAt)}, {Text: "Due", Value: kit.Day(s.Due)},
	}
	for _, party := range []kit.Fact{{Text: "Issuer", Value: s.Issuer.Name}, {Text: "Policyholder", Value: s.Policyholder.Name}} {
		if party.Value != "" {
			facts = append(facts, party)
		}
	}
	return v.Show(p.Pages, "statement.html", kit.Page{
		Title: "Statement " + kit.Ident(s.Number).Text, Menu: menu, Path: aboveStatement(v, 0, 0), Acts: acts, Data: struct {
			S                     protection.IssuedStatement
			Facts                 []kit.Fact
			Sums, Lines, Payments *kit.Table
			ForMerchant, Warning  string
		}{s, facts, sumsOf(v, s), lines, payments, statementAt(v, id, "/pdf?for=merchant"), warning},
	})
}

// sumsOf lists a statement's sums, from opening to closing balance.
func sumsOf(v *kit.Visit, s protection.IssuedStatement) *kit.Table {
	t := kit.Table{
		Name: "sums", Caption: "Statement summary", Bare: true,
		Columns: []kit.Column{{Name: "what", Title: "Item"}, {Name: "lines", Title: "Lines", Figure: true}, {Name: "amount", Title: "Amount", Currency: "currency"}},
	}
	row := func(what string, lines, amount int64) kit.Row {
		count := kit.Cell{}
		if lines > 0 {
			count = kit.Number(lines)
		}
		return kit.Row{Cells: []kit.Cell{kit.Words(what), count, kit.Sum(amount, s.Currency)}}
	}
	t.Rows = append(t.Rows, row("Opening", 0, s.Opening))
	for _, l := range s.Lines {
		t.Rows = append(t.Rows, row(kit.Say(l.Kind), l.Lines, l.Amount))
	}
	if s.Minimum != nil {
		t.Rows = append(t.Rows, row("Top-up to the minimum of "+s.Minimum.Month, 0, s.Minimum.Amount))
	}
	for _, tax := range s.Taxes {
		t.Rows = append(t.Rows, row(tax.Label+" ("+tax.Code+")", 0, tax.Amount))
	}
	t.Rows = append(t.Rows, row("Payments in this period", 0, -s.Payments))
	t.Foot = []kit.Row{row("Closing", 0, s.Closing)}
	return v.Table(t)
}

// lines is a page of a statement's premium lines.
func (p *pages) lines(v *kit.Visit, s protection.IssuedStatement) (*kit.Table, error) {
	page, err := v.PageOf([]string{"id"}, false)
	if err != nil {
		return nil, err
	}
	t := kit.Table{
		Name: "statement-" + kit.Ident(s.Number).Plain + "-lines", Caption: "Premium lines", Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "recorded_at", Title: "Recorded"}, {Name: "kind", Title: "Type"}, {Name: "booking", Title: "Booking"},
			{Name: "booking_reference", Title: "Reference", Minor: true}, {Name: "transaction", Title: "Payment"}, {Name: "value", Title: "Value", Currency: "currency", Minor: true},
			{Name: "lead_days", Title: "Lead days", Figure: true, Minor: true}, {Name: "rate", Title: "Rate", Figure: true, Minor: true}, {Name: "amount", Title: "Amount", Currency: "currency"},
			{Name: "cause", Title: "Cause", Hidden: true}, {Name: "original", Title: "Original", Currency: "original_currency", Hidden: true},
			{Name: "retained", Title: "Retained", Currency: "currency", Hidden: true}, {Name: "id", Title: "Line", Figure: true, Hidden: true},
		},
		Empty: kit.Empty{Title: "No premium lines", Text: "Nothing was charged or returned in this period. Amounts above are carried over from the previous period or are a minimum."},
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Statements.Lines(v.R.Context(), v.Actor, s.ID, page)
		for _, l := range list.Items {
			booking, payment := kit.Ident(l.BookingID), kit.Ident(l.TransactionID)
			booking.Href, payment.Href = v.At("/bookings/"+booking.Plain), v.At("/payments/"+payment.Plain)
			t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
				kit.AtInstant(l.RecordedAt), kit.State(l.Kind, ""), booking, kit.Words(l.BookingReference), payment,
				kit.Sum(l.StateValue, s.Currency), kit.Number(l.LeadDays), kit.Words(money.FormatPercent(l.PPM) + "\u00a0%"), kit.Sum(l.Amount, s.Currency),
				kit.State(l.Cause, ""), kit.Sum(l.StateAmount, l.Currency), kit.Sum(l.Retained, s.Currency), kit.Ident(l.ID),
			}})
		}
		t.More = list.More
		return list.More, err
	})
	return v.Table(t), err
}

// paymentsOf are the latest payments for a statement.
func (p *pages) paymentsOf(v *kit.Visit, s protection.IssuedStatement) (*kit.Table, error) {
	list, err := p.app.Statements.Payments(v.R.Context(), v.Actor, s.ID, store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "date", Descending: true})
	if err != nil {
		return nil, err
	}
	t := kit.Table{
		Name: "payments", Caption: "Payments for this statement", Bare: true,
		Columns: []kit.Column{
			{Name: "date", Title: "Day"}, {Name: "reference", Title: "Reference"}, {Name: "author", Title: "Recorded by"},
			{Name: "total", Title: "Amount", Figure: true},
		},
		Empty: kit.Empty{Title: "No payments yet", Text: "Transfers for this statement appear here once they are recorded."},
	}
	for _, x := range list.Items {
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.OnDay(x.PaidOn), kit.Words(x.Reference), kit.Words(x.Author), kit.Sum(x.Amount, x.Currency),
		}})
	}
	return v.Table(t), nil
}
