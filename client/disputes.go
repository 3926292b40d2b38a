package client

import (
	"context"
	"iter"
	"net/http"
)

// Disputes are chargebacks, and what comes before and after them.
type Disputes struct{ c *connection }

// List reads one page of disputes, by the last day to answer.
func (s *Disputes) List(ctx context.Context, query DisputesQuery, page Page) ([]Dispute, PageInfo, error) {
	return paged[[]Dispute](ctx, s.c, s.c.resource("disputes"), query, page)
}

// All goes through all disputes, page by page. An error ends it.
func (s *Disputes) All(ctx context.Context, query DisputesQuery) iter.Seq2[Dispute, error] {
	return each[Dispute](ctx, s.c, s.c.resource("disputes"), query)
}

// Counts counts the disputes that the filters select.
func (s *Disputes) Counts(ctx context.Context, query CountDisputesQuery, options ...CallOption) (DisputeCounts, error) {
	return get[DisputeCounts](ctx, s.c, s.c.resource("disputes", "counts"), query, options...)
}

// Ratios reports the dispute ratios of a month.
func (s *Disputes) Ratios(ctx context.Context, query DisputeRatiosQuery) (DisputeRatios, error) {
	return get[DisputeRatios](ctx, s.c, s.c.resource("disputes", "ratios"), query)
}

// Get reads a dispute.
func (s *Disputes) Get(ctx context.Context, id int64, options ...CallOption) (Dispute, error) {
	return get[Dispute](ctx, s.c, s.c.resource("disputes", id), nil, options...)
}

// Create reports a dispute, or an event of a dispute that is known.
func (s *Disputes) Create(ctx context.Context, in DisputeReport, options ...CallOption) (Dispute, error) {
	return create[Dispute](ctx, s.c, s.c.resource("disputes"), in, options)
}

// Events reads the history of a dispute.
func (s *Disputes) Events(ctx context.Context, id int64, options ...CallOption) ([]DisputeEntry, error) {
	return get[[]DisputeEntry](ctx, s.c, s.c.resource("disputes", id, "events"), nil, options...)
}

// AddEvent adds an event by hand, such as that the dispute is lost.
func (s *Disputes) AddEvent(ctx context.Context, id int64, in DisputeEventReport, options ...CallOption) (Dispute, error) {
	return create[Dispute](ctx, s.c, s.c.resource("disputes", id, "events"), in, options)
}

// Candidates reads the payments that a dispute may be about, the best first.
func (s *Disputes) Candidates(ctx context.Context, id int64, options ...CallOption) ([]DisputeCandidate, error) {
	return get[[]DisputeCandidate](ctx, s.c, s.c.resource("disputes", id, "candidates"), nil, options...)
}

// Match chooses the payment of a dispute.
func (s *Disputes) Match(ctx context.Context, id int64, in DisputeMatch, options ...CallOption) (Dispute, error) {
	return create[Dispute](ctx, s.c, s.c.resource("disputes", id, "match"), in, options)
}

// Unmatch undoes a match.
func (s *Disputes) Unmatch(ctx context.Context, id int64, in DisputeReason, options ...CallOption) (Dispute, error) {
	return create[Dispute](ctx, s.c, s.c.resource("disputes", id, "unmatch"), in, options)
}

// Assign sets who works on a dispute.
func (s *Disputes) Assign(ctx context.Context, id int64, in DisputeAssignment, options ...CallOption) (Dispute, error) {
	return create[Dispute](ctx, s.c, s.c.resource("disputes", id, "assign"), in, options)
}

// Accept records that the merchant does not defend a dispute.
func (s *Disputes) Accept(ctx context.Context, id int64, in DisputeNote, options ...CallOption) (Dispute, error) {
	return create[Dispute](ctx, s.c, s.c.resource("disputes", id, "accept"), in, options)
}

// Challenge records that a dispute was answered with evidence.
func (s *Disputes) Challenge(ctx context.Context, id int64, in DisputeNote, options ...CallOption) (Dispute, error) {
	return create[Dispute](ctx, s.c, s.c.resource("disputes", id, "challenge"), in, options)
}

