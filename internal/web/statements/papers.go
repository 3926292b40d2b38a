package statements

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"

	"holdfast/internal/book/paper"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/lib/pdf"
	"holdfast/internal/web/kit"
)

// label is the audience of a document, from the URL.
func label(v *kit.Visit) (paper.Label, error) {
	reader := paper.Label(cmp.Or(v.Query("for"), string(paper.Labels[0])))
	if !slices.Contains(paper.Labels, reader) {
		return "", errs.WrongField("for", "Must be one of %s, %s.", paper.Policyholder, paper.Merchant)
	}
	return reader, nil
}

// statementPDF sends a statement as a PDF, in the merchant's language.
func (p *pages) statementPDF(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	reader, err := label(v)
	if err != nil {
		return err
	}
	found, lines, err := p.app.Statements.WithLines(v.R.Context(), v.Actor, id, paper.MaxLines)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	fonts := pdf.Fonts{Dir: p.frame.FontDir}
	err = paper.WritePDF(&out, fonts, paper.Printed{Statement: found.Statement, Lines: lines, Label: reader, Language: found.Language})
	if err != nil {
		return err
	}
	return v.Attach(fmt.Sprintf("statement-%d.pdf", found.Number), "application/pdf", out.Bytes())
}

// statementCSV sends all lines of a statement.
func (p *pages) statementCSV(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	reader, err := label(v)
	if err != nil {
		return err
	}
	found, _, err := p.app.Statements.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	return v.Stream(fmt.Sprintf("statement-%d.csv", found.Number), "text/csv; charset=utf-8", func(w io.Writer) error {
		return paper.WriteCSV(w, found.Statement, reader, p.app.Statements.AllLines(v.R.Context(), v.Actor, id))
	})
}

// pay records a payment against a statement.
func (p *pages) pay(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	s, _, err := p.app.Statements.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	form := kit.Filled("date", v.Now().Format("2006-01-02"))
	if s.Open > 0 {
		form.Values.Set("total", money.FormatPlain(s.Open, s.Currency))
	}
	if v.R.Method == http.MethodPost {
		if form, err = v.Form(); err != nil {
			return err
		}
		r := form.Reading()
		in := statements.StatementPaymentFields{
			PaidOn: r.Day("date"), Amount: r.Amount("total", s.Currency), Currency: &s.Currency, Reference: r.Text("reference"),
			WithinOpen: form.Get("anyway") == "",
		}
		in.Problems = r.Problems
		made, created, err := p.app.Statements.Pay(v.R.Context(), v.Actor, id, in)
		ok, err := v.Took(form, err)
		switch {
		case err != nil:
			return err
		case ok && !created:
			return v.Done(statementAt(v, id, ""), "A payment with this reference is already recorded. It was not recorded twice.")
		case ok:
			return v.Done(statementAt(v, id, ""), "Payment of %s recorded.", kit.Money(made.Amount, made.Currency))
		}
	}
	return v.Show(p.Pages, "pay.html", kit.Page{Title: "Record payment", Menu: menu, Path: aboveStatement(v, id, s.Number), Data: struct {
		Form           *kit.Form
		Back, Currency string
		Open           string
	}{form, statementAt(v, id, ""), string(s.Currency), kit.Money(s.Open, s.Currency)}})
}
