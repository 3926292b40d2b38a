package failures

import (
	"strings"

	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/store"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// orders are the sort orders of the list.
var orders = []string{"id", "trigger_at"}

// insolvencies lists the site's insolvencies, latest first.
func (p *pages) insolvencies(v *kit.Visit) error {
	page, err := v.PageOf(orders, true)
	if err != nil {
		return err
	}
	form := &kit.Form{Values: v.R.URL.Query()}
	filter, err := filterOf(form)
	if err != nil {
		return err
	}
	acts := reportAct(v, 0)
	t := kit.Table{
		Name: "insolvencies", Caption: "Insolvencies",
		Columns: []kit.Column{
			{Name: "id", Title: "Number", Figure: true, Sorts: true}, {Name: "merchant", Title: "Merchant"}, {Name: "state", Title: "Status"}, {Name: "kind", Title: "Type"},
			{Name: "trigger_at", Title: "Failed", Sorts: true}, {Name: "reported_by", Title: "Reported by", Minor: true},
			{Name: "confirmed_by", Title: "Confirmed by", Minor: true}, {Name: "affected", Title: "Affected payments", Figure: true},
			{Name: "evidence", Title: "Evidence", Hidden: true}, {Name: "reported_at", Title: "Reported", Hidden: true},
			{Name: "confirmed_at", Title: "Confirmed", Hidden: true}, {Name: "sha256", Title: "SHA-256", Hidden: true},
			{Name: "channels", Title: "Merchant ID", Figure: true, Hidden: true},
		},
		Empty: kit.Empty{
			Title: "No insolvencies",
			Text: "When a merchant fails, report it here. From the moment another operator confirms it, none of its new payments is protected, and " +
				"a list of the affected payments is made.",
		},
	}
	if len(acts) > 0 {
		t.Empty.Act = acts[0]
	}
	err = choices.Fill(v, p.app, &t, page, func(page store.Page) (store.List[insolvencies.Insolvency], error) {
		return p.app.Insolvencies.List(v.R.Context(), v.Actor, filter, page)
	}, channelOf, func(i insolvencies.Insolvency, m merchant.Channel) kit.Row { return insolvencyRow(v, i, m) })
	if err != nil {
		return err
	}
	made := v.Table(t)
	channels, err := choices.Channels(v, p.app, "All merchants")
	if err != nil {
		return err
	}
	return v.ShowTable(p.Pages, "insolvencies.html", made, kit.Page{
		Title: "Insolvencies", Menu: menu, Path: above(v)[:1], Acts: acts, Parts: v.Parts("failures", "/insolvencies"), Data: struct {
			List             *kit.Table
			Filter           *kit.Form
			States, Channels any
			Send             string
		}{made, form, choices.Words(insolvencies.States, "All"), channels, v.At("/insolvencies")},
	})
}

// reportAct is the button that reports a failure: of a merchant, or of one to choose.
func reportAct(v *kit.Visit, channel int64) []kit.Link {
	if !v.Can(access.ReportFailures) {
		return nil
	}
	return []kit.Link{choices.ReportFailure(v, channel)}
}

func filterOf(form *kit.Form) (f insolvencies.Filter, err error) {
	r := form.Reading()
	if id := r.Number("channels"); id != nil {
		f.Channels = []int64{*id}
	}
	f.States = choices.OneOf(r, "state", insolvencies.States)
	return f, r.Problems.Err()
}

func channelOf(i insolvencies.Insolvency) int64 { return i.ChannelID }

func insolvencyRow(v *kit.Visit, i insolvencies.Insolvency, c merchant.Channel) kit.Row {
	affected := kit.Cell{}
	if !i.Snapshot.MadeAt.IsZero() {
		affected = kit.Number(i.Snapshot.Lines)
	}
	state := kit.State(string(i.State), tones[i.State])
	if !i.ReinstatedAt.IsZero() {
		state.Text += ", reinstated"
	}
	return kit.Row{Href: at(v, i.ID, ""), Cells: []kit.Cell{
		kit.Ident(i.ID), kit.Linked(c.Name, at(v, i.ID, "")), state, {Text: kindOf(i.Kind), Plain: string(i.Kind)}, kit.AtInstant(i.TriggerAt),
		kit.Words(i.ReportedBy), kit.Words(i.ConfirmedBy), affected, kit.Words(i.Evidence), kit.AtInstant(i.ReportedAt),
		kit.AtInstant(i.ConfirmedAt), kit.Words(i.Snapshot.SHA256), kit.Ident(i.ChannelID),
	}}
}

// newReport shows the form that reports a failure.
func (p *pages) newReport(v *kit.Visit) error {
	form := kit.Filled("channels", v.Query("channels"), "trigger_at", v.Now().Format(browserTime), "key", p.app.Config.NewUUID())
	return p.reportForm(v, form)
}

// browserTime is the layout of times in form fields.
const browserTime = "2006-01-02T15:04"

func (p *pages) reportForm(v *kit.Visit, form *kit.Form) error {
	channels, err := choices.Channels(v, p.app, "Choose")
	if err != nil {
		return err
	}
	pairs := []string{"", "Choose"}
	for _, k := range insolvencies.Kinds {
		pairs = append(pairs, string(k), kindOf(k))
	}
	back := v.At("/insolvencies")
	if id := form.Reading().Number("channels"); id != nil {
		back = v.At("/channels/" + kit.Ident(*id).Plain)
	}
	return v.Show(p.Pages, "report.html", kit.Page{
		Title: "Report a failure", Menu: menu, Path: above(v), Data: struct {
			Form                 *kit.Form
			Channels, Kinds      any
			Send, Back           string
			Sandbox, ConfirmsToo bool
		}{form, channels, kit.Options(pairs...), v.At("/insolvencies"), back, v.Site.Sandbox, v.Can(access.DecideFailures)},
	})
}

// report stores that a merchant has failed.
func (p *pages) report(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	r := form.Reading()
	in := insolvencies.NewReport{
		ChannelID: r.Number("channels"), Kind: kit.Word[insolvencies.Kind](r, "kind"), Evidence: strings.ReplaceAll(form.Get("evidence"), "\r\n", "\n"),
	}
	if in.Kind != nil && *in.Kind == "" {
		in.Kind = nil
	}
	if trigger := r.Instant("trigger_at"); !trigger.IsZero() {
		in.TriggerAt = &trigger
	}
	in.Problems = r.Problems
	made, err := p.app.Insolvencies.Report(v.R.Context(), v.Once(form), in)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.reportForm(v, form)
	}
	if v.Site.Sandbox && v.Can(access.DecideFailures) {
		return v.Done(at(v, made.ID, ""), "Failure reported. Nothing has changed yet: confirm it to stop protecting new payments.")
	}
	return v.Done(at(v, made.ID, ""), "Failure reported. Nothing changes until another operator confirms it.")
}
