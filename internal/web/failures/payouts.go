package failures

import (
	"bytes"
	"fmt"

	"holdfast/internal/book/claims"
	"holdfast/internal/book/paper"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/dispute"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/lib/pdf"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// payoutTones are the colours of the states of payouts.
var payoutTones = map[claim.PayoutState]string{
	claim.PayoutPlanned: "warn", claim.PayoutSigned: "warn", claim.PayoutPaid: "good", claim.PayoutFailed: "bad",
}

// payoutAt returns the URL of a payout, or of a page below it.
func payoutAt(v *kit.Visit, id int64, below string) string {
	return v.At("/payouts/" + kit.Ident(id).Plain + below)
}

// payouts lists the site's payouts, latest first.
func (p *pages) payouts(v *kit.Visit) error {
	page, err := v.PageOf([]string{"number"}, true)
	if err != nil {
		return err
	}
	form := &kit.Form{Values: v.R.URL.Query()}
	filter, err := payoutFilter(form)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "payouts", Caption: "Payouts",
		Columns: []kit.Column{
			{Name: "number", Title: "Number", Figure: true, Sorts: true}, {Name: "merchant", Title: "Merchant"}, {Name: "state", Title: "Status"},
			{Name: "total", Title: "Amount", Currency: "currencies"}, {Name: "beneficiary_id", Title: "Beneficiary", Minor: true},
			{Name: "planned_at", Title: "Planned"}, {Name: "signed_by", Title: "Signed by", Minor: true},
			{Name: "bank_reference", Title: "Bank reference", Minor: true}, {Name: "value", Title: "In policy currency", Currency: "policy_currency", Hidden: true},
			{Name: "failure", Title: "Reason of failure", Hidden: true},
		},
		Empty: kit.Empty{
			Title: "No payouts", Text: "Payouts are planned from approved claims, when a merchant's minimum is reached or its claims are closed. You sign them here.",
		},
	}
	err = choices.Fill(v, p.app, &t, page, func(page store.Page) (store.List[claims.Payout], error) {
		return p.app.Claims.Payouts(v.R.Context(), v.Actor, filter, page)
	}, func(o claims.Payout) int64 { return o.ChannelID }, func(o claims.Payout, m merchant.Channel) kit.Row { return payoutRow(v, o, m.Name) })
	if err != nil {
		return err
	}
	made := v.Table(t)
	channels, err := choices.Channels(v, p.app, "All merchants")
	if err != nil {
		return err
	}
	return v.ShowTable(p.Pages, "payouts.html", made, kit.Page{
		Title: "Payouts", Menu: menu, Path: above(v)[:1], Parts: v.Parts("failures", "/payouts"), Data: struct {
			List             *kit.Table
			Filter           *kit.Form
			States, Channels any
			Send             string
		}{made, form, choices.Words(claim.PayoutStates, "All"), channels, v.At("/payouts")},
	})
}

func payoutFilter(form *kit.Form) (f claims.PayoutFilter, err error) {
	r := form.Reading()
	if id := r.Number("channels"); id != nil {
		f.Channels = []int64{*id}
	}
	f.States = choices.OneOf(r, "state", claim.PayoutStates)
	return f, r.Problems.Err()
}

func payoutRow(v *kit.Visit, o claims.Payout, merchant string) kit.Row {
	return kit.Row{Href: payoutAt(v, o.ID, ""), Cells: []kit.Cell{
		kit.Ident(o.Number), kit.Linked(merchant, payoutAt(v, o.ID, "")), kit.State(string(o.State), payoutTones[o.State]),
		kit.Sum(o.Amount, o.Quote.To), kit.Words(o.Beneficiary), kit.AtInstant(o.PlannedAt), kit.Words(o.SignedBy),
		kit.Words(o.BankReference), kit.Sum(o.Value, o.PolicyCurrency), kit.Words(o.Failure),
	}}
}

// payout shows one payout with its claims.
func (p *pages) payout(v *kit.Visit) error { return p.showPayout(v, kit.Filled()) }

