package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/reports"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/paper"
)

// getClaimsBordereau answers with the claims bordereau of a month.
func (s *server) getClaimsBordereau(c *call) error {
	q := c.query()
	in := claims.BordereauQuery{Month: q.Text("period"), Contract: q.Text("contract_reference")}
	format := q.One("format", "json", []string{"json", "csv", "xlsx"})
	in.Problems = q.Problems
	found, err := s.app.Claims.Bordereau(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	name := "claims-" + found.Period.Name()
	switch format {
	case "csv":
		c.beginFile("text/csv; charset=utf-8", name+".csv")
		return c.finishFile(s, found.WriteCSV(c))
	case "xlsx":
		c.beginFile("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", name+".xlsx")
		return c.finishFile(s, paper.WriteClaimsXLSX(c, found))
	}
	shown, err := reports.ShowClaimBordereau(found)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, shown)
	return nil
}

// presentClaimsBordereau records that a month was presented.
func (s *server) presentClaimsBordereau(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	made, err := s.app.Claims.Present(c.ctx, c.actor, input.ClaimsMonth(in))
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowPresentation(made))
	return nil
}
