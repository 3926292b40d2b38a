package developers

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

// webhook shows one endpoint with its log.
func (p *pages) webhook(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	log, err := p.log(v, id)
	if err != nil {
		return err
	}
	if sent, err := v.File(log); sent || err != nil {
		return err
	}
	e, err := p.app.Webhooks.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	state := stateOf(e)
	facts := []kit.Fact{
		{Text: "Status", Value: state.Text, Tone: state.Tone}, {Text: "Events", Value: typesText(e.Types)},
		{Text: "Created", Value: kit.Instant(e.CreatedAt)}, {Text: "Created by", Value: e.CreatedBy},
	}
	if e.Reason != "" {
		facts = append(facts, kit.Fact{Text: "Reason disabled", Value: e.Reason})
	}
	if !e.FailingSince.IsZero() {
		facts = append(facts, kit.Fact{Text: "Failing since", Value: kit.Instant(e.FailingSince), Tone: "warn"})
	}
	var acts []kit.Link
	if v.Can(access.WriteSite) {
		acts = []kit.Link{
			{Text: "Edit", Href: at(v, id, "/edit")}, {Text: "Resend events", Href: at(v, id, "/replay"), Plain: true},
			{Text: "Rotate secret", Href: at(v, id, "/secret"), Plain: true}, {Text: "Delete", Href: at(v, id, "/delete"), Plain: true},
		}
	}
	return v.Show(p.Pages, "webhook.html", kit.Page{Title: e.URL, Menu: menu, Path: aboveWebhook(v, 0), Acts: acts, Data: struct {
		List    *kit.Table
		Facts   []kit.Fact
		May, On bool
		Below   string
		Filter  *kit.Form
	}{log, facts, v.Can(access.WriteSite), e.State == webhooks.Enabled, at(v, id, ""), kit.Filled("state", v.Query("state"))}})
}

// log is the table of an endpoint's deliveries, newest first.
func (p *pages) log(v *kit.Visit, id int64) (*kit.Table, error) {
	page, err := v.PageOf([]string{"id"}, true)
	if err != nil {
		return nil, err
	}
	var f webhooks.DeliveryFilter
	if state := webhooks.DeliveryState(v.Query("state")); state != "" {
		if !slices.Contains(webhooks.DeliveryStates, state) {
			return nil, errs.WrongField("state", "Unknown delivery status.")
		}
		f.States = []webhooks.DeliveryState{state}
	}
	t := kit.Table{
		Name: "deliveries", Caption: "Deliveries", Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "created", Title: "Event time"}, {Name: "type", Title: "Event"}, {Name: "object", Title: "Object"},
			{Name: "state", Title: "Status"}, {Name: "attempts", Title: "Attempts", Figure: true}, {Name: "next_attempt", Title: "Next attempt"},
			{Name: "done", Title: "Completed"}, {Name: "id", Title: "ID", Figure: true, Hidden: true},
		},
		Empty: kit.Empty{
			Title: "No deliveries yet",
			Text:  "Events sent to this webhook appear here for 30 days, with every attempt and response.",
		},
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Webhooks.Deliveries(v.R.Context(), v.Actor, id, f, page)
		for _, d := range list.Items {
			t.Rows = append(t.Rows, kit.Row{Href: at(v, id, "/deliveries/"+kit.Ident(d.ID).Plain), Cells: []kit.Cell{
				kit.AtInstant(d.MadeAt), kit.Words(string(d.Type)), objectCell(v, d.Kind, d.ObjectID), deliveryState(d.State),
				kit.Number(d.Attempts), kit.AtInstant(d.NextAt), kit.AtInstant(d.DoneAt), kit.Ident(d.ID),
			}})
		}
		t.More = list.More
		return list.More, err
	})
	return v.Table(t), err
}

func deliveryState(s webhooks.DeliveryState) kit.Cell {
	return kit.State(string(s), map[webhooks.DeliveryState]string{
		webhooks.Waiting: "warn", webhooks.Delivered: "good", webhooks.GivenUp: "bad",
	}[s])
}

