package office

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/notify/schedules"
	"holdfast/internal/web/kit"
)

// addReports adds the pages for scheduled reports, of one site and of all sites.
func (p *pages) addReports(f *kit.Frame) {
	for pattern, h := range map[string]kit.Handler{
		"GET /reports": p.orders, "GET /reports/new": p.newOrder, "POST /reports": p.makeOrder, "GET /reports/{id}": p.order,
		"POST /reports/{id}": p.changeOrder, "GET /reports/{id}/end": p.endOrder, "POST /reports/{id}/end": p.endOrder,
		"POST /reports/{id}/pause":  p.turnOrder(p.app.Schedules.Pause, "Report paused. No e-mails are sent until it is resumed."),
		"POST /reports/{id}/resume": p.turnOrder(p.app.Schedules.Resume, "Report resumed."),
		"POST /reports/{id}/send":   p.turnOrder(p.app.Schedules.SendNow, "The report will be created and sent within a minute."),
	} {
		f.Site(pattern, access.Export, h)
		f.Office(pattern, access.ManageSites, h)
	}
}

// Maker generates the file of a scheduled report, with its owner's permissions.
func Maker(f *kit.Frame, a *app.App) func(ctx context.Context, want schedules.Want) (schedules.File, error) {
	return func(ctx context.Context, want schedules.Want) (made schedules.File, err error) {
		report, ok := f.ReportAt(want.View, want.SiteID == 0)
		if !ok {
			return made, errs.WrongField("view", "This page cannot be scheduled.")
		}
		who, err := a.SignIns.As(ctx, want.UserID, want.Site)
		if err != nil {
			return made, err
		}
		at := kit.Path
		if want.SiteID != 0 {
			at += "/sites/" + want.Site
		}
		file, err := f.Make(ctx, who, at+dated(report, want))
		if err != nil {
			return made, err
		}
		made.Name, made.Type, made.Content = file.Name, file.Type, file.Content
		made.About, made.Count, made.Cut, made.Address = file.About, file.Rows, file.Cut, f.Base+at+want.View
		for _, fact := range file.Facts {
			made.Rows = append(made.Rows, [2]string{fact.Text, fact.Value})
		}
		return made, nil
	}
}

// dated is the URL of a report with its date.
func dated(r kit.Report, want schedules.Want) string {
	path, query, _ := strings.Cut(want.View, "?")
	values, _ := url.ParseQuery(query) // validated by the use case
	values.Set("format", string(want.Format))
	if r.Days {
		values.Set("as_of", (want.On - 1).String())
	}
	if r.Since {
		values.Set("from", (want.Since - 1).String())
	}
	if r.Month {
		values.Set("period", (terms.PeriodOf(terms.PeriodMonth, want.On).First - 1).Month())
	}
	return path + "?" + values.Encode()
}

// reportsAt is the URL of scheduled reports, of the site or of all sites.
func reportsAt(v *kit.Visit, id int64) string {
	at := kit.Path + "/reports"
	if v.Site.ID != 0 {
		at = v.At("/reports")
	}
	if id != 0 {
		at += "/" + strconv.FormatInt(id, 10)
	}
	return at
}

// inReports is a page below scheduled reports.
func inReports(v *kit.Visit, title string, data any) kit.Page {
	page := kit.Page{Title: title, Menu: "/receivables", Data: data}
	if v.Site.ID != 0 {
		page.Menu = "/exposure"
	}
	return page
}

var orderTones = map[schedules.State]string{schedules.Active: "good", schedules.Paused: "calm", schedules.Stopped: "bad"}

// orders lists the schedules of a site, or of all sites.
func (p *pages) orders(v *kit.Visit) error {
	list, err := p.app.Schedules.List(v.R.Context(), v.Actor)
	if err != nil {
		return err
	}
	t := kit.Table{
		Name: "reports-by-mail", Caption: "Scheduled reports",
		Columns: []kit.Column{
			{Name: "report", Title: "Report"}, {Name: "when", Title: "Schedule"}, {Name: "next", Title: "Next"}, {Name: "to", Title: "To"},
			{Name: "by", Title: "Scheduled by"}, {Name: "format", Title: "File"}, {Name: "state", Title: "Status"},
		},
		Empty: kit.Empty{
			Title: "No scheduled reports yet",
			Text:  "Choose \u201cSchedule\u201d below any report to e-mail it to users every week or month.",
			Act:   kit.Link{Text: "Schedule exposure", Href: reportsAt(v, 0) + "/new?view=%2Fexposure"},
		},
	}
	if v.Site.ID == 0 {
		t.Empty.Act = kit.Link{Text: "Schedule receivables", Href: reportsAt(v, 0) + "/new?view=%2Freceivables"}
	}
	for _, o := range list {
		next := kit.OnDay(o.Due)
		if o.State != schedules.Active {
			next = kit.Cell{}
		}
		t.Rows = append(t.Rows, kit.Row{Href: reportsAt(v, o.ID), Cells: []kit.Cell{
			kit.Words(o.Name), kit.Words(o.When()), next, kit.Words(strings.Join(o.Recipients, ", ")), kit.Words(o.Owner),
			kit.Words(strings.ToUpper(string(o.Format))), kit.State(string(o.State), orderTones[o.State]),
		}})
	}
	made := v.Table(t)
	page := inReports(v, "Scheduled reports", made)
	page.Parts = v.Parts("exposure", "/reports")
	if v.Site.ID == 0 {
		page.Parts = nil
	}
	return v.ShowTable(p.Pages, "inbox.html", made, page)
}

