package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"holdfast/internal/api"
	"holdfast/internal/api/view"
	"holdfast/internal/book/bookings"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// bookingCmd groups the booking commands.
type bookingCmd struct {
	List bookingListCmd `cmd:"" help:"List bookings."`
	Show bookingShowCmd `cmd:"" help:"Show a booking with its transactions."`
}

// bookingListCmd lists bookings.
type bookingListCmd struct {
	listFlags
	Merchants []int64  `placeholder:"ID" field:"channels" help:"Only bookings of these merchants, by id."`
	Status    []string `placeholder:"STATUS" help:"Only these statuses, such as paid,unpaid."`
	Reference string   `help:"Only bookings with this reference."`
	Surname   string   `help:"Only bookings for travellers with this surname."`
}

// Run prints them.
func (c bookingListCmd) Run(ctx context.Context, p *program) error {
	filter := bookings.BookingFilter{Channels: c.Merchants, Reference: c.Reference, Surname: c.Surname}
	var err error
	if filter.Statuses, err = oneOf("status", c.Status, booking.BookingStatuses); err != nil {
		return err
	}
	var today civil.Day
	return printList(ctx, p, c.listFlags, listing[booking.Booking]{
		read: func(actor access.Actor, page store.Page) (store.List[booking.Booking], error) {
			today = civil.DayOf(p.now(actor))
			return p.app.Bookings.List(ctx, actor, filter, page)
		},
		shape:   func(b booking.Booking) any { return api.ShowBooking(b, today) },
		columns: columnsOf("id channel reference name status currency total unpaid start end country created"),
		row: func(b booking.Booking) []cell {
			return []cell{
				ident(b.ID), ident(b.ChannelID), words(b.Reference), words(nameOf(b.Firstname, b.Surname)),
				words(string(b.StatusOn(today))), words(string(b.Currency)), amount(b.Total, b.Currency), amount(b.Unpaid(), b.Currency),
				dayCell(b.Start), dayCell(b.End), words(b.Country), instant(b.CreatedAt),
			}
		},
		none: "No bookings found.",
	})
}

func nameOf(first, last string) string { return strings.TrimSpace(first + " " + last) }

// oneOf checks a flag's values against the valid ones.
func oneOf[T ~string](flag string, given []string, all []T) (list []T, err error) {
	for _, word := range given {
		if !slices.Contains(all, T(word)) {
			names := make([]string, len(all))
			for i, name := range all {
				names[i] = string(name)
			}
			return nil, errs.WrongField(flag, "%q is not one of %s.", word, strings.Join(names, ", "))
		}
		list = append(list, T(word))
	}
	return list, nil
}

// bookingShowCmd shows one booking.
type bookingShowCmd struct {
	siteFlag
	formFlags
	ID int64 `arg:"" help:"Booking id."`
}

