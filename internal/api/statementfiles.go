package api

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"

	"holdfast/internal/civil"
	"holdfast/internal/document"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

var statementColumns = []string{
	"as_of", "statement", "row", "id", "date", "kind", "cause", "transaction", "booking", "booking_reference", "original_currency",
	"original_amount", "rate_of_exchange", "value", "lead_days", "rate_ppm", "currency", "amount", "retained", "refers_to",
}

// chargeNames are the names of premium lines in the column "row", by the reader of the file.
var chargeNames = map[document.Label]string{document.Policyholder: "premium", document.Merchant: "security_charge"}

// WriteStatementCSV writes a statement as CSV: opening, a row for each line, minimum, taxes, payments. Their sum is
// the closing in the last row. Amounts are in major units. As of is the last day of the period: all figures are those at
// its end, and a statement never changes.
func WriteStatementCSV(
	w io.Writer, s protection.Statement, label document.Label, lines iter.Seq2[protection.StatementLine, error],
) error {
	out := csv.NewWriter(w)
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	asOf, statement := s.Period.Last.String(), number(s.Number)
	sum := func(row, kind string, amount int64) error {
		cells := make([]string, len(statementColumns))
		cells[0], cells[1], cells[2], cells[5] = asOf, statement, row, travel.PlainCell(kind)
		cells[16], cells[17] = string(s.Currency), money.FormatPlain(amount, s.Currency)
		return out.Write(cells)
	}
	// The writer remembers its first error, which is returned at the end.
	_ = out.Write(statementColumns)
	_ = sum("opening", "", s.Opening)
	for l, err := range lines {
		if err != nil {
			return err
		}
		refers := ""
		if l.RefersTo != 0 {
			refers = number(l.RefersTo)
		}
		_ = out.Write([]string{
			asOf, statement, chargeNames[label], number(l.ID), civil.DayOf(l.RecordedAt).String(), l.Kind, l.Cause,
			number(l.TransactionID), number(l.BookingID), travel.PlainCell(l.BookingReference), string(l.Currency),
			money.FormatPlain(l.StateAmount, l.Currency), l.Exchange.String(), money.FormatPlain(l.StateValue, s.Currency),
			number(l.LeadDays), number(l.PPM), string(s.Currency), money.FormatPlain(l.Amount, s.Currency),
			money.FormatPlain(l.Retained, s.Currency), refers,
		})
	}
	if s.Minimum != nil {
		_ = sum("minimum", s.Minimum.Month, s.Minimum.Amount)
	}
	for _, t := range s.Taxes {
		_ = sum("tax", t.Code, t.Amount)
	}
	_ = sum("payments", "", -s.Payments)
	_ = sum("closing", "", s.Closing)
	out.Flush()
	return out.Error()
}

// label reads for which reader a file is.
func (q *query) label() document.Label {
	return document.Label(q.one("for", string(document.Labels[0]), texts(document.Labels)))
}

func (s *server) getStatementCSV(c *call) error {
	q := c.query()
	label := q.label()
	if err := q.err(); err != nil {
		return err
	}
	found, _, err := s.app.Statements.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.beginFile("text/csv; charset=utf-8", fmt.Sprintf("statement-%d.csv", found.Number))
	return c.finishFile(s, WriteStatementCSV(c, found.Statement, label, s.app.Statements.AllLines(c.ctx, c.actor, c.id)))
}

// beginFile starts an answer that browsers save as a file.
func (c *call) beginFile(contentType, name string) {
	c.Header().Set("Content-Type", contentType)
	c.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// finishFile ends an answer that was sent while it was computed. If an error comes after the first bytes, it breaks
// the connection: otherwise the client would think that the file is complete.
func (c *call) finishFile(s *server, err error) error {
	if err == nil || c.status == 0 {
		return err
	}
	s.core.Log.Error("answer broken off", "request_id", c.requestID, "error", err)
	panic(http.ErrAbortHandler)
}

func (s *server) getStatementPDF(c *call) error {
	q := c.query()
	label, language := q.label(), q.one("language", "", travel.Languages)
	if err := q.err(); err != nil {
		return err
	}
	found, lines, err := s.app.Statements.WithLines(c.ctx, c.actor, c.id, document.MaxLines)
	if err != nil {
		return err
	}
	if language == "" {
		language = found.Language
	}
	var out bytes.Buffer // the whole document first, so that an error can still be the answer
	fonts := document.Fonts{Dir: s.cfg.FontDir}
	err = fonts.WriteStatement(&out, document.Statement{
		Statement: found.Statement, Lines: lines, Label: label, Language: language,
	})
	if err != nil {
		return err
	}
	c.beginFile("application/pdf", fmt.Sprintf("statement-%d.pdf", found.Number))
	_, err = out.WriteTo(c)
	return c.finishFile(s, err)
}