// orderView is the data of a schedule's page.
type orderView struct {
	Form    *kit.Form
	Send    string
	View    string // the report's page
	Choices any
	Facts   []kit.Fact
	Runs    *kit.Table
	Order   schedules.Schedule
	Mine    bool // the user may edit it
	Outbox  string
}

// whens are the days on which a report can be sent.
func whens() any {
	var pairs []string
	for day := int64(1); day <= 7; day++ {
		pairs = append(pairs, "week-"+strconv.FormatInt(day, 10), "Every "+schedules.Schedule{Every: schedules.Week, On: day}.When()[len("every "):])
	}
	for day := int64(1); day <= 30; day++ {
		pairs = append(pairs, "month-"+strconv.FormatInt(day, 10), "Every "+schedules.Schedule{Every: schedules.Month, On: day}.When()[len("every "):])
	}
	return kit.Options(append(pairs, "month-31", "Last day of each month")...)
}

// newOrder shows the form for a new schedule.
func (p *pages) newOrder(v *kit.Visit) error {
	report, ok := p.frame.ReportAt(v.Query("view"), v.Site.ID == 0)
	if !ok {
		return v.Go(reportsAt(v, 0))
	}
	return p.orderForm(v, kit.Filled("view", v.Query("view"), "name", report.Name, "when", "week-1", "format", "xlsx", "recipients", v.User.Username,
		"key", p.app.Bookings.NewUUID()))
}

func (p *pages) orderForm(v *kit.Visit, form *kit.Form) error {
	page := inReports(v, "Schedule report", orderView{
		Form: form, Send: reportsAt(v, 0), View: p.viewAt(v, form.Get("view")), Choices: whens(), Outbox: p.onlyShown(v),
		Mine: true,
	})
	page.Path = []kit.Link{{Text: "Scheduled reports", Href: reportsAt(v, 0)}}
	return v.Show(p.Pages, "order.html", page)
}

// onlyShown explains why no e-mails are sent; "" if they are.
func (p *pages) onlyShown(v *kit.Visit) string {
	switch {
	case !p.app.Mails.Sends():
		return "No mail server is configured. E-mails are created but only shown, not sent."
	case v.Site.Sandbox && !p.app.Mails.Sandboxes:
		return "This is a sandbox. E-mails are created but only shown, not sent."
	}
	return ""
}

// viewAt is the URL of a schedule's report.
func (p *pages) viewAt(v *kit.Visit, view string) string {
	return strings.TrimSuffix(reportsAt(v, 0), "/reports") + view
}

// orderFields reads the schedule form.
func orderFields(form *kit.Form) schedules.Fields {
	r := form.Reading()
	in := schedules.Fields{
		Name: r.Text("name"), View: r.Text("view"), Format: kit.Word[schedules.Format](r, "format"), Recipients: r.Items("recipients"),
		IfVersion: r.Version(),
	}
	every, day, _ := strings.Cut(form.Get("when"), "-")
	in.Every = new(schedules.Every(every))
	if n, err := strconv.ParseInt(day, 10, 64); err == nil {
		in.On = &n
	}
	in.Problems = r.Problems
	return in
}

// tookOrder shows errors about the day at its only field.
func tookOrder(form *kit.Form) {
	for _, name := range []string{"every", "on"} {
		if problem := form.Problem(name); problem != "" {
			form.Problems["when"] = problem
		}
	}
	if problem := form.Problem("view"); problem != "" {
		form.Message = problem
	}
}

// makeOrder schedules a report.
func (p *pages) makeOrder(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	made, err := p.app.Schedules.Create(v.R.Context(), v.Once(form), orderFields(form))
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		tookOrder(form)
		return p.orderForm(v, form)
	}
	return v.Done(reportsAt(v, made.ID), "Report scheduled %s, starting on %s.", made.When(), kit.Day(made.Due))
}

// order shows a schedule with its history.
func (p *pages) order(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	return p.showOrder(v, id, nil)
}

// filledOrder returns the form with the stored values.
func filledOrder(o schedules.Schedule) *kit.Form {
	return kit.Filled("name", o.Name, "view", o.View, "format", string(o.Format), "when", string(o.Every)+"-"+strconv.FormatInt(o.On, 10),
		"recipients", strings.Join(o.Recipients, "\n"), "version", strconv.FormatInt(o.Version, 10))
}

