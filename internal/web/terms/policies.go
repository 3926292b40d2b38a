package terms

import (
	"fmt"
	"strconv"
	"strings"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/travel"
	"holdfast/internal/web/shell"
)

const policiesAt = "/settings/policies"

// policies shows all policies of the site by their days, and which one is in force.
func (p *pages) policies(v *shell.Visit) error {
	page, err := v.PageOf([]string{"from", "id", "recorded_at"}, true)
	if err != nil {
		return err
	}
	today, err := p.app.Policies.On(v.R.Context(), v.Actor, nil)
	if err != nil {
		return err
	}
	t := shell.Table{
		Name: "policies", Caption: "Policies of this site", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: []shell.Column{
			{Name: "from", Title: "From", Sorts: true}, {Name: "state", Title: "State"}, {Name: "currency", Title: "Currency"},
			{Name: "recognition", Title: "Delivery", Minor: true}, {Name: "rates", Title: "Bands", Figure: true, Minor: true},
			{Name: "period", Title: "Statements", Minor: true}, {Name: "terms", Title: "Due after", Figure: true, Minor: true},
			{Name: "recorded_at", Title: "Recorded", Sorts: true}, {Name: "id", Title: "No.", Figure: true, Hidden: true},
		},
	}
	err = v.Each(page, func(page travel.Page) (bool, error) {
		list, err := p.app.Policies.List(v.R.Context(), v.Actor, nil, page)
		for _, y := range list.Items {
			t.Rows = append(t.Rows, shell.Row{Href: v.At(fmt.Sprintf("%s/%d", policiesAt, y.ID)), Cells: []shell.Cell{
				firstDay(y.FromDay), standing(y, today, civil.DayOf(v.Now())), shell.Words(string(y.Currency)),
				shell.Words(shell.Say(y.Recognition)), shell.Number(int64(len(y.RateCard))), shell.Words(shell.Say(y.StatementPeriod)),
				shell.Words(shell.Plural(y.PaymentTermsDays, "business day", "business days")), shell.AtInstant(y.RecordedAt), shell.Ident(y.ID),
			}})
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	if sent, err := v.File(made); sent || err != nil {
		return err
	}
	return v.Show(p.Pages, "table.html", p.settings(v, shell.Page{
		Title: "Policies", Acts: p.act(v, auth.WritePolicies, "New policy", "/settings/policy"), Data: made,
	}, policiesAt))
}

// firstDay is the day from which something is in force; the first policy of a site is there from the beginning.
func firstDay(d civil.Day) shell.Cell {
	if d == civil.FirstDay {
		return shell.Cell{Text: "The beginning", Plain: d.String()}
	}
	return shell.OnDay(d)
}

// standing says whether a policy is in force on a day. Of two from the same day the later one counts.
func standing(y, inForce travel.Policy, today civil.Day) shell.Cell {
	switch {
	case y.ID == inForce.ID:
		return shell.State("in force", "good")
	case y.FromDay > today:
		return shell.State("to come", "warn")
	}
	return shell.State("over", "calm")
}

// policy shows one policy with its rate card.
func (p *pages) policy(v *shell.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	y, err := p.app.Policies.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	card := shell.Table{
		Name: "rate-card", Caption: "Rate card",
		Columns: []shell.Column{
			{Name: "channel", Title: "Channel"}, {Name: "lead", Title: "Days from payment to the end of travel"},
			{Name: "price", Title: "Price", Figure: true},
		},
	}
	for _, l := range y.RateCard {
		channel := shell.Words("All others")
		if l.ChannelID != 0 {
			channel = shell.Linked(fmt.Sprintf("Channel %d", l.ChannelID), v.At(fmt.Sprintf("/channels/%d/terms", l.ChannelID)))
		}
		card.Rows = append(card.Rows, shell.Row{Cells: []shell.Cell{channel, shell.Words(band(l)), shell.Words(percent(l.PPM))}})
	}
	made := v.Table(card)
	if sent, err := v.File(made); sent || err != nil {
		return err
	}
	return v.Show(p.Pages, "policy.html", shell.Page{
		Title: "Policy from " + strings.Replace(firstDay(y.FromDay).Text, "The", "the", 1), Menu: "/settings",
		Path: []shell.Link{{Text: "Policies", Href: v.At(policiesAt)}},
		Acts: p.act(v, auth.WritePolicies, "New policy like this one", fmt.Sprintf("/settings/policy?like=%d", y.ID)),
		Data: struct {
			Facts []shell.Fact
			Limit string
			Card  *shell.Table
		}{policyFacts(y), y.NamesOfLimits(), made},
	})
}

func policyFacts(y travel.Policy) []shell.Fact {
	facts := []shell.Fact{
		{Text: "Currency", Value: string(y.Currency)}, {Text: "Delivery is counted by", Value: shell.Say(y.Recognition)},
		{Text: "A payment counts as late after", Value: shell.Plural(y.LateLogDays, "day", "days")},
		{Text: "A fixing counts for", Value: shell.Plural(y.MaxFixingAgeDays, "day", "days")},
		{Text: "Premium is returned", Value: map[bool]string{true: "Yes", false: "No"}[y.PremiumRefundable]},
		{Text: "Minimum of a line", Value: shell.Money(y.MinimumPerLine, y.Currency), Figure: true},
		{Text: "Minimum of a month", Value: shell.Money(y.MinimumPerMonth, y.Currency), Figure: true},
		{Text: "Statements of new channels", Value: shell.Say(y.StatementPeriod)},
		{Text: "A statement is due after", Value: shell.Plural(y.PaymentTermsDays, "business day", "business days")},
		{Text: "Recorded", Value: shell.Instant(y.RecordedAt)},
	}
	for _, t := range y.TaxCodes {
		facts = append(facts, shell.Fact{Text: "Tax " + t.Code, Value: percent(t.RatePPM) + " " + t.Label})
	}
	return facts
}

// newPolicy shows the form for a policy. It begins as the one that is in force, or as the one that the address names.
func (p *pages) newPolicy(v *shell.Visit) error {
	like, err := p.app.Policies.On(v.R.Context(), v.Actor, nil)
	if id, parseErr := strconv.ParseInt(v.Query("like"), 10, 64); parseErr == nil && err == nil {
		like, err = p.app.Policies.Get(v.R.Context(), v.Actor, id)
	}
	if err != nil {
		return err
	}
	form := shell.Filled(
		"from", (civil.DayOf(v.Now()) + 1).String(), "currency", string(like.Currency), "recognition", string(like.Recognition),
		"late_log_days", strconv.FormatInt(like.LateLogDays, 10), "max_fixing_age_days", strconv.FormatInt(like.MaxFixingAgeDays, 10),
		"minimum_per_line", money.FormatPlain(like.MinimumPerLine, like.Currency),
		"minimum_per_month", money.FormatPlain(like.MinimumPerMonth, like.Currency),
		"statement_period", like.StatementPeriod, "payment_terms_days", strconv.FormatInt(like.PaymentTermsDays, 10),
		"rate_card", cardText(like.RateCard), "tax_codes", taxText(like.TaxCodes), "key", p.app.Policies.NewUUID(),
	)
	if like.PremiumRefundable {
		form.Values.Set("premium_refundable", "1")
	}
	return p.policyForm(v, form)
}

func (p *pages) policyForm(v *shell.Visit, form *shell.Form) error {
	return v.Show(p.Pages, "new-policy.html", shell.Page{
		Title: "New policy", Menu: "/settings", Path: []shell.Link{{Text: "Policies", Href: v.At(policiesAt)}},
		Data: struct {
			Form    *shell.Form
			Sandbox bool
		}{form, v.Site.Sandbox},
	})
}

// setPolicy adds a policy, or asks for one outside a sandbox.
func (p *pages) setPolicy(v *shell.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	in := travel.PolicyFields{
		From: r.Day("from"), Currency: r.Currency("currency"), Recognition: shell.Word[travel.Recognition](r, "recognition"),
		LateLogDays: r.Number("late_log_days"), MaxFixingAgeDays: r.Number("max_fixing_age_days"),
		RateCard: readCard(r, "rate_card"), PremiumRefundable: r.Yes("premium_refundable"), TaxCodes: readTaxes(r, "tax_codes"),
		StatementPeriod: r.Text("statement_period"), PaymentTermsDays: r.Number("payment_terms_days"), Reason: r.Get("reason"),
	}
	if in.Currency != nil {
		in.MinimumPerLine = minimum(r, "minimum_per_line", *in.Currency)
		in.MinimumPerMonth = minimum(r, "minimum_per_month", *in.Currency)
	}
	needed(r, "currency", "late_log_days", "max_fixing_age_days", "payment_terms_days")
	travel.CheckNote(&r.Problems, "reason", in.Reason)
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
	return v.Done(v.At(fmt.Sprintf("%s/%d", policiesAt, made.ID)), "The policy is set.")
}

// needed tells of fields that the form always sends, and that somebody has emptied: to a room nothing means that all stays.
func needed(r *shell.Reading, fields ...string) {
	for _, name := range fields {
		if r.Get(name) == "" {
			r.Problems.Missing(name)
		}
	}
}

// waits leads to a proposal that another operator has to approve.
func waits(v *shell.Visit, q travel.Proposal) error {
	return v.Done(v.At(fmt.Sprintf("/approvals/%d", q.ID)), "Waiting for a second operator. No changes made yet.")
}
