package developers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/event"
	"holdfast/internal/errs"
	"holdfast/internal/platform/events"
	"holdfast/internal/web/kit"
)

// eventsPage is the number of events per page.
const eventsPage = 50

// events shows the event feed, newest first.
func (p *pages) events(v *kit.Visit) error {
	f := events.Filter{Size: eventsPage}
	if t := v.Query("type"); t != "" {
		f.Types = []string{t}
	}
	form := kit.Filled("type", v.Query("type"), "kind", v.Query("kind"), "object", v.Query("object"))
	if err := objectOf(v, &f, form); err != nil {
		return err
	}
	before, err := strconv.ParseInt(v.Query("before"), 10, 64)
	if v.Query("before") != "" && (err != nil || before < 1) {
		return errs.WrongField("before", "Invalid position in the event feed.")
	}
	t := kit.Table{
		Name: "events", Caption: "Events, newest first",
		Columns: []kit.Column{
			{Name: "created", Title: "At"}, {Name: "type", Title: "Event"}, {Name: "object", Title: "Object"},
			{Name: "details", Title: "Details"}, {Name: "id", Title: "ID", Figure: true, Minor: true},
		},
		Empty: kit.Empty{
			Title: "No events found",
			Text:  "Bookings, payments, statements and merchant changes create events, kept for 90 days. With a filter, older pages may have matches.",
		},
	}
	var next int64
	for most := 1; ; most++ {
		var list []event.Event
		if list, next, err = p.app.Events.Latest(v.R.Context(), v.Actor, f, before); err != nil {
			return err
		}
		for _, e := range list {
			t.Rows = append(t.Rows, kit.Row{Cells: []kit.Cell{
				kit.AtInstant(e.At), kit.Words(string(e.Type)), objectCell(v, e.Type.Kind(), e.ObjectID),
				kit.Words(detailsText(e.Details)), kit.Ident(e.ID),
			}})
		}
		// A file covers more of the feed, and with a filter a page may be empty.
		if next == 0 || most == 40 || v.Format() == "" && (len(t.Rows) > 0 || most == 4) {
			break
		}
		before = next
	}
	made := v.Table(t)
	older := ""
	if next > 0 {
		older = v.With("before", number(next))
	}
	return v.ShowTable(p.Pages, "events.html", made, page(v, "Events", "/developers/events", struct {
		List   *kit.Table
		Filter *kit.Form
		Types  any
		Kinds  any
		Older  string
		Newest string
		Send   string
	}{made, form, typeChoices(v.Actor), kindChoices(), older, newest(v), v.At("/developers/events")}))
}

// newest links back to the first page.
func newest(v *kit.Visit) string {
	if v.Query("before") == "" {
		return ""
	}
	return v.With("before", "")
}

// objectOf reads the object to filter by. While the user is typing, its ID may be incomplete.
func objectOf(v *kit.Visit, f *events.Filter, form *kit.Form) error {
	if v.Query("object") == "" || v.Query("kind") == "" {
		return nil
	}
	var err error
	f.Kind, f.Object, err = event.ParseObject(v.Query("kind") + ":" + v.Query("object"))
	if errs.Is(err, errs.Invalid) {
		form.Problems = map[string]string{"object": "Enter an ID, such as 73."}
		f.Kind, f.Object = "", 0
		return nil
	}
	return err
}

func typeChoices(actor access.Actor) any {
	pairs := []string{"", "All"}
	for _, g := range groupsFor(actor) {
		pairs = append(pairs, g.Name+".*", "All of "+g.Name)
		for _, t := range g.Types {
			pairs = append(pairs, string(t), string(t))
		}
	}
	return kit.Options(pairs...)
}

func kindChoices() any {
	pairs := []string{"", "All"}
	for _, k := range event.Kinds {
		pairs = append(pairs, string(k), kit.Say(k))
	}
	return kit.Options(pairs...)
}

// shownAt has the paths of the objects' pages.
var shownAt = map[event.Kind]string{
	event.Booking: "/bookings/", event.Transaction: "/payments/", event.Channel: "/channels/", event.Statement: "/statements/",
	event.Webhook: "/developers/webhooks/",
}

// objectCell names an object, and links to its page if the user may open it.
func objectCell(v *kit.Visit, kind event.Kind, id int64) kit.Cell {
	cell := kit.Words(kit.Say(kind) + " " + number(id))
	below, ok := shownAt[kind]
	if ok && (kind != event.Statement || v.Can(access.ReadStatements)) {
		cell.Href = v.At(below + number(id))
	}
	return cell
}

// detailsText formats an event's details as "status: complete, amount: 1000".
func detailsText(details []byte) string {
	d := json.NewDecoder(bytes.NewReader(details))
	d.UseNumber() // a float would corrupt large amounts
	var parts []string
	_, _ = d.Token() // the bracket
	for d.More() {
		name, err := d.Token()
		if err != nil {
			break
		}
		var value any
		if d.Decode(&value) != nil {
			break
		}
		parts = append(parts, fmt.Sprintf("%s: %v", strings.ReplaceAll(fmt.Sprint(name), "_", " "), value))
	}
	return strings.Join(parts, ", ")
}
