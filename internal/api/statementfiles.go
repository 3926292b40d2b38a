package api

import (
	"bytes"
	"fmt"
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/book/paper"
	"holdfast/internal/domain/check"
	"holdfast/internal/lib/pdf"
)

func (s *server) getStatementCSV(c *call) error {
	q := c.query()
	label := labelOf(q)
	if err := q.Err(); err != nil {
		return err
	}
	found, _, err := s.app.Statements.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.beginFile("text/csv; charset=utf-8", fmt.Sprintf("statement-%d.csv", found.Number))
	return c.finishFile(s, paper.WriteCSV(c, found.Statement, label, s.app.Statements.AllLines(c.ctx, c.actor, c.id)))
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
	s.app.Config.Log.Error("response aborted", "request_id", c.requestID, "error", err)
	panic(http.ErrAbortHandler)
}

func (s *server) getStatementPDF(c *call) error {
	q := c.query()
	label, language := labelOf(q), q.One("language", "", check.Languages)
	if err := q.Err(); err != nil {
		return err
	}
	found, lines, err := s.app.Statements.WithLines(c.ctx, c.actor, c.id, paper.MaxLines)
	if err != nil {
		return err
	}
	if language == "" {
		language = found.Language
	}
	var out bytes.Buffer // the whole document first, so that an error can still be the answer
	fonts := pdf.Fonts{Dir: s.cfg.FontDir}
	err = paper.WritePDF(&out, fonts, paper.Printed{
		Statement: found.Statement, Lines: lines, Label: label, Language: language,
	})
	if err != nil {
		return err
	}
	c.beginFile("application/pdf", fmt.Sprintf("statement-%d.pdf", found.Number))
	_, err = out.WriteTo(c)
	return c.finishFile(s, err)
}

// labelOf reads for which reader a file is.
func labelOf(q *input.Query) paper.Label {
	return paper.Label(q.One("for", string(paper.Labels[0]), input.TextsOf(paper.Labels)))
}
