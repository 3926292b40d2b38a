package statements

import (
	"slices"
	"strconv"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/web/kit"
)

const contractsAt = "/statements/contracts"

// contractFacts are a bordereau's contract details; empty without a contract.
func contractFacts(c terms.Contract) []kit.Fact {
	if c.ID == 0 {
		return nil
	}
	facts := []kit.Fact{
		{Text: "Contract", Value: c.Reference}, {Text: "Year of account", Value: yearText(c)},
		{Text: "Commission", Value: money.FormatPercent(c.CommissionPPM) + " %", Figure: true}, {Text: "In force from", Value: kit.Day(c.FromDay)},
	}
	return slices.DeleteFunc(facts, func(f kit.Fact) bool { return f.Value == "" })
}

func yearText(c terms.Contract) string {
	if c.Year == 0 {
		return ""
	}
	return strconv.FormatInt(c.Year, 10)
}

// contracts shows the underwriting contracts named on the site's bordereaux, with a form for a new one.
func (p *pages) contracts(v *kit.Visit) error { return p.contractsForm(v, nil) }

func (p *pages) contractsForm(v *kit.Visit, form *kit.Form) error {
	list, err := p.app.Contracts.List(v.R.Context(), v.Actor)
	if err != nil {
		return err
	}
	if form == nil {
		form = kit.Filled("from", civil.DayOf(v.Now()).String(), "key", p.app.Bookings.NewUUID())
		if len(list) > 0 { // most fields of the next contract stay the same
			form.Values.Set("reference", list[0].Reference)
			form.Values.Set("year_of_account", yearText(list[0]))
			form.Values.Set("commission", money.FormatPercent(list[0].CommissionPPM))
		}
	}
	t := kit.Table{
		Name: "contracts", Caption: "Underwriting contracts",
		Columns: []kit.Column{
			{Name: "from", Title: "From"}, {Name: "reference", Title: "Reference"}, {Name: "year", Title: "Year of account"},
			{Name: "commission", Title: "Commission", Figure: true}, {Name: "by", Title: "Set by"}, {Name: "at", Title: "Set on"},
		},
		Empty: kit.Empty{
			Title: "No contracts yet",
			Text:  "A contract's reference, year of account and commission appear on every bordereau from its first day on.",
		},
	}
	for _, c := range list {
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.OnDay(c.FromDay), kit.Words(c.Reference), kit.Words(yearText(c)), kit.Percent(money.FormatPercent(c.CommissionPPM)),
			kit.Words(c.RecordedBy), kit.AtInstant(c.RecordedAt),
		}})
	}
	made := v.Table(t)
	return v.ShowTable(p.Pages, "contracts.html", made, kit.Page{
		Title: "Contracts", Menu: menu, Path: []kit.Link{{Text: "Bordereaux", Href: v.At("/statements/bordereaux")}}, Data: struct {
			Form *kit.Form
			List *kit.Table
			May  bool
			Send string
		}{form, made, v.Can(access.WritePolicies), v.At(contractsAt)},
	})
}

// setContract adds a contract. Bordereaux for months before its first day do not change.
func (p *pages) setContract(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	in := terms.ContractFields{From: r.Day("from"), Reference: r.Text("reference"), Year: r.Number("year_of_account"), CommissionPPM: new(int64)}
	if text := form.Get("commission"); text != "" {
		var err error
		if *in.CommissionPPM, err = money.ParsePercent(text); err != nil {
			r.Problems.Wrong("commission", "Enter a percentage, such as 12.5.")
		}
	}
	in.Problems = r.Problems
	made, err := p.app.Contracts.Set(v.R.Context(), v.Once(form), in)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		if problem := form.Problem("commission_ppm"); problem != "" {
			form.Problems["commission"] = problem
		}
		return p.contractsForm(v, form)
	}
	return v.Done(v.At(contractsAt), "Contract added, effective from %s.", kit.Day(made.FromDay))
}
