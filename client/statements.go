package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
)

// Statements show what channels owe for a period, and what has been paid.
type Statements struct{ c *connection }

// List returns one page of statements.
func (s *Statements) List(ctx context.Context, query StatementsQuery, page Page) ([]Statement, PageInfo, error) {
	return paged[[]Statement](ctx, s.c, s.c.resource("statements"), query, page)
}

// All iterates over all statements, page by page, and stops at the first error. Items added during the iteration may or
// may not be included.
func (s *Statements) All(ctx context.Context, query StatementsQuery) iter.Seq2[Statement, error] {
	return each[Statement](ctx, s.c, s.c.resource("statements"), query)
}

// Get returns a statement.
func (s *Statements) Get(ctx context.Context, id int64, options ...CallOption) (Statement, error) {
	return get[Statement](ctx, s.c, s.c.resource("statements", id), nil, options...)
}

// Lines returns one page of the lines of a statement.
func (s *Statements) Lines(ctx context.Context, id int64, query StatementLinesQuery, page Page) ([]StatementLine, PageInfo, error) {
	return paged[[]StatementLine](ctx, s.c, s.c.resource("statements", id, "lines"), query, page)
}

// AllLines iterates over all lines of a statement.
func (s *Statements) AllLines(ctx context.Context, id int64, query StatementLinesQuery) iter.Seq2[StatementLine, error] {
	return each[StatementLine](ctx, s.c, s.c.resource("statements", id, "lines"), query)
}

// LineProtection explains a line of a statement: the id of a line, or the name of a sum such as minimum. The page
// selects its premium lines.
func (s *Statements) LineProtection(
	ctx context.Context, id int64, line string, query StatementLineProtectionQuery, page Page,
) (StatementLineProtection, PageInfo, error) {
	path := s.c.resource("statements", id, "lines", url.PathEscape(line), "protection")
	return paged[StatementLineProtection](ctx, s.c, path, query, page)
}

// Contracts returns one page of the contracts with the underwriter, the latest first.
func (s *Statements) Contracts(ctx context.Context, query ContractsQuery, page Page) ([]Contract, PageInfo, error) {
	return paged[[]Contract](ctx, s.c, s.c.resource("bordereaux", "contracts"), query, page)
}

// Contract returns a contract with the underwriter.
func (s *Statements) Contract(ctx context.Context, id int64, options ...CallOption) (Contract, error) {
	return get[Contract](ctx, s.c, s.c.resource("bordereaux", "contracts", id), nil, options...)
}

// CreateContract adds a contract with the underwriter: bordereaux name it from its first day.
func (s *Statements) CreateContract(ctx context.Context, in ContractCreate, options ...CallOption) (Contract, error) {
	return create[Contract](ctx, s.c, s.c.resource("bordereaux", "contracts"), in, options)
}

// CSV downloads the lines of a statement as CSV.
func (s *Statements) CSV(ctx context.Context, id int64, query StatementCSVQuery) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("statements", id, "csv"), query)
}

// PDF downloads a statement as PDF.
func (s *Statements) PDF(ctx context.Context, id int64, query StatementPDFQuery) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("statements", id, "pdf"), query)
}

// Payments returns one page of the payments for a statement.
func (s *Statements) Payments(
	ctx context.Context, id int64, query StatementPaymentsQuery, page Page,
) ([]StatementPayment, PageInfo, error) {
	return paged[[]StatementPayment](ctx, s.c, s.c.resource("statements", id, "payments"), query, page)
}

// AllPayments iterates over all payments for a statement.
func (s *Statements) AllPayments(ctx context.Context, id int64, query StatementPaymentsQuery) iter.Seq2[StatementPayment, error] {
	return each[StatementPayment](ctx, s.c, s.c.resource("statements", id, "payments"), query)
}

// Pay records a payment for a statement. A repeated Reference is the same payment.
func (s *Statements) Pay(
	ctx context.Context, id int64, in StatementPaymentCreate, options ...CallOption,
) (StatementPayment, error) {
	return create[StatementPayment](ctx, s.c, s.c.resource("statements", id, "payments"), in, options)
}

// file reads a response that is not JSON.
func (c *connection) file(ctx context.Context, path string, query any) ([]byte, error) {
	got, err := c.call(ctx, request{method: http.MethodGet, path: path, query: values(query)}, nil, nil)
	return got.body, err
}

// Premiums are the premium lines: the charges for protecting payments.
type Premiums struct{ c *connection }

// List returns one page of premium lines.
func (s *Premiums) List(ctx context.Context, query PremiumsQuery, page Page) ([]PremiumLine, PageInfo, error) {
	return paged[[]PremiumLine](ctx, s.c, s.c.resource("premiums"), query, page)
}

// All iterates over all premium lines, page by page, and stops at the first error. Items added during the iteration may
// or may not be included.
func (s *Premiums) All(ctx context.Context, query PremiumsQuery) iter.Seq2[PremiumLine, error] {
	return each[PremiumLine](ctx, s.c, s.c.resource("premiums"), query)
}

// Bordereau is the report to the underwriter about a period.
func (s *Premiums) Bordereau(ctx context.Context, query PremiumBordereauQuery) (Bordereau, error) {
	query.Format = "json"
	return get[Bordereau](ctx, s.c, s.c.resource("bordereaux", "premium"), query)
}

// BordereauCSV returns the bordereau as CSV.
func (s *Premiums) BordereauCSV(ctx context.Context, query PremiumBordereauQuery) ([]byte, error) {
	query.Format = "csv"
	return s.c.file(ctx, s.c.resource("bordereaux", "premium"), query)
}

// Policies are the terms agreed between the site and the protection provider, each from a start day.
type Policies struct{ c *connection }

// List returns one page of policies.
func (s *Policies) List(ctx context.Context, query PoliciesQuery, page Page) ([]Policy, PageInfo, error) {
	return paged[[]Policy](ctx, s.c, s.c.resource("policies"), query, page)
}

// All iterates over all policies, page by page, and stops at the first error. Items added during the iteration may or
// may not be included.
func (s *Policies) All(ctx context.Context, query PoliciesQuery) iter.Seq2[Policy, error] {
	return each[Policy](ctx, s.c, s.c.resource("policies"), query)
}

// Get returns a policy.
func (s *Policies) Get(ctx context.Context, id int64, options ...CallOption) (Policy, error) {
	return get[Policy](ctx, s.c, s.c.resource("policies", id), nil, options...)
}

// Create creates a policy. Fields that are nil keep the value of the previous policy. Outside a sandbox, a change that
// opens cover has to be approved by a second person: the error is then a *WaitingError.
func (s *Policies) Create(ctx context.Context, in PolicyCreate, options ...CallOption) (Policy, error) {
	return create[Policy](ctx, s.c, s.c.resource("policies"), in, options)
}
