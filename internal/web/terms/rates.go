package terms

import (
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fx"
	"holdfast/internal/rates"
	"holdfast/internal/travel"
	"holdfast/internal/web/shell"
)

const ratesAt = "/settings/rates"

// rates shows the last fixing of each currency, what is missing, and what waits for a rate.
func (p *pages) rates(v *shell.Visit) error {
	s, err := p.app.Rates.Standing(v.R.Context(), v.Actor)
	if err != nil {
		return err
	}
	t := shell.Table{
		Name: "rates", Caption: "The last fixing of each currency",
		Columns: []shell.Column{
			{Name: "currency", Title: "Currency"}, {Name: "rate", Title: "For 1 EUR", Figure: true}, {Name: "day", Title: "Day"},
			{Name: "age", Title: "Age in days", Figure: true}, {Name: "state", Title: "State"}, {Name: "provider", Title: "Provider", Minor: true},
			{Name: "missing", Title: "Gaps in 60 days", Figure: true, Minor: true}, {Name: "quote", Title: "Quote", Hidden: true},
			{Name: "recorded_at", Title: "On file since", Hidden: true},
		},
		Empty: shell.Empty{
			Title: "There are no rates of the last 60 days",
			Text:  "Payments in another currency than the policy wait for a rate. The rates of the ECB come with: holdfast rates fetch. For other currencies two operators agree on a quote.",
			Act:   first(p.act(v, auth.WriteRates, "New quote", "/settings/rates/quote")),
		},
	}
	for _, l := range s.Latest {
		state := shell.State("counts", "good")
		if !l.Counts {
			state = shell.State("too old", "bad")
		}
		t.Rows = append(t.Rows, shell.Row{Href: v.At("/settings/rates/history?currency=" + string(l.Currency)), Cells: []shell.Cell{
			shell.Words(string(l.Currency)), shell.Words(l.Rate.String()), shell.OnDay(l.Day), shell.Number(l.Age), state,
			shell.Words(provider(l.Provider)), shell.Number(int64(l.Missing)), shell.Words(l.QuoteID), shell.AtInstant(l.RecordedAt),
		}})
	}
	made := v.Table(t)
	if sent, err := v.File(made); sent || err != nil {
		return err
	}
	return v.Show(p.Pages, "rates.html", p.settings(v, shell.Page{
		Title: "Rates", Acts: p.act(v, auth.WriteRates, "New quote", "/settings/rates/quote"),
		Data: struct {
			MaxAge  int64
			Pending *shell.Table
			More    bool
			List    *shell.Table
		}{s.MaxAge, pendingTable(v, s), s.More, made},
	}, ratesAt))
}

// provider is who has published a rate.
func provider(p fx.Provider) string {
	switch p {
	case fx.ECB:
		return "ECB"
	case fx.Manual:
		return "Quote"
	case fx.Demo:
		return "Made up for the demo"
	}
	return string(p)
}

func pendingTable(v *shell.Visit, s rates.Standing) *shell.Table {
	t := shell.Table{
		Name: "pending", Bare: true, Caption: "What waits for a rate",
		Columns: []shell.Column{
			{Name: "amount", Title: "Amount", Figure: true}, {Name: "count", Title: "Payments of bookings", Figure: true},
			{Name: "into", Title: "Into"}, {Name: "oldest", Title: "Oldest"},
		},
	}
	for _, w := range s.Pending {
		t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{
			shell.Sum(w.Amount, w.Currency), shell.Number(w.Count), shell.Words(string(w.Into)), shell.OnDay(w.Oldest),
		}})
	}
	return v.Table(t)
}

// rateHistory shows the fixings on file, of all currencies or of one.
func (p *pages) rateHistory(v *shell.Visit) error {
	page, err := v.PageOf([]string{"date", "currency"}, true)
	if err != nil {
		return err
	}
	filter := fx.Filter{First: civil.NoDay, Last: civil.NoDay}
	r := shell.Filled("currency", v.Query("currency")).Reading()
	if c := r.Currency("currency"); c != nil {
		filter.Currencies = append(filter.Currencies, *c)
	}
	if err := r.Problems.Err(); err != nil {
		return err
	}
	t := shell.Table{
		Name: "fixings", Caption: "Fixings on file", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: []shell.Column{
			{Name: "date", Title: "Day", Sorts: true}, {Name: "currency", Title: "Currency", Sorts: true},
			{Name: "rate", Title: "For 1 EUR", Figure: true}, {Name: "provider", Title: "Provider", Minor: true}, {Name: "quote", Title: "Quote"},
			{Name: "recorded_at", Title: "On file since", Minor: true}, {Name: "expires", Title: "Expires", Hidden: true},
		},
		Empty: shell.Empty{Title: "There are no fixings", Text: "A fixing says how many units of a currency one euro costs on a day."},
	}
	err = v.Each(page, func(page travel.Page) (bool, error) {
		list, err := p.app.Rates.List(v.R.Context(), v.Actor, filter, page)
		for _, f := range list.Items {
			t.Rows = append(t.Rows, shell.Row{Cells: []shell.Cell{
				shell.OnDay(f.Day), shell.Words(string(f.Currency)), shell.Words(f.Rate.String()), shell.Words(provider(f.Provider)),
				shell.Words(f.QuoteID), shell.AtInstant(f.RecordedAt), shell.AtInstant(f.ExpiresAt),
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
	title := "Fixings"
	if len(filter.Currencies) > 0 {
		title += " of " + string(filter.Currencies[0])
	}
	return v.Show(p.Pages, "table.html", shell.Page{
		Title: title, Menu: "/settings", Path: []shell.Link{{Text: "Rates", Href: v.At(ratesAt)}}, Data: made,
	})
}

// newQuote shows the form for a quote.
func (p *pages) newQuote(v *shell.Visit) error {
	return p.quoteForm(v, shell.Filled("currency", v.Query("currency"), "day", civil.DayOf(v.Now()).String(), "key", p.app.Rates.NewUUID()))
}

func (p *pages) quoteForm(v *shell.Visit, form *shell.Form) error {
	return v.Show(p.Pages, "new-quote.html", shell.Page{
		Title: "New quote", Menu: "/settings", Path: []shell.Link{{Text: "Rates", Href: v.At(ratesAt)}},
		Data: struct {
			Form    *shell.Form
			Sandbox bool
		}{form, v.Site.Sandbox},
	})
}

// quote proposes a quote, which counts at once in a sandbox alone.
func (p *pages) quote(v *shell.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	in := rates.QuoteFields{
		Currency: r.Currency("currency"), Day: r.Day("day"), Rate: r.Text("rate"), QuoteID: r.Text("quote_id"), Reason: r.Get("reason"),
	}
	if last := r.Day("expires"); last != nil { // it counts until the end of that day
		in.Expires = new((*last + 1).Start().Add(-time.Second))
	}
	travel.CheckNote(&r.Problems, "reason", in.Reason)
	in.Problems = r.Problems
	made, err := p.app.Rates.Quote(v.R.Context(), v.Once(form), in)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.quoteForm(v, form)
	}
	if made.State == travel.ProposalOpen {
		return waits(v, made)
	}
	return v.Done(v.At(ratesAt), "The quote is on file.")
}