// Run prints it. CSV has a row per transaction.
func (c bookingShowCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	b, err := p.app.Bookings.Get(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	now := p.now(actor)
	today := civil.DayOf(now)
	if c.JSON {
		return p.printJSON(api.ShowBooking(b, today))
	}
	list := p.transactions(ctx, payments.TransactionFilter{Bookings: []int64{b.ID}})
	list.none = "No transactions."
	if c.CSV {
		return list.print(p, actor, c.formFlags, orderFlags{}, now)
	}
	days := b.End.String()
	if b.Start != civil.NoDay {
		days = b.Start.String() + " to " + days
	}
	p.printFields([][2]string{
		{"booking", fmt.Sprintf("%d, %s", b.ID, b.StatusOn(today))},
		{"reference", b.Reference}, {"channel", number(b.ChannelID)}, {"traveller", nameOf(b.Firstname, b.Surname)},
		{"e-mail", b.Email}, {"travel", days}, {"country", b.Country},
		{"total", string(b.Currency) + " " + money.Format(b.Total, b.Currency)},
		{"unpaid", string(b.Currency) + " " + money.Format(b.Unpaid(), b.Currency)},
		{"other protection", string(b.OtherProtection())}, {"content", b.Content}, {"created", civil.FormatInstant(b.CreatedAt) + " GMT"},
	})
	p.printf("\n")
	return list.print(p, actor, c.formFlags, orderFlags{}, now)
}

// printFields prints names and values, omitting empty values.
func (p *program) printFields(fields [][2]string) {
	for _, f := range fields {
		if f[1] != "" {
			p.printf("%-20s%s\n", f[0], oneLine(f[1]))
		}
	}
}

// transactionCmd groups the transaction commands.
type transactionCmd struct {
	List transactionListCmd `cmd:"" help:"List transactions."`
	Show transactionShowCmd `cmd:"" help:"Show a transaction."`
}

// transactionListCmd lists transactions.
type transactionListCmd struct {
	listFlags
	Merchants []int64  `placeholder:"ID" field:"channels" help:"Only transactions of these merchants, by id."`
	Bookings  []int64  `placeholder:"ID" help:"Only transactions for these bookings, by id."`
	Types     []string `placeholder:"TYPE" help:"Only these types, such as refund,chargeback."`
	Status    []string `placeholder:"STATUS" help:"Only these statuses, such as complete,failed."`
	Reference string   `help:"Only transactions with this reference."`

	AcquirerReference  string `placeholder:"ARN" help:"Only transactions with this 23-digit acquirer reference number (ARN)."`
	ProcessorReference string `placeholder:"ID" help:"Only transactions with this id at the processor."`
}

// Run prints them.
func (c transactionListCmd) Run(ctx context.Context, p *program) error {
	filter := payments.TransactionFilter{Channels: c.Merchants, Bookings: c.Bookings, Reference: c.Reference,
		AcquirerReference: c.AcquirerReference, ProcessorReference: c.ProcessorReference}
	var err error
	if filter.Types, err = oneOf("types", c.Types, payment.TransactionTypes); err != nil {
		return err
	}
	if filter.Statuses, err = oneOf("status", c.Status, payment.TransactionStatuses); err != nil {
		return err
	}
	return printList(ctx, p, c.listFlags, p.transactions(ctx, filter))
}

// transactions is a list of transactions.
func (p *program) transactions(ctx context.Context, filter payments.TransactionFilter) listing[payment.Transaction] {
	var hashes map[int64]string // of the page
	return listing[payment.Transaction]{
		read: func(actor access.Actor, page store.Page) (store.List[payment.Transaction], error) {
			list, err := p.app.Payments.List(ctx, actor, filter, page)
			if err == nil {
				hashes, err = p.app.Channels.HashesOf(list.Items)
			}
			return list, err
		},
		shape:   func(t payment.Transaction) any { return view.ShowTransaction(t, hashes[t.ID]) },
		columns: columnsOf("id channel reference type status currency total remaining card_type linked_id effective_at created"),
		row: func(t payment.Transaction) []cell {
			return []cell{
				ident(t.ID), ident(t.ChannelID), words(t.Reference), words(string(t.Type)), words(string(t.Status)),
				words(string(t.Currency)), amount(t.Total, t.Currency), amount(t.TotalRemaining(), t.Currency), words(t.CardType),
				ident(t.LinkedID), instant(t.EffectiveAt), instant(t.CreatedAt),
			}
		},
		none: "No transactions found.",
	}
}

// transactionShowCmd shows one transaction.
type transactionShowCmd struct {
	siteFlag
	formFlags
	ID int64 `arg:"" help:"Transaction id."`
}

// Run prints it. CSV has a row per booking that the payment is for.
func (c transactionShowCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	t, err := p.app.Disputes.Transaction(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	parts := sheet{columns: columnsOf("transaction payment booking reference country currency amount")}
	for _, part := range t.Payments {
		parts.rows = append(parts.rows, []cell{
			ident(t.ID), ident(part.ID), ident(part.BookingID), words(part.BookingReference), words(part.BookingCountry),
			words(string(part.Currency)), amount(part.Total, part.Currency),
		})
	}
	switch {
	case c.JSON:
		hash, err := p.app.Channels.HashOf(t)
		if err != nil {
			return err
		}
		return p.printJSON(view.ShowTransaction(t, hash))
	case c.CSV:
		return p.printCSV(parts, civil.FormatInstant(p.now(actor)))
	}
	linked := ""
	if t.LinkedID != 0 {
		linked = number(t.LinkedID)
	}
	over := ""
	if t.OverLimit > 0 {
		over = string(t.OverLimitCurrency) + " " + money.Format(t.OverLimit, t.OverLimitCurrency)
	}
	p.printFields([][2]string{
		{"transaction", fmt.Sprintf("%d, %s, %s", t.ID, t.Type, t.Status)},
		{"reference", t.Reference}, {"channel", number(t.ChannelID)},
		{"total", string(t.Currency) + " " + money.Format(t.Total, t.Currency)},
		{"remaining", string(t.Currency) + " " + money.Format(t.TotalRemaining(), t.Currency)},
		{"over limit", over}, {"adjusts", linked}, {"card", cmp.Or(strings.TrimSpace(t.CardType+" "+t.LastFour), t.Method)},
		{"auth code", t.AuthCode}, {"acquirer reference", t.AcquirerReference}, {"processor reference", t.ProcessorReference},
		{"processor", t.PSP}, {"payer", nameOf(t.PayeeName, t.PayeeSurname)}, {"e-mail", t.PayeeEmail},
		{"content", t.Content}, {"flags", strings.Join(t.AllFlags(), ", ")},
		{"taken", civil.FormatInstant(t.EffectiveAt) + " GMT"}, {"recorded", civil.FormatInstant(t.CreatedAt) + " GMT"},
	})
	p.printf("\n")
	p.printTable(parts, "")
	return nil
}
