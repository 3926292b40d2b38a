package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"holdfast/internal/api/reports"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/paper"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/money"
	"holdfast/internal/lib/pdf"
)

// disputeRepresentmentCmd shows the evidence against a dispute.
type disputeRepresentmentCmd struct {
	siteFlag
	ID     int64  `arg:"" help:"Dispute id."`
	Output string `short:"o" placeholder:"FILE" xor:"form" help:"Save it as a PDF."`
	JSON   bool   `xor:"form" help:"Print JSON."`
}

// Run prints it, or writes the file.
func (c disputeRepresentmentCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	found, err := p.app.Claims.Represented(ctx, actor, c.ID)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		return p.printJSON(reports.ShowRepresentment(found))
	case c.Output == "":
		p.printFields(representmentFields(found))
		return nil
	}
	var out bytes.Buffer
	if err := paper.WriteRepresentmentPDF(&out, pdf.Fonts{Dir: p.FontDir}, found); err != nil {
		return err
	}
	if err := os.WriteFile(c.Output, out.Bytes(), 0o644); err != nil {
		return fmt.Errorf("cannot write the PDF: %w", err)
	}
	p.printf("Saved the representment of dispute %d to %s\n", c.ID, c.Output)
	return nil
}

// representmentFields are the names and values of a representment, for people.
func representmentFields(r claims.Representment) [][2]string {
	t := r.Payment
	var grounds []string
	for _, g := range r.Grounds() {
		grounds = append(grounds, strings.ReplaceAll(string(g), "_", " "))
	}
	fields := [][2]string{
		{"Dispute", fmt.Sprintf("%d, %s", r.Dispute.ID, dispute.CaseText(r.Dispute.Source, r.Dispute.CaseID))},
		{"Grounds", strings.Join(grounds, ", ")},
		{"Payment", fmt.Sprintf("%d, %s %s on %s", t.ID, t.Currency, money.Format(t.Total, t.Currency), civil.DayOf(t.EffectiveAt))},
	}
	for _, refund := range r.Refunds {
		fields = append(fields, [2]string{"Refund", fmt.Sprintf("%d, %s %s on %s", refund.ID, refund.Currency, money.Format(refund.Total, refund.Currency),
			civil.DayOf(refund.EffectiveAt))})
	}
	for _, b := range r.Bookings {
		text := fmt.Sprintf("%d, %d of %d days provided by %s, last day of dispute %s", b.ID, b.Service.Provided, b.Service.Days, b.Service.By, b.LastDay)
		if b.DaysLate > 0 {
			text += fmt.Sprintf(", %d days late", b.DaysLate)
		}
		fields = append(fields, [2]string{"Booking", text})
		if b.PaidByOthers() {
			fields = append(fields, [2]string{"Traveller asked", string(b.Note.Asked)})
		}
	}
	for _, other := range r.Others {
		fields = append(fields, [2]string{"Other dispute", fmt.Sprintf("%d, %s, %s", other.ID, dispute.CaseText(other.Source, other.CaseID), other.Status)})
	}
	for _, e := range r.Evidence {
		fields = append(fields, [2]string{"File", e.Name})
	}
	return fields
}
