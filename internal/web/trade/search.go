package trade

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/disputes"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

// searchPage is the result of the sidebar search.
type searchPage struct {
	Query, Action string
	Pages         []kit.Link
	Found         []found
	Empty         kit.Empty
}

// found are the objects of one kind that match.
type found struct {
	Title string
	Table *kit.Table
	All   *kit.Link // to the list of all matches, if there are more
}

// mostFound is the maximum number of objects of each kind, and of pages.
const mostFound = 10

// search finds pages, merchants, statements, bookings and payments. A single hit opens directly.
func (p *pages) search(v *kit.Visit) error {
	q := v.Query("q")
	data := searchPage{Query: q, Action: v.At("/search"), Empty: kit.Empty{
		Title: "No results", Text: "Search for bookings and payments by number, reference, surname or e-mail address, for merchants and " +
			"statements by number or merchant name, for disputes by case or reference, and for pages by name.",
	}}
	if q == "" {
		data.Empty.Title = "Search"
		return v.Show(p.Pages, "search.html", kit.Page{Title: "Search", Menu: "/search", Data: data})
	}
	merchants, err := p.findMerchants(v, q)
	if err != nil {
		return err
	}
	sales, err := p.findSales(v, q)
	if err != nil {
		return err
	}
	disputed, err := p.findDisputes(v, q)
	if err != nil {
		return err
	}
	data.Pages = v.FindPages(q, mostFound)
	hits := data.Pages
	for _, some := range slices.Concat(merchants, sales, disputed) {
		if len(some.Table.Rows) > 0 {
			data.Found = append(data.Found, some)
		}
		for _, r := range some.Table.Rows {
			hits = append(hits, kit.Link{Href: r.Href})
		}
	}
	if len(hits) == 1 {
		return v.Go(hits[0].Href)
	}
	return v.Show(p.Pages, "search.html", kit.Page{Title: "Search", Menu: "/search", Data: data})
}

// latestFirst is the page of results of each search.
var latestFirst = store.Page{Number: 1, Size: mostFound, Offset: -1, OrderBy: "id", Descending: true}

// findMerchants finds merchants, and statements by number or merchant.
func (p *pages) findMerchants(v *kit.Visit, q string) ([]found, error) {
	ctx := v.R.Context()
	channels, err := p.app.Channels.List(ctx, v.Actor, merchants.ChannelFilter{Search: q}, latestFirst)
	if err != nil {
		return nil, err
	}
	list := []found{{Title: "Merchants", Table: merchantTable(v, channels.Items)}}
	if channels.More {
		list[0].All = &kit.Link{Text: "View all merchants with this name", Href: v.At("/channels?name=" + url.QueryEscape(q))}
	}
	var f statements.StatementFilter
	for _, c := range channels.Items {
		f.Channels = append(f.Channels, c.ID)
	}
	number, err := strconv.ParseInt(strings.TrimPrefix(strings.ToLower(q), "statement "), 10, 64)
	if err == nil && number > 0 {
		f = statements.StatementFilter{Number: number}
	}
	if !v.Can(access.ReadStatements) || f.Number == 0 && len(f.Channels) == 0 {
		return list, nil
	}
	issued, _, err := p.app.Statements.List(ctx, v.Actor, f, latestFirst)
	return append(list, found{Title: "Statements", Table: statementTable(v, issued.Items)}), err
}

func merchantTable(v *kit.Visit, list []merchant.Channel) *kit.Table {
	t := kit.Table{Bare: true, Name: "merchants", Caption: "Merchants", Columns: []kit.Column{
		{Name: "merchant", Title: "Merchant"}, {Name: "status", Title: "Status"}, {Name: "currency", Title: "Currency"},
		{Name: "external_id", Title: "External ID", Minor: true}, {Name: "id", Title: "Number", Figure: true, Minor: true},
	}}
	for _, c := range list {
		status := kit.Words(kit.Say(c.Mode))
		if locked := kit.LockedWord(c); locked != "" {
			status = kit.State(locked, "bad")
		}
		t.Rows = append(t.Rows, kit.Row{Href: v.At("/channels/" + kit.Ident(c.ID).Plain), Cells: []kit.Cell{
			kit.Words(c.Name), status, kit.Words(string(c.Currency)), kit.Words(c.ExternalID), kit.Ident(c.ID),
		}})
	}
	return v.Table(t)
}