// delivery shows one delivery, with each attempt and its response.
func (p *pages) delivery(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	which, err := v.ID("delivery")
	if err != nil {
		return err
	}
	d, tries, err := p.app.Webhooks.Delivery(v.R.Context(), v.Actor, id, which)
	if err != nil {
		return err
	}
	state, about := deliveryState(d.State), objectCell(v, d.Kind, d.ObjectID)
	facts := []kit.Fact{
		{Text: "Status", Value: state.Text, Tone: state.Tone}, {Text: "Event", Value: string(d.Type)},
		{Text: "Event ID", Value: kit.Ident(d.EventID).Text}, {Text: "Object", Value: about.Text, Href: about.Href},
		{Text: "Event time", Value: kit.Instant(d.MadeAt)},
	}
	if d.State == webhooks.Waiting {
		facts = append(facts, kit.Fact{Text: "Next attempt", Value: kit.Instant(d.NextAt)})
	}
	t := kit.Table{
		Name: "attempts", Caption: "Attempts", Columns: []kit.Column{
			{Name: "at", Title: "At"}, {Name: "status", Title: "HTTP status", Figure: true}, {Name: "milliseconds", Title: "Milliseconds", Figure: true},
			{Name: "answer", Title: "Response"}, {Name: "error", Title: "Error"},
		},
		Empty: kit.Empty{Title: "No attempts yet", Text: "Each attempt appears here with your endpoint's response. The first follows the event within seconds."},
	}
	for _, a := range tries {
		status := kit.Cell{}
		if a.Status != 0 {
			status = kit.Ident(int64(a.Status))
			status.Tone = "bad"
			if a.Status/100 == 2 {
				status.Tone = "good"
			}
		}
		t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
			kit.AtInstant(a.At), status, kit.Number(a.Took.Milliseconds()), kit.Words(a.Answer), kit.Words(a.Error),
		}})
	}
	made := v.Table(t)
	return v.ShowTable(p.Pages, "delivery.html", made, kit.Page{
		Title: "Delivery " + kit.Ident(d.ID).Text, Menu: menu, Path: aboveWebhook(v, id), Data: struct {
			List  *kit.Table
			Facts []kit.Fact
			May   bool
			Send  string
			Event int64
		}{made, facts, v.Can(access.WriteSite), at(v, id, "/replay"), d.EventID},
	})
}

// replay resends one event, or those of a period.
func (p *pages) replay(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	form := kit.Filled("from_day", v.Now().Format("2006-01-02"), "from_time", "00:00", "to_day", v.Now().Format("2006-01-02"),
		"to_time", v.Now().Format("15:04"))
	if v.R.Method == http.MethodPost {
		if form, err = v.Form(); err != nil {
			return err
		}
		r := form.Reading()
		in := webhooks.ReplayFields{Event: r.Number("event")}
		if in.Event == nil {
			in.From, in.To = instantOf(r, "from"), instantOf(r, "to")
		}
		in.Problems = r.Problems
		n, err := p.app.Webhooks.Replay(v.R.Context(), v.Actor, id, in)
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return v.Done(at(v, id, ""), "%s queued again.", kit.Plural(int64(n), "event is", "events are"))
		}
		for _, of := range []string{"from", "to"} {
			if text := form.Problem(of); text != "" {
				form.Problems[of+"_day"] = text
			}
		}
	} else if _, err := p.app.Webhooks.Get(v.R.Context(), v.Actor, id); err != nil {
		return err
	}
	return v.Show(p.Pages, "replay.html", kit.Page{Title: "Resend events", Menu: menu, Path: aboveWebhook(v, id), Data: struct {
		Form *kit.Form
		Back string
	}{form, at(v, id, "")}})
}

// instantOf parses an instant from a date and a time of day.
func instantOf(r *kit.Reading, name string) *time.Time {
	day := r.Day(name + "_day")
	if day == nil {
		return nil
	}
	clock, err := time.Parse("15:04", r.Get(name+"_time"))
	if err != nil {
		r.Problems.Wrong(name+"_time", "Enter a time, such as 14:30.")
		return nil
	}
	return new(civil.Day(*day).Start().Add(time.Duration(clock.Hour())*time.Hour + time.Duration(clock.Minute())*time.Minute))
}

// number formats a number for a URL.
func number(n int64) string { return strconv.FormatInt(n, 10) }
