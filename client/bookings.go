package client

import (
	"context"
	"iter"
)

// Bookings are trips with a total cost, in the base currency of their channel.
type Bookings struct{ c *connection }

// List reads one page of bookings.
func (s *Bookings) List(ctx context.Context, query BookingsQuery, page Page) ([]Booking, PageInfo, error) {
	return paged[[]Booking](ctx, s.c, s.c.resource("bookings"), query, page)
}

// All goes through all of bookings, page by page. An error ends it. A list that grows meanwhile may end with the new
// items, or without.
func (s *Bookings) All(ctx context.Context, query BookingsQuery) iter.Seq2[Booking, error] {
	return each[Booking](ctx, s.c, s.c.resource("bookings"), query)
}

// Get reads a booking.
func (s *Bookings) Get(ctx context.Context, id int64, options ...CallOption) (Booking, error) {
	return get[Booking](ctx, s.c, s.c.resource("bookings", id), nil, options...)
}

// Create makes a booking.
func (s *Bookings) Create(ctx context.Context, in BookingCreate, options ...CallOption) (Booking, error) {
	return create[Booking](ctx, s.c, s.c.resource("bookings"), in, options)
}

// Change changes the fields that are not nil, and no others.
func (s *Bookings) Change(ctx context.Context, id int64, in BookingChange, options ...CallOption) (Booking, error) {
	return change[Booking](ctx, s.c, s.c.resource("bookings", id), in, options)
}

// Delete deletes a booking. One with transactions is not deleted: rest_cannot_delete.
func (s *Bookings) Delete(ctx context.Context, id int64, options ...CallOption) error {
	return remove(ctx, s.c, s.c.resource("bookings", id), options)
}

// Protection explains why a booking is protected, until when and at what value, step by step. The page is that of its
// allocations.
func (s *Bookings) Protection(
	ctx context.Context, id int64, query BookingProtectionQuery, page Page,
) (BookingProtection, PageInfo, error) {
	return paged[BookingProtection](ctx, s.c, s.c.resource("bookings", id, "protection"), query, page)
}

// Allocations goes through the explanations of all allocations of a booking.
func (s *Bookings) Allocations(ctx context.Context, id int64, query BookingProtectionQuery) iter.Seq2[Allocation, error] {
	return all(func(n Page) (BookingProtection, PageInfo, error) { return s.Protection(ctx, id, query, n) },
		func(p BookingProtection) []Allocation { return p.Allocations })
}

// Certificate reads the certificate of a booking: whether it is protected, and the link of the traveller's page.
func (s *Bookings) Certificate(ctx context.Context, id int64, options ...CallOption) (Certificate, error) {
	return get[Certificate](ctx, s.c, s.c.resource("bookings", id, "certificate"), nil, options...)
}

// RevokeCertificate ends the link of a booking's certificate. The next Certificate has a new one.
func (s *Bookings) RevokeCertificate(ctx context.Context, id int64, options ...CallOption) (RevokedCertificate, error) {
	return create[RevokedCertificate](ctx, s.c, s.c.resource("bookings", id, "certificate", "revoke"), nil, options)
}

// Transactions report payments for bookings, and adjustments of earlier payments. They are never changed or deleted.
type Transactions struct{ c *connection }

// List reads one page of transactions.
func (s *Transactions) List(ctx context.Context, query TransactionsQuery, page Page) ([]Transaction, PageInfo, error) {
	return paged[[]Transaction](ctx, s.c, s.c.resource("transactions"), query, page)
}

// All goes through all of transactions, page by page. An error ends it. A list that grows meanwhile may end with the
// new items, or without.
func (s *Transactions) All(ctx context.Context, query TransactionsQuery) iter.Seq2[Transaction, error] {
	return each[Transaction](ctx, s.c, s.c.resource("transactions"), query)
}

// Get reads a transaction.
func (s *Transactions) Get(ctx context.Context, id int64, options ...CallOption) (Transaction, error) {
	return get[Transaction](ctx, s.c, s.c.resource("transactions", id), nil, options...)
}

// Create reports a payment, or a refund, capture or void with LinkedID. It is safe to repeat: by its idempotency key,
// and for ever by its Reference. A payment at a processor may answer with the Status pending or incomplete; Get tells
// how it ended.
func (s *Transactions) Create(ctx context.Context, in TransactionCreate, options ...CallOption) (Transaction, error) {
	return create[Transaction](ctx, s.c, s.c.resource("transactions"), in, options)
}

// Protection explains a transaction: every input and step of its allocations, rule by rule.
func (s *Transactions) Protection(ctx context.Context, id int64, query ProtectionQuery) (Protection, error) {
	return get[Protection](ctx, s.c, s.c.resource("transactions", id, "protection"), query)
}

// Payments are the records of transactions: one for each booking that a transaction pays.
type Payments struct{ c *connection }

// List reads one page of payment records.
func (s *Payments) List(ctx context.Context, query PaymentsQuery, page Page) ([]Payment, PageInfo, error) {
	return paged[[]Payment](ctx, s.c, s.c.resource("payments"), query, page)
}

// All goes through all of payment records, page by page. An error ends it. A list that grows meanwhile may end with
// the new items, or without.
func (s *Payments) All(ctx context.Context, query PaymentsQuery) iter.Seq2[Payment, error] {
	return each[Payment](ctx, s.c, s.c.resource("payments"), query)
}

// Get reads a payment record.
func (s *Payments) Get(ctx context.Context, id int64, options ...CallOption) (Payment, error) {
	return get[Payment](ctx, s.c, s.c.resource("payments", id), nil, options...)
}
