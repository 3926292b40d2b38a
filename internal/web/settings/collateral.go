package settings

import (
	"fmt"
	"strconv"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

const collateralAt = "/settings/collateral"

// collateral shows the current collateral, and with all=1 every record and correction.
func (p *pages) collateral(v *kit.Visit) error {
	page, err := v.PageOf([]string{"id"}, true)
	if err != nil {
		return err
	}
	all := v.Query("all") == "1"
	t := kit.Table{
		Name: "collateral", Caption: "Collateral", Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "record", Title: "Record", Figure: true}, {Name: "kind", Title: "Type"}, {Name: "channel", Title: "Covers"},
			{Name: "amount", Title: "Amount", Currency: "currency"}, {Name: "from", Title: "From"}, {Name: "to", Title: "To"},
			{Name: "reference", Title: "Reference"}, {Name: "note", Title: "Note", Hidden: true},
			{Name: "author", Title: "Recorded by", Hidden: true}, {Name: "recorded_at", Title: "Recorded", Hidden: true},
		},
		Empty: kit.Empty{
			Title: "No collateral yet", Text: "Cash, guarantees and reserves held for a merchant reduce its net exposure.",
			Act: first(p.act(v, access.WriteCollateral, "Add collateral", "/settings/collateral/new")),
		},
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.collateralPage(v, all, page)
		for _, c := range list.Items {
			t.Rows = append(t.Rows, p.collateralRow(v, c))
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	other := kit.Link{Text: "All records", Href: v.At(collateralAt) + "?all=1", Plain: true}
	title := "Current collateral"
	if all {
		other, title = kit.Link{Text: "Current", Href: v.At(collateralAt), Plain: true}, "Collateral history"
	}
	return v.ShowTable(p.Pages, "table.html", made, kit.Page{
		Title: title, Menu: "/settings", Path: []kit.Link{{Text: "Limits", Href: v.At(limitsAt)}},
		Acts: append(p.act(v, access.WriteCollateral, "Add collateral", "/settings/collateral/new"), other), Data: made,
	})
}

func (p *pages) collateralPage(v *kit.Visit, all bool, page store.Page) (store.List[exposure.Collateral], error) {
	if all {
		return p.app.Collaterals.List(v.R.Context(), v.Actor, nil, page)
	}
	return p.app.Collaterals.Held(v.R.Context(), v.Actor, ledger.Moment{}, errs.Problems{}, nil, page)
}

func (p *pages) collateralRow(v *kit.Visit, c exposure.Collateral) kit.Row {
	of := kit.Words("All merchants")
	if c.ChannelID != 0 {
		of = kit.Linked(fmt.Sprintf("Merchant %d", c.ChannelID), v.At(fmt.Sprintf("/settings/merchants/%d", c.ChannelID)))
	}
	amount := kit.Sum(c.Amount, c.Currency)
	if c.Amount == 0 {
		amount.Text = "Voided"
	}
	row := kit.Row{Cells: []kit.Cell{
		kit.Ident(c.RecordID), kit.Words(kit.Say(c.Kind)), of, amount, kit.OnDay(c.FromDay), kit.OnDay(c.ToDay),
		kit.Words(c.Reference), kit.Words(c.Note), kit.Words(c.Author), kit.AtInstant(c.RecordedAt),
	}}
	if v.Can(access.WriteCollateral) {
		row.Href = v.At(fmt.Sprintf("/settings/collateral/new?corrects=%d", c.RecordID))
	}
	return row
}

// newCollateral shows the form for new collateral or for correcting a record.
func (p *pages) newCollateral(v *kit.Visit) error {
	form := kit.Filled("channels", v.Query("channel"), "from", civil.DayOf(v.Now()).String())
	if v.Query("corrects") != "" {
		id, err := strconv.ParseInt(v.Query("corrects"), 10, 64)
		if err != nil {
			return v.Go(v.At(collateralAt))
		}
		c, err := p.app.Collaterals.Get(v.R.Context(), v.Actor, id)
		if err != nil {
			return err
		}
		form = kit.Filled("corrects", strconv.FormatInt(c.RecordID, 10), "kind", string(c.Kind), "currency", string(c.Currency),
			"amount", money.FormatPlain(c.Amount, c.Currency), "from", c.FromDay.String(), "reference", c.Reference, "note", c.Note)
		if c.ChannelID != 0 {
			form.Values.Set("channels", strconv.FormatInt(c.ChannelID, 10))
		}
		if c.ToDay != civil.NoDay {
			form.Values.Set("to", c.ToDay.String())
		}
	}
	form.Values.Set("key", p.app.Config.NewUUID())
	return p.collateralForm(v, form)
}

func (p *pages) collateralForm(v *kit.Visit, form *kit.Form) error {
	title := "Add collateral"
	if form.Get("corrects") != "" {
		title = "Correct record " + form.Get("corrects")
	}
	channels, err := choices.Channels(v, p.app, "All merchants")
	if err != nil {
		return err
	}
	return v.Show(p.Pages, "new-collateral.html", kit.Page{
		Title: title, Menu: "/settings", Path: []kit.Link{{Text: "Collateral", Href: v.At(collateralAt)}}, Data: struct {
			Form     *kit.Form
			Channels any
		}{form, channels},
	})
}

// addCollateral records collateral.
func (p *pages) addCollateral(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	in := ledger.CollateralFields{
		RecordID: r.Number("corrects"), Kind: kit.Word[exposure.CollateralKind](r, "kind"), ChannelID: r.Number("channels"),
		Currency: r.Currency("currency"), From: r.Day("from"), To: r.Day("to"), Reference: r.Get("reference"), Note: r.Get("note"),
	}
	if in.Currency != nil {
		in.Amount = r.Amount("amount", *in.Currency)
	}
	in.Problems = r.Problems
	made, err := p.app.Collaterals.Add(v.R.Context(), v.Once(form), in)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.collateralForm(v, form)
	}
	return v.Done(v.At(collateralAt), "Collateral record %d of %s saved.", made.RecordID, kit.Money(made.Amount, made.Currency))
}
