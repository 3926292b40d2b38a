package api

import (
	"bytes"
	"fmt"
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/reports"
	"holdfast/internal/api/view"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/paper"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/money"
	"holdfast/internal/lib/pdf"
)

// claimRoutes is the part of the table for claims, payouts and recoveries.
func claimRoutes(v2 string) []Route {
	return []Route{
		at("GET", v2+"/insolvencies/{id}/report", mayReport, (*server).getInsolvencyReport).needs(access.ReadFailures),
		at("GET", v2+"/loss-ratio", mayReport, (*server).getLossRatio).needs(access.ReadFailures),
		at("GET", v2+"/bordereaux/claims", mayReport, (*server).getClaimsBordereau).needs(access.ReadFailures),
		at("POST", v2+"/bordereaux/claims/present", mayDoAll, (*server).presentClaimsBordereau).needs(access.DecideClaims).takes(input.MaxBody),
		at("GET", v2+"/claims", mayReport, (*server).listClaims).needs(access.ReadFailures),
		at("GET", v2+"/claims/sums", mayReport, (*server).sumClaims).needs(access.ReadFailures),
		at("GET", v2+"/claims/{id}", mayReport, (*server).getClaim).needs(access.ReadFailures),
		at("GET", v2+"/claims/{id}/events", mayReport, (*server).listClaimEvents).needs(access.ReadFailures),
		at("GET", v2+"/claims/{id}/explanation", mayReport, (*server).explainClaim).needs(access.ReadFailures),
		at("POST", v2+"/claims/{id}/assess", mayDoAll, (*server).assessClaim).needs(access.AssessClaims).takes(input.MaxBody),
		at("POST", v2+"/claims/{id}/approve", mayDoAll, (*server).approveClaim).needs(access.DecideClaims).takes(input.MaxBody),
		at("POST", v2+"/claims/{id}/reject", mayDoAll, (*server).rejectClaim).needs(access.DecideClaims).takes(input.MaxBody),
		at("POST", v2+"/claims/{id}/withdraw", mayDoAll, (*server).withdrawClaim).needs(access.AssessClaims).takes(input.MaxBody),
		at("POST", v2+"/claims/{id}/reopen", mayDoAll, (*server).reopenClaim).needs(access.DecideClaims).takes(input.MaxBody),
		at("POST", v2+"/claims/{id}/release", mayDoAll, (*server).releaseClaim).needs(access.DecideClaims).takes(input.MaxBody),
		at("GET", v2+"/disputes/{id}/representment", mayReport, (*server).getRepresentment).needs(access.ReadDisputes),
		at("GET", v2+"/disputes/{id}/representment/pdf", mayReport, (*server).getRepresentmentPDF).needs(access.ReadDisputes),
		at("GET", v2+"/payouts", mayReport, (*server).listPayouts).needs(access.ReadPayouts),
		at("GET", v2+"/payouts/{id}", mayReport, (*server).getPayout).needs(access.ReadPayouts),
		at("GET", v2+"/payouts/{id}/lines", mayReport, (*server).listPayoutLines).needs(access.ReadPayouts),
		at("GET", v2+"/payouts/{id}/pdf", mayReport, (*server).getPayoutPDF).needs(access.ReadPayouts),
		at("POST", v2+"/payouts/{id}/sign", mayDoAll, (*server).signPayout).needs(access.SignOffPayout),
		at("POST", v2+"/payouts/{id}/paid", mayDoAll, (*server).payPayout).needs(access.SignOffPayout).takes(input.MaxBody),
		at("POST", v2+"/payouts/{id}/failed", mayDoAll, (*server).failPayout).needs(access.SignOffPayout).takes(input.MaxBody),
		at("GET", v2+"/recoveries", mayReport, (*server).listRecoveries).needs(access.ReadFailures),
		at("POST", v2+"/recoveries", mayDoAll, (*server).recordRecovery).needs(access.RecordRecoveries).takes(input.MaxBody),
		at("GET", v2+"/recoveries/{id}", mayReport, (*server).getRecovery).needs(access.ReadFailures),
		at("POST", v2+"/recoveries/{id}/cancel", mayDoAll, (*server).cancelRecovery).needs(access.RecordRecoveries).takes(input.MaxBody),
	}
}

func (s *server) getInsolvencyReport(c *call) error {
	if err := c.query().Err(); err != nil {
		return err
	}
	found, err := s.app.Claims.Report(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowInsolvencyReport(found))
	return nil
}

func (s *server) getLossRatio(c *call) error {
	q := c.query()
	year := q.Number("year", 0, claims.FirstYear, claims.LastYear)
	found, err := s.app.Claims.YearOfAccount(c.ctx, c.actor, int64(year), q.Problems)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowYear(found))
	return nil
}

func (s *server) listClaims(c *call) error {
	q := c.query()
	page := q.Page(claims.Orders)
	filter := claimFilter(q)
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Claims.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, reports.ShowClaim)
}

func claimFilter(q *input.Query) claims.Filter {
	return claims.Filter{
		States: input.Words(q, "state", claim.States), Insolvencies: q.Ids("insolvencies"), Channels: q.Ids("channels"),
		Reasons: input.Words(q, "reason", claim.Reasons), ToRepresent: q.Flag("to_represent", false),
	}
}

