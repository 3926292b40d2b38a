package settings

import (
	"fmt"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/notify/mail"
	"holdfast/internal/store"
	"holdfast/internal/web/kit"
)

const mailsAt = "/settings/mails"

// mailTones are the colours of e-mail states.
var mailTones = map[mail.State]string{
	mail.Outbox: "calm", mail.Waiting: "warn", mail.Sending: "warn", mail.Sent: "good", mail.Dead: "bad", mail.Unknown: "bad",
}

// resentAtOnce is how many dead e-mails one request resends.
const resentAtOnce = 50

// mails shows the site's e-mails, latest first.
func (p *pages) mails(v *kit.Visit) error {
	page, err := v.PageOf([]string{"id"}, true)
	if err != nil {
		return err
	}
	var filter mail.Filter
	if s := v.Query("state"); s != "" {
		filter.States = []mail.State{mail.State(s)}
	}
	if k := v.Query("kind"); k != "" {
		filter.Kinds = []mail.Kind{mail.Kind(k)}
	}
	t := kit.Table{
		Name: "mails", Caption: "E-mails", Number: page.Number, Total: -1,
		Columns: []kit.Column{
			{Name: "kind", Title: "Type"}, {Name: "to", Title: "To"}, {Name: "state", Title: "Status"}, {Name: "queued_at", Title: "Created"},
			{Name: "tried_at", Title: "Last attempt", Minor: true}, {Name: "booking", Title: "Booking", Figure: true},
			{Name: "attempts", Title: "Attempts", Figure: true, Hidden: true}, {Name: "answer", Title: "Response", Hidden: true},
			{Name: "id", Title: "No.", Figure: true, Hidden: true},
		},
		Empty: kit.Empty{Title: "No e-mails found", Text: "E-mails about receipts, refunds and chargebacks appear here with their delivery status."},
	}
	err = v.Each(page, func(page store.Page) (bool, error) {
		list, err := p.app.Mails.List(v.R.Context(), v.Actor, filter, page)
		for _, m := range list.Items {
			t.Rows = append(t.Rows, mailRow(v, m))
		}
		t.More = list.More
		return list.More, err
	})
	if err != nil {
		return err
	}
	made := v.Table(t)
	acts := p.act(v, access.ManageSites, "Send test e-mail", "/settings/mails/try")
	if v.Can(access.SendMails) {
		acts = append(acts, kit.Link{Text: "Resend dead e-mails", Href: v.At("/settings/mails/resend"), Plain: true})
	}
	return v.ShowTable(p.Pages, "mails.html", made, p.settings(v, kit.Page{Title: "E-mails", Acts: acts, Data: struct {
		Form   *kit.Form
		Server bool
		List   *kit.Table
	}{kit.Filled("state", v.Query("state"), "kind", v.Query("kind")), p.app.Mails.Transport != nil, made}}, mailsAt))
}

func mailRow(v *kit.Visit, m mail.Mail) kit.Row {
	to := kit.Words(m.Recipient)
	if m.Forgotten {
		to = kit.Words("Forgotten")
	}
	booking := kit.Ident(m.BookingID)
	if m.BookingID != 0 {
		booking.Href = v.At(fmt.Sprintf("/bookings/%d", m.BookingID))
	}
	return kit.Row{Href: v.At(fmt.Sprintf("%s/%d", mailsAt, m.ID)), Cells: []kit.Cell{
		kit.Words(kit.Say(m.Kind)), to, kit.State(string(m.State), mailTones[m.State]), kit.AtInstant(m.QueuedAt),
		kit.AtInstant(m.TriedAt), booking, kit.Number(m.Attempts), kit.Words(m.Answer), kit.Ident(m.ID),
	}}
}

// mail shows one e-mail with its text.
func (p *pages) mail(v *kit.Visit) error { return p.showMail(v, nil) }