func (p *pages) showPayout(v *kit.Visit, form *kit.Form) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	d, err := p.app.Claims.Document(v.R.Context(), v.Actor, id, paper.MaxLines)
	if err != nil {
		return err
	}
	facts := []kit.Fact{
		{Text: "Status", Value: kit.Say(d.State), Tone: payoutTones[d.State]}, {Text: "Merchant", Value: d.Merchant, Href: v.At("/channels/" + kit.Ident(d.ChannelID).Plain)},
		{Text: "Amount", Value: kit.Money(d.Amount, d.Quote.To), Figure: true},
	}
	if d.Quote.To != d.PolicyCurrency {
		facts = append(facts, kit.Fact{Text: "In policy currency", Value: kit.Money(d.Value, d.PolicyCurrency), Figure: true})
	}
	for _, f := range []kit.Fact{
		{Text: "Beneficiary", Value: d.Beneficiary}, {Text: "Planned", Value: kit.Instant(d.PlannedAt)}, {Text: "Signed by", Value: d.SignedBy},
		{Text: "Bank reference", Value: d.BankReference}, {Text: "Reason of failure", Value: d.Failure}, {Text: "Recorded by", Value: d.SettledBy},
	} {
		if f.Value != "" {
			facts = append(facts, f)
		}
	}
	t := kit.Table{
		Name: "payout-claims", Caption: "Claims of the payout", Bare: true,
		Columns: []kit.Column{
			{Name: "claim", Title: "Claim", Figure: true}, {Name: "booking", Title: "Booking", Figure: true}, {Name: "dispute", Title: "Dispute"},
			{Name: "value", Title: "Amount", Currency: "policy_currency"},
		},
	}
	for _, c := range d.Claims {
		booking := kit.Ident(c.BookingID)
		booking.Href = v.At("/bookings/" + booking.Plain)
		t.Rows = append(t.Rows, kit.Row{Href: claimAt(v, c.ClaimID, ""), Cells: []kit.Cell{
			kit.Ident(c.ClaimID), booking, kit.Words(dispute.CaseText(c.Source, c.CaseID)), kit.Sum(c.Value, d.PolicyCurrency),
		}})
	}
	may := v.Can(access.SignOffPayout)
	return v.Show(p.Pages, "payout.html", kit.Page{
		Title: fmt.Sprintf("Payout %d", d.Number), Menu: menu,
		Path: []kit.Link{{Text: "Merchants", Href: v.At("/channels")}, {Text: "Payouts", Href: v.At("/payouts")}},
		Acts: []kit.Link{{Text: "PDF", Href: payoutAt(v, id, "/pdf"), Plain: true}}, Data: struct {
			Facts             []kit.Fact
			Claims            *kit.Table
			More              int64
			Form              *kit.Form
			At                string
			Sign, Paid, Fails bool
		}{
			facts, v.Table(t), d.More, form, payoutAt(v, id, ""), may && d.State.Can(claim.PayoutSigned), may && d.State.Can(claim.PayoutPaid),
			may && d.State.Can(claim.PayoutFailed),
		},
	})
}

// settle returns the handler of a step of a payout. A rejected form is shown again.
func (p *pages) settle(done string, do func(v *kit.Visit, id int64, form *kit.Form) (claims.Payout, error)) kit.Handler {
	return func(v *kit.Visit) error {
		id, err := v.ID("id")
		if err != nil {
			return err
		}
		form, err := v.Form()
		if err != nil {
			return err
		}
		_, err = do(v, id, form)
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if !ok {
			return p.showPayout(v, form)
		}
		return v.Done(payoutAt(v, id, ""), "%s", done)
	}
}

func (p *pages) sign(v *kit.Visit, id int64, _ *kit.Form) (claims.Payout, error) {
	return p.app.Claims.Sign(v.R.Context(), v.Actor, id)
}

func (p *pages) paid(v *kit.Visit, id int64, form *kit.Form) (claims.Payout, error) {
	return p.app.Claims.Paid(v.R.Context(), v.Actor, id, form.Get("bank_reference"))
}

func (p *pages) fail(v *kit.Visit, id int64, form *kit.Form) (claims.Payout, error) {
	return p.app.Claims.Failed(v.R.Context(), v.Actor, id, form.Get("reason"))
}

// payoutPDF sends a payout as a PDF.
func (p *pages) payoutPDF(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	d, err := p.app.Claims.Document(v.R.Context(), v.Actor, id, paper.MaxLines)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := paper.WritePayoutPDF(&out, pdf.Fonts{Dir: p.frame.FontDir}, d); err != nil {
		return err
	}
	return v.Attach(fmt.Sprintf("payout-%d.pdf", d.Number), "application/pdf", out.Bytes())
}
