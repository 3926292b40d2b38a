package settings

import (
	"time"

	"holdfast/internal/book/rates"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

const ratesAt = "/settings/rates"

// rates shows the latest fixing of each currency, gaps, and payments waiting for a rate.
func (p *pages) rates(v *kit.Visit) error {
	s, err := p.app.Rates.Status(v.R.Context(), v.Actor)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "rates", Caption: "Latest fixings",
		Columns: []kit.Column{
			{Name: "currency", Title: "Currency"}, {Name: "rate", Title: "Per 1 EUR", Figure: true}, {Name: "day", Title: "Day"},
			{Name: "age", Title: "Age (days)", Figure: true}, {Name: "state", Title: "Status"}, {Name: "provider", Title: "Provider", Minor: true},
			{Name: "missing", Title: "Gaps in 60 days", Figure: true, Minor: true}, {Name: "quote", Title: "Quote", Hidden: true},
			{Name: "recorded_at", Title: "Recorded", Hidden: true},
		},
		Empty: kit.Empty{
			Title: "No rates in the last 60 days",
			Text:  "Payments in a currency other than the policy's wait for a rate. Fetch ECB rates with: holdfast rates fetch. For other currencies, add a quote, which needs two operators.",
			Act:   first(p.act(v, access.WriteRates, "New quote", "/settings/rates/quote")),
		},
	}
	for _, l := range s.Latest {
		state := kit.State("counts", "good")
		if !l.Counts {
			state = kit.State("too old", "bad")
		}
		t.Rows = append(t.Rows, kit.Row{Href: v.At("/settings/rates/history?currency=" + string(l.Currency)), Cells: []kit.Cell{
			kit.Words(string(l.Currency)), kit.Words(l.Rate.String()), kit.OnDay(l.Day), kit.Number(l.Age), state,
			kit.Words(provider(l.Provider)), kit.Number(int64(l.Missing)), kit.Words(l.QuoteID), kit.AtInstant(l.RecordedAt),
		}})
	}
	made := v.Table(t)
	return v.ShowTable(p.Pages, "rates.html", made, p.settings(v, kit.Page{
		Title: "Rates", Acts: p.act(v, access.WriteRates, "New quote", "/settings/rates/quote"),
		Data: struct {
			MaxAge  int64
			Pending *kit.Table
			More    bool
			List    *kit.Table
		}{s.MaxAge, pendingTable(v, s), s.More, made},
	}, ratesAt))
}

// provider is the publisher of a rate.
func provider(p fx.Provider) string {
	switch p {
	case fx.ECB:
		return "ECB"
	case fx.Manual:
		return "Quote"
	case fx.Demo:
		return "Demo rate"
	}
	return string(p)
}

func pendingTable(v *kit.Visit, s rates.Status) *kit.Table {
	t := kit.Table{
		Name: "pending", Bare: true, Caption: "Payments waiting for a rate",
		Columns: []kit.Column{
			{Name: "amount", Title: "Amount", Currency: "currency"}, {Name: "count", Title: "Allocations", Figure: true},
			{Name: "into", Title: "Into"}, {Name: "oldest", Title: "Oldest"},
		},
	}
	for _, w := range s.Pending {
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.Sum(w.Amount, w.Currency), kit.Number(w.Count), kit.Words(string(w.Into)), kit.OnDay(w.Oldest),
		}})
	}
	return v.Table(t)
}

// rateHistory shows the fixings on file, for all currencies or one.
func (p *pages) rateHistory(v *kit.Visit) error {
	page, err := v.PageOf([]string{"date", "currency"}, true)
	if err != nil {
		return err
	}
	filter := fx.Filter{First: civil.NoDay, Last: civil.NoDay}
	r := kit.Filled("currency", v.Query("currency")).Reading()
	if c := r.Currency("currency"); c != nil {
		filter.Currencies = append(filter.Currencies, *c)
	}
	if err := r.Problems.Err(); err != nil {
		return err
	}
	t := kit.Table{
		Name: "fixings", Caption: "Fixings on file", Number: page.Number, Total: -1, Sorted: page.OrderBy, Descending: page.Descending,
		Columns: []kit.Column{
			{Name: "date", Title: "Day", Sorts: true}, {Name: "currency", Title: "Currency", Sorts: true},
			{Name: "rate", Title: "Per 1 EUR", Figure: true}, {Name: "provider", Title: "Provider", Minor: true}, {Name: "quote", Title: "Quote"},
			{Name: "recorded_at", Title: "Recorded", Minor: true}, {Name: "expires", Title: "Expires", Hidden: true},
		},
		Empty: kit.Empty{Title: "No fixings yet", Text: "A fixing is the price of one euro in another currency on a given day."},
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Rates.List(v.R.Context(), v.Actor, filter, page)
		for _, f := range list.Items {
			t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
				kit.OnDay(f.Day), kit.Words(string(f.Currency)), kit.Words(f.Rate.String()), kit.Words(provider(f.Provider)),
				kit.Words(f.QuoteID), kit.AtInstant(f.RecordedAt), kit.AtInstant(f.ExpiresAt),
			}})
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	title := "Fixings"
	if len(filter.Currencies) > 0 {
		title += " of " + string(filter.Currencies[0])
	}
	return v.ShowTable(p.Pages, "table.html", made, kit.Page{
		Title: title, Menu: "/settings", Path: []kit.Link{{Text: "Rates", Href: v.At(ratesAt)}}, Data: made,
	})
}

// newQuote shows the form for a new quote.
func (p *pages) newQuote(v *kit.Visit) error {
	return p.quoteForm(v, kit.Filled("currency", v.Query("currency"), "day", civil.DayOf(v.Now()).String(), "key", p.app.Config.NewUUID()))
}

func (p *pages) quoteForm(v *kit.Visit, form *kit.Form) error {
	return p.showForm(v, "new-quote.html", "New quote", kit.Link{Text: "Rates", Href: v.At(ratesAt)}, form)
}

// quote proposes a quote. Only in a sandbox does it apply immediately.
func (p *pages) quote(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	in := rates.QuoteFields{
		Currency: r.Currency("currency"), Day: r.Day("day"), Rate: r.Text("rate"), QuoteID: r.Text("quote_id"), Reason: r.Get("reason"),
	}
	if last := r.Day("expires"); last != nil { // valid until the end of that day
		in.Expires = new((*last + 1).Start().Add(-time.Second))
	}
	check.Note(&r.Problems, "reason", in.Reason)
	in.Problems = r.Problems
	made, err := p.app.Rates.Quote(v.R.Context(), v.Once(form), in)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.quoteForm(v, form)
	}
	if made.State == proposal.Open {
		return waits(v, made)
	}
	return v.Done(v.At(ratesAt), "Quote added.")
}
