package trade

import (
	"cmp"
	"strconv"
	"strings"

	"holdfast/internal/book/payments"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// paymentOrders are the sort orders of payments.
var paymentOrders = []string{"id", "created", "total", "modified"}

// moreOfPayments are the advanced filter fields.
var moreOfPayments = []string{
	"currencies", "countries", "payment_methods", "card_types", "bin_number", "last_four_digits", "reference", "payee_email",
	"payee_surname", "linked_id", "bookings", "psp", "auth_code", "acquirer_reference", "processor_reference", "flags", "over_limit", "created_from", "created_to",
	"modified_from", "modified_to", "include", "exclude",
}

// paymentFilter reads the filter of a payment list.
func paymentFilter(f *filter) payments.TransactionFilter {
	found := payments.TransactionFilter{
		Find: f.form.Get("q"), Created: f.span("created"),
		Statuses: words(f, "status", payment.TransactionStatuses), Channels: f.ids("channels"), Countries: f.codes("countries"),
		Reference: f.form.Get("reference"), Currencies: f.codes("currencies"), Types: words(f, "transaction_types", payment.TransactionTypes),
		Methods: words(f, "payment_methods", payment.PaymentMethods), CardTypes: f.list("card_types"), BIN: f.form.Get("bin_number"),
		LastFour: f.form.Get("last_four_digits"), PayeeEmail: f.form.Get("payee_email"), PayeeSurname: f.form.Get("payee_surname"),
		Bookings: f.ids("bookings"), PSP: f.form.Get("psp"), AuthCode: f.form.Get("auth_code"),
		AcquirerReference: f.form.Get("acquirer_reference"), ProcessorReference: f.form.Get("processor_reference"),
		Flags: words(f, "flags", payment.Flags),
	}
	switch linked := f.ids("linked_id"); {
	case len(linked) == 1:
		found.LinkedID = linked[0]
	case len(linked) > 1:
		f.problems.Wrong("linked_id", "Enter a payment ID.")
	}
	if over := words(f, "over_limit", []string{"true", "false"}); len(over) == 1 {
		yes := over[0] == "true"
		found.OverLimit = &yes
	}
	return found
}

func (p *pages) payments(v *kit.Visit) error {
	page, err := v.PageOf(paymentOrders, true)
	if err != nil {
		return err
	}
	f := filterOf(v)
	wanted := paymentFilter(f)
	f.narrow(&page)
	t := kit.Table{
		Name: "payments", Caption: "Payments", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: paymentColumns(v), Empty: noPayments(v),
	}
	made, sent, err := list(v, f, page, t, func(page store.Page) ([]kit.Row, bool, error) {
		found, err := p.app.Payments.List(v.R.Context(), v.Actor, wanted, page)
		if err != nil {
			return nil, false, err
		}
		rows, err := p.paymentRows(v, found.Items)
		return rows, found.More, err
	})
	if sent || err != nil {
		return err
	}
	channels, err := choices.Channels(v, p.app, "All merchants")
	if err != nil {
		return err
	}
	tabs := v.Parts("payments", "/payments")
	if len(tabs) == 1 { // who may not read disputes
		tabs = nil
	}
	return v.Show(p.Pages, "payments.html", kit.Page{Title: "Payments", Menu: "/payments", Parts: tabs, Wide: true, Data: listPage{
		Form: f.form, List: made, Channels: channels, Statuses: kit.Options(wordChoices("All", payment.TransactionStatuses)...),
		Types: kit.Options(wordChoices("All", payment.TransactionTypes)...), Methods: kit.Options(wordChoices("All", payment.PaymentMethods)...),
		Flags: kit.Options(wordChoices("All", payment.Flags)...),
		Kept:  kept(f.form.Values), More: f.more(moreOfPayments...),
	}})
}

func noPayments(v *kit.Visit) kit.Empty {
	if len(v.R.URL.Query()) > 0 {
		return kit.Empty{
			Title: "No matching payments", Text: "Partial words are searched in the latest 5,000 payments, whole words in all of them. " +
				"Try the whole reference, surname or e-mail address, or fewer filters.",
			Act: kit.Link{Text: "Clear filters", Href: v.At("/payments")},
		}
	}
	return kit.Empty{
		Title: "No payments yet",
		Text:  "Payments, refunds and chargebacks for your bookings appear here. Log them through the API, or on the booking's page.",
		Act:   kit.Link{Text: "Go to bookings", Href: v.At("/bookings")},
	}
}

// paymentColumns are the columns of payments. Files have a separate currency column.
func paymentColumns(v *kit.Visit) []kit.Column {
	return []kit.Column{
		{Name: "id", Title: "Payment", Sorts: true}, {Name: "created", Title: "Logged", Sorts: true}, {Name: "type", Title: "Type"},
		{Name: "status", Title: "Status"}, {Name: "booking", Title: "Booking"},
		{Name: "booking_reference", Title: "Booking reference", Hidden: v.Format() == ""}, {Name: "channel", Title: "Merchant", Minor: true},
		{Name: "reference", Title: "Reference", Minor: true}, {Name: "total", Title: "Amount", Currency: "currency", Sorts: true},
		{Name: "remaining", Title: "Remaining", Currency: "currency", Hidden: true}, {Name: "currency", Title: "Currency", Hidden: true},
		{Name: "base_total", Title: "In the merchant's currency", Currency: "base_currency", Hidden: true},
		{Name: "forex_rate", Title: "Rate", Figure: true, Hidden: true}, {Name: "taken", Title: "Taken", Hidden: true},
		{Name: "payer", Title: "Payer", Hidden: true}, {Name: "email", Title: "E-mail", Hidden: true}, {Name: "country", Title: "Country", Hidden: true},
		{Name: "method", Title: "Method", Hidden: true}, {Name: "card", Title: "Card", Hidden: true}, {Name: "last_four", Title: "Last four digits", Hidden: true},
		{Name: "psp", Title: "Processor", Hidden: true}, {Name: "auth_code", Title: "Authorisation code", Hidden: true},
		{Name: "arn", Title: "Acquirer's reference", Hidden: true}, {Name: "processor_reference", Title: "Processor's reference", Hidden: true},
		{Name: "linked", Title: "Adjusts", Hidden: true},
		{Name: "flags", Title: "Flags", Hidden: true}, {Name: "author", Title: "Logged by", Hidden: true},
		{Name: "modified", Title: "Changed", Sorts: true, Hidden: true},
	}
}

func (p *pages) paymentRows(v *kit.Visit, list []payment.Transaction) (rows []kit.Row, err error) {
	var ids []int64
	for _, t := range list {
		ids = append(ids, t.ChannelID)
	}
	names, err := p.channelNames(v, ids)
	for _, t := range list {
		linked := kit.Ident(t.LinkedID)
		if t.LinkedID != 0 {
			linked.Href = paymentAt(v, t.LinkedID)
		}
		rows = append(rows, kit.Row{Href: paymentAt(v, t.ID), Cells: []kit.Cell{
			kit.Ident(t.ID), kit.AtInstant(t.CreatedAt), kit.Words(kit.Say(string(t.Type))), paymentState(t.Status), bookingsCell(v, t), bookingReferences(t),
			kit.Words(names[t.ChannelID]), kit.Words(t.Reference), kit.Sum(t.Total, t.Currency), left(t), kit.Words(string(t.Currency)),
			kit.Sum(t.BaseTotal, t.BaseCurrency), kit.Words(t.ForexRate), kit.AtInstant(t.EffectiveAt),
			kit.Words(strings.TrimSpace(t.PayeeName + " " + t.PayeeSurname)), kit.Words(t.PayeeEmail), kit.Words(t.Country),
			kit.Words(kit.Say(t.Method)), kit.Words(t.CardType), kit.Words(t.LastFour), kit.Words(t.PSP), kit.Words(t.AuthCode),
			kit.Words(t.AcquirerReference), kit.Words(t.ProcessorReference), linked, kit.Words(flags(t)), kit.Words(t.Author), kit.AtInstant(t.ModifiedAt),
		}})
	}
	return rows, err
}

// left is what can still be refunded or captured; empty for adjustments.
func left(t payment.Transaction) kit.Cell {
	if t.Type.Linked() && !t.Type.Takes() {
		return kit.Cell{}
	}
	return kit.Sum(t.TotalRemaining(), t.Currency)
}

func flags(t payment.Transaction) string {
	var list []string
	for _, f := range t.AllFlags() {
		list = append(list, kit.Say(f))
	}
	return strings.Join(list, ", ")
}

// bookingsCell links to a payment's booking, or shows how many it has.
func bookingsCell(v *kit.Visit, t payment.Transaction) kit.Cell {
	if len(t.Payments) == 1 {
		one := t.Payments[0]
		c := kit.Idents(cmp.Or(one.BookingReference, strconv.FormatInt(one.BookingID, 10)), one.BookingID)
		c.Href = bookingAt(v, one.BookingID)
		return c
	}
	var ids []int64
	for _, one := range t.Payments {
		ids = append(ids, one.BookingID)
	}
	return kit.Idents(kit.Plural(int64(len(ids)), "booking", "bookings"), ids...)
}

// bookingReferences are the references of a payment's bookings.
func bookingReferences(t payment.Transaction) kit.Cell {
	var list []string
	for _, one := range t.Payments {
		if one.BookingReference != "" {
			list = append(list, one.BookingReference)
		}
	}
	return kit.Words(strings.Join(list, ", "))
}

// paymentState is the status of a payment with its colour.
func paymentState(s payment.TransactionStatus) kit.Cell {
	tone := map[payment.TransactionStatus]string{
		payment.StatusComplete: "good", payment.StatusFailed: "bad", payment.StatusIncomplete: "warn", payment.StatusLocked: "bad",
	}[s]
	if tone == "" {
		tone = "calm"
	}
	if s == payment.StatusLocked {
		return kit.Cell{Text: "Charged back", Plain: string(s), Tone: tone}
	}
	return kit.State(string(s), tone)
}

// paymentsOfStory are the payments of one booking, with each payment's share of it.
func paymentsOfStory(v *kit.Visit, list []payment.Transaction) *kit.Table {
	t := kit.Table{
		Bare: true, Name: "payments", Caption: "Payments", Columns: []kit.Column{
			{Name: "id", Title: "Payment"}, {Name: "type", Title: "Type"}, {Name: "status", Title: "Status"}, {Name: "taken", Title: "Taken"},
			{Name: "reference", Title: "Reference", Minor: true}, {Name: "total", Title: "Amount", Currency: "currency"}, {Name: "remaining", Title: "Remaining", Currency: "currency"},
		},
		Empty: kit.Empty{Title: "No payments yet", Text: "Payments and refunds for this booking will appear here."},
	}
	for _, one := range list {
		t.Rows = append(t.Rows, kit.Row{Href: paymentAt(v, one.ID), Cells: []kit.Cell{
			kit.Ident(one.ID), kit.Words(kit.Say(string(one.Type))), paymentState(one.Status), kit.AtInstant(one.EffectiveAt),
			kit.Words(one.Reference), kit.Sum(one.Total, one.Currency), left(one),
		}})
	}
	return v.Table(t)
}