// Represent records that a chargeback was represented with the evidence of the dispute.
func (s *Disputes) Represent(ctx context.Context, id int64, in DisputeNote, options ...CallOption) (Dispute, error) {
	return create[Dispute](ctx, s.c, s.c.resource("disputes", id, "represent"), in, options)
}

// Note adds a note to the history of a dispute.
func (s *Disputes) Note(ctx context.Context, id int64, in DisputeNoteText, options ...CallOption) (Dispute, error) {
	return create[Dispute](ctx, s.c, s.c.resource("disputes", id, "note"), in, options)
}

// Evidence reads the list of the files of a dispute.
func (s *Disputes) Evidence(ctx context.Context, id int64, options ...CallOption) ([]Evidence, error) {
	return get[[]Evidence](ctx, s.c, s.c.resource("disputes", id, "evidence"), nil, options...)
}

// Representment reads the evidence against a dispute that is on record.
func (s *Disputes) Representment(ctx context.Context, id int64, options ...CallOption) (Representment, error) {
	return get[Representment](ctx, s.c, s.c.resource("disputes", id, "representment"), nil, options...)
}

// RepresentmentPDF reads the evidence against a dispute as a PDF, to send to the processor.
func (s *Disputes) RepresentmentPDF(ctx context.Context, id int64) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("disputes", id, "representment", "pdf"), nil)
}

// Attach attaches a file to a dispute: a PDF, a PNG or a JPEG.
func (s *Disputes) Attach(
	ctx context.Context, id int64, query CreateEvidenceQuery, file []byte, options ...CallOption,
) (made Evidence, err error) {
	r := request{
		method: http.MethodPost, path: s.c.resource("disputes", id, "evidence"), query: values(query), body: file, kind: "application/octet-stream",
	}
	got, err := s.c.call(ctx, r, nil, options)
	if err != nil {
		return made, err
	}
	return made, parse(r, got.body, &made)
}

// File reads the content of a file of a dispute.
func (s *Disputes) File(ctx context.Context, id, evidence int64) ([]byte, error) {
	return s.c.file(ctx, s.c.resource("disputes", id, "evidence", evidence), nil)
}

// DisputeFiles are processors' files of disputes.
type DisputeFiles struct{ c *connection }

// List reads one page of files.
func (s *DisputeFiles) List(ctx context.Context, query DisputeFilesQuery, page Page) ([]DisputeFile, PageInfo, error) {
	return paged[[]DisputeFile](ctx, s.c, s.c.resource("dispute-files"), query, page)
}

// All goes through all files, page by page. An error ends it.
func (s *DisputeFiles) All(ctx context.Context, query DisputeFilesQuery) iter.Seq2[DisputeFile, error] {
	return each[DisputeFile](ctx, s.c, s.c.resource("dispute-files"), query)
}

// Create sends a file as the processor sends it. The service stores it and imports it later: Get reads the progress.
func (s *DisputeFiles) Create(
	ctx context.Context, query CreateDisputeFileQuery, file []byte, options ...CallOption,
) (made DisputeFile, err error) {
	r := request{method: http.MethodPost, path: s.c.resource("dispute-files"), query: values(query), body: file, kind: "text/csv"}
	got, err := s.c.call(ctx, r, nil, options)
	if err != nil {
		return made, err
	}
	return made, parse(r, got.body, &made)
}

// Get reads a file.
func (s *DisputeFiles) Get(ctx context.Context, id int64, options ...CallOption) (DisputeFile, error) {
	return get[DisputeFile](ctx, s.c, s.c.resource("dispute-files", id), nil, options...)
}

// Lines reads one page of the results of a file.
func (s *DisputeFiles) Lines(ctx context.Context, id int64, query DisputeFileLinesQuery, page Page) ([]DisputeLine, PageInfo, error) {
	return paged[[]DisputeLine](ctx, s.c, s.c.resource("dispute-files", id, "lines"), query, page)
}

// AllLines goes through all results of a file, page by page. An error ends it.
func (s *DisputeFiles) AllLines(ctx context.Context, id int64, query DisputeFileLinesQuery) iter.Seq2[DisputeLine, error] {
	return each[DisputeLine](ctx, s.c, s.c.resource("dispute-files", id, "lines"), query)
}
