package settings

import (
	"bytes"
	"encoding/json"
	"fmt"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/platform/audit"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

const auditAt = "/settings/audit"

// audit shows who changed what, latest first.
func (p *pages) audit(v *kit.Visit) error {
	page, err := v.PageOf([]string{"id"}, true)
	if err != nil {
		return err
	}
	form := kit.Filled("actor", v.Query("actor"), "action", v.Query("action"), "object", v.Query("object"), "from", v.Query("from"), "to", v.Query("to"))
	r := form.Reading()
	var filter audit.Filter
	filter.Usernames, filter.Actions, filter.Objects = given(form.Get("actor")), given(form.Get("action")), given(form.Get("object"))
	if day := r.Day("from"); day != nil {
		filter.At.After = (*day).Start().Add(-1)
	}
	if day := r.Day("to"); day != nil {
		filter.At.Before = (*day + 1).Start()
	}
	if _, err := v.Took(form, r.Problems.Err()); err != nil {
		return err
	}
	t := kit.Table{
		Name: "audit", Caption: "Audit log", Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "at", Title: "Time"}, {Name: "actor", Title: "User"}, {Name: "role", Title: "Role", Minor: true}, {Name: "action", Title: "Action"},
			{Name: "object", Title: "Of"}, {Name: "address", Title: "IP address", Minor: true}, {Name: "token", Title: "API token", Figure: true, Hidden: true},
			{Name: "request", Title: "Request", Hidden: true}, {Name: "id", Title: "No.", Figure: true, Hidden: true},
			{Name: "hash", Title: "Hash", Hidden: true},
		},
		Empty: kit.Empty{Title: "No matching records", Text: "Every change to settings, terms, people and bookings is recorded here and cannot be removed unnoticed."},
	}
	if len(form.Problems) == 0 {
		err = v.Each(page, func(page store.Page) (bool, error) {
			list, err := p.app.Audit.List(v.R.Context(), v.Actor, filter, page)
			for _, a := range list.Items {
				t.Rows = append(t.Rows, auditRow(v, a))
			}
			t.More = list.More
			return list.More, err
		})
	}
	if err != nil {
		return err
	}
	made := v.Table(t)
	if len(form.Problems) == 0 { // an invalid filter gets no file: an empty one would look like a result
		if sent, err := v.File(made); sent || err != nil {
			return err
		}
	}
	return v.Show(p.Pages, "audit.html", p.settings(v, kit.Page{
		Title: "Audit log", Acts: []kit.Link{{Text: "Chain heads", Href: v.At("/settings/audit/heads"), Plain: true}},
		Data: struct {
			Form *kit.Form
			List *kit.Table
		}{form, made},
	}, auditAt))
}

// given returns a one-value filter; empty if the value is.
func given(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

func auditRow(v *kit.Visit, a audit.Entry) kit.Row {
	return kit.Row{Href: v.At(fmt.Sprintf("%s/%d", auditAt, a.ID)), Cells: []kit.Cell{
		kit.AtInstant(a.At), kit.Words(a.Username), kit.Words(kit.Say(a.Role)), kit.Words(a.Action), kit.Words(a.Object),
		kit.Words(a.Address), kit.Ident(a.TokenID), kit.Words(a.RequestID), kit.Ident(a.ID), kit.Words(a.Hash),
	}}
}

// auditRecord shows one record, before and after.
func (p *pages) auditRecord(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	a, err := p.app.Audit.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	changes, err := approvals.Changes(json.RawMessage(a.Before), json.RawMessage(a.After))
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "changes", Bare: true, Caption: "Fields before and after",
		Columns: []kit.Column{{Name: "field", Title: "Field"}, {Name: "before", Title: "Before"}, {Name: "after", Title: "After"}},
		Empty:   kit.Empty{Title: "No fields changed", Text: "This action has no fields to compare."},
	}
	var effect proposal.Effect
	for _, c := range changes {
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.Words(kit.Say(c.Field)), kit.Words(effect.Text(c, true)), kit.Words(effect.Text(c, false)),
		}})
	}
	facts := []kit.Fact{
		{Text: "Time", Value: kit.Instant(a.At)}, {Text: "User", Value: a.Username, Href: v.At(auditAt) + "?actor=" + a.Username},
		{Text: "Role", Value: kit.Say(a.Role)}, {Text: "Of", Value: a.Object}, {Text: "IP address", Value: a.Address}, {Text: "Request", Value: a.RequestID},
	}
	if a.TokenID != 0 {
		facts = append(facts, kit.Fact{Text: "API token", Value: fmt.Sprint(a.TokenID)})
	}
	if !a.At.Equal(a.RealAt) {
		facts = append(facts, kit.Fact{Text: "Real time", Value: kit.Instant(a.RealAt)})
	}
	return v.Show(p.Pages, "audit-record.html", kit.Page{
		Title: a.Action, Menu: "/settings", Path: []kit.Link{{Text: "Audit log", Href: v.At(auditAt)}},
		Data: struct {
			Facts         []kit.Fact
			Changes       *kit.Table
			Before, After string
			Hash          string
		}{present(facts), v.Table(t), indented(a.Before), indented(a.After), a.Hash},
	})
}

// indented formats JSON for people; null is empty.
func indented(text string) string {
	var out bytes.Buffer
	if text == "null" || json.Indent(&out, []byte(text), "", "  ") != nil {
		return ""
	}
	return out.String()
}

// heads shows the chain heads, to store elsewhere and compare later.
func (p *pages) heads(v *kit.Visit) error {
	list, err := p.app.Verify.Heads(v.R.Context(), v.Actor, []merchant.Site{v.Site})
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "heads", Caption: "Chain heads",
		Columns: []kit.Column{
			{Name: "chain", Title: "Chain"}, {Name: "count", Title: "Records", Figure: true}, {Name: "hash", Title: "Hash of the last record"},
			{Name: "at", Title: "As of"},
		},
	}
	for _, h := range list {
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{kit.Words(h.Chain), kit.Number(h.Count), kit.Words(h.Hash), kit.AtInstant(h.At)}})
	}
	made := v.Table(t)
	return v.ShowTable(p.Pages, "heads.html", made, kit.Page{
		Title: "Chain heads", Menu: "/settings", Path: []kit.Link{{Text: "Audit log", Href: v.At(auditAt)}}, Data: made,
	})
}