func (p *pages) showOrder(v *kit.Visit, id int64, form *kit.Form) error {
	o, runs, err := p.app.Schedules.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	if form == nil {
		form = filledOrder(o)
	}
	facts := []kit.Fact{
		{Text: "Status", Value: kit.Say(string(o.State)), Tone: orderTones[o.State]}, {Text: "Scheduled by", Value: o.Owner},
		{Text: "Page", Value: o.Name, Href: p.viewAt(v, o.View)}, {Text: "Schedule", Value: o.When()},
	}
	switch {
	case o.State == schedules.Active && !o.AskedAt.IsZero():
		facts = append(facts, kit.Fact{Text: "Next", Value: "Now (in progress)"})
	case o.State == schedules.Active:
		facts = append(facts, kit.Fact{Text: "Next", Value: kit.Day(o.Due) + ", soon after midnight GMT"})
	}
	page := inReports(v, o.Name, orderView{
		Form: form, Send: reportsAt(v, id), View: p.viewAt(v, o.View), Choices: whens(), Facts: facts, Runs: runsTable(v, runs), Order: o,
		Mine: o.OwnerID == v.User.ID, Outbox: p.onlyShown(v),
	})
	page.Path = []kit.Link{{Text: "Scheduled reports", Href: reportsAt(v, 0)}}
	page.Refresh = !o.AskedAt.IsZero()
	return v.Show(p.Pages, "order.html", page)
}

func runsTable(v *kit.Visit, runs []schedules.Run) *kit.Table {
	t := kit.Table{
		Name: "sent", Bare: true, Caption: "History",
		Columns: []kit.Column{
			{Name: "for", Title: "For"}, {Name: "made", Title: "Created"}, {Name: "outcome", Title: "Outcome"},
			{Name: "people", Title: "Recipients", Figure: true}, {Name: "file", Title: "File"}, {Name: "size", Title: "kB", Figure: true}, {Name: "note", Title: "Note"},
		},
		Empty: kit.Empty{Title: "Nothing sent yet", Text: "Every report appears here once it is created, with its recipients."},
	}
	tones := map[schedules.Outcome]string{schedules.Sent: "good", schedules.Failed: "bad", schedules.Skipped: "warn"}
	for _, r := range runs {
		occasion := kit.Words("Sent manually")
		if day, err := civil.ParseDay(r.Occasion); err == nil {
			occasion = kit.OnDay(day)
		}
		size := kit.Cell{}
		if r.File != "" {
			size = kit.Number((r.Bytes + 1023) / 1024)
		}
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			occasion, kit.AtInstant(r.MadeAt), kit.State(string(r.Outcome), tones[r.Outcome]), kit.Number(r.Recipients),
			kit.Words(r.File), size, kit.Words(r.Note),
		}})
	}
	return v.Table(t)
}

// changeOrder edits a schedule.
func (p *pages) changeOrder(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	form, err := v.Form()
	if err != nil {
		return err
	}
	in := orderFields(form)
	in.View = nil // another page is another schedule
	changed, err := p.app.Schedules.Change(v.R.Context(), v.Actor, id, in)
	stored := func() (*kit.Form, error) {
		o, _, err := p.app.Schedules.Get(v.R.Context(), v.Actor, id)
		return filledOrder(o), err
	}
	if ok, err := v.TookOver(form, err, stored); err != nil {
		return err
	} else if !ok {
		tookOrder(form)
		return p.showOrder(v, id, form)
	}
	return v.Done(reportsAt(v, id), "Saved. The next report is due on %s.", kit.Day(changed.Due))
}

// turnOrder handles the buttons of a schedule.
func (p *pages) turnOrder(
	do func(ctx context.Context, actor access.Actor, id int64) (schedules.Schedule, error), done string,
) kit.Handler {
	return func(v *kit.Visit) error {
		id, err := v.ID("id")
		if err != nil {
			return err
		}
		if _, err := v.Form(); err != nil {
			return err
		}
		if _, err := do(v.R.Context(), v.Actor, id); err != nil {
			return err
		}
		return v.Done(reportsAt(v, id), "%s", done)
	}
}

// endOrder deletes a schedule, after a confirmation.
func (p *pages) endOrder(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	o, _, err := p.app.Schedules.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	if v.R.Method == http.MethodPost {
		if err := p.app.Schedules.End(v.R.Context(), v.Actor, id); err != nil {
			return err
		}
		return v.Done(reportsAt(v, 0), "%s is no longer scheduled.", o.Name)
	}
	page := inReports(v, "", nil)
	page.Path = []kit.Link{{Text: "Scheduled reports", Href: reportsAt(v, 0)}, {Text: o.Name, Href: reportsAt(v, id)}}
	return v.Confirm(kit.Confirmation{
		Title: "Delete the schedule?", Act: "Delete schedule", Harm: true, Back: reportsAt(v, id),
		Text: []string{"The report is no longer sent, and its history is deleted. The audit log keeps a record of the schedule."},
	}, page)
}