func statementTable(v *kit.Visit, list []protection.IssuedStatement) *kit.Table {
	t := kit.Table{Bare: true, Name: "statements", Caption: "Statements", Columns: []kit.Column{
		{Name: "number", Title: "Statement"}, {Name: "merchant", Title: "Merchant"}, {Name: "period", Title: "Period"},
		{Name: "due", Title: "Due", Minor: true}, {Name: "closing", Title: "Closing", Currency: "currency"},
	}}
	for _, s := range list {
		t.Rows = append(t.Rows, kit.Row{Href: v.At("/statements/" + kit.Ident(s.ID).Plain), Cells: []kit.Cell{
			kit.Ident(s.Number), kit.Words(s.ChannelName), kit.Words(s.Period.Name()), kit.OnDay(s.Due), kit.Sum(s.Closing, s.Currency),
		}})
	}
	return v.Table(t)
}

// findDisputes finds disputes by their case id, or a reference of their payment.
func (p *pages) findDisputes(v *kit.Visit, q string) ([]found, error) {
	if !v.Can(access.ReadDisputes) {
		return nil, nil
	}
	list, err := p.app.Disputes.List(v.R.Context(), v.Actor, disputes.Filter{Search: q}, latestFirst)
	if err != nil {
		return nil, err
	}
	t := kit.Table{Bare: true, Name: "disputes", Caption: "Disputes", Columns: []kit.Column{
		{Name: "case_id", Title: "Case"}, {Name: "source", Title: "Processor"}, {Name: "status", Title: "Status"}, {Name: "due_at", Title: "Answer by"},
		{Name: "amount", Title: "Amount", Currency: "currencies"},
	}}
	for _, c := range list.Items {
		amount := kit.Cell{}
		if c.Currency != "" {
			amount = kit.Sum(c.Amount, c.Currency)
		}
		t.Rows = append(t.Rows, kit.Row{Href: v.At("/disputes/" + kit.Ident(c.ID).Plain), Cells: []kit.Cell{
			kit.Words(c.CaseID), {Text: dispute.SourceText(c.Source), Plain: c.Source}, kit.State(string(c.Status), ""), kit.OnDay(c.DueOn), amount,
		}})
	}
	return []found{{Title: "Disputes", Table: v.Table(t)}}, nil
}

// findSales finds bookings and payments.
func (p *pages) findSales(v *kit.Visit, q string) ([]found, error) {
	bookings, err := p.app.Bookings.List(v.R.Context(), v.Actor, bookings.BookingFilter{Find: q}, latestFirst)
	if err != nil {
		return nil, err
	}
	payments, err := p.app.Payments.List(v.R.Context(), v.Actor, payments.TransactionFilter{Find: q}, latestFirst)
	if err != nil {
		return nil, err
	}
	of, paid, err := p.latest(v, bookings.Items, payments.Items)
	if err != nil {
		return nil, err
	}
	booked, taken := found{Title: "Bookings", Table: of}, found{Title: "Payments", Table: paid}
	if bookings.More {
		booked.All = &kit.Link{Text: "View all matching bookings", Href: v.At("/bookings?q=" + url.QueryEscape(q))}
	}
	if payments.More {
		taken.All = &kit.Link{Text: "View all matching payments", Href: v.At("/payments?q=" + url.QueryEscape(q))}
	}
	return []found{booked, taken}, nil
}

// latest are two short tables of bookings and payments.
func (p *pages) latest(
	v *kit.Visit, bookings []booking.Booking, payments []payment.Transaction,
) (of, paid *kit.Table, err error) {
	rows, err := p.bookingRows(v, bookings)
	if err != nil {
		return nil, nil, err
	}
	b := kit.Table{Bare: true, Name: "bookings", Caption: "Bookings", Columns: bookingColumns(v), Rows: rows}
	for i := range b.Columns {
		b.Columns[i].Sorts = false
		b.Columns[i].Hidden = b.Columns[i].Hidden || b.Columns[i].Name == "unpaid" || b.Columns[i].Name == "reference"
	}
	if rows, err = p.paymentRows(v, payments); err != nil {
		return nil, nil, err
	}
	t := kit.Table{Bare: true, Name: "payments", Caption: "Payments", Columns: paymentColumns(v), Rows: rows}
	for i := range t.Columns {
		t.Columns[i].Sorts = false
		t.Columns[i].Hidden = t.Columns[i].Hidden || t.Columns[i].Name == "remaining" || t.Columns[i].Name == "channel" || t.Columns[i].Name == "reference"
	}
	return v.Table(b), v.Table(t), nil
}
