package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
)

// Statements say what channels owe for a period, and what was paid.
type Statements struct{ c *connection }

// List reads one page of statements.
func (s *Statements) List(ctx context.Context, query StatementsQuery, page Page) ([]Statement, PageInfo, error) {
	return paged[[]Statement](ctx, s.c, s.c.resource("statements"), query, page)
}

// All goes through all of statements, page by page. An error ends it. A list that grows meanwhile may end with the
// new items, or without.
func (s *Statements) All(ctx context.Context, query StatementsQuery) iter.Seq2[Statement, error] {
	return each[Statement](ctx, s.c, s.c.resource("statements"), query)
}

// Get reads a statement.
func (s *Statements) Get(ctx context.Context, id int64, options ...CallOption) (Statement, error) {
	return get[Statement](ctx, s.c, s.c.resource("statements", id), nil, options...)
}

// Lines reads one page of the lines of a statement.
func (s *Statements) Lines(ctx context.Context, id int64, query StatementLinesQuery, page Page) ([]StatementLine, PageInfo, error) {
	return paged[[]StatementLine](ctx, s.c, s.c.resource("statements", id, "lines"), query, page)
}

// AllLines goes through all lines of a statement.
func (s *Statements) AllLines(ctx context.Context, id int64, query StatementLinesQuery) iter.Seq2[StatementLine, error] {
	return each[StatementLine](ctx, s.c, s.c.resource("statements", id, "lines"), query)
}

// LineProtection explains a line of a statement: the id of a line, or the name of one of its sums, such as minimum. The
// page is that of its premium lines.
func (s *Statements) LineProtection(
	ctx context.Context, id int64, line string, query StatementLineProtectionQuery, page Page,
) (StatementLineProtection, PageInfo, error) {
	path := s.c.resource("statements", id, "lines", url.PathEscape(line), "protection")
	return paged[StatementLineProtection](ctx, s.c, path, query, page)
}

// Contracts reads a page of the contracts with the underwriter, the one that begins last first.
func (s *Statements) Contracts(ctx context.Context, query ContractsQuery, page Page) ([]Contract, PageInfo, error) {
	return paged[[]Contract](ctx, s.c, s.c.resource("bordereaux", "contracts"), query, page)
}

// Contract reads a contract with the underwriter.
func (s *Statements) Contract(ctx context.Context, id int64, options ...CallOption) (Contract, error) {
	return get[Contract](ctx, s.c, s.c.resource("bordereaux", "contracts", id), nil, options...)
}

// CreateContract names another contract with the underwriter: bordereaux have it from its first day on.
func (s *Statements) CreateContract(ctx context.Context, in ContractCreate, options ...CallOption) (Contract, error) {
	return create[Contract](ctx, s.c, s.c.resource("bordereaux", "contracts"), in, options)
}

// CSV reads the lines of a statement as a file.
func (s *Statements) CSV(ctx context.Context, id int64, query StatementCSVQuery) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("statements", id, "csv"), query)
}

// PDF reads a statement as a document.
func (s *Statements) PDF(ctx context.Context, id int64, query StatementPDFQuery) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("statements", id, "pdf"), query)
}

// Payments reads one page of what was paid for a statement.
func (s *Statements) Payments(
	ctx context.Context, id int64, query StatementPaymentsQuery, page Page,
) ([]StatementPayment, PageInfo, error) {
	return paged[[]StatementPayment](ctx, s.c, s.c.resource("statements", id, "payments"), query, page)
}

// AllPayments goes through all that was paid for a statement.
func (s *Statements) AllPayments(ctx context.Context, id int64, query StatementPaymentsQuery) iter.Seq2[StatementPayment, error] {
	return each[StatementPayment](ctx, s.c, s.c.resource("statements", id, "payments"), query)
}

// Pay records a payment for a statement. The same Reference again is the same payment.
func (s *Statements) Pay(
	ctx context.Context, id int64, in StatementPaymentCreate, options ...CallOption,
) (StatementPayment, error) {
	return create[StatementPayment](ctx, s.c, s.c.resource("statements", id, "payments"), in, options)
}

// file reads what is no JSON.
func (c *connection) file(ctx context.Context, path string, query any) ([]byte, error) {
	got, err := c.call(ctx, request{method: http.MethodGet, path: path, query: values(query)}, nil, nil)
	return got.body, err
}

// Premiums are the lines of premium: what is charged for the protection of payments.
type Premiums struct{ c *connection }

// List reads one page of premium lines.
func (s *Premiums) List(ctx context.Context, query PremiumsQuery, page Page) ([]PremiumLine, PageInfo, error) {
	return paged[[]PremiumLine](ctx, s.c, s.c.resource("premiums"), query, page)
}

// All goes through all of premium lines, page by page. An error ends it. A list that grows meanwhile may end with the
// new items, or without.
func (s *Premiums) All(ctx context.Context, query PremiumsQuery) iter.Seq2[PremiumLine, error] {
	return each[PremiumLine](ctx, s.c, s.c.resource("premiums"), query)
}

// Bordereau is what the underwriter is told about a period.
func (s *Premiums) Bordereau(ctx context.Context, query PremiumBordereauQuery) (Bordereau, error) {
	query.Format = "json"
	return get[Bordereau](ctx, s.c, s.c.resource("bordereaux", "premium"), query)
}

// BordereauCSV is the same as a file.
func (s *Premiums) BordereauCSV(ctx context.Context, query PremiumBordereauQuery) ([]byte, error) {
	query.Format = "csv"
	return s.c.file(ctx, s.c.resource("bordereaux", "premium"), query)
}

// Policies are what the site and the protection provider agreed on, each from a day on.
type Policies struct{ c *connection }

// List reads one page of policies.
func (s *Policies) List(ctx context.Context, query PoliciesQuery, page Page) ([]Policy, PageInfo, error) {
	return paged[[]Policy](ctx, s.c, s.c.resource("policies"), query, page)
}

// All goes through all of policies, page by page. An error ends it. A list that grows meanwhile may end with the new
// items, or without.
func (s *Policies) All(ctx context.Context, query PoliciesQuery) iter.Seq2[Policy, error] {
	return each[Policy](ctx, s.c, s.c.resource("policies"), query)
}

// Get reads a policy.
func (s *Policies) Get(ctx context.Context, id int64, options ...CallOption) (Policy, error) {
	return get[Policy](ctx, s.c, s.c.resource("policies", id), nil, options...)
}

// Create makes a policy. What is nil stays as in the one before. Outside a sandbox, what opens cover waits for
// another person: then the error is a *WaitingError.
func (s *Policies) Create(ctx context.Context, in PolicyCreate, options ...CallOption) (Policy, error) {
	return create[Policy](ctx, s.c, s.c.resource("policies"), in, options)
}
