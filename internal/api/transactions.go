package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/payment"
)

// transactionObject makes the answer about a transaction. It returns err as it is.
func (s *server) transactionObject(t payment.Transaction, err error) (object, error) {
	if err != nil {
		return object{}, err
	}
	hash, err := s.app.Channels.HashOf(t)
	return object{id: t.ID, body: view.ShowTransaction(t, hash)}, err
}

func (s *server) listTransactions(c *call) error {
	q := c.query()
	page := q.SearchedPage(payments.TransactionOrders)
	filter := payments.TransactionFilter{
		Find:               q.Text("search"),
		Created:            q.Span(""),
		Statuses:           input.Words(q, "status", payment.TransactionStatuses),
		Channels:           q.Ids("channels"),
		Countries:          q.Codes("countries"),
		Reference:          q.Text("reference"),
		Currencies:         q.Codes("currencies"),
		Types:              input.Words(q, "transaction_types", payment.TransactionTypes),
		Methods:            input.Words(q, "payment_methods", payment.PaymentMethods),
		CardTypes:          q.List("card_types"),
		BIN:                q.Text("bin_number"),
		LastFour:           q.Text("last_four_digits"),
		PayeeEmail:         q.Text("payee_email"),
		PayeeSurname:       q.Text("payee_surname"),
		LinkedID:           q.ID("linked_id"),
		Bookings:           q.Ids("bookings"),
		PSP:                q.Text("psp"),
		AuthCode:           q.Text("auth_code"),
		AcquirerReference:  q.Text("acquirer_reference"),
		ProcessorReference: q.Text("processor_reference"),
		Flags:              input.Words(q, "flags", payment.Flags),
		Protected:          q.MaybeFlag("protected"),
		OverLimit:          q.MaybeFlag("over_limit"),
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Disputes.Transactions(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	hashes, err := s.app.Channels.HashesOf(found.Items)
	if err != nil {
		return err
	}
	return list(s, c, page, found, func(t payment.Transaction) view.Transaction { return view.ShowTransaction(t, hashes[t.ID]) })
}

func (s *server) getTransaction(c *call) error {
	found, err := s.findTransaction(c, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, found)
}

func (s *server) findTransaction(c *call, id int64) (object, error) {
	found, err := s.app.Disputes.Transaction(c.ctx, c.actor, id)
	return s.transactionObject(found, err)
}

func (s *server) createTransaction(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, created, err := s.app.Disputes.CreateTransaction(c.ctx, c.actor, input.NewTransaction(in))
		o, err := s.transactionObject(made, err)
		o.existing = !created
		return o, err
	})
}
