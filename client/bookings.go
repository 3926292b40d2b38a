package client

import (
	"context"
	"iter"
)

// Bookings are trips with a total cost, in the base currency of their channel.
type Bookings struct{ c *connection }

// List returns one page of bookings.
func (s *Bookings) List(ctx context.Context, query BookingsQuery, page Page) ([]Booking, PageInfo, error) {
	return paged[[]Booking](ctx, s.c, s.c.resource("bookings"), query, page)
}

// All iterates over all bookings, page by page, and stops at the first error. Items added during the iteration may or
// may not be included.
func (s *Bookings) All(ctx context.Context, query BookingsQuery) iter.Seq2[Booking, error] {
	return each[Booking](ctx, s.c, s.c.resource("bookings"), query)
}

// Get returns a booking.
func (s *Bookings) Get(ctx context.Context, id int64, options ...CallOption) (Booking, error) {
	return get[Booking](ctx, s.c, s.c.resource("bookings", id), nil, options...)
}

// Create creates a booking.
func (s *Bookings) Create(ctx context.Context, in BookingCreate, options ...CallOption) (Booking, error) {
	return create[Booking](ctx, s.c, s.c.resource("bookings"), in, options)
}

// Change updates the fields that are not nil and leaves the others unchanged.
func (s *Bookings) Change(ctx context.Context, id int64, in BookingChange, options ...CallOption) (Booking, error) {
	return change[Booking](ctx, s.c, s.c.resource("bookings", id), in, options)
}

// Delete deletes a booking. If the booking has transactions, the error code is rest_cannot_delete.
func (s *Bookings) Delete(ctx context.Context, id int64, options ...CallOption) error {
	return remove(ctx, s.c, s.c.resource("bookings", id), options)
}

// Protection explains step by step whether a booking is protected, until when and at what value. The page selects its
// allocations.
func (s *Bookings) Protection(
	ctx context.Context, id int64, query BookingProtectionQuery, page Page,
) (BookingProtection, PageInfo, error) {
	return paged[BookingProtection](ctx, s.c, s.c.resource("bookings", id, "protection"), query, page)
}

// Allocations iterates over the explanations of all allocations of a booking.
func (s *Bookings) Allocations(ctx context.Context, id int64, query BookingProtectionQuery) iter.Seq2[Allocation, error] {
	return all(func(n Page) (BookingProtection, PageInfo, error) { return s.Protection(ctx, id, query, n) },
		func(p BookingProtection) []Allocation { return p.Allocations })
}

// Certificate returns the certificate of a booking: whether it is protected, and the link to the traveller's page.
func (s *Bookings) Certificate(ctx context.Context, id int64, options ...CallOption) (Certificate, error) {
	return get[Certificate](ctx, s.c, s.c.resource("bookings", id, "certificate"), nil, options...)
}

// RevokeCertificate revokes the link of a booking's certificate. The next call of Certificate creates a new one.
func (s *Bookings) RevokeCertificate(ctx context.Context, id int64, options ...CallOption) (RevokedCertificate, error) {
	return create[RevokedCertificate](ctx, s.c, s.c.resource("bookings", id, "certificate", "revoke"), nil, options)
}

// Transactions report payments for bookings, and adjustments of earlier payments. They are never changed or deleted.
type Transactions struct{ c *connection }

// List returns one page of transactions.
func (s *Transactions) List(ctx context.Context, query TransactionsQuery, page Page) ([]Transaction, PageInfo, error) {
	return paged[[]Transaction](ctx, s.c, s.c.resource("transactions"), query, page)
}

// All iterates over all transactions, page by page, and stops at the first error. Items added during the iteration may
// or may not be included.
func (s *Transactions) All(ctx context.Context, query TransactionsQuery) iter.Seq2[Transaction, error] {
	return each[Transaction](ctx, s.c, s.c.resource("transactions"), query)
}

// Get returns a transaction.
func (s *Transactions) Get(ctx context.Context, id int64, options ...CallOption) (Transaction, error) {
	return get[Transaction](ctx, s.c, s.c.resource("transactions", id), nil, options...)
}

// Create reports a payment, or a refund, capture or void with LinkedID. It is safe to repeat: for 30 days by its
// idempotency key, and without a time limit by its Reference. A payment that a processor carries out may return the
// Status pending or incomplete; Get returns the final one.
func (s *Transactions) Create(ctx context.Context, in TransactionCreate, options ...CallOption) (Transaction, error) {
	return create[Transaction](ctx, s.c, s.c.resource("transactions"), in, options)
}

// Protection explains a transaction: every input and step of its allocations, rule by rule.
func (s *Transactions) Protection(ctx context.Context, id int64, query ProtectionQuery) (Protection, error) {
	return get[Protection](ctx, s.c, s.c.resource("transactions", id, "protection"), query)
}

// Payments are the parts of transactions: one for each booking that a transaction pays.
type Payments struct{ c *connection }

// List returns one page of payment records.
func (s *Payments) List(ctx context.Context, query PaymentsQuery, page Page) ([]Payment, PageInfo, error) {
	return paged[[]Payment](ctx, s.c, s.c.resource("payments"), query, page)
}

// All iterates over all payment records, page by page, and stops at the first error. Items added during the iteration
// may or may not be included.
func (s *Payments) All(ctx context.Context, query PaymentsQuery) iter.Seq2[Payment, error] {
	return each[Payment](ctx, s.c, s.c.resource("payments"), query)
}

// Get returns a payment record.
func (s *Payments) Get(ctx context.Context, id int64, options ...CallOption) (Payment, error) {
	return get[Payment](ctx, s.c, s.c.resource("payments", id), nil, options...)
}
