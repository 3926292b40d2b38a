package settings

import (
	"fmt"
	"strconv"
	"strings"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

const policiesAt = "/settings/policies"

// policies shows all policies of the site by first day, and which one is in force.
func (p *pages) policies(v *kit.Visit) error {
	page, err := v.PageOf([]string{"from", "id", "recorded_at"}, true)
	if err != nil {
		return err
	}
	today, err := p.app.Policies.On(v.R.Context(), v.Actor, nil)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "policies", Caption: "Policies", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: []kit.Column{
			{Name: "from", Title: "From", Sorts: true}, {Name: "state", Title: "Status"}, {Name: "currency", Title: "Currency"},
			{Name: "recognition", Title: "Delivery", Minor: true}, {Name: "rates", Title: "Bands", Figure: true, Minor: true},
			{Name: "period", Title: "Statements", Minor: true}, {Name: "terms", Title: "Due after", Figure: true, Minor: true},
			{Name: "recorded_at", Title: "Recorded", Sorts: true}, {Name: "id", Title: "No.", Figure: true, Hidden: true},
		},
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Policies.List(v.R.Context(), v.Actor, nil, page)
		for _, y := range list.Items {
			t.Rows = append(t.Rows, kit.Row{Href: v.At(fmt.Sprintf("%s/%d", policiesAt, y.ID)), Cells: []kit.Cell{
				firstDay(y.FromDay), policyState(y, today, civil.DayOf(v.Now())), kit.Words(string(y.Currency)),
				kit.Words(kit.Say(y.Recognition)), kit.Number(int64(len(y.RateCard))), kit.Words(kit.Say(y.StatementPeriod)),
				kit.Words(kit.Plural(y.PaymentTermsDays, "business day", "business days")), kit.AtInstant(y.RecordedAt), kit.Ident(y.ID),
			}})
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	return v.ShowTable(p.Pages, "table.html", made, p.settings(v, kit.Page{
		Title: "Policies", Acts: p.act(v, access.WritePolicies, "New policy", "/settings/policy"), Data: made,
	}, policiesAt))
}

// firstDay is the day something takes effect; a site's first policy applies from the beginning.
func firstDay(d civil.Day) kit.Cell {
	if d == civil.FirstDay {
		return kit.Cell{Text: "Start", Plain: d.String()}
	}
	return kit.OnDay(d)
}

// policyState returns a policy's status on a day. Of two with the same first day, the later one applies.
func policyState(y, inForce terms.Policy, today civil.Day) kit.Cell {
	switch {
	case y.ID == inForce.ID:
		return kit.State("in force", "good")
	case y.FromDay > today:
		return kit.State("upcoming", "warn")
	}
	return kit.State("ended", "calm")
}

// policy shows one policy with its rate card.
func (p *pages) policy(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	y, err := p.app.Policies.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	card := kit.Table{
		Name: "rate-card", Caption: "Rate card",
		Columns: []kit.Column{
			{Name: "channel", Title: "Merchant"}, {Name: "lead", Title: "Days from payment to end of travel"},
			{Name: "price", Title: "Price", Figure: true},
		},
	}
	for _, l := range y.RateCard {
		channel := kit.Words("All others")
		if l.ChannelID != 0 {
			channel = kit.Linked(fmt.Sprintf("Merchant %d", l.ChannelID), v.At(fmt.Sprintf("/settings/merchants/%d", l.ChannelID)))
		}
		card.Rows = append(card.Rows, kit.Row{Cells: []kit.Cell{channel, kit.Words(band(l)), kit.Words(percent(l.PPM))}})
	}
	made := v.Table(card)
	return v.ShowTable(p.Pages, "policy.html", made, kit.Page{
		Title: "Policy from " + strings.Replace(firstDay(y.FromDay).Text, "The", "the", 1), Menu: "/settings",
		Path: []kit.Link{{Text: "Policies", Href: v.At(policiesAt)}},
		Acts: p.act(v, access.WritePolicies, "Copy policy", fmt.Sprintf("/settings/policy?like=%d", y.ID)),
		Data: struct {
			Facts []kit.Fact
			Limit string
			Card  *kit.Table
		}{policyFacts(y), y.NamesOfLimits(), made},
	})
}

func policyFacts(y terms.Policy) []kit.Fact {
	facts := []kit.Fact{
		{Text: "Currency", Value: string(y.Currency)}, {Text: "Delivery recognition", Value: kit.Say(y.Recognition)},
		{Text: "Payment is late after", Value: kit.Plural(y.LateLogDays, "day", "days")},
		{Text: "Fixing valid for", Value: kit.Plural(y.MaxFixingAgeDays, "day", "days")},
		{Text: "Premium refundable", Value: map[bool]string{true: "Yes", false: "No"}[y.PremiumRefundable]},
		{Text: "Minimum per line", Value: kit.Money(y.MinimumPerLine, y.Currency), Figure: true},
		{Text: "Minimum per month", Value: kit.Money(y.MinimumPerMonth, y.Currency), Figure: true},
		{Text: "Statements for new merchants", Value: kit.Say(y.StatementPeriod)},
		{Text: "Statements due after", Value: kit.Plural(y.PaymentTermsDays, "business day", "business days")},
		{Text: "Recorded", Value: kit.Instant(y.RecordedAt)},
	}
	for _, t := range y.TaxCodes {
		facts = append(facts, kit.Fact{Text: "Tax " + t.Code, Value: percent(t.RatePPM) + " " + t.Label})
	}
	return append(facts, coverFacts(y)...)
}

// newPolicy shows the form for a policy, filled with the one in force or the one in the URL.
func (p *pages) newPolicy(v *kit.Visit) error {
	like, err := p.app.Policies.On(v.R.Context(), v.Actor, nil)
	if id, parseErr := strconv.ParseInt(v.Query("like"), 10, 64); parseErr == nil && err == nil {
		like, err = p.app.Policies.Get(v.R.Context(), v.Actor, id)
	}
	if err != nil {
		return err
	}
	form := kit.Filled(
		"from", (civil.DayOf(v.Now()) + 1).String(), "currency", string(like.Currency), "recognition", string(like.Recognition),
		"late_log_days", strconv.FormatInt(like.LateLogDays, 10), "max_fixing_age_days", strconv.FormatInt(like.MaxFixingAgeDays, 10),
		"minimum_per_line", money.FormatPlain(like.MinimumPerLine, like.Currency),
		"minimum_per_month", money.FormatPlain(like.MinimumPerMonth, like.Currency),
		"statement_period", like.StatementPeriod, "payment_terms_days", strconv.FormatInt(like.PaymentTermsDays, 10),
		"rate_card", cardText(like.RateCard), "tax_codes", taxText(like.TaxCodes), "key", p.app.Config.NewUUID(),
	)
	fillCover(form, like)
	if like.PremiumRefundable {
		form.Values.Set("premium_refundable", "1")
	}
	return p.policyForm(v, form)
}

func (p *pages) policyForm(v *kit.Visit, form *kit.Form) error {
	return p.showForm(v, "new-policy.html", "New policy", kit.Link{Text: "Policies", Href: v.At(policiesAt)}, form)
}

// setPolicy adds a policy in a sandbox, or proposes it elsewhere.
func (p *pages) setPolicy(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	in := terms.PolicyFields{
		From: r.Day("from"), Currency: r.Currency("currency"), Recognition: kit.Word[terms.Recognition](r, "recognition"),
		LateLogDays: r.Number("late_log_days"), MaxFixingAgeDays: r.Number("max_fixing_age_days"),
		RateCard: readCard(r, "rate_card"), PremiumRefundable: r.Yes("premium_refundable"), TaxCodes: readTaxes(r, "tax_codes"),
		StatementPeriod: r.Text("statement_period"), PaymentTermsDays: r.Number("payment_terms_days"), Reason: r.Get("reason"),
	}
	if in.Currency != nil {
		in.MinimumPerLine = minimum(r, "minimum_per_line", *in.Currency)
		in.MinimumPerMonth = minimum(r, "minimum_per_month", *in.Currency)
		in.Cover = readCover(r, *in.Currency)
	}
	needed(r, "currency", "late_log_days", "max_fixing_age_days", "payment_terms_days")
	check.Note(&r.Problems, "reason", in.Reason)
	in.Problems = r.Problems
	made, err := p.app.Policies.Set(v.R.Context(), v.Once(form), in)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.policyForm(v, form)
	}
	if made.Proposal != nil {
		return waits(v, *made.Proposal)
	}
	return v.Done(v.At(fmt.Sprintf("%s/%d", policiesAt, made.ID)), "Policy set.")
}

// needed reports required fields that were left empty: for the use case, a missing value would mean no change.
func needed(r *kit.Reading, fields ...string) {
	for _, name := range fields {
		if r.Get(name) == "" {
			r.Problems.Missing(name)
		}
	}
}

// waits redirects with a link to the proposal that another operator has to approve.
func waits(v *kit.Visit, q proposal.Proposal) error {
	return v.Done(v.At(fmt.Sprintf("/approvals/%d", q.ID)), "Waiting for a second operator. No changes made yet.")
}
