package client

import (
	"context"
	"iter"
	"net/http"
)

// Imports import bookings and payments from another system's file.
type Imports struct{ c *connection }

// List returns one page of imports.
func (s *Imports) List(ctx context.Context, query ImportsQuery, page Page) ([]Import, PageInfo, error) {
	return paged[[]Import](ctx, s.c, s.c.resource("imports"), query, page)
}

// All iterates over all imports, page by page, and stops at the first error. Items added during the iteration may or
// may not be included.
func (s *Imports) All(ctx context.Context, query ImportsQuery) iter.Seq2[Import, error] {
	return each[Import](ctx, s.c, s.c.resource("imports"), query)
}

// Create uploads a CSV file. The service stores it and imports it in the background: Get returns the progress.
func (s *Imports) Create(ctx context.Context, query CreateImportQuery, file []byte, options ...CallOption) (Import, error) {
	r := request{method: http.MethodPost, path: s.c.resource("imports"), query: values(query), body: file, kind: "text/csv"}
	return s.accepted(ctx, r, options)
}

// Get returns an import.
func (s *Imports) Get(ctx context.Context, id int64, options ...CallOption) (Import, error) {
	return get[Import](ctx, s.c, s.c.resource("imports", id), nil, options...)
}

// Confirm imports the file of a completed dry run.
func (s *Imports) Confirm(ctx context.Context, id int64, options ...CallOption) (Import, error) {
	return s.accepted(ctx, request{method: http.MethodPost, path: s.c.resource("imports", id, "confirm")}, options)
}

// accepted reads the import from a 202 response.
func (s *Imports) accepted(ctx context.Context, r request, options []CallOption) (made Import, err error) {
	got, err := s.c.call(ctx, r, nil, options)
	if err != nil {
		return made, err
	}
	return made, parse(r, got.body, &made)
}

// Discard discards a completed dry run, or an import that is waiting for another operator's approval.
func (s *Imports) Discard(ctx context.Context, id int64, options ...CallOption) error {
	return remove(ctx, s.c, s.c.resource("imports", id), options)
}

// Rows returns one page of the results of an import, by row.
func (s *Imports) Rows(ctx context.Context, id int64, query ImportRowsQuery, page Page) ([]ImportRow, PageInfo, error) {
	return paged[[]ImportRow](ctx, s.c, s.c.resource("imports", id, "rows"), query, page)
}

// AllRows iterates over the results of all rows of an import.
func (s *Imports) AllRows(ctx context.Context, id int64, query ImportRowsQuery) iter.Seq2[ImportRow, error] {
	return each[ImportRow](ctx, s.c, s.c.resource("imports", id, "rows"), query)
}

// CSV downloads the rejected rows of an import as a file. Once corrected, it can be uploaded as a new import.
func (s *Imports) CSV(ctx context.Context, id int64) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("imports", id, "csv"), nil)
}