func (p *pages) showMail(v *kit.Visit, refused *kit.Form) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	m, text, err := p.app.Mails.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	facts := []kit.Fact{
		{Text: "Status", Value: kit.Say(m.State), Tone: mailTones[m.State]}, {Text: "To", Value: m.Recipient},
		{Text: "From", Value: m.Letter.Sender}, {Text: "Language", Value: text.Language}, {Text: "Created", Value: kit.Instant(m.QueuedAt)},
		{Text: "Last attempt", Value: kit.Instant(m.TriedAt)}, {Text: "Next retry", Value: kit.Instant(m.NextAt)},
		{Text: "Server response", Value: m.Answer},
	}
	if m.BookingID != 0 {
		facts = append(facts, kit.Fact{Text: "Booking", Value: fmt.Sprint(m.BookingID), Href: v.At(fmt.Sprintf("/bookings/%d", m.BookingID))})
	}
	over := m.State != mail.Waiting && m.State != mail.Sending && !m.Forgotten
	return v.Show(p.Pages, "mail.html", kit.Page{
		Title: kit.Say(m.Kind), Menu: "/settings", Path: []kit.Link{{Text: "E-mails", Href: v.At(mailsAt)}},
		Data: struct {
			ID        int64
			Facts     []kit.Fact
			Subject   string
			Text      string
			Forgotten bool
			Again     bool
			Form      *kit.Form
		}{m.ID, present(facts), text.Subject, text.Text, m.Forgotten, over && v.Can(access.SendMails) && p.app.Mails.Transport != nil, refused},
	})
}

// present returns the facts that are not empty.
func present(facts []kit.Fact) (list []kit.Fact) {
	for _, f := range facts {
		if f.Value != "" {
			list = append(list, f)
		}
	}
	return list
}

// resendMail resends one e-mail.
func (p *pages) resendMail(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	form, err := v.Form()
	if err != nil {
		return err
	}
	_, err = p.app.Mails.Resend(v.R.Context(), v.Actor, id)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.showMail(v, form)
	}
	return v.Done(v.At(fmt.Sprintf("%s/%d", mailsAt, id)), "The e-mail will be sent again within a few seconds.")
}

// askResend asks for confirmation before resending dead e-mails.
func (p *pages) askResend(v *kit.Visit) error {
	return v.Confirm(kit.Confirmation{
		Title: "Resend dead e-mails",
		Text: []string{
			fmt.Sprintf("This resends the site's %d oldest dead e-mails, each to its booking's current address.", resentAtOnce),
			"An e-mail is dead when the server rejects it permanently, or for three days.",
		},
		Act: "Resend", Back: v.At(mailsAt + "?state=dead"),
	}, kit.Page{Menu: "/settings", Path: []kit.Link{{Text: "E-mails", Href: v.At(mailsAt)}}})
}

// resendDead resends dead e-mails. One that cannot be resent stays dead and does not stop the others.
func (p *pages) resendDead(v *kit.Visit) error {
	if _, err := v.Form(); err != nil {
		return err
	}
	page := store.Page{Number: 1, Size: resentAtOnce, Offset: -1, OrderBy: "id"}
	list, err := p.app.Mails.List(v.R.Context(), v.Actor, mail.Filter{States: []mail.State{mail.Dead}}, page)
	if err != nil {
		return err
	}
	var sent int64
	why := ""
	for _, m := range list.Items {
		switch _, err := p.app.Mails.Resend(v.R.Context(), v.Actor, m.ID); {
		case err == nil:
			sent++
		case errs.Is(err, errs.NotPossible):
			why = fmt.Sprintf(" E-mail %d cannot be sent: %s", m.ID, err)
		default:
			return err
		}
	}
	return v.Done(v.At(mailsAt), "%s queued again.%s", kit.Plural(sent, "e-mail is", "e-mails are"), why)
}

// tryMail sends a test e-mail to check the mail server settings.
func (p *pages) tryMail(v *kit.Visit) error {
	form := kit.Filled("to", v.User.Email)
	if v.R.Method == "POST" {
		var err error
		if form, err = v.Form(); err != nil {
			return err
		}
		made, err := p.app.Mails.Try(v.R.Context(), v.Actor, form.Get("to"))
		if ok, err := v.Took(form, err); err != nil {
			return err
		} else if ok {
			return v.Done(v.At(fmt.Sprintf("%s/%d", mailsAt, made.ID)), "E-mail queued. This page shows the server's response.")
		}
	}
	return v.Show(p.Pages, "try-mail.html", kit.Page{
		Title: "Send test e-mail", Menu: "/settings", Path: []kit.Link{{Text: "E-mails", Href: v.At(mailsAt)}}, Data: form,
	})
}