// sumClaims adds up the claims that the filters of the list select.
func (s *server) sumClaims(c *call) error {
	q := c.query()
	filter := claimFilter(q)
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Claims.Sums(c.ctx, c.actor, filter)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, view.Each(found, reports.ShowClaimSums))
	return nil
}

func (s *server) getRepresentment(c *call) error {
	if err := c.query().Err(); err != nil {
		return err
	}
	found, err := s.app.Claims.Represented(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowRepresentment(found))
	return nil
}

func (s *server) getRepresentmentPDF(c *call) error {
	if err := c.query().Err(); err != nil {
		return err
	}
	found, err := s.app.Claims.Represented(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	var out bytes.Buffer // the whole document first, so that an error can still be the answer
	if err := paper.WriteRepresentmentPDF(&out, pdf.Fonts{Dir: s.cfg.FontDir}, found); err != nil {
		return err
	}
	c.beginFile("application/pdf", fmt.Sprintf("representment-%d.pdf", c.id))
	_, err = out.WriteTo(c)
	return c.finishFile(s, err)
}

func claimObject(c claims.Claim) object { return object{id: c.ID, body: reports.ShowClaim(c)} }

func (s *server) getClaim(c *call) error {
	found, err := s.app.Claims.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, claimObject(found))
}

func (s *server) listClaimEvents(c *call) error {
	if err := c.query().Err(); err != nil {
		return err
	}
	found, err := s.app.Claims.History(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowClaimHistory(found))
	return nil
}

func (s *server) explainClaim(c *call) error {
	if err := c.query().Err(); err != nil {
		return err
	}
	found, err := s.app.Claims.Explain(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowClaimExplanation(found))
	return nil
}

func (s *server) assessClaim(c *call) error { return act(s, c, s.app.Claims.Assess, claimObject) }

func (s *server) approveClaim(c *call) error { return act(s, c, s.app.Claims.Approve, claimObject) }

func (s *server) rejectClaim(c *call) error { return act(s, c, s.app.Claims.Reject, claimObject) }

func (s *server) withdrawClaim(c *call) error { return act(s, c, s.app.Claims.Withdraw, claimObject) }

func (s *server) reopenClaim(c *call) error { return act(s, c, s.app.Claims.Reopen, claimObject) }

func (s *server) releaseClaim(c *call) error { return act(s, c, s.app.Claims.Release, claimObject) }

func (s *server) listPayouts(c *call) error {
	q := c.query()
	page := q.Page(claims.PayoutOrders)
	filter := claims.PayoutFilter{States: input.Words(q, "state", claim.PayoutStates), Channels: q.Ids("channels")}
	for _, code := range q.Codes("currencies") {
		filter.Currencies = append(filter.Currencies, money.Currency(code))
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Claims.Payouts(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, reports.ShowPayout)
}

func payoutObject(p claims.Payout) object { return object{id: p.ID, body: reports.ShowPayout(p)} }

func (s *server) getPayout(c *call) error {
	found, err := s.app.Claims.Payout(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, payoutObject(found))
}

func (s *server) listPayoutLines(c *call) error {
	if err := c.query().Err(); err != nil {
		return err
	}
	found, err := s.app.Claims.PayoutLines(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowPayoutLines(found))
	return nil
}

func (s *server) signPayout(c *call) error {
	signed, err := s.app.Claims.Sign(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, payoutObject(signed))
}

// getPayoutPDF answers with a payout as a PDF.
func (s *server) getPayoutPDF(c *call) error {
	if err := c.query().Err(); err != nil {
		return err
	}
	found, err := s.app.Claims.Document(c.ctx, c.actor, c.id, paper.MaxLines)
	if err != nil {
		return err
	}
	var out bytes.Buffer // the whole document first, so that an error can still be the answer
	if err := paper.WritePayoutPDF(&out, pdf.Fonts{Dir: s.cfg.FontDir}, found); err != nil {
		return err
	}
	c.beginFile("application/pdf", fmt.Sprintf("payout-%d.pdf", found.Number))
	_, err = out.WriteTo(c)
	return c.finishFile(s, err)
}

func (s *server) failPayout(c *call) error { return act(s, c, s.app.Claims.Failed, payoutObject) }

// payPayout records that the bank has paid.
func (s *server) payPayout(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	reference := in.TextOr("bank_reference")
	if err := in.Problems.Err(); err != nil {
		return err
	}
	paid, err := s.app.Claims.Paid(c.ctx, c.actor, c.id, reference)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, payoutObject(paid))
}

func (s *server) listRecoveries(c *call) error {
	q := c.query()
	page := q.Page(claims.RecoveryOrders)
	filter := claims.RecoveryFilter{Kinds: input.Words(q, "kind", claims.RecoveryKinds), Insolvencies: q.Ids("insolvencies")}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Claims.Recoveries(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, reports.ShowRecovery)
}

func recoveryObject(r claims.Recovery) object { return object{id: r.ID, body: reports.ShowRecovery(r)} }

func (s *server) getRecovery(c *call) error {
	found, err := s.app.Claims.Recovery(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, recoveryObject(found))
}

func (s *server) recordRecovery(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, err := s.app.Claims.Recover(c.ctx, c.actor, input.NewRecovery(in))
		return recoveryObject(made), err
	})
}

func (s *server) cancelRecovery(c *call) error {
	return act(s, c, s.app.Claims.Cancel, recoveryObject)
}
