package client

import (
	"context"
	"iter"
	"net/http"
)

// Imports bring in the bookings and payments of another system from a file.
type Imports struct{ c *connection }

// List reads one page of imports.
func (s *Imports) List(ctx context.Context, query ImportsQuery, page Page) ([]Import, PageInfo, error) {
	return paged[[]Import](ctx, s.c, s.c.resource("imports"), query, page)
}

// All goes through all of imports, page by page. An error ends it. A list that grows meanwhile may end with the new
// items, or without.
func (s *Imports) All(ctx context.Context, query ImportsQuery) iter.Seq2[Import, error] {
	return each[Import](ctx, s.c, s.c.resource("imports"), query)
}

// Create sends a CSV file. The service stores it and imports it later: Get says how far it is.
func (s *Imports) Create(ctx context.Context, query CreateImportQuery, file []byte, options ...CallOption) (Import, error) {
	r := request{method: http.MethodPost, path: s.c.resource("imports"), query: values(query), body: file, kind: "text/csv"}
	return s.accepted(ctx, r, options)
}

// Get reads an import.
func (s *Imports) Get(ctx context.Context, id int64, options ...CallOption) (Import, error) {
	return get[Import](ctx, s.c, s.c.resource("imports", id), nil, options...)
}

// Confirm imports the file of a dry run that is over.
func (s *Imports) Confirm(ctx context.Context, id int64, options ...CallOption) (Import, error) {
	return s.accepted(ctx, request{method: http.MethodPost, path: s.c.resource("imports", id, "confirm")}, options)
}

// accepted reads the import of an answer that says that it will be done.
func (s *Imports) accepted(ctx context.Context, r request, options []CallOption) (made Import, err error) {
	got, err := s.c.call(ctx, r, nil, options)
	if err != nil {
		return made, err
	}
	return made, parse(r, got.body, &made)
}

// Discard ends a dry run that is over, or an import that waits for another operator.
func (s *Imports) Discard(ctx context.Context, id int64, options ...CallOption) error {
	return remove(ctx, s.c, s.c.resource("imports", id), options)
}

// Rows reads one page of what became of the rows of an import.
func (s *Imports) Rows(ctx context.Context, id int64, query ImportRowsQuery, page Page) ([]ImportRow, PageInfo, error) {
	return paged[[]ImportRow](ctx, s.c, s.c.resource("imports", id, "rows"), query, page)
}

// AllRows goes through all rows of an import.
func (s *Imports) AllRows(ctx context.Context, id int64, query ImportRowsQuery) iter.Seq2[ImportRow, error] {
	return each[ImportRow](ctx, s.c, s.c.resource("imports", id, "rows"), query)
}

// CSV reads the refused rows of an import as a file, with their cells: mended, it can be sent as a new import.
func (s *Imports) CSV(ctx context.Context, id int64) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("imports", id, "csv"), nil)
}
